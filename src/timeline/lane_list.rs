//! The list of all lanes: shown or not, pinned or not, filtered by text; and the hint that some are left out.

use super::draw::Frame;
use super::gutter::lane_name;
use super::layout::{Lane, Layout};
use crate::format;
use crate::view::{Command, LaneCommand, LaneKey};
use egui::{
    Button, Checkbox, Id, Key, Popup, PopupCloseBehavior, Rect, RectAlign, RichText, Role, ScrollArea, TextEdit, Ui,
    WidgetInfo, pos2, vec2,
};

/// Width that the button takes of the corner above the names.
pub const BUTTON_PT: f32 = 64.0;
/// Width of the list, and its largest height.
const LIST_PT: (f32, f32) = (300.0, 420.0);
/// Height of the hint.
const HINT_PT: f32 = 22.0;

/// Draws the button in the corner, the list while it is open, and the hint below the names.
pub fn show(ui: &mut Ui, frame: &Frame<'_>, layout: &Layout, rect: Rect, out: &mut Vec<Command>) {
    let send = |out: &mut Vec<Command>, command| out.push(Command::Lane(command));
    let corner = Rect::from_min_max(rect.min, pos2(frame.left_pt, frame.whole().top_pt));
    let was_open = frame.state.lanes.list;
    let mut open = was_open;
    if corner.width() >= BUTTON_PT {
        let place = Rect::from_min_size(corner.min + vec2(6.0, 3.0), vec2(BUTTON_PT - 12.0, corner.height() - 6.0));
        let active = was_open || !frame.state.lanes.filter.is_empty();
        // Buttons of the usual height would reach over the first lane.
        let look = Button::new(RichText::new("Lanes").size(11.0)).small().selected(active).min_size(place.size());
        let tip = "All lanes: show, hide, pin, filter (Alt+L)";
        let button = ui.put(place, look).on_hover_text(tip);
        Popup::from_response(&button)
            .open_bool(&mut open)
            .align(RectAlign::BOTTOM_START)
            .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
            .accessible_name("List of lanes")
            .show(|ui| list(ui, frame, layout, out));
        // Escape clears the filter first, and closes the list only then.
        let escaped = was_open && ui.input(|input| input.key_pressed(Key::Escape));
        if escaped && !frame.state.lanes.filter.is_empty() {
            send(out, LaneCommand::Filter(String::new()));
        } else if button.clicked() || open != was_open {
            send(out, LaneCommand::ToggleList);
        }
    }
    if let Some(text) = hint(layout.hidden, layout.filtered) {
        let place = Rect::from_min_max(
            pos2(rect.left() + 4.0, rect.bottom() - HINT_PT),
            pos2(frame.left_pt - 4.0, rect.bottom() - 2.0),
        );
        let look = Button::new(RichText::new(text).size(11.0)).small().truncate().min_size(place.size());
        let button = ui.put(place, look);
        if button.on_hover_text("Show all lanes (Alt+A)").clicked() {
            send(out, LaneCommand::ShowAll);
        }
    }
}

/// What is left out, in words; `None` when nothing is.
fn hint(hidden: usize, filtered: usize) -> Option<String> {
    let lanes = |count: usize| format::counted(count as u64, "lane", "lanes");
    match (hidden, filtered) {
        (0, 0) => None,
        (hidden, 0) => Some(format!("{} hidden", lanes(hidden))),
        (0, filtered) => Some(format!("{} filtered out", lanes(filtered))),
        (hidden, filtered) => {
            Some(format!("{} hidden, {} filtered out", lanes(hidden), format::count(filtered as u64)))
        }
    }
}

fn list(ui: &mut Ui, frame: &Frame<'_>, layout: &Layout, out: &mut Vec<Command>) {
    ui.set_width(LIST_PT.0);
    let arrangement = &frame.state.lanes;
    let mut text = arrangement.filter.clone();
    let id = Id::unique("lane filter");
    let field = TextEdit::singleline(&mut text).id(id).hint_text("Filter lanes by name").desired_width(f32::INFINITY);
    let response = ui.add(field);
    response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Filter lanes by name"));
    if response.changed() {
        out.push(Command::Lane(LaneCommand::Filter(text)));
    }
    ui.add_space(4.0);
    let height = (ui.ctx().content_rect().bottom() - ui.cursor().top() - 72.0).clamp(80.0, LIST_PT.1);
    ScrollArea::vertical().max_height(height).auto_shrink([false, true]).show(ui, |ui| {
        let filter = arrangement.filter.trim().to_lowercase();
        let mut hidden_above: Option<u8> = None;
        for lane in &layout.all {
            hidden_above = hidden_above.filter(|depth| lane.depth > *depth);
            let (name, _) = lane_name(frame.workspace, lane);
            if lane.is_header() || name.to_lowercase().contains(&filter) {
                line(ui, frame, lane, &name, hidden_above.is_some(), out);
            }
            if arrangement.hidden.contains(&lane.key) {
                hidden_above = hidden_above.or(Some(lane.depth));
            }
        }
    });
    ui.separator();
    ui.horizontal(|ui| {
        let any = !(arrangement.hidden.is_empty() && arrangement.filter.is_empty());
        if ui.add_enabled(any, Button::new("Show all")).clicked() {
            out.push(Command::Lane(LaneCommand::ShowAll));
        }
        let tip = "Order, heights, pins and hidden lanes as they were at first";
        if ui.button("Reset").on_hover_text(tip).clicked() {
            out.push(Command::Lane(LaneCommand::Reset));
        }
    });
}

/// One lane: whether it is shown, and whether it is pinned. `gone` when a lane above it is hidden.
fn line(ui: &mut Ui, frame: &Frame<'_>, lane: &Lane, name: &str, gone: bool, out: &mut Vec<Command>) {
    let arrangement = &frame.state.lanes;
    ui.horizontal(|ui| {
        ui.add_space(14.0 * f32::from(lane.depth));
        let mut shown = !arrangement.hidden.contains(&lane.key);
        let text = RichText::new(name);
        let text = if lane.is_header() { text.strong() } else { text };
        let pin_pt = if lane.key.can_be_pinned() { 44.0 } else { 0.0 };
        let room = (ui.available_width() - pin_pt).max(40.0);
        let height = ui.spacing().interact_size.y;
        let checkbox = ui.allocate_ui(vec2(room, height), |ui| {
            ui.set_width(room);
            ui.add_enabled(!gone, Checkbox::new(&mut shown, text))
        });
        if checkbox.inner.clicked() {
            out.push(Command::Lane(LaneCommand::Hide(Some(lane.key))));
        }
        if lane.key.can_be_pinned() {
            pin(ui, lane.key, name, arrangement.pinned.contains(&lane.key), out);
        }
    });
}

fn pin(ui: &mut Ui, lane: LaneKey, name: &str, pinned: bool, out: &mut Vec<Command>) {
    let button = ui.add(Button::selectable(pinned, "Pin"));
    button.widget_info(|| WidgetInfo::selected(Role::Button, true, pinned, format!("Pin {name}")));
    if button.on_hover_text("Keep it at the top").clicked() {
        out.push(Command::Lane(LaneCommand::Pin(Some(lane))));
    }
}

#[cfg(test)]
mod tests {
    use super::hint;

    #[test]
    fn the_hint_counts_what_is_left_out() {
        assert_eq!(hint(0, 0), None);
        assert_eq!(hint(1, 0).unwrap(), "1 lane hidden");
        assert_eq!(hint(0, 12).unwrap(), "12 lanes filtered out");
        assert_eq!(hint(3, 12).unwrap(), "3 lanes hidden, 12 filtered out");
    }
}
