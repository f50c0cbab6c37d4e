//! Runs of memory-bound kernels between two matrix products on one stream: what fusing them would save, and whether
//! they are the middle of attention that is not fused.

use super::names::Traits;
use crate::analysis::places::Worst;
use crate::analysis::{Class, Family, KernelSum};
use crate::units::Span;

/// Families of the memory-bound kernels that make a run.
pub(super) const BETWEEN_PRODUCTS: [Family; 4] =
    [Family::Elementwise, Family::Reduction, Family::Normalization, Family::CopyTranspose];

/// Longer runs are no chain over one tensor but a loop over many, such as an optimizer's: fusing saves launches, not
/// memory traffic.
const LONGEST_CHAIN: u64 = 16;

/// Sums over the runs of a stream.
#[derive(Debug, Clone, Default)]
pub(super) struct Runs {
    /// Kernels between the two products of attention: scale, mask, softmax, dropout.
    pub attention: KernelSum,
    /// Passes of such attention.
    pub attention_passes: u64,
    /// Runs of at least two other kernels.
    pub chains: u64,
    /// All but the longest kernel of each such run, in nanoseconds: each run reads and writes the tensor once at least.
    pub fusable_ns: i64,
    /// Where most time goes to such attention, and where fusing would save most.
    pub worst_attention: Worst,
    pub worst_chains: Worst,
}

/// The run at hand.
#[derive(Debug, Clone, Copy, Default)]
struct Run {
    after_product: bool,
    sum: KernelSum,
    longest_ns: i64,
    /// From the start of its first to the end of its last kernel.
    span: Option<Span>,
    softmax: bool,
    loss: bool,
}

/// Collects runs from the kernels of one stream, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct RunSweep {
    pub sums: Runs,
    run: Run,
}

impl RunSweep {
    /// The next kernel of the stream, in step `step`.
    pub fn add(&mut self, class: Class, traits: Traits, span: Span, step: Option<usize>) {
        match class {
            Class::Compute(family) if BETWEEN_PRODUCTS.contains(&family) => {
                let run = &mut self.run;
                run.sum.add(span.len_ns());
                run.longest_ns = run.longest_ns.max(span.len_ns());
                run.span = Some(run.span.map_or(span, |whole| whole.hull(span)));
                run.softmax |= traits.softmax;
                run.loss |= traits.loss;
            }
            Class::Compute(Family::Gemm) => self.close(true, step),
            _ => self.close(false, step),
        }
    }

    /// Ends the run at hand, before a matrix product or something else.
    pub fn close(&mut self, before_product: bool, step: Option<usize>) {
        let run = std::mem::replace(&mut self.run, Run { after_product: before_product, ..Run::default() });
        let Some(span) = run.span else { return };
        if run.softmax && !run.loss && run.after_product && before_product {
            self.sums.attention_passes += 1;
            self.sums.attention.count += run.sum.count;
            self.sums.attention.total_ns = self.sums.attention.total_ns.saturating_add(run.sum.total_ns);
            self.sums.worst_attention.add(step, span, run.sum.total_ns);
        } else if (2..=LONGEST_CHAIN).contains(&run.sum.count) && !run.loss {
            self.sums.chains += 1;
            let saved = run.sum.total_ns.saturating_sub(run.longest_ns);
            self.sums.fusable_ns = self.sums.fusable_ns.saturating_add(saved);
            self.sums.worst_chains.add(step, span, saved);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(kernels: &[(Family, bool, i64)]) -> Runs {
        let mut sweep = RunSweep::default();
        let mut now = 0;
        for (family, softmax, len) in kernels {
            let traits = Traits { softmax: *softmax, ..Traits::default() };
            sweep.add(Class::Compute(*family), traits, Span::new(now, now + len), None);
            now += len;
        }
        sweep.close(false, None);
        sweep.sums
    }

    #[test]
    fn a_softmax_between_two_products_is_attention() {
        let runs = sweep(&[
            (Family::Gemm, false, 50),
            (Family::Elementwise, false, 10),
            (Family::Reduction, true, 20),
            (Family::Gemm, false, 50),
            (Family::Reduction, true, 20),
            (Family::Embedding, false, 5),
        ]);
        assert_eq!((runs.attention_passes, runs.attention.total_ns, runs.fusable_ns), (1, 30, 0));
        let place = runs.worst_attention.places()[0];
        assert_eq!((place.span, place.ns), (Span::new(50, 80), 30));
    }

    #[test]
    fn a_chain_saves_all_but_its_longest_kernel() {
        let runs = sweep(&[
            (Family::Elementwise, false, 10),
            (Family::Elementwise, false, 30),
            (Family::Normalization, false, 5),
            (Family::Gemm, false, 50),
            (Family::Elementwise, false, 10),
            (Family::Gemm, false, 50),
        ]);
        assert_eq!((runs.chains, runs.fusable_ns, runs.attention_passes), (1, 15, 0));
    }

    #[test]
    fn a_loop_over_many_tensors_is_no_chain() {
        assert_eq!(sweep(&vec![(Family::Elementwise, false, 10); 40]).fusable_ns, 0);
    }
}
