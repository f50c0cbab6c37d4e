//! Launching calls in order of time, and what those inside any span ran, in logarithmic time.
//!
//! The calls of a span lie next to each other when both their starts and their ends ascend. Calls of one thread nest
//! only seldom (a call that loads a module copies and fills inside), so they are spread over a few layers in which
//! both ascend.
//!
//! Cost: 36 bytes a launching call, while ranges are projected.

use crate::analysis::gallop::gallop;
use crate::units::Span;

/// Entries that one entry of the next level sums up.
const BLOCK: usize = 32;
/// Layers at most. Calls nested deeper than this count from the moment on at which all of their layer have returned.
const LAYERS: usize = 8;

/// A launching call and what it ran on the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Launch {
    /// The call.
    pub call: Span,
    /// From the first start to the last end of its operations.
    pub gpu: Span,
    /// Its operations.
    pub ops: u32,
}

/// What the calls inside a span ran on the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Work {
    /// From the first start to the last end of the operations.
    pub gpu: Span,
    /// Launching calls.
    pub calls: u32,
    /// Operations.
    pub ops: u32,
}

/// Launching calls whose starts and ends both ascend.
#[derive(Debug, Default)]
struct Layer {
    start_ns: Vec<i64>,
    end_ns: Vec<i64>,
    /// Operations of the calls before each, and of all.
    ops_before: Vec<u32>,
    /// GPU time of each call, then of each [`BLOCK`] of them, and so on.
    levels: Vec<Vec<Span>>,
}

/// Launching calls that can be asked what those inside a span ran.
#[derive(Debug, Default)]
pub(super) struct Launches {
    layers: Vec<Layer>,
}

impl Launches {
    /// The given calls, about `count` of them, which must come in order of start.
    pub fn of(launches: impl Iterator<Item = Launch>, count: usize) -> Self {
        let mut layers: Vec<Layer> = Vec::new();
        for launch in launches {
            let fits = |layer: &Layer| layer.end_ns.last().is_none_or(|end| *end <= launch.call.end_ns);
            let at = layers.iter().position(fits).unwrap_or(layers.len()).min(LAYERS - 1);
            if at == layers.len() {
                // Nearly all calls are in the first layer.
                layers.push(Layer::with_room(if layers.is_empty() { count } else { 0 }));
            }
            if let Some(layer) = layers.get_mut(at) {
                layer.push(launch);
            }
        }
        layers.iter_mut().for_each(Layer::sum_up);
        Self { layers }
    }

    /// To ask for span after span.
    pub fn query(&self) -> Query<'_> {
        Query { launches: self, from: vec![0; self.layers.len()] }
    }
}

impl Layer {
    fn with_room(calls: usize) -> Self {
        let mut ops_before = Vec::with_capacity(calls + 1);
        ops_before.push(0);
        let column = || Vec::with_capacity(calls);
        Self { start_ns: column(), end_ns: column(), ops_before, levels: vec![Vec::with_capacity(calls)] }
    }

    fn push(&mut self, launch: Launch) {
        let end_ns = self.end_ns.last().map_or(launch.call.end_ns, |end| launch.call.end_ns.max(*end));
        self.start_ns.push(launch.call.start_ns);
        self.end_ns.push(end_ns);
        let before = self.ops_before.last().copied().unwrap_or(0);
        self.ops_before.push(before.saturating_add(launch.ops));
        if let Some(own) = self.levels.first_mut() {
            own.push(launch.gpu);
        }
    }

    fn sum_up(&mut self) {
        while let Some(level) = self.levels.last().filter(|level| level.len() > BLOCK) {
            let next = level.chunks(BLOCK).filter_map(|block| block.iter().copied().reduce(Span::hull)).collect();
            self.levels.push(next);
        }
    }

    /// The hull of the GPU times of the calls `first..last`.
    fn gpu(&self, mut first: usize, mut last: usize) -> Option<Span> {
        let mut hull: Option<Span> = None;
        let mut add = |spans: Option<&[Span]>| {
            for span in spans.unwrap_or(&[]) {
                hull = Some(hull.map_or(*span, |known| known.hull(*span)));
            }
        };
        for (at, level) in self.levels.iter().enumerate() {
            let (up_first, up_last) = (first.div_ceil(BLOCK), last / BLOCK);
            if up_first >= up_last || at + 1 == self.levels.len() {
                add(level.get(first..last));
                break;
            }
            add(level.get(first..up_first * BLOCK));
            add(level.get(up_last * BLOCK..last));
            (first, last) = (up_first, up_last);
        }
        hull
    }
}

/// Asks [`Launches`] for span after span, in order of start.
#[derive(Debug)]
pub(super) struct Query<'a> {
    launches: &'a Launches,
    /// First call of each layer that starts at or after the last span asked for.
    from: Vec<usize>,
}

impl Query<'_> {
    /// What the calls that lie wholly inside `span`, both ends included, ran. Spans must come in order of start.
    pub fn inside(&mut self, span: Span) -> Option<Work> {
        let mut work: Option<Work> = None;
        for (layer, from) in self.launches.layers.iter().zip(&mut self.from) {
            let first = gallop(&layer.start_ns, *from, |start| start < span.start_ns);
            *from = first;
            let last = gallop(&layer.end_ns, first, |end| end <= span.end_ns);
            let Some(gpu) = layer.gpu(first, last) else { continue };
            let ops = |at: usize| layer.ops_before.get(at).copied().unwrap_or(0);
            let own = Work { gpu, calls: (last - first) as u32, ops: ops(last) - ops(first) };
            work = Some(work.map_or(own, |known| Work {
                gpu: known.gpu.hull(own.gpu),
                calls: known.calls + own.calls,
                ops: known.ops.saturating_add(own.ops),
            }));
        }
        work
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn brute(launches: &[Launch], span: Span) -> Option<Work> {
        let inside = |l: &&Launch| l.call.start_ns >= span.start_ns && l.call.end_ns <= span.end_ns;
        launches.iter().filter(inside).fold(None, |work: Option<Work>, l| {
            let known = work.unwrap_or(Work { gpu: l.gpu, calls: 0, ops: 0 });
            Some(Work { gpu: known.gpu.hull(l.gpu), calls: known.calls + 1, ops: known.ops + l.ops })
        })
    }

    proptest! {
        #[test]
        fn a_span_holds_the_calls_that_brute_force_finds(
            raw in prop::collection::vec((0_i64..6, 0_i64..5, 0_i64..90, 0_i64..9, 1_u32..4), 0..400),
            spans in prop::collection::vec((0_i64..900, 0_i64..500), 1..20),
        ) {
            let mut now = 0;
            let launches: Vec<Launch> = raw.iter().map(|(gap, len, delay, gpu, ops)| {
                now += gap;
                // Few calls are long enough to hold others, so that no more than the layers there are nest.
                let call = Span::new(now, now + len);
                Launch { call, gpu: Span::new(now + delay, now + delay + gpu), ops: *ops }
            }).collect();
            let index = Launches::of(launches.iter().copied(), launches.len());
            let mut spans: Vec<Span> = spans.iter().map(|(start, len)| Span::new(*start, start + len)).collect();
            spans.sort_unstable();
            let mut query = index.query();
            for span in spans {
                prop_assert_eq!(query.inside(span), brute(&launches, span));
            }
        }
    }

    #[test]
    fn more_layers_than_there_are_lose_no_call() {
        let nested = (0..20_i64).map(|at| Launch { call: Span::new(at, 100 - at), gpu: Span::new(at, at + 1), ops: 1 });
        let index = Launches::of(nested, 20);
        let whole = index.query().inside(Span::new(0, 100));
        assert_eq!(whole, Some(Work { gpu: Span::new(0, 20), calls: 20, ops: 20 }));
    }
}
