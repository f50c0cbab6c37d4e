//! What the user asks for: a report and its settings, written as NVIDIA writes them: `gpu_gaps:gap=5:rows=10`.

use super::Report;

/// A report and its settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// The report.
    pub report: Report,
    /// Most rows; `None` for all.
    pub rows: Option<usize>,
    /// `cuda_gpu_kern_sum:base`: group kernels by their names without template arguments.
    pub base: bool,
    /// `cuda_api_sync:all`: every call that waits, not NVIDIA's selection only.
    pub every_sync: bool,
    /// `gpu_gaps:gap=MS`: shortest gap listed, in nanoseconds.
    pub gap_ns: i64,
    /// `gpu_time_util:threshold=PERCENT`: parts that were used less are listed.
    pub threshold: f64,
    /// `gpu_time_util:chunks=N`: equal parts that the time of a GPU is cut into.
    pub chunks: u32,
}

/// Why a request makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// No such report.
    #[error("there is no report {name}: the reports are {}", Report::names())]
    Report {
        /// What was asked for.
        name: String,
    },
    /// No such setting, or a value it cannot take.
    #[error("{report} does not take {setting}: {}", Report::parse(.report).map_or("", Report::settings))]
    Setting {
        /// The report.
        report: String,
        /// The setting as it was written.
        setting: String,
    },
}

impl Request {
    /// The report with its usual settings.
    pub const fn new(report: Report) -> Self {
        Self { report, rows: None, base: false, every_sync: false, gap_ns: 1_000_000, threshold: 50.0, chunks: 30 }
    }

    /// Reads `name[:setting]...`.
    ///
    /// # Errors
    /// When there is no such report or setting.
    pub fn parse(text: &str) -> Result<Self, RequestError> {
        let mut words = text.trim().split(':');
        let name = words.next().unwrap_or("");
        let report = Report::parse(name).ok_or_else(|| RequestError::Report { name: name.to_owned() })?;
        let mut request = Self::new(report);
        for setting in words {
            request
                .set(setting)
                .ok_or_else(|| RequestError::Setting { report: name.to_owned(), setting: setting.to_owned() })?;
        }
        Ok(request)
    }

    fn set(&mut self, setting: &str) -> Option<()> {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        let number = || value.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        match (self.report, key) {
            (_, "rows") => self.rows = Some(value.parse().ok()?),
            (Report::CudaGpuKernSum, "base") if value.is_empty() => self.base = true,
            (Report::CudaApiSync, "all") if value.is_empty() => self.every_sync = true,
            (Report::GpuGaps, "gap") => self.gap_ns = (number()? * 1e6) as i64,
            (Report::GpuTimeUtil, "threshold") => self.threshold = number()?,
            (Report::GpuTimeUtil, "chunks") => {
                self.chunks = value.parse().ok().filter(|chunks| (1..=100_000).contains(chunks))?;
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_follow_the_name() {
        let request = Request::parse("gpu_gaps:gap=0.5:rows=10").unwrap();
        assert_eq!((request.report, request.gap_ns, request.rows), (Report::GpuGaps, 500_000, Some(10)));
        assert!(Request::parse("cuda_gpu_kern_sum:base").unwrap().base);
        let request = Request::parse("gpu_time_util:threshold=100:chunks=7").unwrap();
        assert_eq!((request.threshold, request.chunks), (100.0, 7));
    }

    #[test]
    fn what_is_unknown_is_told_with_what_there_is() {
        let error = Request::parse("kernels").unwrap_err().to_string();
        assert!(error.contains("no report kernels") && error.contains("cuda_gpu_kern_sum"), "{error}");
        for wrong in
            ["gpu_gaps:gap=x", "gpu_gaps:gap=-1", "gpu_time_util:chunks=0", "gpu_gaps:base", "nvtx_sum:rows=-1"]
        {
            let error = Request::parse(wrong).unwrap_err().to_string();
            assert!(error.contains("does not take") && error.contains("rows=N"), "{wrong}: {error}");
        }
    }
}
