//! What is under the pointer, in words, beside the pointer and never over the thing itself.

use super::color::Palette;
use super::draw::Frame;
use super::gutter::{lane_name, thread_name};
use super::hit::Hit;
use super::label::{self, Texts};
use super::layout::Lane;
use super::paint::{LANE_FONT, TEXT_FONT};
use super::ruler;
use crate::analysis::{Attribution, Causes, Class, GapReport, Idle, Part};
use crate::format;
use crate::report::Gap;
use crate::report::compare::kernel_lines;
use crate::trace::{OpKind, Trace};
use crate::units::{self, Span};
use crate::view::{Item, LaneKey, RankId, Workspace};
use egui::text::LayoutJob;
use egui::{Painter, Pos2, Rect, Stroke, pos2, vec2};

/// Widest text.
const WIDTH_PT: f32 = 420.0;
const MARGIN_PT: f32 = 8.0;

/// A tooltip's heading and its lines of name and value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// First line.
    pub title: String,
    /// Name and value.
    pub lines: Vec<(&'static str, String)>,
}

/// What to say about `hit`.
pub fn text(frame: &Frame<'_>, hit: &Hit) -> Text {
    let Some(bin) = hit.bin else { return of_item(frame, hit.item) };
    let share = units::share(bin.busy_ns, bin.span.len_ns());
    let length = format::duration(hit.item.span(frame.workspace).map_or(0, Span::len_ns));
    let name = label::name_of(frame.workspace, hit.item);
    let longest = ("Longest", format!("{name}  {length}"));
    let share = format::percent(share);
    let (what, mut lines) = match hit.item {
        Item::Op(..) | Item::Step(..) => ("operations", vec![("Busy", share), longest]),
        Item::Idle(id, _) => {
            let mut lines = vec![("Idle", share), ("Longest", length)];
            lines.extend(idle_of(frame.workspace, id).map(|idle| split(&idle.within(bin.span))).unwrap_or_default());
            ("gaps", lines)
        }
        Item::Nvtx(..) | Item::Projected(..) => ("ranges", vec![("Covered", share), longest]),
        Item::Call(..) | Item::Os(..) => ("calls", vec![("Busy", share), longest]),
        Item::Mark(..) => ("marks", vec![("First", name)]),
    };
    lines.insert(0, ("Within", format::duration(bin.span.len_ns())));
    Text { title: format!("{} {what} drawn as one", format::count(u64::from(bin.count))), lines }
}

/// What to say about a lane: its name in full, and what it shows.
pub fn of_lane(frame: &Frame<'_>, lane: &Lane) -> Text {
    let (title, place) = lane_name(frame.workspace, lane);
    let mut lines = Vec::new();
    if !place.is_empty() {
        lines.push(("Where", place));
    }
    let shows = match lane.key {
        LaneKey::Rank(_) => "GPU time by step; a click chooses the rank for the side panel",
        LaneKey::Compute(_) => "kernels that compute, fused kernels and graph blocks; opens to streams",
        LaneKey::Communication(_) => {
            "communication kernels; hatched while no compute kernel runs, lines along them while they wait for a rank"
        }
        LaneKey::Copies(_) => "memory copies and fills",
        LaneKey::Projection(_, attribution) => attribution.definition(),
        LaneKey::Idle(_) => "idle gaps of the GPU by cause above, exposed communication below",
        LaneKey::Launches(..) => "CUDA API calls of the process; calls that wait for the GPU stand out",
        LaneKey::OsRuntime(..) => "OS runtime calls by thread",
        LaneKey::Differences(_) => super::strip::meaning(lane),
        LaneKey::Counters(_) => "quantities over time; opens to one lane each",
        LaneKey::Counter(_, kind) => super::counters::meaning(kind),
        _ => "",
    };
    if !shows.is_empty() {
        lines.push(("Shows", shows.to_owned()));
    }
    if lane.hidden_rows > 0 {
        lines.push((
            "Below",
            format!("{} of nested ranges", format::counted(lane.hidden_rows as u64, "more row", "more rows")),
        ));
    }
    Text { title, lines }
}

fn of_item(frame: &Frame<'_>, item: Item) -> Text {
    let workspace = frame.workspace;
    let mut text = Text { title: title(workspace, item), lines: Vec::new() };
    let Some(span) = item.span(workspace) else { return text };
    let instant = matches!(item, Item::Mark(..));
    if !instant {
        text.lines.push(("Duration", format::duration(span.len_ns())));
    }
    text.lines.push(("Start", ruler::text_at(frame, span.start_ns)));
    if let Some(doc) = workspace.docs.get(item.doc()) {
        about(workspace, &doc.trace, item, &mut text.lines);
    }
    if let Some((step, share)) = share_of_step(workspace, item, span) {
        text.lines.push(("Share", format!("{} of {step}", format::percent(Some(share)))));
    }
    text
}

fn title(workspace: &Workspace, item: Item) -> String {
    let full = match item {
        Item::Op(id, op) => workspace.rank(id).and_then(|(doc, rank)| {
            let name = rank.ops.name.get(op as usize)?;
            Some(label::safe(doc.trace.op_full_name(*name)))
        }),
        Item::Idle(id, gap) => gap_report(workspace, id, gap as usize).map(|gap| label::safe(&gap.sentence)),
        _ => None,
    };
    full.filter(|name| !name.is_empty()).unwrap_or_else(|| label::name_of(workspace, item))
}

fn about(workspace: &Workspace, trace: &Trace, item: Item, lines: &mut Vec<(&'static str, String)>) {
    match item {
        Item::Op(id, op) => operation(workspace, id, op as usize, lines),
        Item::Call(_, process, call) => {
            if let Some(thread) = trace.threads.iter().position(|t| t.process == process && t.api.contains(&call)) {
                lines.push(("Thread", thread_name(trace, thread)));
            }
        }
        Item::Nvtx(..) | Item::Projected(..) => {
            let Some((thread, at)) = item.range(workspace) else { return };
            if let Item::Projected(id, attribution, projected) = item {
                projection(workspace, id, attribution, projected as usize, lines);
            }
            lines.push(("Thread", thread_name(trace, thread)));
            let table = trace.threads.get(thread).map(|t| &t.nvtx);
            let domain = table.and_then(|t| t.domain.get(at as usize)).and_then(|d| trace.domains.get(*d as usize));
            if let Some(domain) = domain.map(|d| trace.name(*d)).filter(|d| !d.is_empty()) {
                lines.push(("Domain", label::safe(domain)));
            }
            if table.and_then(|t| t.open.get(at as usize)) == Some(&true) {
                lines.push(("End", "not recorded".to_owned()));
            }
        }
        Item::Mark(_, thread, _) | Item::Os(_, thread, _) => lines.push(("Thread", thread_name(trace, thread))),
        Item::Step(id, step) => {
            if let Some(step) = label::step_of(workspace, id, step) {
                lines.push(("Exposed", format::percent(Part::Exposed.share(&step.parts))));
                lines.push(("Idle", format::percent(Part::Idle.share(&step.parts))));
            }
        }
        Item::Idle(id, gap) => {
            lines.extend(idle_of(workspace, id).map(|idle| split(&idle.causes_of(gap as usize))).unwrap_or_default());
        }
    }
}

fn idle_of(workspace: &Workspace, id: RankId) -> Option<&Idle> {
    Some(&workspace.docs.get(id.doc)?.analysis.ranks.get(id.rank)?.idle)
}

fn gap_report(workspace: &Workspace, id: RankId, gap: usize) -> Option<Gap> {
    let (doc, rank) = workspace.rank(id)?;
    let numbers = doc.analysis.ranks.get(id.rank)?;
    let report = GapReport::of(&doc.trace, rank, numbers, gap)?;
    Some(Gap::of(&doc.trace, rank, numbers, &report))
}

/// Idle time by cause, a line each.
fn split(causes: &Causes) -> Vec<(&'static str, String)> {
    let whole_ns = causes.total_ns();
    let line = |ns: i64| format!("{}  {}", format::duration(ns), format::percent(units::share(ns, whole_ns)));
    causes.iter().map(|(cause, ns)| (cause.text(), line(ns))).collect()
}

/// What a range ran.
fn projection(
    workspace: &Workspace,
    id: RankId,
    attribution: Attribution,
    at: usize,
    lines: &mut Vec<(&'static str, String)>,
) {
    let Some(doc) = workspace.docs.get(id.doc) else { return };
    let Some(numbers) = doc.analysis.ranks.get(id.rank) else { return };
    let Some(range) = numbers.ranges.projected(&doc.trace, attribution).get(at) else { return };
    let ranges = doc.trace.threads.get(range.thread as usize).map(|thread| &thread.nvtx);
    if let Some(ranges) = ranges.filter(|ranges| (range.range as usize) < ranges.len()) {
        lines.push(("On the host", format::duration(ranges.span(range.range as usize).len_ns())));
    }
    let ops = format::counted(u64::from(range.ops), "operation", "operations");
    lines.push(("Ran", format!("{ops}, {}", attribution.text())));
}

fn operation(workspace: &Workspace, id: RankId, op: usize, lines: &mut Vec<(&'static str, String)>) {
    let Some((doc, rank)) = workspace.rank(id) else { return };
    if let Some(stream) = rank.ops.stream.get(op).and_then(|s| rank.streams.get(*s as usize)) {
        lines.push(("Stream", stream.id.to_string()));
    }
    if let (Some(name), Some(kind)) = (rank.ops.name.get(op), rank.ops.kind.get(op)) {
        let class = doc.analysis.classes.class(*name, *kind);
        lines.push(("Class", class_text(class, *kind)));
        let analysis = doc.analysis.ranks.get(id.rank).filter(|_| class.is_communication());
        if let Some((analysis, span)) = analysis.zip(Item::Op(id, op as u32).span(workspace)) {
            let exposed_ns = analysis.exposed.within(doc.own_span(span));
            lines.push(("Exposed", format!("{} while no compute kernel ran", format::duration(exposed_ns))));
            let job = &workspace.job;
            lines.extend(workspace.job_rank(id).map(|own| kernel_lines(job, own, op as u32)).unwrap_or_default());
        }
    }
    if let Some(bytes) = rank.ops.bytes_of(op as u32) {
        lines.push(("Size", format::bytes(bytes)));
    }
    match rank.ops.launch_of(op).and_then(|call| Some((call, doc.trace.processes.get(rank.process)?))) {
        Some((call, process)) => {
            if let (Some(start), Some(launched)) = (rank.ops.start_ns.get(op), process.api.start_ns.get(call as usize))
            {
                lines.push(("Launched", format!("{} earlier", format::duration(start - launched))));
            }
        }
        None => lines.push(("Launched", "launch not recorded".to_owned())),
    }
    if let Some(path) = doc.analysis.ranks.get(id.rank).map(|numbers| numbers.ranges.path_text(&doc.trace, op)) {
        lines.extend(path.map(|path| ("NVTX", label::tail(&path))));
    }
}

fn class_text(class: Class, kind: OpKind) -> String {
    match (class, kind) {
        (Class::Compute(family), _) => format!("compute, {}", family.text()),
        (Class::Communication(collective), _) => format!("communication, {}", collective.text()),
        (Class::Fused(collective), _) => format!("fused compute and {}", collective.text()),
        (Class::Graph, _) => "CUDA graph; kernels inside are not recorded".to_owned(),
        (Class::Copy, OpKind::Memcpy(copy)) => format!("copy, {}", copy.text()),
        (Class::Copy, _) => "fill".to_owned(),
    }
}

/// The step that holds the start of a GPU item, and the item's share of it.
fn share_of_step(workspace: &Workspace, item: Item, span: Span) -> Option<(String, f64)> {
    let (Item::Op(id, _) | Item::Idle(id, _)) = item else { return None };
    let doc = workspace.docs.get(id.doc)?;
    let steps = doc.analysis.ranks.get(id.rank)?.steps.as_ref()?;
    let step = steps.steps.get(steps.at(doc.own_ns(span.start_ns))?)?;
    Some((label::safe(&step.name), units::share(span.len_ns(), step.window.len_ns())?))
}

/// Where a tooltip goes.
#[derive(Debug)]
pub enum Spot<'a> {
    /// Near the pointer, below or above the item that reaches from `item.0` down to `item.1`, and off `avoid` if it can.
    Near {
        /// The pointer.
        pointer: Pos2,
        /// Top and bottom of the item.
        item: (f32, f32),
        /// What else is looked at together with the item.
        avoid: &'a [Rect],
    },
    /// With its top left corner here, or above where that is too low.
    At(Pos2),
}

/// Paints `text` at `spot`, inside `bounds`.
pub fn paint(painter: &Painter, palette: &Palette, text: &Text, spot: &Spot<'_>, bounds: Rect) {
    let title = {
        let mut job = LayoutJob::simple(text.title.clone(), TEXT_FONT, palette.text, WIDTH_PT);
        job.wrap.max_rows = 3;
        painter.layout_job(job)
    };
    let lines: Vec<_> = text
        .lines
        .iter()
        .map(|(name, value)| {
            let name = painter.layout_no_wrap((*name).to_owned(), LANE_FONT, palette.text_dim);
            let value = label::fit(
                painter,
                Texts { name: value, ..Texts::default() },
                WIDTH_PT - 64.0,
                &LANE_FONT,
                palette.text,
            );
            (name, value)
        })
        .collect();
    let value_left = lines.iter().map(|(name, _)| name.size().x).fold(0.0, f32::max) + 10.0;
    let line_height = lines.first().map_or(0.0, |(name, _)| name.size().y + 2.0);
    let width = lines
        .iter()
        .filter_map(|(_, value)| value.as_ref().map(|v| value_left + v.size().x))
        .fold(title.size().x, f32::max);
    let height = title.size().y + 4.0 + line_height * lines.len() as f32;
    let size = vec2(width, height) + vec2(2.0, 2.0) * MARGIN_PT;
    let rect = match spot {
        Spot::Near { pointer, item, avoid } => place(*pointer, *item, avoid, size, bounds),
        Spot::At(corner) => Rect::from_min_size(pos2(corner.x, corner.y.min(bounds.bottom() - size.y)), size),
    };
    painter.rect(rect, 4.0, palette.panel, Stroke::new(1.0, palette.grid), egui::StrokeKind::Inside);
    let corner = rect.min + vec2(MARGIN_PT, MARGIN_PT);
    let mut y = corner.y + title.size().y + 4.0;
    painter.galley(corner, title, palette.text);
    for (name, value) in lines {
        painter.galley(pos2(corner.x, y), name, palette.text_dim);
        if let Some(value) = value {
            painter.galley(pos2(corner.x + value_left, y), value, palette.text);
        }
        y += line_height;
    }
}

/// Below the item if there is room, else above it, else beside the pointer; further away where that covers less of
/// `avoid`.
fn place(pointer: Pos2, (item_top, item_bottom): (f32, f32), avoid: &[Rect], size: egui::Vec2, bounds: Rect) -> Rect {
    let gap = 8.0;
    let first_x = bounds.left() + gap;
    let right = (pointer.x + 14.0).min(bounds.right() - size.x - gap).max(first_x);
    let left = (pointer.x - 14.0 - size.x).max(first_x);
    let near = [item_bottom.max(pointer.y + 4.0) + gap, item_top.min(pointer.y) - gap - size.y];
    let further = avoid.iter().flat_map(|other| [other.bottom() + gap, other.top() - gap - size.y]);
    let fits = |rect: &Rect| {
        rect.top() >= bounds.top()
            && rect.bottom() <= bounds.bottom()
            && (rect.top() >= item_bottom || rect.bottom() <= item_top)
    };
    let spots = near.into_iter().chain(further).flat_map(|y| [right, left].map(|x| pos2(x, y)));
    let rects = spots.map(|corner| Rect::from_min_size(corner, size)).filter(fits);
    // The first of the best.
    let best = rects.min_by_key(|rect| avoid.iter().filter(|other| rect.intersects(**other)).count());
    best.unwrap_or_else(|| {
        let x = if pointer.x > bounds.center().x { pointer.x - size.x - 14.0 } else { pointer.x + 14.0 };
        Rect::from_min_size(pos2(x, bounds.bottom() - size.y - gap), size)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tooltip_never_covers_its_item() {
        let bounds = Rect::from_min_max(pos2(0.0, 0.0), pos2(800.0, 600.0));
        let size = vec2(200.0, 100.0);
        for y in [30.0, 300.0, 560.0] {
            let item = (y, y + 30.0);
            for x in [5.0, 400.0, 795.0] {
                let rect = place(pos2(x, y + 10.0), item, &[], size, bounds);
                assert!(bounds.contains_rect(rect), "{rect:?}");
                assert!(rect.top() >= item.1 || rect.bottom() <= item.0, "{rect:?} covers {item:?}");
            }
        }
    }

    #[test]
    fn the_tooltip_goes_where_it_covers_no_linked_item() {
        let bounds = Rect::from_min_max(pos2(0.0, 0.0), pos2(800.0, 600.0));
        let (size, item) = (vec2(200.0, 100.0), (200.0, 230.0));
        let linked = [
            Rect::from_min_max(pos2(380.0, 260.0), pos2(420.0, 290.0)),
            Rect::from_min_max(pos2(300.0, 150.0), pos2(500.0, 170.0)),
        ];
        for x in [300.0, 400.0, 790.0] {
            let rect = place(pos2(x, 210.0), item, &linked, size, bounds);
            assert!(linked.iter().all(|other| !rect.intersects(*other)), "{rect:?}");
            assert!(rect.top() >= item.1 || rect.bottom() <= item.0);
        }
    }
}
