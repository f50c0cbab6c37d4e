//! The parts of every step as stacked bars.

use crate::harness::Driven;
use egui_kittest::kittest::Queryable as _;
use stepscope::view::Command;

#[test]
fn a_click_on_a_bar_of_parts_shows_its_step() {
    let mut driven = Driven::empty(1400.0, 1600.0);
    driven.send(Command::OpenDemo);
    driven.wait(|window| !window.state().workspace.docs.is_empty());
    let plot = driven.harness.get_by_label("Parts of each step, 12 bars; click one to show its step").rect();
    // Bars stand at whole numbers, from -0.6 to 11.6 over the width.
    let x = plot.left() + plot.width() * (7.0 + 0.6) / 12.2;
    let at = egui::pos2(x, plot.center().y);
    driven.harness.hover_at(at);
    driven.settle();
    for text in ["step 7", "Exposed comm."] {
        assert!(driven.shows(text), "{text}");
    }
    driven.harness.event(egui::Event::PointerButton {
        pos: at,
        button: egui::PointerButton::Primary,
        pressed: true,
        modifiers: egui::Modifiers::NONE,
    });
    driven.harness.event(egui::Event::PointerButton {
        pos: at,
        button: egui::PointerButton::Primary,
        pressed: false,
        modifiers: egui::Modifiers::NONE,
    });
    driven.settle();
    let state = driven.window().state();
    let doc = &state.workspace.docs[0];
    let window = doc.analysis.ranks[0].steps.as_ref().unwrap().steps[7].window.shifted(doc.map.offset_ns);
    assert_eq!(state.view.viewport.span(), window);
}
