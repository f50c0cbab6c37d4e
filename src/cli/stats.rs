//! The `stats` command: summary tables with NVIDIA's names and meanings.

use super::args::{Stats, StatsFormat};
use super::load::{Loaded, load};
use super::run::{CliError, needed, print};
use super::span::{no_step, parse_span};
use crate::format;
use crate::report::{self, ExportTables, StatsReport};
use crate::stats::{Report, Request, Scope, table};
use crate::units::Span;

/// Rows of a table that text shows unless told otherwise.
const LISTED: usize = 50;

/// The `stats` command.
pub(super) fn stats(options: &Stats) -> Result<(), CliError> {
    let requests = requests(options)?;
    let span = options.span.as_deref().map(parse_span).transpose()?;
    needed(&options.exports, "stats")?;
    let loaded = load(&options.exports, &options.reading)?;
    let scopes = scopes(&loaded, options.step, span)?;
    let scope_text = match (options.step, &options.span) {
        (Some(step), _) => format!("step {step}"),
        (None, Some(span)) => span.clone(),
        (None, None) => "whole capture".to_owned(),
    };
    let of = |(loaded, scope): (&Loaded, &Scope)| ExportTables {
        path: loaded.trace.source.path.display().to_string(),
        scope: scope_text.clone(),
        tables: requests.iter().map(|request| table(&loaded.trace, request, scope)).collect(),
    };
    let exports: Vec<ExportTables> = loaded.iter().zip(&scopes).map(of).collect();
    match options.format {
        StatsFormat::Text => print(&report::stats_text(&exports)),
        StatsFormat::Json => print(&report::json(&StatsReport::of(&exports)).map_err(|e| CliError::Print(e.into()))?),
        StatsFormat::Csv => {
            for line in report::stats_skipped(&exports) {
                eprintln!("stepscope: {line}");
            }
            print(&report::stats_csv(&exports))
        }
    }
}

/// The reports that were asked for, all of them unless some were.
fn requests(options: &Stats) -> Result<Vec<Request>, CliError> {
    let mut requests: Vec<Request> = match options.reports.as_slice() {
        [] => Report::ALL.map(Request::new).to_vec(),
        names => names
            .iter()
            .map(|name| Request::parse(name).map_err(|e| CliError::Usage(format!("--report: {e}"))))
            .collect::<Result<_, _>>()?,
    };
    if options.format == StatsFormat::Text {
        for request in &mut requests {
            request.rows = request.rows.or(Some(LISTED));
        }
    }
    Ok(requests)
}

/// Which rows of each export count.
fn scopes(loaded: &[Loaded], step: Option<i64>, span: Option<Span>) -> Result<Vec<Scope>, CliError> {
    if let Some(number) = step {
        let (mut scopes, mut known) = (Vec::new(), Vec::new());
        for one in loaded {
            match Scope::step(&one.trace, &one.analysis, number) {
                Ok(scope) => scopes.push(scope),
                Err(no_step) => known.extend(no_step.known),
            }
        }
        return if scopes.len() == loaded.len() { Ok(scopes) } else { Err(no_step(number, &known)) };
    }
    let Some(span) = span else { return Ok(loaded.iter().map(|one| Scope::whole(&one.trace)).collect()) };
    let of = |one: &Loaded| {
        let whole = one.trace.span.unwrap_or_default();
        let own = span.shifted(whole.start_ns);
        match own.intersect(whole) {
            Some(_) => Ok(Scope::span(&one.trace, own)),
            None => Err(CliError::Usage(format!(
                "--span lies outside {}, which is {} long",
                one.trace.source.path.display(),
                format::duration(whole.len_ns())
            ))),
        }
    };
    loaded.iter().map(of).collect()
}
