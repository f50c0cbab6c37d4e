//! The search field above the timeline: what is searched for and where, how many hits there are, and ways through them.

use super::cx::{Cx, toggle};
use super::icons::{self, Icon};
use crate::format;
use crate::view::search::{Block, Query, Scope};
use crate::view::{Command, Panel};
use egui::text::{CCursor, CCursorRange};
use egui::{ComboBox, EventFilter, Id, Key, Label, Modifiers, RichText, TextEdit, Ui};

/// What the bar keeps between frames.
#[derive(Debug, Default)]
pub struct SearchBar {
    /// How often the keyboard was asked for when it was last taken.
    focus: u32,
}

/// Width of the field, in points: the least, and the most.
const FIELD_PT: (f32, f32) = (120.0, 320.0);
/// Width of everything else in one row.
const REST_PT: f32 = 430.0;

/// Draws the bar.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, bar: &mut SearchBar, out: &mut Vec<Command>) {
    let query = &cx.view.search.query;
    let width = (ui.available_width() - REST_PT).clamp(FIELD_PT.0, FIELD_PT.1);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        icons::show(ui, Icon::Search, cx.palette.text_dim);
        field(ui, cx, bar, width, out);
        let case = Query { match_case: !query.match_case, ..query.clone() };
        toggle(ui, query.match_case, "Match case", "Capital and small letters differ", Command::SetQuery(case), out);
        let regex = Query { regex: !query.regex, ..query.clone() };
        let tip = "The text is a regular expression, such as gemm.*(128|256) or ^forward$";
        toggle(ui, query.regex, "Regex", tip, Command::SetQuery(regex), out);
        scope(ui, cx, out);
        let some = cx.view.hits().is_some_and(|hits| !hits.is_empty());
        let tip = "Previous hit (Shift+F3, or Shift+Enter in the field)";
        if icons::button(ui, some, Icon::Previous, "Previous hit", tip).clicked() {
            out.push(Command::PreviousHit);
        }
        if icons::button(ui, some, Icon::Next, "Next hit", "Next hit (F3, or Enter in the field)").clicked() {
            out.push(Command::NextHit);
        }
        let counter = counter(cx);
        if !counter.is_empty() {
            let tip =
                "The hit gone to last, and how many its rank has, by time; after its last one comes the next rank";
            ui.label(counter).on_hover_text(tip);
        }
        let listed = cx.settings.side && cx.view.panel == Panel::Search;
        if some && !listed && ui.button("List").on_hover_text("Hits by lane, in the side panel").clicked() {
            out.push(Command::ShowPanel(Panel::Search));
            if !cx.settings.side {
                out.push(Command::ToggleSidePanel);
            }
        }
        if icons::button(ui, true, Icon::Close, "Close the search", "Close the search (Escape in the field)").clicked()
        {
            out.push(Command::CloseSearch);
        }
    });
    if let Some(error) = &cx.view.search.error {
        ui.add(Label::new(RichText::new(error.to_string()).small().color(cx.palette.error)).wrap());
    }
}

fn field(ui: &mut Ui, cx: &Cx<'_>, bar: &mut SearchBar, width: f32, out: &mut Vec<Command>) {
    let id = Id::unique("search field");
    let focused = ui.memory(|memory| memory.has_focus(id));
    if focused {
        let pressed = |modifiers, key| ui.input_mut(|input| input.consume_key(modifiers, key));
        // With Shift first: without is asked for more loosely.
        if pressed(Modifiers::SHIFT, Key::Enter) {
            out.push(Command::PreviousHit);
        }
        if pressed(Modifiers::NONE, Key::Enter) {
            out.push(Command::NextHit);
        }
        if pressed(Modifiers::NONE, Key::Escape) {
            out.push(Command::CloseSearch);
        }
    }
    let mut text = cx.view.search.query.text.clone();
    let keys = EventFilter { horizontal_arrows: true, vertical_arrows: true, escape: true, ..EventFilter::default() };
    let edit = TextEdit::singleline(&mut text)
        .id(id)
        .desired_width(width)
        .align(egui::Align2::LEFT_CENTER)
        .hint_text("Kernel, range, call, thread or step")
        .event_filter(keys)
        .return_key(None);
    let response = ui.add(edit);
    response.widget_info(|| {
        let mut info = egui::WidgetInfo::text_edit(true, &cx.view.search.query.text, &text, "");
        info.label = Some("Search".to_owned());
        info
    });
    if bar.focus != cx.view.search.focus {
        bar.focus = cx.view.search.focus;
        response.request_focus();
        // What was searched for before is replaced by typing.
        let mut state = TextEdit::load_state(ui.ctx(), id).unwrap_or_default();
        let all = CCursorRange::two(CCursor::new(0), CCursor::new(text.chars().count()));
        state.cursor.set_char_range(Some(all));
        TextEdit::store_state(ui.ctx(), id, state);
    }
    if text != cx.view.search.query.text {
        out.push(Command::SetQuery(Query { text, ..cx.view.search.query.clone() }));
    }
}

fn scope(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    let chosen = cx.view.search.scope;
    let list = ComboBox::from_id_salt("search scope").width(100.0).selected_text(chosen.text()).show_ui(ui, |ui| {
        for scope in Scope::ALL {
            let possible = scope != Scope::Selected || cx.view.selected_span.is_some();
            let choice = ui.add_enabled(possible, egui::Button::selectable(chosen == scope, scope.text()));
            if choice.on_disabled_hover_text("No span is selected (Shift+drag selects one)").clicked() {
                out.push(Command::SetScope(scope));
            }
        }
    });
    let tip = "Where hits count: those that touch the span";
    list.response.on_hover_text(tip).widget_info(|| {
        egui::WidgetInfo::labeled(egui::Role::ComboBox, true, format!("Where to search: {}", chosen.text()))
    });
}

/// Which hit of how many in its rank; empty without a search.
fn counter(cx: &Cx<'_>) -> String {
    let search = &cx.view.search;
    if cx.view.search_request().is_none() {
        return String::new();
    }
    let Some(hits) = cx.view.hits() else { return "Searching…".to_owned() };
    let standing = search.current.and_then(|number| hits.standing(number));
    match (hits.len(), standing) {
        (0, _) => "No hits".to_owned(),
        (_, Some(standing)) => {
            let text =
                format!("{} of {}", format::count(standing.before as u64 + 1), format::count(standing.of as u64));
            if standing.alone { text } else { format!("{}: {text}", block_name(cx, standing.block)) }
        }
        (1, None) => "1 hit".to_owned(),
        (count, None) => format!("{} hits", format::count(count as u64)),
    }
}

fn block_name(cx: &Cx<'_>, block: Block) -> String {
    let name = match block {
        Block::Rank(id) => Some(format!("rank {}", cx.workspace.label(id))),
        Block::Process(doc, process) => {
            let process = cx.workspace.docs.get(doc).and_then(|doc| doc.trace.processes.get(process));
            process.map(|process| format!("process {}", process.pid))
        }
        Block::Threads(_) => Some("threads".to_owned()),
    };
    format::one_line(&name.unwrap_or_default(), 40)
}
