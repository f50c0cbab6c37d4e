//! The `report` command: the numbers in any form, to the terminal or a file, and conditions on them.

use super::args::ReportArgs;
use super::load::{Loaded, load};
use super::run::{CliError, captures, file_of, needed, print};
use crate::analysis::{Amount, Condition, Limit, Metric, Mfu, Subject};
use crate::format;
use crate::report::{Form, Picture, check_target};

/// The `report` command.
pub(super) fn report(options: &ReportArgs) -> Result<(), CliError> {
    let conditions = options.fail_if.iter().map(|text| Condition::parse(text)).collect::<Result<Vec<_>, _>>();
    let conditions = conditions.map_err(|e| CliError::Usage(format!("--fail-if: {e}")))?;
    let form = form(options)?;
    needed(&options.exports, "report")?;
    if let Some(path) = file_of(options.output.as_ref()) {
        // Before the work of loading, so that a slip shows at once.
        check_target(path)?;
    }
    let loaded = load(&options.exports, &options.reading)?;
    let met = met(&conditions, &loaded)?;
    let pictures = if form == Form::Html { pictures(&loaded) } else { Vec::new() };
    let text = form.write(&captures(&loaded), None, &pictures)?;
    match file_of(options.output.as_ref()) {
        Some(path) => form.save(&text, path)?,
        None => print(&text)?,
    }
    if met.is_empty() { Ok(()) } else { Err(CliError::ConditionMet(met)) }
}

/// The form that was asked for, else the one that the file's ending tells, else text.
fn form(options: &ReportArgs) -> Result<Form, CliError> {
    let asked = [
        (options.json, Form::Json),
        (options.yaml, Form::Yaml),
        (options.markdown, Form::Markdown),
        (options.html, Form::Html),
    ];
    match (asked.into_iter().find(|(asked, _)| *asked), file_of(options.output.as_ref())) {
        (Some((_, form)), _) => Ok(form),
        (None, Some(path)) => Ok(Form::of_path(path)?),
        (None, None) => Ok(Form::Text),
    }
}

#[cfg(feature = "gui")]
fn pictures(loaded: &[Loaded]) -> Vec<Picture> {
    use crate::view::Workspace;
    let workspace = Workspace::new(loaded.iter().map(|l| (l.trace.clone(), l.analysis.clone())));
    crate::app::picture::for_report(&workspace)
}

#[cfg(not(feature = "gui"))]
fn pictures(_loaded: &[Loaded]) -> Vec<Picture> {
    Vec::new()
}

/// What there is to tell of every condition that holds, on any rank or for the job.
fn met(conditions: &[Condition], loaded: &[Loaded]) -> Result<Vec<String>, CliError> {
    if conditions.is_empty() {
        return Ok(Vec::new());
    }
    let captures = captures(loaded);
    let pairs: Vec<_> = captures.iter().map(|c| (c.trace, c.analysis)).collect();
    let mfu = Mfu::of(&pairs, Mfu::experiment_of(&pairs));
    let (mut met, mut unknown) = (Vec::new(), Vec::new());
    for condition in conditions {
        let mut add = |who: &str, value: Option<(Amount, Subject)>, doubt: Option<Limit>| match value {
            Some((value, subject)) => met.extend(condition.holds(value).then(|| told(condition, who, value, subject))),
            None => unknown.push(not_known(condition, who, &mfu, doubt)),
        };
        if condition.metric.is_of_job() {
            add("the job", condition.of_job(&mfu), None);
            continue;
        }
        let mut any = false;
        for (rank, numbers) in captures.iter().flat_map(|c| c.trace.ranks.iter().zip(&c.analysis.ranks)) {
            any = true;
            let who = format!("rank {}", format::one_line(&rank.label, 80));
            add(&who, condition.of_rank(numbers), numbers.diagnosis.doubt);
        }
        if !any {
            unknown.push(format!("--fail-if {}: no GPU work was recorded", condition.text()));
        }
    }
    if unknown.is_empty() {
        return Ok(met);
    }
    // What is known to hold is told all the same.
    unknown.extend(met.into_iter().map(|met| format!("it holds: {met}")));
    unknown.push("the report was not written: leave --fail-if out to get it".to_owned());
    Err(CliError::Usage(unknown.join("\n")))
}

/// A value that is not known can neither meet nor miss a condition.
fn not_known(condition: &Condition, who: &str, mfu: &Mfu, doubt: Option<Limit>) -> String {
    let spoilt = doubt.filter(|doubt| condition.metric.is_spoilt_by(*doubt));
    let why = match condition.metric {
        _ if spoilt.is_some() => {
            spoilt.map_or_else(String::new, |limit| format!("{} Next time: {}", limit.consequence(), limit.remedy()))
        }
        Metric::StepTime => {
            "no steps are marked (mark them with NVTX ranges, or name them with --step-regex)".to_owned()
        }
        metric if metric.is_of_job() => crate::report::mfu::missing_text_of(mfu),
        _ => "it took no time".to_owned(),
    };
    format!("--fail-if {}: {} of {who} is not known: {why}", condition.text(), condition.metric.key())
}

fn told(condition: &Condition, who: &str, value: Amount, subject: Subject) -> String {
    let value = match value {
        Amount::Share(share) => format::percent(Some(share)),
        Amount::Ns(ns) => format::duration_f(ns),
        Amount::Number(number) => format::decimal(number, 1),
    };
    let of = match subject {
        Subject::TypicalStep(count) => format!(", typical step ({} counted)", format::count(count)),
        Subject::WholeSpan => ", whole span (no steps are marked)".to_owned(),
        Subject::Job => String::new(),
    };
    format!("{}: {who}{of}: {} is {value}", condition.text(), condition.metric.key())
}

/// All metrics with what they are and take: for `--help`.
pub(super) fn help() -> String {
    let mut text = String::from(
        "Conditions: METRIC > >= < <= LIMIT, such as --fail-if 'exposed > 10%' --fail-if 'step_time > 250ms'.\n\
         A rank's values are those of its typical step, or of its whole span when no steps are marked.\n\
         The exit code is 1 when a condition holds on any rank, 2 when a value is not known.\n\nMetrics:\n",
    );
    for metric in Metric::all() {
        let (key, about, limits) = (metric.key(), metric.about(), metric.limits().text());
        let about = match metric {
            Metric::Cause(cause) => format!("{about}: {}", cause.text()),
            _ => about.to_owned(),
        };
        text.push_str(&format!("  {key:<18} {about} ({limits})\n"));
    }
    text
}
