//! The checklist, and how to record.

use crate::harness::Driven;
use egui_kittest::kittest::Queryable as _;
use stepscope::view::{Command, Panel};

/// What the last frame put on the clipboard.
fn copied(driven: &Driven) -> Option<String> {
    let commands = &driven.harness.output().platform_output.commands;
    commands.iter().find_map(|command| match command {
        egui::OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    })
}

#[test]
fn the_checklist_tells_what_is_there_and_what_is_missing() {
    let mut driven = Driven::open();
    driven.send(Command::ShowPanel(Panel::Guide));
    for text in
        ["Record a baseline", "Steps are marked: done", "12 steps per rank.", "System calls are recorded: to do"]
    {
        assert!(driven.shows(text), "{text}");
    }
    assert!(driven.shows("Record with nsys profile --trace=cuda,nvtx,osrt"), "what to do about it");
}

#[test]
fn links_of_the_checklist_lead_to_panels() {
    let mut driven = Driven::open();
    driven.harness.set_size([1280.0, 1400.0].into());
    driven.send(Command::ShowPanel(Panel::Guide));
    driven.click("Show gaps");
    assert_eq!(driven.window().state().view.panel, Panel::Gaps);
}

#[test]
fn how_to_record_opens_with_nothing_open_and_closes() {
    let mut driven = Driven::empty(1000.0, 1400.0);
    driven.click("No export yet? How to record a capture");
    assert!(driven.shows("torchrun --standalone --nproc-per-node=gpu --no-python"));
    driven.harness.check_accessibility();
    driven.press(egui::Key::Escape);
    assert!(!driven.shows("torchrun --standalone"));
}

#[test]
fn choices_change_the_command_that_is_copied() {
    let mut driven = Driven::empty(1000.0, 1600.0);
    driven.send(Command::ToggleRecording);
    driven.click("Kernels inside CUDA graphs");
    driven.click("Sizes of collectives, and from them bandwidth");
    driven.harness.get_by_label("Copy command").click();
    driven.harness.run_steps(1);
    let command = copied(&driven).expect("the command is on the clipboard");
    assert!(command.contains("--trace=cuda,nvtx,osrt,nccl") && !command.contains("--cuda-graph-trace"), "{command}");
    assert!(driven.shows("--include-blobs=true"), "the export keeps the sizes");
}

#[test]
fn the_typed_command_stands_at_the_end_of_the_recording() {
    let mut driven = Driven::empty(1000.0, 1600.0);
    driven.send(Command::ToggleRecording);
    let field = driven.harness.get_by_label("Training command");
    field.focus();
    field.type_text(" --out \"$HOME/a b\"");
    driven.settle();
    assert!(driven.shows("python train.py --out \"$HOME/a b\""), "the shell still reads the variable");
}

#[test]
fn another_launcher_and_framework_can_be_picked() {
    let mut driven = Driven::empty(1000.0, 1800.0);
    driven.send(Command::ToggleRecording);
    driven.harness.get_by_label("Started by").click();
    driven.settle();
    driven.click("Slurm (srun)");
    assert!(driven.shows("rank%q{SLURM_PROCID}"));
    driven.harness.get_by_label("Written with").click();
    driven.settle();
    driven.click("Lightning");
    assert!(driven.shows("on_train_batch_start"));
}

#[test]
fn nothing_leaves_a_narrow_panel() {
    let mut driven = Driven::empty(900.0, 700.0);
    driven.send(Command::OpenDemo);
    driven.wait(|window| !window.state().workspace.docs.is_empty());
    driven.send(Command::ShowPanel(Panel::Guide));
    driven.harness.check_accessibility();
    for text in ["Every rank is open", "Copy command", "Training command"] {
        let node = driven.harness.query_all_by_label_contains(text).next().expect(text);
        assert!(node.rect().right() <= 900.0, "{text} ends at {}", node.rect().right());
    }
}
