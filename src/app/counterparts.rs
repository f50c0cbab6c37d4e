//! In the details panel: the same work on other ranks, how it differs, and the way there.

use super::cx::Cx;
use crate::format;
use crate::job::StartBasis;
use crate::report::compare::{beside_text, reservation};
use crate::view::{Command, Counterpart, Item};
use egui::{Label, RichText, Ui};

/// Counterparts that are listed, at most.
const LISTED: usize = 16;

/// What counterparts are.
const SAME: &str = "The same collective, else the kernel of the same name and place in the step of the same number.";

/// Draws the block; nothing for an item without counterparts.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, item: Item, beside: &[Counterpart], out: &mut Vec<Command>) {
    if beside.is_empty() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        let mut tip = SAME.to_owned();
        // Starts in steps do not depend on the clock.
        if beside.iter().any(|other| other.later.basis == StartBasis::Arrival) {
            tip.push_str(" Starts are compared by the clock in force.");
            tip.extend(reservation(&cx.workspace.job).map(|text| format!("\n{text}")));
        }
        ui.strong("On other ranks").on_hover_text(tip);
        let movable = beside.iter().any(|other| other.item.doc() != item.doc());
        let align = ui.add_enabled(movable, egui::Button::new("Align at it").small());
        let tip = "Shift the other files so that all of these end together (Alt+K)";
        if align.on_hover_text(tip).on_disabled_hover_text("They are in the same file: one clock").clicked() {
            out.push(Command::AlignHere(None));
        }
    });
    for other in beside.iter().take(LISTED) {
        ui.horizontal(|ui| {
            let name = format!("Rank {}", rank_label(cx, other.item));
            if ui.link(name).on_hover_text("Select it there").clicked() {
                out.push(Command::Reveal(other.item));
            }
            let text = beside_text(other.later, other.longer_ns);
            ui.add(Label::new(text).truncate());
        });
    }
    if beside.len() > LISTED {
        let more = format!("and {} more", format::count(beside.len().saturating_sub(LISTED) as u64));
        ui.label(RichText::new(more).weak());
    }
    ui.add_space(8.0);
}

fn rank_label(cx: &Cx<'_>, item: Item) -> String {
    let (Item::Op(id, _) | Item::Step(id, _)) = item else { return String::new() };
    // The job's labels tell ranks of several files apart.
    let rank = cx.workspace.job_rank(id).and_then(|rank| cx.workspace.job.ranks.get(rank));
    rank.map_or_else(String::new, |rank| format::one_line(&rank.label, 40))
}
