//! The bar above two ranks that are shown beside each other: which, how they stand, and what links them.

use super::cx::Cx;
use super::icons::{self, Icon};
use crate::format;
use crate::view::available::why_not;
use crate::view::{Command, Compare, CompareCommand, CompareForm, PaneLink, RankId};
use egui::{Button, ComboBox, Response, RichText, Role, Ui, WidgetInfo};

/// Width of the lists of ranks and links, in points.
const LIST_PT: f32 = 92.0;

/// Narrower bars, in points, have the forms as a list, and no titles.
const WIDE_FROM_PT: f32 = 900.0;

/// Characters of a label before how far its pane is from the other.
const OFFSET_CHARS: usize = 12;

/// Draws the bar.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, out: &mut Vec<Command>) {
    let is_wide = ui.available_width() >= WIDE_FROM_PT;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        if is_wide {
            ui.label("Compare");
        }
        let [first, second] = compare.ranks;
        rank(ui, cx, "First rank", first, |rank| [rank, second], out);
        let tip = "Put each where the other is";
        if ui.button("Swap").on_hover_text(tip).clicked() {
            out.push(Command::Compare(CompareCommand::Swap));
        }
        rank(ui, cx, "Second rank", second, |rank| [first, rank], out);
        if is_wide {
            ui.separator();
            forms(ui, compare, out);
        } else {
            let list = ComboBox::from_id_salt("form").width(LIST_PT).selected_text(compare.form.text());
            let list = list.show_ui(ui, |ui| forms(ui, compare, out));
            names(&list.response, "How the two ranks stand", compare.form.text());
        }
        if compare.has_panes() {
            if is_wide {
                ui.separator();
                ui.label(RichText::new("Moved together").weak());
            }
            link(ui, cx, compare, out);
        }
        if icons::button(ui, true, Icon::Close, "Show all ranks again", "Show all ranks again").clicked() {
            out.push(Command::Compare(CompareCommand::Show(None)));
        }
    });
}

fn forms(ui: &mut Ui, compare: &Compare, out: &mut Vec<Command>) {
    for form in CompareForm::ALL {
        let on = compare.form == form;
        if ui.add(Button::selectable(on, form.text())).on_hover_text(form_tip(form)).clicked() && !on {
            out.push(Command::Compare(CompareCommand::Show(Some(form))));
        }
    }
}

/// What a list is called, and what is chosen in it.
fn names(list: &Response, name: &str, chosen: &str) {
    list.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::ComboBox, true, name);
        info.current_text_value = Some(chosen.to_owned());
        info
    });
}

const fn form_tip(form: CompareForm) -> &'static str {
    match form {
        CompareForm::Stacked => "A pane for each, the second below the first",
        CompareForm::SideBySide => "A pane for each, the second right of the first",
        CompareForm::Overlay => "One pane in which the lanes of both touch, kind by kind",
    }
}

/// The list that chooses one of the two ranks.
fn rank(
    ui: &mut Ui,
    cx: &Cx<'_>,
    name: &str,
    chosen: RankId,
    pair: impl Fn(RankId) -> [RankId; 2],
    out: &mut Vec<Command>,
) {
    let text = |rank| format!("rank {}", format::one_line(cx.workspace.label(rank), 24));
    let list = ComboBox::from_id_salt(name).width(LIST_PT).selected_text(text(chosen)).truncate();
    let list = list.show_ui(ui, |ui| {
        for (id, ..) in cx.workspace.ranks() {
            let [first, second] = pair(id);
            if ui.add_enabled(first != second, Button::selectable(id == chosen, text(id))).clicked() && id != chosen {
                out.push(Command::Compare(CompareCommand::Ranks([first, second])));
            }
        }
    });
    names(&list.response, name, &text(chosen));
}

/// What keeps the panes together, and how far they are apart.
fn link(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, out: &mut Vec<Command>) {
    let list = ComboBox::from_id_salt("link of panes").width(LIST_PT).selected_text(compare.link.text());
    let list = list.show_ui(ui, |ui| {
        for link in PaneLink::ALL {
            let command = Command::Compare(CompareCommand::Link(link));
            let why_not = why_not(&command, cx.view, cx.workspace);
            let choice = ui.add_enabled(why_not.is_none(), Button::selectable(compare.link == link, link.text()));
            if choice.on_hover_text(link_tip(link)).on_disabled_hover_text(why_not.unwrap_or_default()).clicked() {
                out.push(command);
            }
        }
    });
    names(&list.response, "Moved together", compare.link.text());
    if let Some(text) = offset_text(compare, cx.workspace.label(compare.ranks[1])) {
        ui.label(text).on_hover_text(
            "How much later on the clock in force the view of the second rank starts than that of the first",
        );
    }
}

/// How far the second pane, of the rank of this label, is from the first, while they are linked at different times.
fn offset_text(compare: &Compare, label: &str) -> Option<String> {
    let by = format::directed(compare.offset_ns, "later", "earlier").filter(|_| compare.link != PaneLink::Apart)?;
    Some(format!("rank {} starts {by}", format::one_line(label, OFFSET_CHARS)))
}

const fn link_tip(link: PaneLink) -> &'static str {
    match link {
        PaneLink::Time => "Both show the same time on the clock in force",
        PaneLink::Step => "Steps of one number begin at the same place",
        PaneLink::Aligned => "The selected operation and its counterpart end at the same place",
        PaneLink::Apart => "Each is moved and zoomed by itself",
    }
}
