//! Whole reports of a small simulated job, compared with the ones kept in `tests/golden`. After a change that is meant,
//! renew them with `INSTA_UPDATE=always cargo test --test golden` and read the difference.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use stepscope::analysis::{Analysis, Params, analyze};
use stepscope::job::{ExportSummary, Job, JobOptions};
use stepscope::nsys::{LoadOptions, Progress, open};
use stepscope::report::{Capture, Form, Report, compare, info_text, json, report_text};
use stepscope::settings::params_for;
use stepscope::sim::{JobConfig, preset, simulate_to_dir};
use stepscope::trace::Trace;

/// Two ranks, four steps, two layers: small, and everything the report speaks about occurs.
fn job() -> Vec<(Trace, Analysis)> {
    simulated(&JobConfig { steps: 4, layers: 2, hidden: 256, heads: 4, ..JobConfig::default() })
}

fn simulated(config: &JobConfig) -> Vec<(Trace, Analysis)> {
    let folder = tempfile::tempdir().unwrap();
    let job = simulate_to_dir(config, folder.path(), false, &mut |_| {}).unwrap();
    let load = |path: &std::path::PathBuf| {
        let mut trace = open(path, &LoadOptions::default(), &Progress::new()).unwrap();
        // The folder is another one in every run.
        trace.source.path = path.file_name().unwrap().into();
        // The settings that the job comes with; their folder is another one in every run, too.
        let mut params = params_for(path, &Params::default()).unwrap();
        if let Some(experiment) = &mut params.experiment {
            experiment.source = Some("stepscope.toml".into());
        }
        let analysis = analyze(&trace, &params);
        (trace, analysis)
    };
    job.files.iter().map(load).collect()
}

fn captures(job: &[(Trace, Analysis)]) -> Vec<Capture<'_>> {
    job.iter().map(|(trace, analysis)| Capture { trace, analysis }).collect()
}

fn settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("golden");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

#[test]
fn the_report_as_text() {
    let job = job();
    settings().bind(|| insta::assert_snapshot!("report", report_text(&captures(&job))));
}

#[test]
fn the_report_as_json() {
    let job = job();
    let text = json(&Report::of(&captures(&job))).unwrap();
    settings().bind(|| insta::assert_snapshot!("report_json", text));
}

#[test]
fn the_comparison_as_text() {
    let exports = job().iter().map(|(trace, analysis)| Arc::new(ExportSummary::of(trace, analysis))).collect();
    let text = compare::compare(&Job::of(exports, &JobOptions::default()), None, Form::Text).unwrap();
    settings().bind(|| insta::assert_snapshot!("compare", text));
}

#[test]
fn what_is_in_the_files() {
    let job = job();
    settings().bind(|| insta::assert_snapshot!("info", info_text(&captures(&job))));
}

#[test]
fn the_report_in_the_forms_of_documents() {
    let job = job();
    for (form, name) in [(Form::Yaml, "report_yaml"), (Form::Markdown, "report_markdown"), (Form::Html, "report_html")]
    {
        let text = form.write(&captures(&job), None, &[]).unwrap();
        settings().bind(|| insta::assert_snapshot!(name, text));
    }
}

/// Two stages of two ranks, the second stage slower.
fn pipeline() -> Job {
    let config = JobConfig {
        ranks: 4,
        pp: 2,
        micro_batches: 4,
        steps: 3,
        stragglers: vec![2, 3],
        compute_factor: 1.3,
        ..preset("pipeline-8").unwrap()
    };
    let exports = simulated(&config);
    let exports = exports.iter().map(|(trace, analysis)| Arc::new(ExportSummary::of(trace, analysis))).collect();
    Job::of(exports, &JobOptions::default())
}

#[test]
fn ranks_of_a_pipeline_beside_each_other() {
    let job = pipeline();
    for (form, name) in [(Form::Text, "compare_pipeline"), (Form::Markdown, "compare_pipeline_markdown")] {
        let text = compare::compare(&job, None, form).unwrap();
        settings().bind(|| insta::assert_snapshot!(name, text));
    }
    // The whole JSON is long: only what is about the pipeline.
    let text = compare::compare(&job, None, Form::Json).unwrap();
    let mut all: serde_json::Value = serde_json::from_str(&text).unwrap();
    let places: Vec<_> = all["ranks"].as_array_mut().unwrap().iter_mut().map(|rank| rank["place"].take()).collect();
    let kept = serde_json::json!({ "pipeline": all["pipeline"], "places": places });
    settings().bind(|| insta::assert_snapshot!("compare_pipeline_json", serde_json::to_string_pretty(&kept).unwrap()));
}
