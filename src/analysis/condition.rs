//! Conditions on the numbers of a report, such as `exposed > 10%`: what can be asked for, and whether it holds.

use super::{Area, Cause, Causes, Limit, Mfu, Partition, RankAnalysis};
use crate::units::share;

/// A number that a condition can be put on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Time covered by compute.
    Compute,
    /// Compute without communication.
    ComputeOnly,
    /// Communication hidden behind compute.
    Overlapped,
    /// Communication without compute.
    Exposed,
    /// Communication without compute and without copies.
    ExposedAlone,
    /// Time covered by communication.
    Comm,
    /// Copies without kernels.
    Copy,
    /// Nothing ran.
    Idle,
    /// Idle time of one cause.
    Cause(Cause),
    /// A loss that the verdict weighs: the pipeline's bubble, or what the host is to blame for.
    Loss(Area),
    /// Median step.
    StepTime,
    /// Model FLOPs utilisation.
    Mfu,
    /// Hardware FLOPs utilisation.
    Hfu,
    /// Tokens per second, over all GPUs.
    TokensPerSecond,
}

/// What a metric's limit may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limits {
    /// A share of the step in percent, or a time per step.
    ShareOrTime,
    /// A time.
    Time,
    /// Percent.
    Percent,
    /// A plain number.
    Number,
}

impl Limits {
    /// How such a limit is written.
    pub const fn text(self) -> &'static str {
        match self {
            Self::ShareOrTime => "percent of the step or time per step, such as 10% or 5ms",
            Self::Time => "time, such as 250ms",
            Self::Percent => "percent, such as 40%",
            Self::Number => "a number, such as 12000",
        }
    }
}

impl Metric {
    /// All of them, in the order of the documentation.
    pub fn all() -> impl Iterator<Item = Self> {
        let parts = [
            Self::Exposed,
            Self::ExposedAlone,
            Self::Overlapped,
            Self::Comm,
            Self::Compute,
            Self::ComputeOnly,
            Self::Copy,
            Self::Idle,
        ];
        let job = [Self::StepTime, Self::Mfu, Self::Hfu, Self::TokensPerSecond];
        let losses = [Self::Loss(Area::Host), Self::Loss(Area::Bubble)];
        parts.into_iter().chain(Cause::ALL.map(Self::Cause)).chain(losses).chain(job)
    }

    /// Stable word.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::ComputeOnly => "compute_only",
            Self::Overlapped => "overlapped",
            Self::Exposed => "exposed",
            Self::ExposedAlone => "exposed_alone",
            Self::Comm => "comm",
            Self::Copy => "copy",
            Self::Idle => "idle",
            Self::Cause(cause) => cause.key(),
            Self::Loss(area) => area.key(),
            Self::StepTime => "step_time",
            Self::Mfu => "mfu",
            Self::Hfu => "hfu",
            Self::TokensPerSecond => "tokens_per_second",
        }
    }

    /// What it is, in a few words.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Compute => "compute ran, with communication or without",
            Self::ComputeOnly => "compute ran and no communication",
            Self::Overlapped => "communication ran beside compute",
            Self::Exposed => "communication ran and no compute kernel",
            Self::ExposedAlone => "communication ran and nothing else, no copy either",
            Self::Comm => "communication ran, exposed or overlapped",
            Self::Copy => "a copy or fill ran and no kernel",
            Self::Idle => "nothing ran",
            Self::Cause(_) => "idle time of this cause",
            Self::Loss(Area::Bubble) => "the pipeline's bubble, with pipeline parallelism",
            Self::Loss(_) => "idle time that the host is to blame for",
            Self::StepTime => "median step",
            Self::Mfu => "model FLOPs utilisation of the job",
            Self::Hfu => "hardware FLOPs utilisation of the job",
            Self::TokensPerSecond => "tokens per second of the job",
        }
    }

    /// What a limit on it may be.
    pub const fn limits(self) -> Limits {
        match self {
            Self::StepTime => Limits::Time,
            Self::Mfu | Self::Hfu => Limits::Percent,
            Self::TokensPerSecond => Limits::Number,
            _ => Limits::ShareOrTime,
        }
    }

    /// True when a capture with this limit does not tell it.
    pub const fn is_spoilt_by(self, limit: Limit) -> bool {
        match self {
            Self::Cause(_) | Self::Loss(_) => limit.spoils_causes(),
            _ => limit.spoils_parts(),
        }
    }

    /// True for a number of the whole job, false for one of each rank.
    pub const fn is_of_job(self) -> bool {
        matches!(self, Self::Mfu | Self::Hfu | Self::TokensPerSecond)
    }

    const fn ns(self, parts: &Partition, causes: &Causes) -> i64 {
        match self {
            Self::Compute => parts.compute_ns(),
            Self::ComputeOnly => parts.compute_only_ns,
            Self::Overlapped => parts.overlapped_comm_ns,
            Self::Exposed => parts.exposed_comm_ns,
            Self::ExposedAlone => parts.comm_alone_ns,
            Self::Comm => parts.comm_ns,
            Self::Copy => parts.copy_only_ns,
            Self::Idle => parts.idle_ns,
            Self::Cause(cause) => causes.of(cause),
            Self::Loss(_) | Self::StepTime | Self::Mfu | Self::Hfu | Self::TokensPerSecond => parts.span_ns,
        }
    }
}

/// How a value is compared with its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

impl Relation {
    /// The longer signs first, so that the first that matches is the one meant.
    const SIGNS: [(&'static str, Self); 4] =
        [(">=", Self::AtLeast), ("<=", Self::AtMost), (">", Self::Above), ("<", Self::Below)];

    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Above => value > limit,
            Self::AtLeast => value >= limit,
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
        }
    }
}

/// A value in the unit of a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// A share, 0 to 1.
    Share(f64),
    /// Nanoseconds.
    Ns(f64),
    /// A plain number.
    Number(f64),
}

impl Amount {
    const fn value(self) -> f64 {
        match self {
            Self::Share(value) | Self::Ns(value) | Self::Number(value) => value,
        }
    }
}

/// What a value was taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The mean of so many typical steps.
    TypicalStep(u64),
    /// The rank's whole span: no steps are marked.
    WholeSpan,
    /// The job.
    Job,
}

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// What is asked about.
    pub metric: Metric,
    relation: Relation,
    limit: Amount,
    text: String,
}

/// Why a text is no condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// No comparison.
    #[error("{text:?} compares nothing: write a metric, one of > >= < <=, and a limit, such as 'exposed > 10%'")]
    NoRelation {
        /// What was written.
        text: String,
    },
    /// No such metric.
    #[error("there is no metric {name:?}: the metrics are {}", Metric::all().map(Metric::key).collect::<Vec<_>>().join(", "))]
    NoMetric {
        /// What was written.
        name: String,
    },
    /// A limit without the right unit.
    #[error("{limit:?} is no limit for {}: write {}", metric.key(), metric.limits().text())]
    NoLimit {
        /// The metric.
        metric: Metric,
        /// What was written.
        limit: String,
    },
}

impl Condition {
    /// Reads a metric, a comparison and a limit.
    ///
    /// # Errors
    /// When one of them is missing or unknown.
    pub fn parse(text: &str) -> Result<Self, ConditionError> {
        let found = text.find(['<', '>']).and_then(|at| {
            let (name, rest) = text.split_at(at);
            let signs = Relation::SIGNS.into_iter();
            let (relation, limit) = signs.filter_map(|(sign, of)| Some((of, rest.strip_prefix(sign)?))).next()?;
            Some((name.trim(), relation, limit.trim()))
        });
        let (name, relation, limit) = found.ok_or_else(|| ConditionError::NoRelation { text: text.to_owned() })?;
        let metric = Metric::all()
            .find(|metric| metric.key() == name)
            .ok_or_else(|| ConditionError::NoMetric { name: name.to_owned() })?;
        let limit = amount(limit)
            .filter(|amount| {
                matches!(
                    (metric.limits(), amount),
                    (Limits::ShareOrTime, Amount::Share(_) | Amount::Ns(_))
                        | (Limits::Time, Amount::Ns(_))
                        | (Limits::Percent, Amount::Share(_))
                        | (Limits::Number, Amount::Number(_))
                )
            })
            .ok_or_else(|| ConditionError::NoLimit { metric, limit: limit.to_owned() })?;
        Ok(Self { metric, relation, limit, text: text.trim().to_owned() })
    }

    /// The condition as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True when `value` meets the condition.
    pub fn holds(&self, value: Amount) -> bool {
        self.relation.holds(value.value(), self.limit.value())
    }

    /// The rank's value, in the unit of the limit, and what it is of; `None` when the rank has none: a step time without
    /// steps, a number of the job, a number that the capture puts in doubt. Estimated steps are no steps.
    pub fn of_rank(&self, numbers: &RankAnalysis) -> Option<(Amount, Subject)> {
        if numbers.diagnosis.doubt.is_some_and(|doubt| self.metric.is_spoilt_by(doubt)) {
            return None;
        }
        let typical = numbers.steps.as_ref().filter(|steps| !steps.estimated).map(|steps| &steps.typical);
        if self.metric == Metric::StepTime {
            let typical = typical?;
            return Some((Amount::Ns(typical.median_span_ns as f64), Subject::TypicalStep(typical.count)));
        }
        if self.metric.is_of_job() {
            return None;
        }
        let (parts, causes, subject) = match typical {
            Some(typical) => (typical.mean, typical.causes, Subject::TypicalStep(typical.count)),
            None => (numbers.whole, numbers.idle.within(numbers.span), Subject::WholeSpan),
        };
        let ns = match self.metric {
            Metric::Loss(area) => numbers.diagnosis.verdict.as_ref()?.losses.of_area(area),
            metric => metric.ns(&parts, &causes),
        };
        let amount = match self.limit {
            Amount::Share(_) => Amount::Share(share(ns, parts.span_ns)?),
            Amount::Ns(_) | Amount::Number(_) => Amount::Ns(ns as f64),
        };
        Some((amount, subject))
    }

    /// The job's value; `None` when it is not known, or a number of each rank.
    pub fn of_job(&self, mfu: &Mfu) -> Option<(Amount, Subject)> {
        let amount = match self.metric {
            Metric::Mfu => Amount::Share(mfu.mfu?),
            Metric::Hfu => Amount::Share(mfu.hfu?),
            Metric::TokensPerSecond => Amount::Number(mfu.tokens_per_s?),
            _ => return None,
        };
        Some((amount, Subject::Job))
    }
}

/// A limit with its unit.
fn amount(text: &str) -> Option<Amount> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    if let Some(percent) = text.strip_suffix('%') {
        return Some(Amount::Share(number(percent)? / 100.0));
    }
    for (unit, ns) in [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)] {
        if let Some(value) = text.strip_suffix(unit) {
            return Some(Amount::Ns(number(value)? * ns));
        }
    }
    number(text).map(Amount::Number)
}

#[cfg(test)]
mod tests {
    use super::super::{Params, analyze};
    use super::*;
    use crate::trace::testing::Fixture;

    #[test]
    fn a_condition_is_a_metric_a_comparison_and_a_limit() {
        let parsed = Condition::parse(" exposed>=10 % ").unwrap();
        assert_eq!(
            (parsed.metric, parsed.relation, parsed.limit),
            (Metric::Exposed, Relation::AtLeast, Amount::Share(0.1))
        );
        assert_eq!(parsed.text(), "exposed>=10 %");
        assert_eq!(Condition::parse("step_time < 1.5s").unwrap().limit, Amount::Ns(1.5e9));
        assert_eq!(Condition::parse("host_code<=250us").unwrap().metric, Metric::Cause(Cause::HostCode));
    }

    #[test]
    fn what_makes_no_sense_is_told_with_what_would() {
        let error = |text: &str| Condition::parse(text).unwrap_err().to_string();
        assert!(error("exposed 10%").contains("'exposed > 10%'"));
        let unknown = error("exposure > 10%");
        assert!(
            unknown.contains("\"exposure\"") && unknown.contains("exposed, ") && unknown.contains("launch_latency")
        );
        for (text, word) in [
            ("exposed > 10", "10% or 5ms"),
            ("step_time > 10%", "250ms"),
            ("mfu < 5ms", "40%"),
            ("tokens_per_second < 5%", "12000"),
            ("idle > ", "10% or 5ms"),
            ("idle > nan%", "10% or 5ms"),
        ] {
            assert!(error(text).contains(word), "{text}: {}", error(text));
        }
    }

    #[test]
    fn every_metric_has_a_word_of_its_own() {
        let mut keys: Vec<&str> = Metric::all().map(Metric::key).collect();
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn without_steps_the_whole_span_is_the_subject() {
        let trace = Fixture::new().kernel("gemm", 7, 0, 75).kernel("gemm", 7, 95, 100).build();
        let analysis = analyze(&trace, &Params::default());
        let value = |text: &str| Condition::parse(text).unwrap().of_rank(&analysis.ranks[0]);
        assert_eq!(value("idle > 10%"), Some((Amount::Share(0.2), Subject::WholeSpan)));
        assert_eq!(value("idle > 10ns"), Some((Amount::Ns(20.0), Subject::WholeSpan)));
        assert_eq!(value("step_time > 10ns"), None);
        assert!(Condition::parse("idle >= 20%").unwrap().holds(Amount::Share(0.2)));
        assert!(!Condition::parse("idle > 20%").unwrap().holds(Amount::Share(0.2)));
    }
}
