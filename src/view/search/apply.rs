//! What commands do to the search of a view.

use super::matcher::Matcher;
use super::{Hits, Query, Request, Scope, Search};
use crate::units::Span;
use crate::view::history::Move;
use crate::view::{Item, Panel, ViewState, Viewport, Workspace};
use std::sync::Arc;

impl ViewState {
    /// Shows the search bar and the list, and asks for the keyboard.
    pub(in crate::view) fn open_search(&mut self) {
        if self.panel != Panel::Search {
            self.search.panel_before = Some(self.panel);
        }
        self.panel = Panel::Search;
        self.search.open = true;
        self.search.focus = self.search.focus.wrapping_add(1);
    }

    /// Hides the search and its marks; the text stays for the next time.
    pub(in crate::view) fn close_search(&mut self) {
        if self.panel == Panel::Search {
            self.panel = self.search.panel_before.unwrap_or_default();
        }
        self.search = Search {
            query: std::mem::take(&mut self.search.query),
            scope: self.search.scope,
            error: self.search.error.take(),
            focus: self.search.focus,
            unfolds: self.search.unfolds,
            ..Search::default()
        };
    }

    pub(in crate::view) fn set_query(&mut self, query: &Query) {
        self.search.error = Matcher::of(query).err();
        self.search.query = query.clone();
        self.search.wanted = None;
        if self.search_request().is_none() {
            self.search.hits = None;
            self.search.current = None;
        }
    }

    /// What has to be searched for now; nothing while the search is closed, empty or wrong.
    pub fn search_request(&self) -> Option<Request> {
        let search = &self.search;
        if !search.open || search.query.text.is_empty() || search.error.is_some() {
            return None;
        }
        let within = match search.scope {
            Scope::Everywhere => None,
            Scope::Visible => Some(self.viewport.span()),
            // Without a selected span there is nothing to be found in it.
            Scope::Selected => Some(self.selected_span.unwrap_or(Span::new(0, 0))),
        };
        Some(Request { query: search.query.clone(), within })
    }

    /// The hits, when they are the answer to what is asked now.
    pub fn hits(&self) -> Option<&Arc<Hits>> {
        let request = self.search_request()?;
        self.search.hits.as_ref().filter(|hits| hits.request == request)
    }

    /// For each of `count` equal columns of `span` (axis time), whether any hit touches it; none is while the search
    /// runs. See [`Hits::columns`] for what it costs.
    pub fn hit_columns(&self, span: Span, count: usize) -> Vec<bool> {
        self.hits().map_or_else(|| vec![false; count], |hits| hits.columns(span, count))
    }

    /// Takes over an answer, and goes on to a hit that was asked for meanwhile. An answer to an older question is
    /// dropped.
    pub fn take_hits(&mut self, hits: Arc<Hits>, workspace: &Workspace) {
        if self.search_request().as_ref() != Some(&hits.request) {
            return;
        }
        // Narrowing the scope or another letter leaves the hit that is selected where it is.
        self.search.current = self.selected.and_then(|item| hits.number_of(item));
        self.search.hits = Some(hits);
        if let Some(forward) = self.search.wanted.take() {
            self.step_hit(forward, workspace);
        }
    }

    /// Goes to the hit after (or before) what is selected: by time within its rank until that has no more, then in the
    /// next rank, around the ends. Without a selection it goes on from the last hit, and the first time from the edge of
    /// the view in the chosen rank. While the search still runs, that is done when it has finished.
    pub(in crate::view) fn step_hit(&mut self, forward: bool, workspace: &Workspace) {
        if !self.search.open && !self.search.query.text.is_empty() {
            self.search.open = true;
        }
        let Some(hits) = self.hits().map(Arc::clone) else {
            self.search.wanted = self.search_request().map(|_| forward);
            return;
        };
        // In panes it goes on from the one that keys move.
        let active = self.panes().map(|compare| compare.active.min(1));
        let rank = self.panes().and_then(|compare| compare.ranks.get(active?).copied()).or(self.rank);
        let number = match (self.current_hit(&hits), self.selected) {
            (Some(number), _) => hits.beside(number, forward),
            (None, Some(item)) => {
                let start_ns = item.span(workspace).map_or(i64::MIN, |span| span.start_ns);
                hits.from((Some(item), rank), start_ns, forward)
            }
            (None, None) => {
                let other = self.panes().map(|compare| compare.other.viewport).filter(|_| active == Some(1));
                let seen = other.unwrap_or(self.viewport).span();
                hits.from((None, rank), if forward { seen.start_ns } else { seen.end_ns }, forward)
            }
        };
        if let Some(number) = number {
            self.show_hit(number, workspace);
        }
    }

    /// The hit that stepping goes on from: the one that is selected, else the last one when nothing is.
    fn current_hit(&self, hits: &Hits) -> Option<usize> {
        let current = self.search.current;
        let Some(selected) = self.selected else { return current };
        // Of a thread, the first thing it did is selected, which may be a hit of its own.
        let is_current = |number: &usize| hits.hit(*number).and_then(|hit| hits.item(&hit)) == Some(selected);
        current.filter(is_current).or_else(|| hits.number_of(selected))
    }

    /// Selects a hit, moves the view there and opens its lane. Where only the visible span counts, the view stays.
    pub(in crate::view) fn show_hit(&mut self, number: usize, workspace: &Workspace) {
        let Some(hits) = self.hits().map(Arc::clone) else { return };
        let Some((item, span)) = hits.hit(number).and_then(|hit| Some((hits.item(&hit)?, hits.span(&hit)?))) else {
            return;
        };
        // Of a thread, the first thing it did is gone to.
        let span = item.span(workspace).unwrap_or(span);
        self.selected = Some(item);
        self.search.current = Some(number);
        self.reveals = self.reveals.wrapping_add(1);
        self.search.unfolds = self.search.unfolds.wrapping_add(1);
        if matches!(item, Item::Nvtx(..) | Item::Mark(..)) {
            self.nvtx = true;
        }
        if self.search.scope != Scope::Visible {
            self.go_to_item(item, workspace, |state| state.go(state.viewport.towards(span), Move::Hit, workspace));
        }
    }

    /// Keeps the counter with what is selected by other ways.
    pub(in crate::view) fn note_selected(&mut self) {
        let number = self.selected.and_then(|item| self.hits()?.number_of(item));
        self.search.current = number.or(self.search.current);
    }
}

impl Viewport {
    /// A view in which `span` is wide enough to be seen: this one when it is there already, the same zoom elsewhere
    /// when that suits, else one with room around the span.
    pub(super) fn towards(self, span: Span) -> Self {
        const NARROWEST: f64 = 1.0 / 250.0;
        const WIDEST: f64 = 0.9;
        const MARGIN: f64 = 0.05;
        /// An instant is looked at with so much around it, in nanoseconds.
        const INSTANT_NS: f64 = 1_000.0;
        let len_ns = span.len_ns() as f64;
        let share = len_ns.max(INSTANT_NS) / self.len_ns;
        let fits = (NARROWEST..=WIDEST).contains(&share) || len_ns < INSTANT_NS && share > WIDEST;
        let room = MARGIN * self.len_ns;
        if fits && span.start_ns as f64 >= self.start_ns + room && span.end_ns as f64 <= self.end_ns() - room {
            return self;
        }
        let view_ns = if fits {
            self.len_ns
        } else if share > WIDEST {
            len_ns * 1.25
        } else {
            len_ns.max(INSTANT_NS) * 20.0
        };
        let middle_ns = (span.start_ns as f64 + span.end_ns as f64) / 2.0;
        Self { start_ns: middle_ns - view_ns / 2.0, len_ns: view_ns.max(Self::MIN_LEN_NS) }
    }
}
