//! `stepscope capture-help`: what it prints is what a shell and Python understand.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

use assert_cmd::Command;
use proptest::prelude::*;
use serde_json::Value;
use stepscope::format::shell_word;
use stepscope::record::{Framework, Launcher, Question, Range, Request};

fn capture_help(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("stepscope").unwrap();
    command.arg("capture-help").args(arguments);
    command
}

fn json(arguments: &[&str]) -> Value {
    let output = capture_help(&[&["--json"], arguments].concat()).assert().success().get_output().stdout.clone();
    serde_json::from_slice(&output).unwrap()
}

/// The words that a POSIX shell makes of a command; `None` where there is no shell.
fn words(command: &str) -> Option<Vec<String>> {
    let output = std::process::Command::new("sh").arg("-c").arg(format!("printf '%s\\0' {command}")).output().ok()?;
    assert!(output.status.success(), "{command}");
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.strip_suffix('\0')?.split('\0').map(str::to_owned).collect())
}

#[test]
fn a_plain_call_prints_command_reasons_code_and_what_to_do_next() {
    let output = capture_help(&[]).assert().success().get_output().stdout.clone();
    let text = String::from_utf8(output).unwrap();
    for expected in [
        "nsys profile",
        "--trace=cuda,nvtx",
        "--capture-range=cudaProfilerApi",
        "Records kernels",
        "nvtx.range_push(f\"step {step}\")",
        "torch.cuda.profiler.start()",
        "nsys export --type sqlite --output train.sqlite train.nsys-rep",
        "stepscope train.sqlite",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}

#[test]
fn the_users_command_reaches_the_program_word_for_word() {
    let program = ["python", "train.py", "--name", "it's a \"run\"", "--glob", "*.pt", "$HOME", "", "a\\b", "!x", "é"];
    let answer = json(&[&["--launcher", "torchrun", "--ranks", "4", "--"], &program[..]].concat());
    let Some(found) = words(answer["command"].as_str().unwrap()) else {
        println!("skipped: there is no POSIX shell");
        return;
    };
    assert_eq!(found[..4], ["torchrun", "--standalone", "--nproc-per-node=4", "--no-python"]);
    assert!(found.contains(&"--output=rank%q{RANK}".to_owned()), "{found:?}");
    assert_eq!(found[found.len() - program.len()..], program);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_word_survives_the_shell(word in "[ -~äß\n]{0,12}") {
        if let Some(found) = words(&shell_word(&word)) {
            prop_assert_eq!(found, [word]);
        }
    }
}

#[test]
fn the_launcher_is_taken_from_the_command() {
    let launcher = |program: &[&str]| json(&[&["--"], program].concat())["launcher"].as_str().unwrap().to_owned();
    assert_eq!(launcher(&["python", "train.py"]), "single");
    assert_eq!(launcher(&["torchrun", "--nproc-per-node", "8", "train.py"]), "torchrun");
    assert_eq!(launcher(&["srun", "-n", "8", "python", "train.py"]), "slurm");
    assert_eq!(launcher(&["mpirun", "-np", "8", "python", "train.py"]), "mpirun");
    assert_eq!(launcher(&["accelerate", "launch", "train.py"]), "torchrun-outside");
}

#[test]
fn what_is_asked_for_decides_the_options() {
    let flags = |arguments: &[&str]| {
        let flags = json(arguments)["flags"].as_array().unwrap().clone();
        flags.iter().map(|flag| flag["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = flags(&["--for", "os,nccl,graphs,memory,python,metrics,libraries"]);
    for flag in [
        "--trace=cuda,nvtx,osrt,nccl,cublas,cudnn",
        "--cuda-graph-trace=node",
        "--cuda-memory-usage=true",
        "--python-backtrace=cuda",
        "--gpu-metrics-devices=all",
    ] {
        assert!(all.contains(&flag.to_owned()), "{flag} in {all:?}");
    }
    let timed = flags(&["--for", "steps", "--range", "delay", "--skip", "30", "--length", "7"]);
    assert_eq!(timed[0], "--trace=cuda,nvtx");
    assert!(timed.contains(&"--delay=30".to_owned()) && timed.contains(&"--duration=7".to_owned()), "{timed:?}");
    assert!(!flags(&["--range", "whole"]).iter().any(|flag| flag.starts_with("--capture-range")));
}

#[test]
fn an_unknown_choice_is_refused_with_the_list() {
    for (arguments, listed) in [
        (["--launcher", "ssh"], "torchrun-outside"),
        (["--range", "half"], "profiler"),
        (["--for", "steps,speed"], "graphs"),
        (["--framework", "jax"], "megatron"),
        (["--ranks", "0"], "1"),
    ] {
        let assert = capture_help(&arguments).assert().code(2).stdout("");
        let error = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(error.contains(arguments[1].rsplit(',').next().unwrap()) && error.contains(listed), "{error}");
    }
}

#[test]
fn every_command_for_afterwards_is_one_that_a_shell_reads() {
    for launcher in Launcher::ALL {
        for range in Range::ALL {
            let questions = Question::ALL.to_vec();
            let request = Request { launcher: Some(launcher), range, questions, ..Request::default() };
            for next in request.recording().after {
                let checked = std::process::Command::new("sh").arg("-n").arg("-c").arg(&next.command).status();
                assert!(checked.map_or(true, |status| status.success()), "{}", next.command);
            }
        }
    }
}

/// The code is Python: its own compiler reads it, where there is one.
#[test]
fn the_code_for_every_framework_is_python() {
    for framework in Framework::ALL {
        for range in Range::ALL {
            let request = Request { framework, range, questions: vec![Question::Gc], ..Request::default() };
            let code = request.recording().snippet.code;
            let check = "import sys, ast; ast.parse(sys.argv[1])";
            let Ok(output) = std::process::Command::new("python3").args(["-c", check, &code]).output() else {
                println!("skipped: no python3");
                return;
            };
            assert!(output.status.success(), "{framework:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
