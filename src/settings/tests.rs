//! Settings files: what is read, what is refused, and what a save leaves as it was.

use super::*;
use crate::experiment::{Convention, Dtype, Recompute};

const FULL: &str = r#"
[experiment]
name = "baseline"
convention = "megatron-full"
recompute = "selective"
dtype = "bf16"
gpus = 16
step_time_ms = 420

[model]
preset = "llama-3-8b"
layers = 16
parameters = 4e9

[batch]
sequences = 64
micro_batches = 4
sequence_length = 8192

[parallel]
tp = 2
pp = 2
interleave = 2

[[rank]]
label = "3"
pp = 1
dp = 0

[peak]
tflops = 312

[thresholds]
verdict_share = 0.2

[[rule]]
pattern = "my_kernel"
class = "gemm"

[[group]]
name = "mine"
pattern = "my_"
"#;

fn parse(text: &str) -> Result<RunSettings, String> {
    RunSettings::parse(text, Path::new("job/stepscope.toml")).map_err(|error| error.to_string())
}

#[test]
fn every_section_is_read() {
    let settings = parse(FULL).unwrap();
    let said = &settings.experiment;
    assert_eq!((said.run.convention, said.run.recompute), (Some(Convention::MegatronFull), Some(Recompute::Selective)));
    assert_eq!((said.run.dtype, said.run.gpus, said.run.step_time_ms), (Some(Dtype::Bf16), Some(16), Some(420.0)));
    assert_eq!((said.model.layers, said.peak.tflops), (Some(16), Some(312.0)));
    let place = RankPlace { label: "3".to_owned(), pp: Some(1), dp: Some(0), ..RankPlace::default() };
    assert_eq!(said.ranks, [place]);
    assert_eq!(settings.thresholds.verdict_share, 0.2);
    let mut params = Params::default();
    settings.apply(&mut params);
    assert_eq!(params.experiment.unwrap().source, Some("job/stepscope.toml".into()));
}

#[test]
fn mistakes_name_the_file_the_key_and_what_is_allowed() {
    let cases = [
        ("[experiment]\ndtyp = 'bf16'", "unknown field `dtyp`"),
        ("[experiment]\ndtype = 'bf17'", "`bf16`"),
        ("[experiment]\ngpus = -2", "-2"),
        ("[experiment]\ngpus = 'many'", "line 2"),
        ("[experiment]\nconvention = 'mine'", "`torchtitan`"),
        ("[modell]\nlayers = 3", "unknown field `modell`"),
        ("[model]\npreset = 'gpt5'", "llama-3-8b"),
        ("[model]\nlayers = 3", "model.hidden is missing"),
        ("[batch]\nmicro_batches = 2\ngradient_accumulation = 2", "duplicate"),
        ("[experiment]\ngpus = 8\n[parallel]\ndp = 2\ntp = 2", "2 x 2 is not 8"),
        ("[[rule]]\npattern = '('\nclass = 'gemm'", "rule 1"),
        ("[thresholds]\nnonsense = 1", "nonsense"),
        ("layers", "TOML"),
    ];
    for (text, word) in cases {
        let message = parse(text).unwrap_err();
        assert!(message.starts_with("job/stepscope.toml: ") && message.contains(word), "{text}: {message}");
    }
}

#[test]
fn written_settings_read_back_the_same_and_keep_rules_and_thresholds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE_NAME);
    std::fs::write(&path, FULL).unwrap();
    let before = RunSettings::read(&path).unwrap();
    let mut changed = before.experiment.clone();
    changed.run.gpus = Some(32);
    write(&changed, &path).unwrap();
    let after = RunSettings::read(&path).unwrap();
    assert_eq!(after.experiment, changed);
    assert_eq!(after.thresholds, before.thresholds);
    assert!(std::fs::read_to_string(&path).unwrap().contains("my_kernel"));
}

#[test]
fn a_saved_file_keeps_comments_and_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE_NAME);
    let commented = FULL.replace("gpus = 16", "gpus = 16 # two nodes").replace("[peak]", "# Dense.\n[peak]");
    std::fs::write(&path, &commented).unwrap();
    let mut changed = RunSettings::read(&path).unwrap().experiment;
    write(&changed, &path).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), commented);
    changed.run.gpus = Some(32);
    write(&changed, &path).unwrap();
    let expected = commented.replace("gpus = 16", "gpus = 32");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    let copy = folder.path().join("copy.toml");
    write(&changed, &copy).unwrap();
    assert_eq!(std::fs::read_to_string(&copy).unwrap(), expected, "kernel classes and thresholds go along");
}

#[test]
fn a_failed_save_names_the_file_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().join("nowhere/stepscope.toml"), folder.path().to_owned()] {
        let message = write(&Experiment::default(), &path).unwrap_err().to_string();
        assert!(message.contains(&path.display().to_string()) && message.contains("choose another"), "{message}");
        assert!(!message.contains("nowhere/.tmp"), "{message}");
    }
}

#[test]
fn files_that_are_no_settings_are_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.toml");
    for text in ["[package]\nname = 'x'\n".as_bytes(), &[0xff, 0xfe]] {
        std::fs::write(&path, text).unwrap();
        assert!(matches!(write(&Experiment::default(), &path), Err(SettingsError::Occupied { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), text);
    }
}

#[test]
fn the_most_special_settings_beside_an_export_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let export = folder.path().join("rank0.sqlite");
    let gpus = || RunSettings::beside(&export).unwrap().map(|settings| settings.experiment.run.gpus.unwrap());
    assert_eq!(gpus(), None);
    for (name, count) in [(FILE_NAME, 1), ("rank0.stepscope.toml", 2), ("rank0.sqlite.stepscope.toml", 3)] {
        std::fs::write(folder.path().join(name), format!("[experiment]\ngpus = {count}\n")).unwrap();
        assert_eq!(gpus(), Some(count));
    }
    let given = Params { experiment: Some(Experiment::default()), ..Params::default() };
    assert_eq!(params_for(&export, &given).unwrap().experiment, given.experiment, "given settings are not replaced");
    std::fs::write(folder.path().join("rank0.sqlite.stepscope.toml"), "nonsense").unwrap();
    assert!(RunSettings::beside(&export).is_err());
}

#[test]
fn a_model_config_is_found_relative_to_the_settings() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("model")).unwrap();
    let config = r#"{"model_type":"gpt2","n_embd":768,"n_layer":12,"n_head":12,"n_positions":1024,"vocab_size":50257}"#;
    std::fs::write(folder.path().join("model/config.json"), config).unwrap();
    let path = folder.path().join(FILE_NAME);
    std::fs::write(&path, "[model]\nconfig = 'model/config.json'\nlayers = 24\n").unwrap();
    let settings = RunSettings::read(&path).unwrap();
    let shape = settings.experiment.model.shape().unwrap().unwrap();
    assert_eq!((shape.layers, shape.hidden, shape.vocab), (24, 768, Some(50_257)));
    write(&settings.experiment, &path).unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().contains("config = 'model/config.json'"));
    std::fs::write(&path, "[model]\nconfig = 'nowhere.json'\n").unwrap();
    assert!(RunSettings::read(&path).unwrap_err().to_string().contains("nowhere.json"));
}

#[test]
fn places_of_ranks_need_labels_and_a_layout_that_holds_them() {
    let of = |ranks: &str| parse(&format!("[parallel]\npp = 2\n{ranks}")).unwrap_err();
    assert!(of("[[rank]]\npp = 1").contains("label"));
    assert!(of("[[rank]]\nlabel = \" \"").contains("rank.label must not be empty"));
    assert!(of("[[rank]]\nlabel = \"1\"\n[[rank]]\nlabel = \"1\"").contains("twice"));
    assert!(of("[[rank]]\nlabel = \"1\"\npp = 2").contains("rank.pp of rank \"1\" must be 0 to 1, not 2"));
    assert!(of("[[rank]]\nlabel = \"1\"\nstage = 0").contains("stage"));
}
