//! The settings file, used as a user uses it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::Value;
use std::path::Path;
use stepscope::experiment::counted;
use stepscope::settings::RunSettings;
use stepscope::sim::presets;
use support::{small_job, stepscope};
use tempfile::TempDir;

fn mfu(folder: &Path, arguments: &[&str]) -> Value {
    let output = stepscope(folder).arg("report").args(arguments).arg("--json").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice::<Value>(&output.stdout).unwrap()["mfu"].clone()
}

#[test]
fn settings_beside_the_export_are_found_and_named() {
    let folder = small_job();
    let both = mfu(folder.path(), &["job/rank0.sqlite", "job/rank1.sqlite"]);
    assert_eq!(both["settings"], "job/stepscope.toml");
    assert_eq!(
        (&both["tokens_per_step"], &both["gpus"], &both["gpus_source"]),
        (&32_768.into(), &2.into(), &"given".into())
    );
    let share = both["mfu"].as_f64().unwrap();
    assert!(share > 0.05 && share < 1.0, "{both}");
    for key in ["convention", "model_flops_per_step", "hardware_flops_per_step", "tokens_per_s", "hfu", "peak_source"] {
        assert!(!both[key].is_null(), "{key}");
    }
    assert_eq!(both["peak_tflops"], 312.0);
    let text = stepscope(folder.path()).args(["report", "job/rank0.sqlite"]).output().unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("Settings from job/stepscope.toml") && text.contains("A100 SXM 40GB, bf16, dense"), "{text}");
}

#[test]
fn given_settings_come_before_those_beside_the_export() {
    let folder = small_job();
    let own = "[experiment]\nconvention = 'megatron'\nstep_time_ms = 1000\n[model]\npreset = 'llama-3-8b'\n\
               [batch]\nsequences = 2\nsequence_length = 8192\n[peak]\ntflops = 1000\n";
    std::fs::write(folder.path().join("own.toml"), own).unwrap();
    let got = mfu(folder.path(), &["job/rank0.sqlite", "job/rank1.sqlite", "--settings", "own.toml"]);
    assert_eq!((&got["settings"], &got["convention"]), (&"own.toml".into(), &"megatron".into()));
    // 16 384 tokens of 51.47 GFLOP in a second on the two ranks that are open, at 1000 TFLOPS.
    assert!((got["mfu"].as_f64().unwrap() - 0.4216).abs() < 1e-4, "{got}");
    assert_eq!(got["gpus_source"], "ranks_open");
}

#[test]
fn without_settings_the_numbers_are_unknown_and_asked_for() {
    let folder = small_job();
    std::fs::remove_file(folder.path().join("job/stepscope.toml")).unwrap();
    let got = mfu(folder.path(), &["job/rank0.sqlite"]);
    assert!(got["mfu"].is_null() && got["hfu"].is_null() && got["settings"].is_null(), "{got}");
    let missing = got["missing"].to_string();
    assert!(missing.contains("model.preset") && missing.contains("experiment.dtype"), "{missing}");
    let text = stepscope(folder.path()).args(["report", "job/rank0.sqlite"]).output().unwrap();
    assert!(String::from_utf8(text.stdout).unwrap().contains("stepscope.toml beside the export"));
    assert!(!folder.path().join("job/stepscope.toml").exists(), "nothing is written unasked");
}

#[test]
fn mistakes_in_settings_end_with_code_two_and_say_where() {
    let folder = small_job();
    let cases = [
        ("[experiment]\ndtype = 'bf17'\n", "expected one of `bf16`"),
        ("[experiment]\ngpus = 8\n[parallel]\ndp = 3\n", "parallel.dp x tp x pp x cp must be experiment.gpus"),
        ("[model]\nconfig = 'none.json'\n", "none.json"),
    ];
    for (text, word) in cases {
        std::fs::write(folder.path().join("job/stepscope.toml"), text).unwrap();
        let output = stepscope(folder.path()).args(["report", "job/rank0.sqlite"]).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(2), true), "{message}");
        assert!(message.contains(word), "{word} is missing in {message}");
    }
    let output =
        stepscope(folder.path()).args(["report", "job/rank0.sqlite", "--settings", "gone.toml"]).output().unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().contains("gone.toml"));
}

#[test]
fn a_settings_file_may_hold_kernel_classes() {
    let folder = small_job();
    std::fs::write(folder.path().join("job/stepscope.toml"), "[[rule]]\npattern = '^nccl'\nclass = 'other'\n").unwrap();
    let output = stepscope(folder.path()).args(["report", "job/rank0.sqlite", "--json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["ranks"][0]["comm_kernels"], 0);
}

#[test]
fn the_file_that_lists_every_key_is_right() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/settings.toml")).unwrap();
    let here = Path::new("settings.toml");
    RunSettings::parse(&text, here).unwrap();
    // With every line in force; two of them say the same thing, and one names a file.
    let apart = ["gpu =", "config ="];
    let all: Vec<&str> = text
        .lines()
        .map(|line| {
            line.strip_prefix("# ").filter(|rest| rest.contains(" = ") || rest.starts_with("[[")).unwrap_or(line)
        })
        .filter(|line| !apart.iter().any(|key| line.starts_with(key)))
        .collect();
    let settings = RunSettings::parse(&all.join("\n"), here).unwrap();
    let said = format!("{:?}", settings.experiment);
    let said = said.replace("from_config: None", "").replace("config: None", "").replace("gpu: None", "");
    assert!(!said.contains("None"), "{said}");
    for key in apart {
        assert!(text.contains(&format!("# {key}")), "{key}");
    }
}

#[test]
fn a_demo_does_not_replace_settings_that_are_there() {
    let folder = TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("job")).unwrap();
    std::fs::write(folder.path().join("job/stepscope.toml"), "# mine\n").unwrap();
    let output = stepscope(folder.path()).args(["demo", "--steps", "1", "-o", "job"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(folder.path().join("job/stepscope.toml")).unwrap(), "# mine\n");
}

#[test]
fn every_simulated_job_comes_with_settings_that_fit_it() {
    for preset in presets() {
        let text = preset.config.run_settings();
        let settings = RunSettings::parse(&text, Path::new("stepscope.toml")).unwrap();
        let experiment = &settings.experiment;
        let model = counted(&experiment.model).unwrap();
        let (h, layers) = (f64::from(preset.config.hidden), f64::from(preset.config.layers));
        let tables = if preset.config.pp == 1 { 1.0 } else { 2.0 };
        let expected = layers * (12.0 * h * h + 13.0 * h) + tables * f64::from(preset.config.vocab) * h + 2.0 * h;
        assert_eq!(model.parameters, Some(expected), "{}", preset.name);
        assert_eq!(experiment.gpus(1).0, u64::from(preset.config.ranks), "{}", preset.name);
    }
}
