//! The `stats` command: summary tables with NVIDIA's names and meanings.

use super::args::{Stats, StatsFormat};
use super::load::{Loaded, load};
use super::run::{CliError, file_of, needed, print};
use super::span::{no_step, parse_span};
use crate::format;
use crate::report::{self, ExportTables, StatsReport, TableForm, check_target};
use crate::stats::{Report, Request, Scope, table};
use crate::units::Span;

/// Rows of a table that text shows unless told otherwise.
const LISTED: usize = 50;

/// The `stats` command.
pub(super) fn stats(options: &Stats) -> Result<(), CliError> {
    let form = form(options)?;
    let requests = requests(options, form)?;
    let span = options.span.as_deref().map(parse_span).transpose()?;
    needed(&options.exports, "stats")?;
    if let Some(path) = file_of(options.output.as_ref()) {
        // Before the work of loading, so that a slip shows at once.
        check_target(path)?;
    }
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
    let text = match form {
        TableForm::Text => report::stats_text(&exports),
        TableForm::Json => report::json(&StatsReport::of(&exports)).map_err(|e| CliError::Print(e.into()))?,
        TableForm::Csv => {
            for line in report::stats_skipped(&exports) {
                eprintln!("stepscope: {line}");
            }
            report::stats_csv(&exports)
        }
    };
    match file_of(options.output.as_ref()) {
        Some(path) => Ok(form.save(&text, path)?),
        None => print(&text),
    }
}

/// The form that was asked for, else the one that the file's ending tells, else text.
fn form(options: &Stats) -> Result<TableForm, CliError> {
    match (options.format, file_of(options.output.as_ref())) {
        (Some(StatsFormat::Text), _) | (None, None) => Ok(TableForm::Text),
        (Some(StatsFormat::Csv), _) => Ok(TableForm::Csv),
        (Some(StatsFormat::Json), _) => Ok(TableForm::Json),
        (None, Some(path)) => Ok(TableForm::of_path(path)?),
    }
}

/// The reports that were asked for, all of them unless some were.
fn requests(options: &Stats, form: TableForm) -> Result<Vec<Request>, CliError> {
    let mut requests: Vec<Request> = match options.reports.as_slice() {
        [] => Report::ALL.map(Request::new).to_vec(),
        names => names
            .iter()
            .map(|name| Request::parse(name).map_err(|e| CliError::Usage(format!("--report: {e}"))))
            .collect::<Result<_, _>>()?,
    };
    if form == TableForm::Text {
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
