//! What a search found: the lanes with hits, their counts and times; and the hits of the chosen lane.
//!
//! Nothing is made for hits that are out of sight, and a page holds `PAGE` of them at most.

use super::grid::{Column, Grid, NAME_PT, Shown, column};
use super::sheet::{Cell, Filter, List, Row, Sheet};
use crate::app::cx::Cx;
use crate::format;
use crate::timeline::thread_name;
use crate::view::search::{Group, Hits, Place, Query, Scope};
use crate::view::{Command, OpLane, RankId, Workspace};
use egui::{Align, Button, Label, Layout, RichText, Role, Sense, Ui, WidgetInfo};
use egui_extras::{Column as Width, TableBuilder};
use std::sync::Arc;

/// Rows of a page: positions further down a list would lose precision.
const PAGE: usize = 10_000;
/// Height of a row of hits, in points.
const ROW_PT: f32 = 20.0;

const COLUMNS: [Column; 2] = [
    column(
        "Total",
        76.0,
        "Sum of the durations of the hits, each whole. Hits that run side by side or inside each other count each.",
    ),
    column("Hits", 64.0, "Number of hits on the lane."),
];

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct SearchCache {
    /// The last answer that was shown: it stays, dimmed, until the next one is there.
    shown: Option<Arc<Hits>>,
    /// The chosen lane.
    place: Option<Place>,
    lanes: Sheet,
    page: usize,
    /// The hit that was gone to when the list last followed it.
    followed: Option<usize>,
}

impl SearchCache {
    /// Follows the answer and the hit that is gone to; the result is the row to scroll to.
    fn follow(&mut self, hits: &Arc<Hits>, current: Option<usize>) -> Option<usize> {
        let same = self.shown.as_ref().is_some_and(|shown| Arc::ptr_eq(shown, hits));
        if !same {
            self.shown = Some(Arc::clone(hits));
            (self.page, self.followed) = (0, None);
            if self.place.is_none_or(|place| hits.group(place).is_none()) {
                self.place = hits.groups().first().map(|group| group.place);
            }
        }
        if self.followed == current {
            return None;
        }
        self.followed = current;
        let hit = hits.hit(current?)?;
        self.place = Some(hit.place);
        self.page = hit.position / PAGE;
        Some(hit.position % PAGE)
    }
}

/// Draws the panel.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, cache: &mut SearchCache, out: &mut Vec<Command>) {
    let search = &cx.view.search;
    if !search.open || search.query.text.is_empty() {
        cache.shown = None;
        hint(ui, search.open, out);
        return;
    }
    if search.error.is_some() {
        cache.shown = None;
        ui.add(
            Label::new(RichText::new("Nothing is searched for: the regular expression is not valid.").weak()).wrap(),
        );
        instead(ui, &search.query, search.scope, out);
        return;
    }
    let (hits, fresh) = match (cx.view.hits(), &cache.shown) {
        (Some(hits), _) => (Arc::clone(hits), true),
        (None, Some(before)) => (Arc::clone(before), false),
        (None, None) => {
            ui.label(RichText::new("Searching…").weak());
            return;
        }
    };
    let to = if fresh { cache.follow(&hits, search.current) } else { None };
    if hits.is_empty() {
        if fresh {
            nothing(ui, cx, out);
        }
        return;
    }
    // What was found for the text before is no answer to this one.
    ui.add_enabled_ui(fresh, |ui| {
        lanes(ui, cx, &hits, cache);
        ui.add_space(8.0);
        let place = cache.place;
        if let Some(at) = hits.groups().iter().position(|group| Some(group.place) == place) {
            list(ui, cx, &hits, at, to, cache, out);
        }
    });
}

fn hint(ui: &mut Ui, open: bool, out: &mut Vec<Command>) {
    let text = "Searches the names of kernels, copies, NVTX ranges and marks, API and OS runtime calls, threads and steps \
                of every open file. Hits are marked on the lanes; F3 and Shift+F3 go through them.";
    ui.add(Label::new(RichText::new(text).weak()).wrap());
    ui.add_space(8.0);
    if !open && ui.button("Search").clicked() {
        out.push(Command::OpenSearch);
    }
}

/// Says that nothing was found, and what else could be tried.
fn nothing(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    let search = &cx.view.search;
    let place = match search.scope {
        Scope::Everywhere => "in the open files",
        Scope::Visible => "in the visible span",
        Scope::Selected if cx.view.selected_span.is_none() => "in the selected span: no span is selected",
        Scope::Selected => "in the selected span",
    };
    let text = format!("Nothing is called “{}” {place}.", format::one_line(&search.query.text, 60));
    ui.add(Label::new(text).wrap());
    instead(ui, &search.query, search.scope, out);
}

/// Offers what could find more.
fn instead(ui: &mut Ui, query: &Query, scope: Scope, out: &mut Vec<Command>) {
    ui.add_space(4.0);
    let signs = query.text.contains(['.', '*', '+', '?', '[', '(', '|', '^', '$', '\\']);
    let offers = [
        (scope != Scope::Everywhere, "Search everywhere", Command::SetScope(Scope::Everywhere)),
        (query.match_case, "Ignore case", Command::SetQuery(Query { match_case: false, ..query.clone() })),
        (query.regex, "Search for the text as it is", Command::SetQuery(Query { regex: false, ..query.clone() })),
        (
            !query.regex && signs,
            "Search as a regular expression",
            Command::SetQuery(Query { regex: true, ..query.clone() }),
        ),
    ];
    ui.horizontal_wrapped(|ui| {
        for (_, text, command) in offers.into_iter().filter(|(holds, ..)| *holds) {
            if ui.button(text).clicked() {
                out.push(command);
            }
        }
    });
}

/// The lanes with hits; a click chooses one.
fn lanes(ui: &mut Ui, cx: &Cx<'_>, hits: &Hits, cache: &mut SearchCache) {
    let groups = hits.groups();
    let grid = Grid { id: "lanes with hits", name: "Lane", columns: &COLUMNS, tall: false, name_pt: NAME_PT };
    let place = cache.place;
    let row = |at: usize| groups.get(at).map_or_else(Row::default, |group| lane_row(cx.workspace, group, place));
    let token = std::ptr::from_ref(hits) as usize as u64;
    let shown = Shown { token, filter: &Filter::default(), selection: None, copy: None };
    let clicked = grid.show(ui, &mut cache.lanes, shown, &List::new(groups.len(), row));
    if let Some(group) = clicked.and_then(|at| groups.get(at)) {
        (cache.place, cache.page) = (Some(group.place), 0);
    }
}

fn lane_row(workspace: &Workspace, group: &Group, chosen: Option<Place>) -> Row {
    let name = place_name(workspace, group.place);
    let total = if group.place.has_time() {
        Cell::whole(format::duration(group.total_ns), group.total_ns)
    } else {
        Cell::maybe(format::UNKNOWN.to_owned(), None)
    };
    let file = workspace.docs.get(group.place.doc()).map(|doc| crate::app::file_name(&doc.trace.source.path));
    Row {
        action: format!("List the hits of {name}"),
        cells: vec![total, Cell::number(format::count(group.len() as u64), group.len() as f64)],
        note: file.unwrap_or_default(),
        selected: chosen == Some(group.place),
        name,
        ..Row::default()
    }
}

/// What a lane is called, with its rank.
fn place_name(workspace: &Workspace, place: Place) -> String {
    let Some(doc) = workspace.docs.get(place.doc()) else { return String::new() };
    let trace = &doc.trace;
    let of_rank = |rank: usize| format!("Rank {}", workspace.label(RankId { doc: place.doc(), rank }));
    // The host side of a process stands in the block of its first rank.
    let of_thread = |thread: usize, what: &str| {
        let process = trace.threads.get(thread).map(|thread| thread.process);
        let rank = trace.ranks.iter().position(|rank| Some(rank.process) == process).map(of_rank);
        let rank = rank.map_or_else(String::new, |rank| format!("{rank}  "));
        format!("{rank}{what} {}", thread_name(trace, thread))
    };
    match place {
        Place::Threads(_) => "Thread names".to_owned(),
        Place::Steps(rank) => format!("{}  Steps", of_rank(rank.rank)),
        Place::Ops(rank, lane) => {
            let lane = match lane {
                OpLane::Compute => "Compute",
                OpLane::Communication => "Communication",
                OpLane::Copies => "Copies",
            };
            format!("{}  {lane}", of_rank(rank.rank))
        }
        Place::Ranges(_, thread) => of_thread(thread, "NVTX"),
        Place::Marks(_, thread) => of_thread(thread, "NVTX marks"),
        Place::Calls(_, thread) => of_thread(thread, "CUDA calls"),
        Place::Os(_, thread) => of_thread(thread, "OS runtime"),
    }
}

/// The hits of group `at`; a click goes to one.
fn list(
    ui: &mut Ui,
    cx: &Cx<'_>,
    hits: &Hits,
    at: usize,
    to: Option<usize>,
    cache: &mut SearchCache,
    out: &mut Vec<Command>,
) {
    let Some(group) = hits.groups().get(at) else { return };
    ui.strong(place_name(cx.workspace, group.place));
    let pages = group.len().div_ceil(PAGE);
    cache.page = cache.page.min(pages.saturating_sub(1));
    if pages > 1 {
        turn_pages(ui, cache, pages, group.len());
    }
    let first = hits.before(at) + cache.page * PAGE;
    let shown = (group.len() - cache.page * PAGE).min(PAGE);
    ui.push_id((group.place, cache.page), |ui| {
        // Numbers end where names begin.
        ui.spacing_mut().item_spacing.x = 14.0;
        let mut table = TableBuilder::new(ui)
            .striped(true)
            .sense(Sense::click())
            .cell_layout(Layout::right_to_left(Align::Center))
            .auto_shrink([false, false])
            .column(Width::exact(96.0).clip(true))
            .column(Width::exact(76.0).clip(true))
            .column(Width::remainder().at_least(84.0).clip(true));
        if let Some(row) = to {
            table = table.scroll_to_row(row, None);
        }
        let table = table.header(ROW_PT, |mut header| {
            let mut cell = |text: &str, tip: &str, left: bool| {
                header.col(|ui| {
                    let layout = if left { Layout::left_to_right(Align::Center) } else { *ui.layout() };
                    ui.with_layout(layout, |ui| ui.label(RichText::new(text).small().strong()).on_hover_text(tip));
                });
            };
            cell("Start", "On the time axis of the timeline.", false);
            cell("Duration", "From its start to its end; of a thread from the first to the last thing it did.", false);
            cell("Name", "", true);
        });
        table.body(|body| {
            body.rows(ROW_PT, shown, |mut row| {
                let number = first + row.index();
                let Some(hit) = hits.hit(number) else { return };
                row.set_selected(cx.view.search.current == Some(number));
                let span = hits.span(&hit).unwrap_or_default();
                let (start, length) = (start_text(span.start_ns), format::duration(span.len_ns()));
                for text in [&start, &length] {
                    row.col(|ui| {
                        ui.add(Label::new(RichText::new(text).small()).selectable(false));
                    });
                }
                let name = format::one_line(hits.name(&hit), 240);
                row.col(|ui| {
                    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                        ui.add(Label::new(RichText::new(&name).small()).truncate().selectable(false));
                    });
                });
                let response = row.response();
                let action = format!("Go to {name} at {start}, {length}");
                response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &action));
                if response.clicked() {
                    out.push(Command::ShowHit(number));
                }
            });
        });
    });
}

/// Starts are told to the microsecond, in milliseconds while those are short to read.
fn start_text(start_ns: i64) -> String {
    const LONG_NS: i64 = 100_000_000_000;
    let tick_ns = if start_ns < LONG_NS { 1_000_000 } else { 10_000_000 };
    format::time_between(start_ns, tick_ns, 1_000)
}

/// Which page of the list is shown.
fn turn_pages(ui: &mut Ui, cache: &mut SearchCache, pages: usize, count: usize) {
    ui.horizontal(|ui| {
        if ui.add_enabled(cache.page > 0, Button::new("Previous page")).clicked() {
            cache.page -= 1;
        }
        if ui.add_enabled(cache.page + 1 < pages, Button::new("Next page")).clicked() {
            cache.page += 1;
        }
        let first = cache.page * PAGE;
        let last = (first + PAGE).min(count);
        let text = format!(
            "{} to {} of {}",
            format::count(first as u64 + 1),
            format::count(last as u64),
            format::count(count as u64)
        );
        ui.label(RichText::new(text).small().weak());
    });
}

#[cfg(test)]
mod tests {
    use super::start_text;

    #[test]
    fn starts_are_told_to_the_microsecond() {
        let texts = [1_234_567, 15_395_000_000, 123_456_789_000].map(|ns| start_text(ns).replace('\u{2009}', " "));
        assert_eq!(texts, ["1.235 ms", "15 395.000 ms", "123.456789 s"]);
    }
}
