//! Ranks, what the late one did longer, and groups of matched collectives.

use crate::app::cx::Cx;
use crate::app::panels::around;
use crate::app::panels::grid::{Column, Grid, NAME_PT, Shown, column};
use crate::app::panels::sheet::{Cell, List, Row, Sheet};
use crate::format;
use crate::job::Job;
use crate::report::compare::{bound_by_text, extra_text, group_text, last_text};
use crate::units::Span;
use crate::view::{Command, Item, Workspace};
use egui::Ui;

const RANKS: [Column; 8] = [
    column("Median step", 72.0, "Median window of the typical steps."),
    column("Waited", 58.0, "What it waited for other ranks in matched collectives, as the sum over the capture."),
    column(
        "Last",
        74.0,
        "Collectives in which it started last, of those in which somebody did beyond the clock's error.",
    ),
    column("Exposed", 60.0, "Exposed communication of the typical step, else of the whole span."),
    column("Bound by", 126.0, "What its step is bound by."),
    column("GPU", 150.0, "Model of the card, where recorded."),
    column("Host", 90.0, "Host name, where recorded."),
    column("File", 110.0, "The file it comes from."),
];

const EXTRAS: [Column; 3] = [
    column("Difference", 66.0, "How much longer it took than the median of the others."),
    column("This rank", 66.0, "On the straggler."),
    column("Others", 66.0, "The median over the other ranks."),
];

const GROUPS: [Column; 6] = [
    column("Largest skew", 76.0, "Latest start - earliest start, of the collective in which that is largest."),
    column("Median skew", 74.0, "Latest start - earliest start, the median of all collectives of the group."),
    column("Last most often", 92.0, "The rank that starts last most often, and in how many."),
    column(
        "Bus bw.",
        66.0,
        "Bus bandwidth of the median transfer alone, waits left out; \"-\" while sizes are unknown.",
    ),
    column("Count", 48.0, "Matched collectives."),
    column("Ranks", 44.0, "Open ranks that took part."),
];

/// What the straggler did longer, when there is one.
pub fn extras(ui: &mut Ui, job: &Job, sheet: &mut Sheet, shown: Shown<'_>) {
    let Some(found) = job.stragglers.straggler.as_ref().filter(|found| !found.extras.is_empty()) else { return };
    let row = |at: usize| {
        let Some(extra) = found.extras.get(at) else { return Row::default() };
        let duration = |ns: i64| Cell::whole(format::duration(ns), ns);
        Row {
            name: extra_text(extra.kind),
            cells: vec![
                Cell::whole(format::signed_duration(extra.delta_ns()), extra.delta_ns()),
                duration(extra.own_ns),
                duration(extra.others_ns),
            ],
            ..Row::default()
        }
    };
    let grid = Grid { id: "extras", name: "Took longer", columns: &EXTRAS, tall: false, name_pt: NAME_PT };
    grid.show(ui, sheet, shown, &List::new(found.extras.len(), row));
}

/// The ranks; a click chooses one.
pub fn ranks(ui: &mut Ui, cx: &Cx<'_>, sheet: &mut Sheet, shown: Shown<'_>, out: &mut Vec<Command>) {
    let job = &cx.workspace.job;
    let row = |at: usize| rank_row(cx, at).unwrap_or_default();
    let grid = Grid { id: "ranks", name: "Rank", columns: &RANKS, tall: false, name_pt: 56.0 };
    let clicked = grid.show(ui, sheet, shown, &List::new(job.ranks.len(), row));
    out.extend(clicked.and_then(|at| cx.workspace.open_rank(at)).map(Command::ChooseRank));
}

fn rank_row(cx: &Cx<'_>, rank: usize) -> Option<Row> {
    let job = &cx.workspace.job;
    let (of, summary) = (job.ranks.get(rank)?, job.summary(rank)?);
    let export = job.exports.get(of.at.export)?;
    let waits = job.waits.ranks.get(rank).filter(|waits| waits.collectives > 0);
    let median_ns = summary.typical.filter(|_| summary.has_marked_steps()).map(|typical| typical.median_span_ns);
    let exposed_ns = summary.known_parts().map(|parts| parts.exposed_comm_ns);
    let waited_ns = waits.map(|waits| waits.split.wait_ns);
    let last = waits.map_or_else(
        || format::UNKNOWN.to_owned(),
        |waits| format!("{} of {}", format::count(waits.last), format::count(waits.decided)),
    );
    let words =
        |text: Option<&str>| Cell::text(text.map_or_else(|| format::UNKNOWN.to_owned(), |t| format::one_line(t, 80)));
    let maybe = |ns: Option<i64>| Cell::maybe(format::duration_or_unknown(ns), ns.map(|ns| ns as f64));
    let open = cx.workspace.open_rank(rank);
    Some(Row {
        name: format::one_line(&of.label, 60),
        number: of.label.parse().ok(),
        cells: vec![
            maybe(median_ns),
            maybe(waited_ns),
            Cell::maybe(last, waits.map(|waits| waits.last as f64)),
            maybe(exposed_ns),
            Cell::text(bound_by_text(job, rank).to_owned()),
            words(summary.gpu.as_deref()),
            words(export.host.as_deref()),
            Cell::text(format::one_line(job.name(of.at.export), 80)),
        ],
        note: if open.is_none() { "Only its summary is open.".to_owned() } else { String::new() },
        action: if open.is_some() { format!("Choose rank {}", format::one_line(&of.label, 60)) } else { String::new() },
        selected: open.is_some() && open == cx.view.rank,
        ..Row::default()
    })
}

/// Groups of matched collectives; a click goes to the one with the largest skew.
pub fn groups(ui: &mut Ui, cx: &Cx<'_>, sheet: &mut Sheet, shown: Shown<'_>, out: &mut Vec<Command>) {
    let job = &cx.workspace.job;
    if job.groups.is_empty() {
        return;
    }
    let row = |at: usize| {
        let (Some(group), Some(sums)) = (job.groups.get(at), job.waits.groups.get(at)) else { return Row::default() };
        let name = format::one_line(&group_text(job, at), 120);
        let duration = |ns: i64| Cell::whole(format::duration(ns), ns);
        Row {
            action: format!("Show the largest skew of {name}"),
            name,
            cells: vec![
                duration(sums.skew_max_ns),
                duration(sums.skew_median_ns),
                Cell::text(last_text(job, at)),
                Cell::maybe(format::bandwidth(sums.transfer_gb_per_s), sums.transfer_gb_per_s),
                Cell::whole(format::count(group.count as u64), group.count as i64),
                Cell::whole(format::count(group.members.len() as u64), group.members.len() as i64),
            ],
            ..Row::default()
        }
    };
    let grid = Grid { id: "groups", name: "Group", columns: &GROUPS, tall: false, name_pt: NAME_PT };
    let clicked = grid.show(ui, sheet, shown, &List::new(job.groups.len(), row));
    if let Some(at) = clicked {
        out.extend(to_worst(cx.workspace, at).unwrap_or_default());
    }
}

/// Shows the collective of a group whose ranks arrived furthest apart, and selects the kernel of the last of them.
fn to_worst(workspace: &Workspace, group: usize) -> Option<Vec<Command>> {
    let job = &workspace.job;
    let number = job.waits.groups.get(group)?.worst;
    let matched = job.matched(group, number)?;
    let span = matched.members.iter().map(|(span, _)| *span).reduce(Span::hull)?;
    let latest = matched.members.iter().position(|(span, _)| span.start_ns == matched.latest_ns)?;
    let (rank, op) = job.op_of(group, matched.last.unwrap_or(latest), number)?;
    let mut commands = Vec::new();
    if let Some(id) = job.rank_at(rank.at).and_then(|rank| workspace.open_rank(rank)) {
        commands.extend([Command::ChooseRank(id), Command::Select(Some(Item::Op(id, op)))]);
    }
    commands.push(Command::Show(around(workspace.axis_of_job(span))));
    Some(commands)
}
