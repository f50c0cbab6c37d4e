//! NVTX ranges and what they ran on the GPU: a tree of names with counts, host time, GPU time and the trend over the
//! steps. A click on a name goes from one of its ranges to the next.

mod columns;
mod rows;

use super::grid::filter_bar;
use super::sheet::Filter;
use crate::analysis::{Attribution, Coverage, Limit, RangeSums, Ranges};
use crate::app::code_text;
use crate::app::cx::{Chosen, Cx, toggle};
use crate::format;
use crate::units::Span;
use crate::view::{Command, RankId};
use egui::{Button, Label, RichText, Ui};
use rows::Rows;
use std::collections::HashSet;

/// What the numbers are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Over {
    /// The mean of the typical steps.
    #[default]
    Typical,
    /// The rank's whole span.
    Capture,
    /// What the timeline shows of it.
    Visible,
    /// What the timeline has selected.
    Selected,
}

/// What the ranges are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Name,
    Busy,
    Ops,
    Count,
    Cpu,
}

/// What the user chose.
#[derive(Debug)]
struct Choice {
    over: Over,
    /// Only equal names are grouped.
    exact: bool,
    filter: Filter,
    /// The column that the table is sorted by, and whether the largest come first.
    sort: (Sort, bool),
    /// Open nodes of the grouped tree, and of that of exact names.
    open: [HashSet<u32>; 2],
    /// Trees that were shown: a lone root is opened at first only.
    known: [bool; 2],
    /// The range last gone to: node, thread, range.
    last: Option<(u32, usize, u32)>,
}

impl Default for Choice {
    fn default() -> Self {
        Self {
            over: Over::default(),
            exact: false,
            filter: Filter::default(),
            sort: (Sort::Busy, true),
            open: Default::default(),
            known: [false; 2],
            last: None,
        }
    }
}

impl Choice {
    /// Sorts by a column, or turns its order around.
    fn sort_by(&mut self, sort: Sort) {
        let descending = if self.sort.0 == sort { !self.sort.1 } else { sort != Sort::Name };
        self.sort = (sort, descending);
    }

    fn opened(&self) -> &HashSet<u32> {
        &self.open[usize::from(self.exact)]
    }

    /// Opens the root of a tree that is shown for the first time and has but one: its name alone would be an empty table.
    fn open_at_first(&mut self, lone_root: impl FnOnce() -> Option<u32>) {
        let tree = usize::from(self.exact);
        if !std::mem::replace(&mut self.known[tree], true) {
            self.open[tree].extend(lone_root());
        }
    }

    fn toggle(&mut self, node: u32) {
        let open = &mut self.open[usize::from(self.exact)];
        if !open.remove(&node) {
            open.insert(node);
        }
    }
}

/// What the sums are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SumsKey {
    exact: bool,
    attribution: Attribution,
    over: Over,
    visible: Span,
}

/// The sums that the table shows.
#[derive(Debug)]
struct Sums {
    key: SumsKey,
    sums: RangeSums,
    /// Length that shares are of, in nanoseconds.
    window_ns: i64,
    /// What the numbers are over.
    title: String,
}

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct RangesCache {
    of: Option<(u64, RankId)>,
    choice: Choice,
    /// The tree of exact names, once it was asked for.
    exact: Option<Ranges>,
    sums: Option<Sums>,
    rows: Option<Rows>,
    /// The visible span in the last frame.
    seen: Span,
}

impl RangesCache {
    /// Forgets what belongs to another rank or other documents.
    fn follow(&mut self, of: (u64, RankId)) {
        if self.of != Some(of) {
            let Choice { over, exact, filter, sort, .. } = std::mem::take(&mut self.choice);
            let choice = Choice { over, exact, filter, sort, ..Choice::default() };
            *self = Self { of: Some(of), choice, ..Self::default() };
        }
    }
}

/// Draws the panel.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, cache: &mut RangesCache, out: &mut Vec<Command>) {
    let Some(chosen) = cx.chosen() else {
        ui.add(Label::new(RichText::new(Limit::NoGpuWork.consequence()).weak()).wrap());
        return;
    };
    if chosen.numbers.ranges.is_empty() {
        ui.add(Label::new(RichText::new(Limit::NoNvtx.consequence()).weak()).wrap());
        ui.add_space(4.0);
        let remedy = code_text::usual(ui, &format!("Next time: {}", Limit::NoNvtx.remedy()));
        ui.add(Label::new(remedy).wrap().selectable(true));
        return;
    }
    cache.follow((cx.revision, chosen.id));
    let steps = chosen.numbers.steps.as_ref().filter(|steps| !steps.estimated);
    if cache.choice.over == Over::Typical && steps.is_none() {
        cache.choice.over = Over::Capture;
    }
    controls(ui, cx, &mut cache.choice, steps.is_some(), out);
    let selection = chosen.selection(cx);
    let copied = filter_bar(ui, &mut cache.choice.filter, "ranges", selection, true);
    ui.add_space(4.0);
    let RangesCache { choice, exact, sums, rows, seen, .. } = cache;
    let ranges = if choice.exact {
        exact.get_or_insert_with(|| Ranges::of(&chosen.doc.trace, chosen.id.rank, steps, true))
    } else {
        &chosen.numbers.ranges
    };
    // While the view moves, the sums of where it was stay: adding up takes a pass over everything.
    let visible = chosen.visible(cx.view);
    let moves = std::mem::replace(seen, visible) != visible;
    let (over, window) = match (choice.filter.within(selection), choice.over) {
        (Some(selected), _) => (Over::Selected, selected),
        (None, Over::Visible) => (Over::Visible, visible),
        (None, over) => (over, Span::default()),
    };
    let key = SumsKey { exact: choice.exact, attribution: cx.view.attribution, over, visible: window };
    let known = sums.as_ref().map(|sums| sums.key);
    let only_moved = known.is_some_and(|known| SumsKey { visible: key.visible, ..known } == key);
    if known != Some(key) && only_moved && moves && over == Over::Visible {
        ui.ctx().request_repaint();
    } else if known != Some(key) {
        *sums = Some(Sums::of(&chosen, ranges, key));
        *rows = None;
    }
    let Some(sums) = sums else { return };
    let table = rows::Table { ranges, sums, chosen: &chosen, cx };
    choice.open_at_first(|| table.lone_root());
    let rows = Rows::follow(rows, &table, choice);
    if let Some(copied) = copied {
        copied.add(&table.text(rows), rows.count());
        copied.finish(ui);
    }
    table.show(ui, rows, choice, out);
}

impl Sums {
    fn of(chosen: &Chosen<'_>, ranges: &Ranges, key: SumsKey) -> Self {
        let trace = &chosen.doc.trace;
        let whole = || ranges.whole(trace, key.attribution).clone();
        let typical = (key.over == Over::Typical).then(|| ranges.typical(trace, key.attribution)).flatten();
        let (sums, window_ns, title) = match (typical, key.over) {
            (Some((sums, count)), _) => {
                let window_ns = chosen.numbers.steps.as_ref().map_or(0, |steps| steps.typical.mean.span_ns);
                (sums, window_ns, format!("Mean of {}", format::counted(count, "typical step", "typical steps")))
            }
            (None, Over::Visible | Over::Selected) => {
                let window = Coverage::from_sorted([key.visible]);
                let title = if key.over == Over::Visible { "Visible" } else { "Selected" };
                (ranges.within(trace, key.attribution, &window), key.visible.len_ns(), title.to_owned())
            }
            (None, _) => (whole(), chosen.numbers.span.len_ns(), "GPU span".to_owned()),
        };
        Self { key, sums, window_ns, title: format!("{title}, {}", format::duration(window_ns)) }
    }
}

/// The window, the attribution, the grouping and the filter.
fn controls(ui: &mut Ui, cx: &Cx<'_>, choice: &mut Choice, has_steps: bool, out: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        let windows = [
            (Over::Typical, "Typical step", "Means over the typical steps of this rank"),
            (Over::Capture, "GPU span", "Sums over the rank's whole span"),
            (Over::Visible, "In view", "Sums over what the timeline shows"),
        ];
        for (over, name, tip) in windows.into_iter().filter(|(over, ..)| has_steps || *over != Over::Typical) {
            if ui.add(Button::selectable(choice.over == over, name)).on_hover_text(tip).clicked() {
                choice.over = over;
            }
        }
    });
    ui.horizontal_wrapped(|ui| {
        for by in [Attribution::Process, Attribution::SameThread] {
            let name = if by == Attribution::Process { "By whole process" } else { "By same thread" };
            let command = Command::SetAttribution(by);
            toggle(ui, cx.view.attribution == by, name, by.definition(), command, out);
        }
        let tip = "Ranges whose names differ by a number, or by a counter such as seq = 5, share a line";
        if ui.add(Button::selectable(!choice.exact, "Group names")).on_hover_text(tip).clicked() {
            choice.exact = !choice.exact;
        }
    });
}
