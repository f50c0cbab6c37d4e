//! Which rank the panels speak about: named once above them, and chosen there when several are open.

use super::cx::{Chosen, Cx};
use super::facts::rank_text;
use super::state::file_name;
use crate::view::{Command, Panel};
use egui::{ComboBox, Label, RichText, Ui};

/// True for panels whose numbers are those of one rank. The panel of the selection has a line for each rank instead.
pub const fn is_about_a_rank(panel: Panel) -> bool {
    matches!(
        panel,
        Panel::Overview
            | Panel::Steps
            | Panel::Findings
            | Panel::Kernels
            | Panel::Gaps
            | Panel::Communication
            | Panel::Ranges
            | Panel::Launches
    )
}

/// Names the chosen rank and its GPU; with several ranks it is a list to choose from. Draws nothing without ranks.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    let Some(chosen) = cx.chosen() else { return };
    let own = device_text(cx, &chosen);
    if cx.workspace.ranks().count() < 2 {
        ui.add(Label::new(RichText::new(own).small().weak()).truncate());
        ui.add_space(4.0);
        return;
    }
    ui.horizontal(|ui| {
        let label = ui.label(RichText::new("Rank").weak());
        let list = ComboBox::from_id_salt("rank").selected_text(own).width(ui.available_width()).truncate();
        let shown = list.show_ui(ui, |ui| {
            for (id, doc, _) in cx.workspace.ranks() {
                let text = format!("{}  ·  {}", rank_text(cx.workspace, id), file_name(&doc.trace.source.path));
                if ui.selectable_label(id == chosen.id, text).clicked() {
                    out.push(Command::ChooseRank(id));
                }
            }
        });
        shown.response.labelled_by(label.id);
    });
    ui.add_space(8.0);
}

/// The rank with its GPU: its model when the file tells it, and its number.
fn device_text(cx: &Cx<'_>, chosen: &Chosen<'_>) -> String {
    format!("{}, device {}", rank_text(cx.workspace, chosen.id), chosen.rank.device)
}
