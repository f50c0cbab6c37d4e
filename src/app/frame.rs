//! One frame: what stands where. The window and the pictures draw through the same functions.

use super::chooser::Chooser;
use super::cx::Cx;
use super::details::{self, Details};
use super::menu::PANELS;
use super::palette::Palette as CommandList;
use super::panels::{self, PanelCaches};
use super::search_bar::{self, SearchBar};
use super::settings::Dock;
use super::state::{AppState, Overlay};
use super::steps::{self, StepTable};
use super::{
    capture, compare_bar, loading, overlays, overview, rank_choice, replaced, status, toast, toolbar, welcome,
};
use crate::timeline;
use crate::timeline::color::Palette;
use crate::view::{Command, Panel, ViewState, Workspace};
use egui::{Button, CentralPanel, ComboBox, Frame, Id, Margin, RichText, ScrollArea, Ui, UiBuilder, vec2};

/// What panels keep between frames.
#[derive(Debug, Default)]
pub struct Caches {
    /// The timeline's.
    pub timeline: timeline::Cache,
    /// The steps table's.
    pub steps: StepTable,
    /// The details panel's.
    pub details: Details,
    /// The other panels'.
    pub panels: PanelCaches,
    /// Text of the path field.
    pub typed: String,
    /// What lay over the window in the last frame.
    overlay: Option<Overlay>,
    /// The list of lanes was open in the last frame.
    lane_list: bool,
    /// The list of commands.
    pub commands: CommandList,
    /// The list of captures.
    chooser: Chooser,
    /// The search bar's.
    pub search_bar: SearchBar,
    revision: u64,
}

impl Caches {
    /// Drops what belongs to documents that are no longer open, and fills in the path field when it is opened.
    fn follow(&mut self, state: &AppState) {
        if self.revision != state.revision {
            self.revision = state.revision;
            self.timeline = timeline::Cache::default();
            // What was found holds on to the documents.
            self.panels.search = panels::search::SearchCache::default();
        }
        self.lane_list &= state.view.lanes.list;
        if self.overlay != state.overlay {
            self.overlay.clone_from(&state.overlay);
            if let Some(Overlay::Path { start, .. }) = &state.overlay {
                self.typed.clone_from(start);
            }
        }
    }
}

/// Smallest and default width of the side panel, in points.
pub const SIDE_PT: (f32, f32) = (336.0, 432.0);
/// Up to this width of the window, in points, the side panel takes at most [`SMALL_SHARE`] of it.
const SMALL_PT: f32 = 900.0;
/// See [`SMALL_PT`].
const SMALL_SHARE: f32 = 0.38;
/// Narrower than this, in points, the side panel cannot show its tabs.
const NARROWEST_PT: f32 = 232.0;
/// Narrower windows, in points, have no room for the side panel beside the timeline.
const BESIDE_FROM_PT: f32 = 520.0;
/// Least height of the side panel below the timeline, and of the window that has room for it, in points.
const BELOW_PT: f32 = 140.0;
const BELOW_FROM_PT: f32 = 300.0;
/// Lower side panels, in points, show their tabs as a list, unless they are so wide that the tabs take one row.
const LOW_PT: f32 = 320.0;
const ROW_OF_TABS_PT: f32 = 760.0;
/// Least height in which a panel is laid out, in points.
const LEAST_PT: f32 = 240.0;
/// Share of the height that the side panel below the timeline takes at first.
pub const BELOW_SHARE: f32 = 0.42;
/// Widest text of panels below the timeline, in points; tables take all there is.
const WIDEST_TEXT_PT: f32 = 860.0;
/// Lower windows, in points, have no room for the overview of the capture.
const MAP_FROM_PT: f32 = 240.0;
/// Smallest and default height of the details panel, in points.
const DETAILS_PT: (f32, f32) = (72.0, 264.0);

/// The field of the list of lanes.
const LANE_FILTER: &str = "lane filter";

/// Draws the whole window and pushes what the user asks for.
pub fn show(ui: &mut Ui, state: &AppState, caches: &mut Caches, out: &mut Vec<Command>) {
    caches.follow(state);
    let told = state.view.told_pane(&state.workspace).map(|pane| state.view.of_pane(pane));
    let cx = Cx {
        workspace: &state.workspace,
        view: told.as_ref().unwrap_or(&state.view),
        settings: &state.settings,
        palette: Palette::of(state.view.theme),
        revision: state.revision,
    };
    let bar = Frame::side_top_panel(ui.style()).inner_margin(Margin::symmetric(8, 4));
    egui::Panel::top("toolbar").frame(bar).show(ui, |ui| toolbar::show(ui, &cx, out));
    egui::Panel::bottom("status").frame(bar).show(ui, |ui| status::show(ui, &cx, state.is_renewing(), out));
    if !state.replaced().is_empty() {
        egui::Panel::top("replaced").frame(bar).show(ui, |ui| replaced::show(ui, &cx, state.replaced(), out));
    }
    if state.workspace.docs.is_empty() {
        // Summaries alone have panels, too.
        if !state.workspace.job.ranks.is_empty() && cx.settings.side && ui.available_width() >= BESIDE_FROM_PT {
            let padded = Frame::side_top_panel(ui.style()).inner_margin(Margin::symmetric(12, 8));
            let panel = egui::Panel::right("side of summaries").frame(padded).default_size(SIDE_PT.1);
            panel.show(ui, |ui| within(ui, |ui| side(ui, &cx, &mut caches.steps, &mut caches.panels, out)));
        }
        let frame = Frame::new().fill(cx.palette.background).inner_margin(Margin::same(16));
        CentralPanel::default().frame(frame).show(ui, |ui| {
            if state.jobs.is_busy() {
                loading::screen(ui, &state.jobs, out);
            } else if state.is_gathering() {
                loading::folder_screen(ui, out);
            } else if !state.captures.entries.is_empty() && state.overlay != Some(Overlay::Chooser) {
                caches.chooser.show(ui, &cx, &state.captures, out);
            } else if state.captures.entries.is_empty() {
                welcome::show(ui, &cx, out);
            }
        });
    } else {
        document(ui, (&cx, &state.view), caches, out);
        // Who opens the list of lanes is about to type the name of one.
        if state.view.lanes.list && !std::mem::replace(&mut caches.lane_list, true) {
            ui.ctx().memory_mut(|memory| memory.request_focus(Id::unique(LANE_FILTER)));
        }
        if state.jobs.is_busy() {
            loading::corner(ui, &state.jobs, out);
        } else if state.is_gathering() {
            loading::folder_corner(ui, out);
        }
    }
    overlays::show(ui, state, &mut caches.typed, &mut caches.panels.guide.recipe, out);
    if state.overlay == Some(Overlay::Palette) && state.notices.is_empty() {
        caches.commands.show(ui, &cx, out);
    } else {
        caches.commands.close();
    }
    if state.overlay == Some(Overlay::Chooser) && state.notices.is_empty() {
        caches.chooser.show_over(ui, &cx, &state.captures, out);
    } else if !state.workspace.docs.is_empty() {
        caches.chooser.close();
    }
    if let Some(message) = &state.status {
        toast::show(ui, &cx, message);
    }
    let dropping = ui.input(|input| input.raw.hovered_files.len());
    if dropping > 0 {
        loading::drop_target(ui, cx.palette, dropping);
    }
}

fn document(ui: &mut Ui, (cx, view): (&Cx<'_>, &ViewState), caches: &mut Caches, out: &mut Vec<Command>) {
    let padded = Frame::side_top_panel(ui.style()).inner_margin(Margin::symmetric(12, 8));
    let (width, height) = (ui.available_width(), ui.available_height());
    // A low window has more room beside the timeline than below it.
    let dock = if height >= BELOW_FROM_PT { cx.settings.dock } else { cx.settings.dock.beside() };
    if cx.settings.side && dock == Dock::Bottom {
        egui::Panel::bottom("side below")
            .frame(padded)
            .resizable(true)
            .default_size((height * BELOW_SHARE).min(SIDE_PT.1))
            .size_range(BELOW_PT..=(height * 0.7).max(BELOW_PT))
            .show(ui, |ui| within(ui, |ui| side(ui, cx, &mut caches.steps, &mut caches.panels, out)));
    } else if cx.settings.side && width >= BESIDE_FROM_PT {
        let widest =
            if width <= SMALL_PT { (width * SMALL_SHARE).max(NARROWEST_PT) } else { (width * 0.6).max(SIDE_PT.0) };
        let panel = if dock == Dock::Left { egui::Panel::left("side left") } else { egui::Panel::right("side") };
        panel
            .frame(padded)
            .default_size(SIDE_PT.1.min(width * 0.42).min(widest))
            .size_range(SIDE_PT.0.min(widest)..=widest)
            .show(ui, |ui| within(ui, |ui| side(ui, cx, &mut caches.steps, &mut caches.panels, out)));
    }
    if cx.settings.details && cx.view.selected.is_some() {
        // Both below the timeline leave it less room.
        let share = if cx.settings.side && dock == Dock::Bottom { 0.4 } else { 0.6 };
        let tallest = (ui.available_height() * share).max(DETAILS_PT.0);
        egui::Panel::bottom("details")
            .frame(padded)
            .resizable(true)
            .default_size(DETAILS_PT.1.min(ui.available_height() * 0.32))
            .size_range(DETAILS_PT.0..=tallest)
            .show(ui, |ui| {
                details::show(ui, cx, &mut caches.details, &mut caches.timeline, out);
            });
    }
    if cx.view.search.open {
        let bar = Frame::side_top_panel(ui.style()).inner_margin(Margin::symmetric(8, 4));
        egui::Panel::top("search").frame(bar).show(ui, |ui| search_bar::show(ui, cx, &mut caches.search_bar, out));
    }
    if let Some(compare) = &cx.view.compare {
        let bar = Frame::side_top_panel(ui.style()).inner_margin(Margin::symmetric(8, 4));
        egui::Panel::top("compare").frame(bar).show(ui, |ui| compare_bar::show(ui, cx, compare, out));
    }
    CentralPanel::default().frame(Frame::new().fill(cx.palette.background)).show(ui, |ui| {
        caches.timeline.work_beside(&timeline::wake(ui.ctx()), timeline::LARGE);
        lanes(ui, (cx.workspace, view), &mut caches.timeline, out);
    });
}

/// Draws the overview of the capture and the lanes.
pub fn lanes(
    ui: &mut Ui,
    (workspace, view): (&Workspace, &ViewState),
    cache: &mut timeline::Cache,
    out: &mut Vec<Command>,
) {
    ui.spacing_mut().item_spacing.y = 0.0;
    if ui.available_height() >= MAP_FROM_PT {
        timeline::minimap::show(ui, workspace, view, cache, out);
    }
    timeline::show(ui, workspace, view, cache, out);
}

/// Draws content that does not decide how much room it takes: what is too wide is cut off, and the panel keeps the
/// width that the user gave it.
pub fn within(ui: &mut Ui, add: impl FnOnce(&mut Ui)) {
    let room = ui.available_rect_before_wrap();
    let mut inner = ui.new_child(UiBuilder::new().max_rect(room));
    inner.shrink_clip_rect(room.expand2(vec2(ui.spacing().item_spacing.x, 0.0)));
    add(&mut inner);
    // All of the room is used, or the panel could not be dragged wider.
    ui.expand_to_include_rect(room);
}

/// Draws the side panel's content.
pub fn side(ui: &mut Ui, cx: &Cx<'_>, table: &mut StepTable, caches: &mut PanelCaches, out: &mut Vec<Command>) {
    let low = ui.available_height() < LOW_PT && ui.available_width() < ROW_OF_TABS_PT;
    if low {
        list(ui, cx, out);
    } else {
        ui.horizontal_wrapped(|ui| tabs(ui, cx, out));
    }
    ui.add_space(if low { 4.0 } else { 8.0 });
    if ui.available_width() <= WIDEST_TEXT_PT || is_table(cx.view.panel) {
        return content(ui, cx, table, caches, out);
    }
    // Lines of text and bars as long as a wide window are hard to read.
    let mut room = ui.available_rect_before_wrap();
    room.set_width(WIDEST_TEXT_PT);
    ui.scope_builder(UiBuilder::new().max_rect(room), |ui| content(ui, cx, table, caches, out));
}

fn tabs(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    for (panel, name) in PANELS {
        if ui.add(Button::selectable(cx.view.panel == panel, name)).clicked() {
            out.push(Command::ShowPanel(panel));
        }
    }
}

/// The tabs as a list that opens, where rows of them would take the room of the panel.
fn list(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    let name = PANELS.iter().find(|(panel, _)| *panel == cx.view.panel).map_or(&"", |(_, name)| name);
    ui.horizontal(|ui| {
        let label = ui.label(RichText::new("Panel").weak());
        let combo = ComboBox::from_id_salt("panels").selected_text(*name).show_ui(ui, |ui| tabs(ui, cx, out));
        combo.response.labelled_by(label.id);
    });
}

/// Draws the panel below the tabs. Where there is little room, all of a panel with a table that scrolls by itself
/// scrolls too: what stands above the table leaves it no room.
fn content(ui: &mut Ui, cx: &Cx<'_>, table: &mut StepTable, caches: &mut PanelCaches, out: &mut Vec<Command>) {
    if rank_choice::is_about_a_rank(cx.view.panel) {
        if cx.workspace.docs.is_empty() {
            panels::grid::remark(
                ui,
                "Only summaries are open. This panel is about one rank: open its export to see it.",
            );
            return;
        }
        rank_choice::show(ui, cx, out);
    }
    if ui.available_height() >= LEAST_PT || !has_tall_table(cx.view.panel) {
        return whole(ui, cx, table, caches, out);
    }
    ScrollArea::vertical().id_salt(("low", cx.view.panel)).auto_shrink([false, false]).show(ui, |ui| {
        let mut room = ui.available_rect_before_wrap();
        room.set_height(LEAST_PT);
        ui.scope_builder(UiBuilder::new().max_rect(room), |ui| whole(ui, cx, table, caches, out));
    });
}

fn whole(ui: &mut Ui, cx: &Cx<'_>, table: &mut StepTable, caches: &mut PanelCaches, out: &mut Vec<Command>) {
    if panels::show(ui, cx, cx.view.panel, caches, out) {
        return;
    }
    match cx.view.panel {
        // The table of steps scrolls by itself and takes what room there is.
        Panel::Steps => steps::show(ui, cx, table, out),
        panel => {
            ScrollArea::vertical().id_salt(panel).auto_shrink([false, false]).show(ui, |ui| match panel {
                Panel::Capture => capture::show(ui, cx),
                _ => overview::show(ui, cx, out),
            });
        }
    }
}

/// True for panels with a table that takes the height there is; the others scroll as a whole anyway.
const fn has_tall_table(panel: Panel) -> bool {
    matches!(panel, Panel::Steps | Panel::Kernels | Panel::Gaps | Panel::Ranges | Panel::Search)
}

/// True for panels that are one table: they use all the width there is.
const fn is_table(panel: Panel) -> bool {
    matches!(
        panel,
        Panel::Steps
            | Panel::Kernels
            | Panel::Gaps
            | Panel::Ranges
            | Panel::Communication
            | Panel::Launches
            | Panel::Ranks
            | Panel::Heatmap
            | Panel::Differences
            | Panel::Pipeline
    )
}
