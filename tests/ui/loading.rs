//! Files being opened.

use crate::harness::Driven;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use stepscope::view::Command;

fn open(names: &[&str]) -> Command {
    Command::Open(names.iter().map(|name| PathBuf::from(format!("/x/{name}.sqlite"))).collect())
}

#[test]
fn the_loading_screen_tells_how_far_each_file_is() {
    let mut driven = Driven::empty(500.0, 300.0);
    driven.send(open(&["hang"]));
    while !driven.fake.waiting.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    driven.settle();
    assert!(driven.shows("hang.sqlite") && driven.shows("100\u{2009}000 of 400\u{2009}000 rows"));
    driven.harness.snapshot("loading");
    driven.click("Cancel");
    assert!(!driven.window().state().jobs.is_busy());
    assert!(driven.shows("Open demo"), "back at the first screen, without a message");
    assert!(driven.window().state().notices.is_empty());
}

#[test]
fn files_opened_together_stack_in_the_order_given() {
    let mut driven = Driven::empty(900.0, 600.0);
    driven.send(open(&["hang", "rank1", "rank2"]));
    driven.harness.run_steps(10);
    assert!(driven.window().state().workspace.docs.is_empty(), "they appear together");
    driven.fake.release();
    driven.wait(|window| !window.state().workspace.docs.is_empty());
    let labels: Vec<&str> = driven.window().state().workspace.ranks().map(|(_, _, rank)| rank.label.as_str()).collect();
    assert_eq!(labels, ["0", "1", "2"]);
}

#[test]
fn many_files_wait_for_their_turn_and_all_open() {
    let mut driven = Driven::empty(900.0, 600.0);
    let names: Vec<String> = (0..12).map(|rank| format!("rank{rank}")).collect();
    driven.send(open(&names.iter().map(String::as_str).collect::<Vec<_>>()));
    // So many are listed first; those that were named are chosen.
    driven.wait(|window| window.state().overlay.is_some());
    driven.send(Command::OpenChosen);
    driven.wait(|window| window.state().workspace.docs.len() == 12);
    let labels: Vec<String> =
        driven.window().state().workspace.ranks().map(|(_, _, rank)| rank.label.clone()).collect();
    assert_eq!(labels, (0..12).map(|rank| rank.to_string()).collect::<Vec<_>>());
}

#[test]
fn a_second_file_opens_while_the_first_still_loads() {
    let mut driven = Driven::empty(900.0, 600.0);
    driven.send(open(&["hang"]));
    driven.send(open(&["rank1"]));
    driven.wait(|window| window.state().workspace.docs.len() == 1);
    assert!(driven.window().state().jobs.is_busy() && driven.shows("hang.sqlite"), "the first is shown in a corner");
    driven.fake.release();
    driven.wait(|window| window.state().workspace.docs.len() == 2);
    assert!(!driven.window().state().jobs.is_busy());
}

#[test]
fn one_bad_file_does_not_keep_the_others_out() {
    let mut driven = Driven::empty(900.0, 600.0);
    driven.send(open(&["rank0", "bad", "rank1"]));
    driven.wait(|window| window.state().workspace.docs.len() == 2);
    assert_eq!(driven.window().state().notices.len(), 1);
}

#[test]
fn a_file_is_opened_once_however_often_and_however_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hang.sqlite");
    std::fs::write(&path, "").unwrap();
    let other_name = folder.path().join(".").join("..").join(folder.path().file_name().unwrap()).join("hang.sqlite");
    let mut driven = Driven::empty(900.0, 600.0);
    driven.send(Command::Open(vec![path.clone(), other_name.clone(), "/x/rank1.sqlite".into()]));
    assert_eq!(driven.window().state().jobs.running().count(), 2);
    assert!(driven.shows("hang.sqlite is open already"));
    driven.send(Command::Open(vec![other_name]));
    assert_eq!(driven.window().state().jobs.running().count(), 2, "while it is being opened");
    driven.fake.release();
    driven.wait(|window| window.state().workspace.docs.len() == 2);
    driven.send(Command::OpenDemo);
    driven.wait(|window| !window.state().jobs.is_busy());
    assert_eq!(driven.window().state().workspace.docs.len(), 2, "the demo's ranks are open already");
    assert!(driven.shows("gpt_rank0.sqlite, gpt_rank1.sqlite are open already"));
}

#[test]
fn escape_on_the_loading_screen_cancels_unless_a_dialog_is_open() {
    let mut driven = Driven::empty(900.0, 600.0);
    driven.send(open(&["hang"]));
    driven.send(Command::ToggleHelp);
    driven.press(egui::Key::Escape);
    assert!(driven.window().state().jobs.is_busy() && driven.window().state().overlay.is_none());
    driven.press(egui::Key::Escape);
    assert!(!driven.window().state().jobs.is_busy());
    assert!(driven.shows("Open demo"));
}

#[test]
fn closing_the_window_while_loading_stops_the_thread() {
    let mut driven = Driven::empty(900.0, 600.0);
    driven.send(open(&["hang"]));
    while !driven.fake.waiting.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    let fake = std::sync::Arc::downgrade(&driven.fake);
    drop(driven);
    for _ in 0..2000 {
        if fake.upgrade().is_none() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    panic!("the loading thread still holds the opener");
}
