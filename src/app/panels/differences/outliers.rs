//! The single operations that differ most between the two ranks, looked for beside the frame where that takes long.

use super::{SHORT_NAME_PT, TIME};
use crate::analysis::{KernelLabel, full_name_labels};
use crate::app::cx::Cx;
use crate::app::panels::grid::{Column, Grid, Shown, at, column, heading, remark};
use crate::app::panels::sheet::{Cell, List, Row, Sheet};
use crate::format;
use crate::report::compare::{clock_error, longer_text, outliers_text, reservation};
use crate::task::{Task, Wake};
use crate::view::{Command, Item, Outlier, Outliers, RankId, Workspace};
use egui::Ui;
use std::collections::BTreeMap;

/// With more operations of both ranks than this a frame does not wait for them.
const LARGE: usize = 50_000;

const COLUMNS: [Column; 5] = [
    column("Difference", 60.0, "How much longer the operation of the second rank took."),
    TIME[2],
    TIME[3],
    column("Later", 56.0, "How much later it began on the second rank, by the clock in force; of matched collectives."),
    at("Step", 34.0, "Number of the step on the first rank."),
];

/// What the section keeps between frames.
#[derive(Debug, Default)]
pub struct OutliersCache {
    search: Search,
    sheet: Sheet,
}

/// The last search.
#[derive(Debug, Default)]
struct Search {
    /// Asks for another frame when something is found; without it a frame waits.
    beside: Option<Wake>,
    looking: Option<(Key, Task<Made>)>,
}

/// Of which documents and ranks.
type Key = (u64, [RankId; 2]);

/// Outliers, and what their operations are called.
#[derive(Debug)]
struct Made {
    outliers: Outliers,
    /// By outlier: its full name, and its label.
    names: Vec<(String, KernelLabel)>,
}

impl Made {
    fn find(workspace: &Workspace, ranks: [RankId; 2], cancelled: &dyn Fn() -> bool) -> Option<Self> {
        let outliers = Outliers::find(workspace, ranks, cancelled)?;
        let full = |outlier: &Outlier| {
            let (doc, rank) = workspace.rank(ranks[0])?;
            Some(doc.trace.op_full_name(*rank.ops.name.get(outlier.ops[0] as usize)?))
        };
        let all: Vec<&str> = outliers.listed.iter().map(|outlier| full(outlier).unwrap_or_default()).collect();
        let mut distinct = all.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let labels: BTreeMap<&str, KernelLabel> = distinct.iter().copied().zip(full_name_labels(&distinct)).collect();
        let names = all.iter().filter_map(|name| Some(((*name).to_owned(), labels.get(name)?.clone()))).collect();
        Some(Self { outliers, names })
    }
}

impl OutliersCache {
    /// From now on many operations are compared beside the frame, and `wake` asks for another one when that is done.
    pub fn look_beside(&mut self, wake: &Wake) {
        self.search.beside = Some(wake.clone());
    }
}

impl Search {
    /// What was found between two ranks; `None` as long as it is looked for. With more than `large` operations a frame
    /// does not wait for it.
    fn follow(&mut self, workspace: &Workspace, key: Key, large: usize) -> Option<&Made> {
        if self.looking.as_ref().is_none_or(|(of, task)| *of != key || task.is_given_up()) {
            if let Some((_, old)) = self.looking.as_ref().filter(|(_, old)| !old.is_over()) {
                // One search at a time: this one ends soon, and asks for another frame.
                old.stop();
                return None;
            }
            let (ranks, open) = (key.1, workspace.clone());
            let ops: usize = ranks.iter().filter_map(|id| Some(workspace.rank(*id)?.1.ops.len())).sum();
            let wake = self.beside.clone().filter(|_| ops > large);
            let task = Task::start("outliers", wake, move |is_stopped| Made::find(&open, ranks, is_stopped));
            self.looking = Some((key, task));
        }
        self.looking.as_ref()?.1.get()
    }
}

/// Draws the section. `chosen` are the two ranks, as indices into those of the job.
pub fn show(
    ui: &mut Ui,
    cx: &Cx<'_>,
    chosen: [usize; 2],
    cache: &mut OutliersCache,
    shown: Shown<'_>,
    out: &mut Vec<Command>,
) {
    let tip = "Single operations whose difference is far from the median of others like them (name, launch shape, about the duration): by over 5 standard deviations \
               of the scatter, 5 % of their duration and 10 µs. The farthest come first. Warm-up and steps that are \
               cut off do not count.";
    heading(ui, "Outliers", tip);
    let open = chosen.map(|rank| cx.workspace.open_rank(rank));
    let [Some(a), Some(b)] = open else {
        closed(ui, cx, chosen, out);
        return;
    };
    if a == b {
        remark(ui, "None: it is one rank.");
        return;
    }
    let Some(made) = cache.search.follow(cx.workspace, (cx.revision, [a, b]), LARGE) else {
        remark(ui, "Looking for operations that differ…");
        return;
    };
    let Made { outliers, names } = made;
    remark(ui, &outliers_text(outliers.count, outliers.pairs, outliers.listed.len() as u64));
    if outliers.listed.is_empty() {
        return;
    }
    let error = clock_error(cx.workspace.job.clock.uncertainty_ns(a.doc, b.doc));
    // Of one file's ranks the clock is their own.
    let reserved = reservation(&cx.workspace.job).filter(|_| a.doc != b.doc);
    if let Some(text) = reserved.as_deref().filter(|_| outliers.listed.iter().any(|outlier| outlier.met.is_some())) {
        shown.warn(ui, cx.palette, text);
    }
    let row = |at: usize| {
        let (Some(outlier), Some((full, label))) = (outliers.listed.get(at), names.get(at)) else {
            return Row::default();
        };
        let item = Item::Op(b, outlier.ops[1]);
        let name = format::one_line(&label.text, 200);
        Row {
            action: format!("Show {name}, {} than before", longer_text(outlier.longer_ns)),
            name,
            shared: label.shared,
            full: format::one_line(full, 400),
            cells: cells(outlier),
            note: note(outlier, &error, reserved.as_deref()),
            selected: cx.view.selected == Some(item),
            ..Row::default()
        }
    };
    let grid = Grid { id: "outliers", name: "Operation", columns: &COLUMNS, tall: false, name_pt: SHORT_NAME_PT };
    let clicked = grid.show(ui, &mut cache.sheet, shown, &List::new(outliers.listed.len(), row));
    let found = clicked.and_then(|at| outliers.listed.get(at));
    out.extend(found.map(|outlier| Command::Reveal(Item::Op(b, outlier.ops[1]))));
}

/// Says which exports are missing, and offers to open them.
fn closed(ui: &mut Ui, cx: &Cx<'_>, chosen: [usize; 2], out: &mut Vec<Command>) {
    remark(ui, "Single operations are known of open exports only; summaries do not list them.");
    ui.horizontal_wrapped(|ui| {
        let mut missing: Vec<usize> =
            chosen.into_iter().filter(|rank| cx.workspace.open_rank(*rank).is_none()).collect();
        missing.dedup();
        for rank in missing {
            let Some(label) = cx.workspace.job.ranks.get(rank).map(|rank| format::one_line(&rank.label, 40)) else {
                continue;
            };
            if ui.button(format!("Open the export of rank {label}")).clicked() {
                out.push(Command::OpenRank(rank));
            }
        }
    });
}

fn cells(outlier: &Outlier) -> Vec<Cell> {
    let duration = |ns: i64| Cell::whole(format::duration(ns), ns);
    let signed_cell = |ns: i64| Cell::whole(format::signed_duration(ns), ns);
    let later = outlier.met.map(|met| met.later_ns);
    let step = outlier.step.map_or_else(|| "-".to_owned(), |number| number.to_string());
    vec![
        signed_cell(outlier.longer_ns),
        duration(outlier.len_ns[0]),
        duration(outlier.len_ns[1]),
        later.map_or_else(|| Cell::maybe("-".to_owned(), None), signed_cell),
        Cell::maybe(step, outlier.step.map(|number| number as f64)),
    ]
}

fn note(outlier: &Outlier, clock_error: &str, reserved: Option<&str>) -> String {
    let mut note = format!("Usual difference of others like it: {}.", format::signed_duration(outlier.usual_ns));
    if let Some(met) = outlier.met {
        let [before, after] = met.wait_ns.map(format::duration);
        note.push_str(&format!(" Waited for the last rank: {before} before, {after} after{clock_error}."));
        note.extend(reserved.map(|text| format!(" {text}")));
    }
    note
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Params, analyze};
    use crate::trace::testing::Fixture;
    use std::sync::Arc;

    fn workspace() -> Workspace {
        Workspace::new([0, 400_000].map(|longer_ns| {
            let mut fixture = Fixture::new();
            for step in 0..6 {
                let at = step * 1_000_000;
                let end = at + 100_000 + if step == 4 { longer_ns } else { 0 };
                fixture.range(&format!("step {step}"), 1, at, at + 900_000);
                fixture.launched("gemm", 7, 1, at + 10, at + 100, end);
            }
            let trace = fixture.build();
            let analysis = analyze(&trace, &Params::default());
            (Arc::new(trace), Arc::new(analysis))
        }))
    }

    #[test]
    fn outliers_are_looked_for_beside_the_frame_once_for_each_pair_of_ranks() {
        let workspace = workspace();
        let ranks = [0, 1].map(|doc| RankId { doc, rank: 0 });
        let mut cache = OutliersCache::default();
        cache.look_beside(&Wake::new(|| {}));
        let mut cache = cache.search;
        let mut wait = |key: Key| {
            loop {
                if let Some(made) = cache.follow(&workspace, key, 0) {
                    return (std::ptr::from_ref(made), made.outliers.clone(), made.names.len());
                }
                std::thread::yield_now();
            }
        };
        let (first, outliers, names) = wait((1, ranks));
        assert_eq!((outliers.listed.len(), names), (1, 1));
        assert_eq!((outliers.listed[0].step, outliers.listed[0].longer_ns), (Some(4), 400_000));
        assert_eq!(wait((1, ranks)).0, first, "kept");
        let (_, back, _) = wait((1, [ranks[1], ranks[0]]));
        assert_eq!(back.listed[0].longer_ns, -400_000);
        assert_eq!((back.count, back.pairs), (1, 6));
        let mut still = Search::default();
        assert!(still.follow(&workspace, (1, ranks), 0).is_some(), "a picture waits for it");
    }
}
