//! What changed between two ranks: parts of the step, causes of idle time, kernels, NVTX ranges, collectives.
//!
//! The difference is computed when the files or the two ranks change, and kept.

mod outliers;

use super::grid::{Column, Grid, NAME_PT, Shown, column, filter_bar, heading, remark};
use super::sheet::{Cell, Filter, List, Row, Sheet};
use crate::analysis::{KernelLabel, full_name_labels};
use crate::app::cx::Cx;
use crate::format;
use crate::job::{Delta, Diff, Job, RankSummary, longest_run};
use crate::report::compare::{
    NOISE, change_text, comparable_text, delta_text, length_text, noise_rule_text, note_of, scope_text, shape_text,
    sums_of_text, verdict_change_text,
};
use crate::view::{Command, CompareCommand, Item, RankId, Workspace};
use egui::{ComboBox, Label, RichText, Ui};
use std::hash::{Hash as _, Hasher as _};

/// What the panel keeps between frames.
#[derive(Debug)]
pub struct DifferencesCache {
    /// The two ranks, as indices into the job's.
    chosen: [usize; 2],
    /// The two ranks beside each other on the timeline, as the last frame saw them.
    compared: Option<[usize; 2]>,
    made: Option<Made>,
    filter: Filter,
    /// Orders of time, kernels, ranges and collectives.
    sheets: [Sheet; 4],
    /// Single operations that stand out.
    pub outliers: outliers::OutliersCache,
}

/// A difference, and what it is of: documents and ranks.
#[derive(Debug)]
struct Made {
    key: (u64, [usize; 2]),
    diff: Diff,
    /// What its kernels are called.
    labels: Vec<KernelLabel>,
}

impl Made {
    fn of(key: (u64, [usize; 2]), a: &RankSummary, b: &RankSummary) -> Self {
        let diff = Diff::of(a, b);
        let names: Vec<&str> = diff.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        Self { key, labels: full_name_labels(&names), diff }
    }
}

impl Default for DifferencesCache {
    fn default() -> Self {
        Self {
            chosen: [0, 1],
            compared: None,
            made: None,
            filter: Filter::default(),
            sheets: Default::default(),
            outliers: outliers::OutliersCache::default(),
        }
    }
}

/// Least width of names: so much is left of a panel of its usual width beside the columns of [`TIME`].
const SHORT_NAME_PT: f32 = 94.0;

const SHAPE: Column = column("Shape", 84.0, "Thread blocks of a launch: one name may run in several shapes.");
const COUNTS: Column = column("Count", 84.0, "How many in the steps counted, before and after.");

const TIME: [Column; 5] = [
    column("Difference", 60.0, "After - before."),
    column("Change", 58.0, "The difference as a share of before."),
    column("Before", 52.0, "On the first rank."),
    column("After", 52.0, "On the second rank."),
    column("Note", 36.0, NOISE),
];
const KERNELS: [Column; 7] = [TIME[0], TIME[1], TIME[2], TIME[3], TIME[4], SHAPE, COUNTS];
const COLLECTIVES: [Column; 6] = [TIME[0], TIME[1], TIME[2], TIME[3], TIME[4], COUNTS];

/// Draws the panel.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, cache: &mut DifferencesCache, out: &mut Vec<Command>) {
    let job = &cx.workspace.job;
    if job.ranks.len() < 2 {
        let text = "A difference needs two ranks: open a file of another rank, or of another run, beside this one.";
        ui.add(Label::new(RichText::new(text).weak()).wrap());
        return;
    }
    if cache.chosen.iter().any(|rank| *rank >= job.ranks.len()) {
        cache.chosen = [0, 1];
    }
    follow_timeline(ui, cx, cache, out);
    let key = (cx.revision, cache.chosen);
    if cache.made.as_ref().is_none_or(|made| made.key != key) {
        let [a, b] = cache.chosen.map(|rank| job.summary(rank));
        cache.made = a.zip(b).map(|(a, b)| Made::of(key, a, b));
    }
    let DifferencesCache { chosen, made: Some(Made { diff, labels, .. }), filter, sheets, outliers, .. } = cache else {
        return;
    };
    ui.add(Label::new(comparable_text(diff)).wrap().selectable(true));
    ui.add(Label::new(verdict_change_text(job, chosen[0], chosen[1])).wrap().selectable(true));
    if !diff.comparable.knows_noise() {
        ui.add(Label::new(noise_rule_text(diff)).wrap().selectable(true));
    }
    let copied = filter_bar(ui, filter, "differences", None, false);
    let mut hasher = rustc_hash::FxHasher::default();
    key.hash(&mut hasher);
    let shown = Shown { token: hasher.finish(), filter, selection: None, copy: copied.as_ref() };
    let [time, kernels, ranges, collectives] = sheets;
    times(ui, diff, time, shown);
    if let Some(at) = kernel_table(ui, diff, labels, kernels, shown) {
        out.extend(to_longest(cx.workspace, diff, *chosen, at).unwrap_or_default());
    }
    outliers::show(ui, cx, *chosen, outliers, shown, out);
    range_table(ui, diff, ranges, shown);
    collective_table(ui, diff, collectives, shown);
    if let Some(copied) = copied {
        copied.finish(ui);
    }
}

/// The two ranks beside each other on the timeline are those of the panel, whichever of the two changes them.
fn follow_timeline(ui: &mut Ui, cx: &Cx<'_>, cache: &mut DifferencesCache, out: &mut Vec<Command>) {
    let of_job = |ranks: [RankId; 2]| Some([cx.workspace.job_rank(ranks[0])?, cx.workspace.job_rank(ranks[1])?]);
    let compared = cx.view.compare.as_ref().and_then(|compare| of_job(compare.ranks));
    if compared != cache.compared {
        (cache.compared, cache.chosen) = (compared, compared.unwrap_or(cache.chosen));
    }
    let before = cache.chosen;
    let asked = choose(ui, (&cx.workspace.job, cx.workspace.docs.len()), &mut cache.chosen, compared.is_none());
    if asked || compared.is_some() && cache.chosen != before {
        let [a, b] = cache.chosen.map(|rank| cx.workspace.open_rank(rank));
        out.extend(a.zip(b).map(|(a, b)| Command::Compare(CompareCommand::Ranks([a, b]))));
    }
}

/// Which two ranks; true when they are to stand beside each other on the timeline, which `offered` offers.
fn choose(ui: &mut Ui, (job, docs): (&Job, usize), chosen: &mut [usize; 2], offered: bool) -> bool {
    let mut asked = false;
    let label = |rank: usize| job.ranks.get(rank).map_or("?", |rank| rank.label.as_str());
    ui.horizontal_wrapped(|ui| {
        for (name, rank) in ["Before", "After"].into_iter().zip(chosen.iter_mut()) {
            let title = ui.label(RichText::new(name).weak());
            let text = format!("rank {}", format::one_line(label(*rank), 40));
            let list = ComboBox::from_id_salt(name).selected_text(text).width(116.0).truncate().show_ui(ui, |ui| {
                for at in 0..job.ranks.len() {
                    ui.selectable_value(rank, at, format!("rank {}", format::one_line(label(at), 80)));
                }
            });
            list.response.labelled_by(title.id);
        }
        if ui.button("Swap").on_hover_text("The other way round").clicked() {
            chosen.swap(0, 1);
        }
        if offered && chosen[0] != chosen[1] {
            let is_open = chosen.iter().all(|rank| job.ranks.get(*rank).is_some_and(|rank| rank.at.export < docs));
            let tip = "Show these two beside each other on the timeline";
            let button = ui.add_enabled(is_open, egui::Button::new("Compare on timeline")).on_hover_text(tip);
            asked = button.on_disabled_hover_text("Of one only a summary is open: open its export").clicked();
        }
    });
    ui.add_space(4.0);
    asked
}

fn delta_cells(delta: &Delta) -> Vec<Cell> {
    let duration = |ns: i64| Cell::whole(format::duration(ns), ns);
    vec![
        Cell::whole(delta_text(delta), delta.ns()),
        Cell::maybe(change_text(delta), delta.share()),
        duration(delta.a_ns),
        duration(delta.b_ns),
        Cell::text(note_of(delta).unwrap_or_default().to_owned()),
    ]
}

fn counts(counts: [u64; 2]) -> Cell {
    let text = counts.map(format::count).join(", ");
    Cell::number(text, counts[1] as f64)
}

fn times(ui: &mut Ui, diff: &Diff, sheet: &mut Sheet, shown: Shown<'_>) {
    let mut all = vec![(length_text(diff).to_owned(), &diff.step)];
    all.extend(diff.parts.iter().map(|(part, delta)| (part.text().to_owned(), delta)));
    all.extend(diff.causes.iter().map(|(cause, delta)| (format!("Idle: {}", cause.text()), delta)));
    heading(ui, "Time", &format!("{}.", scope_text(diff)));
    let row = |at: usize| {
        let Some((name, delta)) = all.get(at) else { return Row::default() };
        Row { name: name.clone(), cells: delta_cells(delta), ..Row::default() }
    };
    let grid = Grid { id: "time", name: "Time", columns: &TIME, tall: false, name_pt: SHORT_NAME_PT };
    grid.show(ui, sheet, shown, &List::new(all.len(), row));
}

fn kernel_table(
    ui: &mut Ui,
    diff: &Diff,
    labels: &[KernelLabel],
    sheet: &mut Sheet,
    shown: Shown<'_>,
) -> Option<usize> {
    if diff.kernels.is_empty() {
        return None;
    }
    let tip = format!("By full name and launch shape, {}; the largest difference first.", sums_of_text(diff));
    heading(ui, "Kernels", &tip);
    let row = |at: usize| {
        let (Some(kernel), Some(label)) = (diff.kernels.get(at), labels.get(at)) else { return Row::default() };
        let mut cells = delta_cells(&kernel.per_step);
        let shape = kernel.blocks.map(f64::from);
        cells.extend([Cell::maybe(shape_text(kernel.blocks), shape), counts(kernel.counts)]);
        let name = format::one_line(&label.text, 200);
        Row {
            action: format!("Show the longest {name}"),
            name,
            shared: label.shared,
            full: format::one_line(&kernel.name, 400),
            cells,
            note: format!(
                "Median of one: {} before, {} after.",
                format::duration(kernel.medians_ns[0]),
                format::duration(kernel.medians_ns[1])
            ),
            ..Row::default()
        }
    };
    let grid = Grid { id: "kernels", name: "Kernel", columns: &KERNELS, tall: false, name_pt: SHORT_NAME_PT };
    grid.show(ui, sheet, shown, &List::new(diff.kernels.len(), row))
}

fn range_table(ui: &mut Ui, diff: &Diff, sheet: &mut Sheet, shown: Shown<'_>) {
    if diff.ranges.is_empty() {
        return;
    }
    let tip = format!("Time covered by what they ran, {}; the largest difference first.", sums_of_text(diff));
    heading(ui, "NVTX ranges on the GPU", &tip);
    let row = |at: usize| {
        let Some(range) = diff.ranges.get(at) else { return Row::default() };
        let path = range.path.join(" / ");
        Row {
            name: range.path.last().map_or_else(String::new, |name| format::one_line(name, 120)),
            full: format::one_line(&path, 400),
            cells: delta_cells(&range.per_step),
            ..Row::default()
        }
    };
    let grid = Grid { id: "ranges", name: "Range", columns: &TIME, tall: false, name_pt: SHORT_NAME_PT };
    grid.show(ui, sheet, shown, &List::new(diff.ranges.len(), row));
}

fn collective_table(ui: &mut Ui, diff: &Diff, sheet: &mut Sheet, shown: Shown<'_>) {
    if diff.collectives.is_empty() {
        remark(ui, "Neither ran communication kernels in this time.");
        return;
    }
    let tip = format!("Sum of the durations of communication kernels, {}.", sums_of_text(diff));
    heading(ui, "Collectives", &tip);
    let row = |at: usize| {
        let Some(of) = diff.collectives.get(at) else { return Row::default() };
        let mut cells = delta_cells(&of.per_step);
        cells.push(counts(of.counts));
        let exposed = [of.exposed.a_ns, of.exposed.b_ns].map(format::duration);
        let note = format!("Exposed: {} before, {} after.", exposed[0], exposed[1]);
        Row { name: of.kind.text().to_owned(), cells, note, ..Row::default() }
    };
    let grid = Grid { id: "collectives", name: "Kind", columns: &COLLECTIVES, tall: false, name_pt: NAME_PT };
    grid.show(ui, sheet, shown, &List::new(diff.collectives.len(), row));
}

/// Selects and shows the longest run of a kernel: on the second rank, else on the first.
fn to_longest(workspace: &Workspace, diff: &Diff, chosen: [usize; 2], at: usize) -> Option<Vec<Command>> {
    let kernel = diff.kernels.get(at)?;
    let on = |rank: usize| {
        let id = workspace.open_rank(rank)?;
        let (doc, of) = workspace.rank(id)?;
        Some((id, longest_run(&doc.trace, of, &kernel.name, kernel.blocks)?))
    };
    let (id, op) = on(chosen[1]).or_else(|| on(chosen[0]))?;
    Some(vec![Command::ChooseRank(id), Command::Select(Some(Item::Op(id, op))), Command::ShowSelection])
}
