//! What panels read, and the small widgets they share.

use super::settings::Settings;
use crate::analysis::{RankAnalysis, Steps};
use crate::report::Beside;
use crate::timeline::color::Palette;
use crate::trace::Rank;
use crate::units::Span;
use crate::view::{Command, Doc, RankId, ViewState, Workspace};
use egui::{Button, Label, RichText, Ui, vec2};
use std::hash::{Hash as _, Hasher as _};

/// What a frame reads. Panels change nothing: they push commands.
#[derive(Debug, Clone, Copy)]
pub struct Cx<'a> {
    /// What is open.
    pub workspace: &'a Workspace,
    /// What is shown of it.
    pub view: &'a ViewState,
    /// What is remembered between runs.
    pub settings: &'a Settings,
    /// Colours.
    pub palette: &'a Palette,
    /// Changes whenever other documents are open.
    pub revision: u64,
}

/// With more steps in view than this, the one in the middle is an arbitrary one.
const FEW_STEPS: usize = 3;

/// The rank that the panels speak about.
#[derive(Debug, Clone, Copy)]
pub struct Chosen<'a> {
    /// Its place.
    pub id: RankId,
    /// Its document.
    pub doc: &'a Doc,
    /// Its model.
    pub rank: &'a Rank,
    /// Its numbers.
    pub numbers: &'a RankAnalysis,
}

impl<'a> Cx<'a> {
    /// The rank that the panels speak about, when any rank ran GPU work.
    pub fn chosen(&self) -> Option<Chosen<'a>> {
        let id = self.view.chosen_rank(self.workspace)?;
        let (doc, rank) = self.workspace.rank(id)?;
        Some(Chosen { id, doc, rank, numbers: doc.analysis.ranks.get(id.rank)? })
    }
}

impl<'a> Chosen<'a> {
    /// Its steps, when the capture marks any.
    pub fn steps(&self) -> Option<&'a Steps> {
        self.numbers.steps.as_ref().filter(|steps| !steps.steps.is_empty())
    }

    /// The step in the middle of the view.
    pub fn step_in_view(&self, view: &ViewState) -> Option<usize> {
        let steps = &self.steps()?.steps;
        let middle_ns = self.doc.own_ns(view.viewport.middle_ns() as i64);
        let begun = steps.partition_point(|step| step.window.start_ns <= middle_ns);
        Some(begun.saturating_sub(1).min(steps.len() - 1))
    }

    /// The selected span on the document's own clock.
    pub fn selected(&self, view: &ViewState) -> Option<Span> {
        Some(self.doc.own_span(view.selected_span?))
    }

    /// A number that changes whenever another rank is chosen or other documents are open.
    pub fn token(&self, cx: &Cx<'_>) -> u64 {
        let mut hasher = rustc_hash::FxHasher::default();
        (cx.revision, self.id).hash(&mut hasher);
        hasher.finish()
    }

    /// What the other open ranks tell of it.
    pub fn beside(&self, cx: &Cx<'_>) -> Beside {
        let workspace = cx.workspace;
        let Some(rank) = workspace.job_rank(self.id) else { return Beside::default() };
        Beside::of(&workspace.job, rank, workspace.exposed.get(rank).copied().flatten())
    }

    /// What is selected on the timeline, on the document's own clock: the span, or the span of the item.
    pub fn selection(&self, cx: &Cx<'_>) -> Option<Span> {
        let item = || cx.view.selected.and_then(|item| item.span(cx.workspace));
        Some(self.doc.own_span(cx.view.selected_span.or_else(item)?))
    }

    /// The step that the view is about: the selected one; else the one in the middle while few are in view.
    pub fn step_meant(&self, view: &ViewState, workspace: &Workspace) -> Option<usize> {
        let steps = &self.steps()?.steps;
        let visible = self.visible(view);
        let first = steps.partition_point(|step| step.window.end_ns <= visible.start_ns);
        let last = steps.partition_point(|step| step.window.start_ns < visible.end_ns);
        let few = last.saturating_sub(first) <= FEW_STEPS;
        view.selected_step(self.id, workspace).or_else(|| self.step_in_view(view).filter(|_| few))
    }

    /// The visible span on the document's own clock, cut to the rank's span; empty when the rank is out of view.
    pub fn visible(&self, view: &ViewState) -> Span {
        let visible = self.doc.own_span(view.viewport.span());
        visible.intersect(self.numbers.span).unwrap_or_default()
    }
}

/// A button that stays pressed while `on`, and sends `command` when clicked.
pub fn toggle(ui: &mut Ui, on: bool, name: &str, tip: &str, command: Command, out: &mut Vec<Command>) {
    if ui.add(Button::selectable(on, name)).on_hover_text(tip).clicked() {
        out.push(command);
    }
}

/// A line of a name and its value; long values wrap under themselves.
pub fn pair(ui: &mut Ui, name_width_pt: f32, name: &str, value: &str) {
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 12.0;
        ui.allocate_ui(vec2(name_width_pt, 16.0), |ui| {
            ui.set_width(name_width_pt);
            ui.add(Label::new(RichText::new(name).weak()).truncate());
        });
        ui.add(Label::new(value).wrap().selectable(true));
    });
}
