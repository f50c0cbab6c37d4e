//! Counters as lanes: what they are called, how they are drawn, and what is said of them under the pointer.

use super::cache::Cache;
use super::draw::{Block, DrawList, Frame, Tone, join};
use super::ink::Ink;
use super::label;
use super::layout::{Lane, Layout};
use super::ruler;
use super::tooltip::Text;
use crate::analysis::{Column, Counter, CounterKind, Direction, Family, RankAnalysis, Unit};
use crate::format;
use crate::trace::Trace;
use crate::units::Span;
use crate::view::{LaneKey, RankId, Workspace};
use egui::Pos2;
use std::sync::Arc;

/// Name of a counter's lane.
pub fn name(trace: &Trace, kind: CounterKind) -> String {
    let text = match kind {
        CounterKind::Busy => "GPU busy",
        CounterKind::Communication => "Communication share",
        CounterKind::QueueDepth => "Launch queue depth",
        CounterKind::Traffic(Direction::HostToDevice) => "Copied HtoD",
        CounterKind::Traffic(Direction::DeviceToHost) => "Copied DtoH",
        CounterKind::Traffic(Direction::DeviceToDevice) => "Copied DtoD",
        CounterKind::Traffic(Direction::PeerToPeer) => "Copied PtoP",
        CounterKind::Metric(at) => {
            return label::safe(trace.metrics.get(usize::from(at)).map_or("", |metric| trace.name(metric.name)));
        }
    };
    text.to_owned()
}

/// What a counter means, in one sentence.
pub const fn meaning(kind: CounterKind) -> &'static str {
    match kind {
        CounterKind::Busy => "share of time during which anything ran on the GPU",
        CounterKind::Communication => "share of time during which a communication kernel ran",
        CounterKind::QueueDepth => "launches submitted whose work has not started",
        CounterKind::Traffic(_) => "bytes copied per second, each copy's bytes spread evenly over its time",
        CounterKind::Metric(_) => "samples of the GPU's own counter; each holds until the next",
    }
}

/// A value with its unit.
pub fn value(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Percent => format::percent(Some(value / 100.0)),
        Unit::Launches if value.fract() == 0.0 => format::counted(value as u64, "launch", "launches"),
        Unit::Launches => format!("{} launches", format::decimal(value, 1)),
        Unit::BytesPerSecond if value == 0.0 => "0 B/s".to_owned(),
        Unit::BytesPerSecond => format::amount(Some(value), "B/s"),
        Unit::Plain if value.fract() == 0.0 => format::integer(value as i64),
        Unit::Plain => format::decimal(value, 2),
    }
}

fn ink(trace: &Trace, kind: CounterKind) -> Ink {
    match kind {
        CounterKind::Busy => Ink::family(Family::Gemm),
        CounterKind::Communication => Ink::COMMUNICATION,
        CounterKind::QueueDepth => Ink::HOST,
        CounterKind::Traffic(_) => Ink::COPY,
        CounterKind::Metric(at) => {
            let name = trace.metrics.get(usize::from(at)).map_or("", |metric| trace.name(metric.name));
            let holds = |words: &[&str]| words.iter().any(|word| name.contains(word));
            if holds(&["NVLink", "NVLINK"]) {
                Ink::COMMUNICATION
            } else if holds(&["PCIe", "DRAM", "Memory"]) {
                Ink::COPY
            } else {
                Ink::family(Family::Gemm)
            }
        }
    }
}

/// A counter with what it is measured on.
struct Shown<'a> {
    trace: &'a Trace,
    numbers: &'a RankAnalysis,
    counter: Arc<Counter>,
    rank: RankId,
    kind: CounterKind,
}

impl<'a> Shown<'a> {
    fn of(workspace: &'a Workspace, cache: &Cache, key: LaneKey) -> Option<Self> {
        let LaneKey::Counter(rank, kind) = key else { return None };
        let doc = workspace.docs.get(rank.doc)?;
        let numbers = doc.analysis.ranks.get(rank.rank)?;
        Some(Self { trace: &doc.trace, numbers, counter: cache.counter(key)?, rank, kind })
    }

    fn unit(&self) -> Unit {
        self.kind.unit(self.trace)
    }
}

/// Sums up the counter of lane `key`.
pub fn build(workspace: &Workspace, key: LaneKey) -> Option<Counter> {
    let LaneKey::Counter(rank, kind) = key else { return None };
    let doc = workspace.docs.get(rank.doc)?;
    let numbers = doc.analysis.ranks.get(rank.rank)?;
    Some(Counter::of(&doc.trace, rank.rank, numbers, kind))
}

/// Adds the columns of `lane`: an area up to the mean with a line on top, and a trace of it up to the largest value.
pub fn lane(frame: &Frame<'_>, cache: &Cache, lane: &Lane, list: &mut DrawList) {
    let Some(shown) = Shown::of(frame.workspace, cache, lane.key) else { return };
    let mut columns: Vec<Column> = Vec::new();
    let view = frame.window(shown.rank.doc);
    shown.counter.columns(shown.numbers, shown.kind, view, frame.bin_ns(), &mut columns);
    let (y0, y1) = frame.row_edges(lane, 0);
    let (px, top) = (frame.px_pt(), shown.counter.top.max(f64::MIN_POSITIVE));
    // A pixel stays free above, so that lanes at full height do not touch.
    let height = f64::from(y1 - y0 - px);
    let y_of = |value: f64| frame.snap(y1 - (height * (value / top).clamp(0.0, 1.0)) as f32);
    let ink = ink(shown.trace, shown.kind);
    // Shares are 0 or 1 at any one time: their extremes tell nothing.
    let spread = !matches!(shown.kind, CounterKind::Busy | CounterKind::Communication);
    let mut extremes = Vec::new();
    for (window, stat) in columns {
        let (x0, x1) = frame.edges(shown.rank.doc, window);
        let block = |y0: f32, y1: f32, ink: Tone| Block { x0, x1: x1.max(x0 + px), y0, y1, tone: ink };
        let mean = y_of(stat.mean);
        if spread && y_of(stat.max) < mean {
            join(&mut extremes, block(y_of(stat.max), mean, Tone::Faint(ink)));
        }
        if mean < y1 {
            join(&mut list.data, block(mean, y1, Tone::Half(ink)));
            join(&mut list.marks, block(mean, (mean + px).min(y1), Tone::Solid(ink)));
        } else if stat.mean > 0.0 {
            // Something, but less than a pixel of it.
            join(&mut list.marks, block(y1 - px, y1, Tone::Solid(ink)));
        }
    }
    list.back.extend(extremes);
}

/// The mean over the visible time of a share, and the scale of other counters: what stands behind the lane's name.
pub fn share_text(frame: &Frame<'_>, cache: &Cache, lane: &Lane) -> String {
    let Some(shown) = Shown::of(frame.workspace, cache, lane.key) else { return String::new() };
    let unit = shown.unit();
    if unit == Unit::Percent {
        let stat = shown.counter.within(shown.numbers, shown.kind, frame.window(shown.rank.doc));
        return stat.map(|stat| value(unit, stat.mean)).unwrap_or_default();
    }
    // The name says what a queue is counted in.
    let unit = if unit == Unit::Launches { Unit::Plain } else { unit };
    format!("to {}", value(unit, shown.counter.top))
}

/// What to say about the counter under the pointer, with the top and bottom of its lane.
pub fn tooltip(frame: &Frame<'_>, layout: &Layout, cache: &Cache, at: Pos2) -> Option<(Text, (f32, f32))> {
    if at.x < frame.left_pt || at.x > frame.right_pt {
        return None;
    }
    let lane = frame.lane_at(layout, at.y)?;
    let shown = Shown::of(frame.workspace, cache, lane.key)?;
    let own = if lane.pinned { frame.pinned() } else { *frame };
    let at_ns = frame.time_at(at.x).floor() as i64;
    let file_ns = at_ns - frame.offset_ns(shown.rank.doc);
    let (unit, numbers, kind) = (shown.unit(), shown.numbers, shown.kind);
    let mut lines = vec![("At", ruler::text_at(frame, at_ns))];
    let here = shown.counter.value_at(numbers, kind, file_ns);
    lines.push(("Value", here.map_or_else(|| "none here".to_owned(), |here| value(unit, here))));
    let bin_ns = frame.bin_ns();
    let window = Span::new(file_ns.div_euclid(bin_ns) * bin_ns, (file_ns.div_euclid(bin_ns) + 1) * bin_ns);
    let stat = shown.counter.within(numbers, kind, window).filter(|_| bin_ns > 1);
    if let Some(stat) = stat {
        lines.push(("Mean", format!("{} over {}", value(unit, stat.mean), format::duration(bin_ns))));
        lines.push(("From", format!("{} to {}", value(unit, stat.min), value(unit, stat.max))));
    }
    lines.push(("Scale", format!("0 to {}", value(unit, shown.counter.top))));
    let title = name(shown.trace, kind);
    Some((Text { title, lines }, own.row_edges(&lane, 0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_unit() {
        assert_eq!(value(Unit::Percent, 83.14), "83.1 %");
        assert_eq!(
            (value(Unit::Launches, 1.0), value(Unit::Launches, 2.5)),
            ("1 launch".into(), "2.5 launches".into())
        );
        assert_eq!(
            (value(Unit::BytesPerSecond, 0.0), value(Unit::BytesPerSecond, 1.25e10)),
            ("0 B/s".into(), "12.50 GB/s".into())
        );
        assert_eq!(
            (value(Unit::Plain, 1410.0), value(Unit::Plain, 0.5)),
            ("1 410".replace(' ', "\u{2009}"), "0.50".into())
        );
    }
}
