//! What one GPU could do at most: typed, by the table for a chosen card, or for the one that the capture names.

use super::{Mfu, Missing};
use crate::analysis::Analysis;
use crate::experiment::{Dtype, Experiment, GpuSpec, NoRow};
use crate::trace::Trace;
use std::collections::BTreeSet;

/// Peak of one GPU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// TFLOPS.
    pub tflops: f64,
    /// Row of the table; `None` when the user typed the number.
    pub row: Option<&'static GpuSpec>,
    /// Number format that it holds for; `None` when neither the table nor the user says.
    pub dtype: Option<Dtype>,
    /// With structured sparsity.
    pub sparse: bool,
    /// The user chose the row; else the capture names the GPU.
    pub chosen: bool,
}

impl Mfu {
    pub(super) fn add_peak(&mut self, captures: &[(&Trace, &Analysis)], said: &Experiment) {
        if let Some(tflops) = said.peak.tflops {
            let (dtype, sparse) = (said.run.dtype, said.peak.sparse);
            self.peak = Some(Peak { tflops, row: None, dtype, sparse, chosen: true });
            return;
        }
        let Some(dtype) = said.run.dtype else {
            self.missing.push(Missing::Dtype);
            return;
        };
        let names = match &said.peak.gpu {
            Some(name) => BTreeSet::from([name.as_str()]),
            None => gpu_names(captures),
        };
        let found: Result<Vec<Peak>, Missing> =
            names.iter().map(|name| peak(name, dtype, said.peak.sparse, said.peak.gpu.is_some())).collect();
        match found.as_deref() {
            Err(missing) => self.missing.push(missing.clone()),
            Ok([]) => self.missing.push(Missing::GpuNotNamed),
            Ok([first, rest @ ..]) if rest.iter().all(|peak| peak.tflops.total_cmp(&first.tflops).is_eq()) => {
                self.peak = Some(*first);
            }
            Ok(_) => self.missing.push(Missing::GpusDiffer(names.into_iter().map(str::to_owned).collect())),
        }
    }
}

/// Names of the GPUs that the ranks ran on.
fn gpu_names<'a>(captures: &[(&'a Trace, &'a Analysis)]) -> BTreeSet<&'a str> {
    let of = |trace: &'a Trace| trace.ranks.iter().filter_map(|rank| trace.gpus.get(rank.gpu?));
    captures.iter().flat_map(|(trace, _)| of(trace)).map(|gpu| gpu.name.as_str()).collect()
}

fn peak(name: &str, dtype: Dtype, sparse: bool, chosen: bool) -> Result<Peak, Missing> {
    let row = GpuSpec::of(name).map_err(|why| match why {
        NoRow::Unknown => Missing::GpuUnknown(name.to_owned()),
        NoRow::Slice => Missing::GpuSlice(name.to_owned()),
    })?;
    if row.peak_tflops(dtype, false).is_none() {
        return Err(Missing::NoPeak(row.name, dtype));
    }
    let tflops = row.peak_tflops(dtype, sparse).ok_or(Missing::NoSparsePeak(row.name, dtype))?;
    Ok(Peak { tflops, row: Some(row), dtype: Some(dtype), sparse, chosen })
}
