//! The MFU tab: asked for, typed, chosen, saved and loaded.

use crate::harness::Driven;
use egui::accesskit::Role;
use egui_kittest::kittest::Queryable as _;
use stepscope::experiment::{Batch, Convention, Dtype, Experiment, Model, Parallel, Run};
use stepscope::format;
use stepscope::view::{Command, Panel};

/// A small GPT that fits the steps of the job.
fn experiment() -> Experiment {
    Experiment {
        run: Run { dtype: Some(Dtype::Bf16), ..Run::default() },
        model: Model { preset: Some("gpt2-124m".to_owned()), ..Model::default() },
        batch: Batch { sequences: Some(2), sequence_length: Some(256), ..Batch::default() },
        ..Experiment::default()
    }
}

fn open(width_pt: f32, height_pt: f32) -> Driven {
    let mut driven = Driven::empty(width_pt, height_pt);
    driven.send(Command::OpenDemo);
    driven.wait(|window| !window.state().workspace.docs.is_empty());
    driven.send(Command::ShowPanel(Panel::Mfu));
    driven
}

fn type_into(driven: &mut Driven, label: &str, text: &str) {
    driven.harness.get_by_role_and_label(Role::TextInput, label).focus();
    driven.settle();
    driven.harness.get_by_role_and_label(Role::TextInput, label).type_text(text);
    driven.settle();
}

#[test]
fn what_is_missing_is_asked_for_and_nothing_is_made_up() {
    let driven = open(1280.0, 1600.0);
    assert_eq!(driven.window().state().workspace.mfu.mfu, None);
    for text in ["The model is not known", "give Batch › Length", "give Run › Number format", "Load config.json…"]
    {
        assert!(driven.shows(text), "{text}");
    }
    for key in ["batch.sequence", "experiment.dtype", "model.preset"] {
        assert!(!driven.shows(key), "{key} is a name of the file");
    }
}

#[test]
fn typed_settings_take_effect_and_the_overview_shows_the_same_number() {
    let mut driven = open(1280.0, 1600.0);
    for (label, text) in [("Parameters", "125e6"), ("Sequences", "2"), ("Length", "256"), ("TFLOPS", "312")] {
        if label == "TFLOPS" {
            driven.click("Peak");
        }
        type_into(&mut driven, label, text);
    }
    let mfu = driven.window().state().workspace.mfu.clone();
    assert_eq!((mfu.tokens_per_step, mfu.convention), (Some(512), Some(Convention::Rough)));
    let text = format::percent(mfu.mfu);
    assert!(mfu.mfu.is_some() && driven.shows(&text), "{text} {mfu:?}");
    driven.send(Command::ShowPanel(Panel::Overview));
    assert!(driven.shows(&text) && driven.shows("How it is computed"));
}

#[test]
fn settings_that_make_no_sense_say_so_and_change_nothing() {
    let mut driven = open(1280.0, 1600.0);
    driven.send(Command::SetExperiment(Box::new(experiment())));
    let before = driven.window().state().workspace.mfu.clone();
    type_into(&mut driven, "Layers", "many");
    assert!(driven.shows("must be a whole number") && driven.shows("Not used yet"));
    assert_eq!(driven.window().state().workspace.mfu, before);
}

#[test]
fn a_convention_is_chosen_by_a_click() {
    let mut driven = open(1280.0, 1600.0);
    driven.send(Command::SetExperiment(Box::new(experiment())));
    assert_eq!(driven.window().state().workspace.mfu.convention, Some(Convention::Palm));
    let full = driven.window().state().workspace.mfu.mfu.unwrap();
    driven.click("Megatron-LM (causal)");
    let mfu = &driven.window().state().workspace.mfu;
    assert_eq!(mfu.convention, Some(Convention::Megatron));
    assert!(mfu.mfu.unwrap() < full && driven.shows("attention causal"));
}

#[test]
fn settings_are_saved_and_loaded_and_files_of_others_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stepscope.toml");
    let mut driven = open(1280.0, 900.0);
    driven.send(Command::SetExperiment(Box::new(experiment())));
    let mfu = driven.window().state().workspace.mfu.mfu;
    driven.send(Command::SaveSettingsTo(path.clone()));
    assert!(driven.shows("Saved") && driven.shows("Settings from"));
    driven.send(Command::CloseAll);
    driven.send(Command::OpenDemo);
    driven.wait(|window| !window.state().workspace.docs.is_empty());
    assert_eq!(driven.window().state().workspace.mfu.mfu, None, "what was said of other captures is forgotten");
    driven.send(Command::LoadSettingsFrom(path));
    assert_eq!(driven.window().state().workspace.mfu.mfu, mfu);
    let other = folder.path().join("Cargo.toml");
    std::fs::write(&other, "[package]\n").unwrap();
    driven.send(Command::SaveSettingsTo(other.clone()));
    assert!(driven.shows("The settings were not saved") && driven.shows("is no settings file"));
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "[package]\n");
}

#[test]
fn changed_settings_are_marked_until_saved_or_reverted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stepscope.toml");
    let mut driven = open(1280.0, 1600.0);
    assert!(!driven.shows("Edited, not saved"));
    driven.send(Command::SetExperiment(Box::new(experiment())));
    assert!(driven.shows("Edited, not saved"));
    driven.send(Command::SaveSettingsTo(path));
    assert!(!driven.shows("Edited, not saved"));
    type_into(&mut driven, "Micro-batch", "2");
    assert!(driven.shows("Edited, not saved"));
    driven.click("Revert");
    assert!(!driven.shows("Edited, not saved") && !driven.shows(", edited"));
    let batch = &driven.window().state().workspace.experiment.as_ref().unwrap().batch;
    assert_eq!(batch.micro_batch, None);
}

#[test]
fn loaded_kernel_classes_and_thresholds_judge_what_is_open_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stepscope.toml");
    let mut driven = open(1280.0, 900.0);
    let compute = |driven: &Driven| {
        let docs = &driven.window().state().workspace.docs;
        docs.iter().map(|doc| doc.analysis.ranks[0].counts.comm_kernels).collect::<Vec<_>>()
    };
    let (view, before) = (driven.window().state().view.viewport, compute(&driven));
    std::fs::write(&path, "[thresholds]\nverdict_share = 0.9\n\n[[rule]]\npattern = '.'\nclass = 'communication'\n")
        .unwrap();
    let ctx = driven.harness.ctx.clone();
    driven.harness.state_mut().as_mut().unwrap().apply(&ctx, Command::LoadSettingsFrom(path.clone()));
    assert!(driven.window().state().is_renewing() && compute(&driven) == before, "the old numbers stay until then");
    driven.wait(|window| !window.state().is_renewing());
    assert!(compute(&driven).iter().zip(&before).all(|(now, then)| now > then), "{:?} {before:?}", compute(&driven));
    let docs = &driven.window().state().workspace.docs;
    assert!(docs.iter().all(|doc| doc.analysis.thresholds.verdict_share == 0.9));
    assert_eq!(driven.window().state().view.viewport, view);
    // Without them everything is as before; what only MFU depends on needs no second pass.
    std::fs::write(&path, "[peak]\ntflops = 312.0\n").unwrap();
    driven.send(Command::LoadSettingsFrom(path.clone()));
    driven.wait(|window| !window.state().is_renewing());
    assert_eq!(compute(&driven), before);
    std::fs::write(&path, "[peak]\ntflops = 989.0\n").unwrap();
    driven.harness.state_mut().as_mut().unwrap().apply(&ctx, Command::LoadSettingsFrom(path));
    assert!(!driven.window().state().is_renewing());
}

#[test]
fn a_new_layout_is_judged_anew_without_moving_the_view() {
    let mut driven = open(1280.0, 900.0);
    driven.send(Command::ShowStep(stepscope::view::RankId { doc: 0, rank: 0 }, 3));
    let view = driven.window().state().view.viewport;
    let pp = |driven: &Driven| {
        let docs = &driven.window().state().workspace.docs;
        docs[1].analysis.experiment.as_ref().and_then(|experiment| experiment.parallel.pp)
    };
    assert_eq!(pp(&driven), None);
    let parallel = Parallel { pp: Some(2), ..Parallel::default() };
    driven.send(Command::SetExperiment(Box::new(Experiment { parallel, ..experiment() })));
    driven.wait(|window| window.state().workspace.docs[1].analysis.experiment.is_some());
    assert_eq!((pp(&driven), driven.window().state().view.viewport), (Some(2), view));
}

#[test]
fn a_model_is_loaded_from_its_config() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    let text = r#"{"model_type":"gpt2","n_embd":768,"n_layer":12,"n_head":12,"n_positions":1024,"vocab_size":50257}"#;
    std::fs::write(&path, text).unwrap();
    let mut driven = open(1280.0, 900.0);
    driven.send(Command::LoadModelConfigFrom(path.clone()));
    assert_eq!(driven.window().state().workspace.mfu.parameters, Some(124_439_808.0));
    assert!(driven.shows("Model from"));
    driven.click("Forget");
    assert_eq!(driven.window().state().workspace.mfu.parameters, None);
    std::fs::write(&path, "{}").unwrap();
    driven.send(Command::LoadModelConfigFrom(path));
    assert!(driven.shows("The model was not loaded") && driven.shows("model_type"));
}

#[test]
fn every_control_has_a_name_and_a_click_on_a_bar_shows_its_step() {
    for (width, height) in [(1280.0, 720.0), (720.0, 480.0)] {
        let mut driven = open(width, height);
        driven.harness.check_accessibility();
        driven.send(Command::SetExperiment(Box::new(experiment())));
        driven.harness.check_accessibility();
    }
    let mut driven = open(1280.0, 1400.0);
    driven.send(Command::SetExperiment(Box::new(experiment())));
    driven.harness.get_by_label("MFU by step, 12 bars; click one to show its step").click();
    driven.settle();
    assert!(driven.shows("of 12"), "a step fills the view");
}
