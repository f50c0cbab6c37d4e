//! Search over everything that has a name: operations, NVTX ranges and marks, API and OS runtime calls, threads, steps.
//!
//! ```text
//! Query -> Matcher (one expression)           matcher.rs
//!       -> names that match (a bit each)      names.rs     once per distinct name
//!       -> Hits: groups of row numbers        find.rs      one pass over the tables, on a thread of its own
//! Hits  -> hits within a span                 hits.rs      another pass, over the hits alone
//!       -> list, counter, marks, columns      hits.rs      binary search
//!       -> the hit after another              order.rs     binary search
//! ```
//! No thread is started here: the application runs [`Hits::find`] and hands the answer to [`ViewState::take_hits`].
//!
//! [`ViewState::take_hits`]: crate::view::ViewState::take_hits

mod apply;
mod find;
mod hits;
mod matcher;
mod names;
mod order;
mod place;
#[cfg(test)]
mod tests;

pub use hits::{Group, Hit, Hits};
pub use matcher::QueryError;
pub use order::{Block, Standing};
pub use place::Place;

use super::Panel;
use crate::units::Span;
use std::sync::Arc;

/// What is searched for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Query {
    /// The text, or the regular expression; empty for no search.
    pub text: String,
    /// Whether the text is a regular expression.
    pub regex: bool,
    /// Whether capital and small letters differ.
    pub match_case: bool,
}

/// Where hits count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Scope {
    /// Everywhere.
    #[default]
    Everywhere,
    /// In what is on screen.
    Visible,
    /// In the selected span.
    Selected,
}

impl Scope {
    /// All scopes in the order of the list.
    pub const ALL: [Self; 3] = [Self::Everywhere, Self::Visible, Self::Selected];

    /// What it is called.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Everywhere => "Everywhere",
            Self::Visible => "Visible span",
            Self::Selected => "Selected span",
        }
    }
}

/// One search to be run: what, and in which span of axis time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What is searched for.
    pub query: Query,
    /// Only what touches this counts; everything when `None`.
    pub within: Option<Span>,
}

/// The search of a view.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// Whether the search bar is shown and hits are marked.
    pub open: bool,
    /// What is searched for.
    pub query: Query,
    /// Where hits count.
    pub scope: Scope,
    /// What is wrong with the query.
    pub error: Option<QueryError>,
    /// The last answer; to which question is in [`Hits::request`].
    pub hits: Option<Arc<Hits>>,
    /// Number of the hit that is gone to, counted from 0 through all groups.
    pub current: Option<usize>,
    /// How often the field was asked to take the keyboard.
    pub focus: u32,
    /// How often the lane of a hit was asked to be opened.
    pub unfolds: u32,
    /// A step to the next (true) or previous hit that waits for the answer.
    wanted: Option<bool>,
    /// Tab of the side panel to go back to.
    panel_before: Option<Panel>,
}

impl Search {
    /// The same search of other documents: what was found is forgotten.
    #[must_use]
    pub fn without_answer(&self) -> Self {
        Self { hits: None, current: None, ..self.clone() }
    }
}
