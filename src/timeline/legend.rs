//! What the colours mean, as a strip below the lanes.

use super::color::Palette;
use super::coloring::Entry;
use super::draw::Tone;
use super::ink::Ink;
use super::label;
use super::paint::{self, LANE_FONT};
use crate::format;
use crate::view::ViewState;
use egui::{Painter, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

/// Height of the strip.
pub const HEIGHT_PT: f32 = 22.0;
/// Size of a swatch, and room after it and after an entry.
const SWATCH_PT: f32 = 10.0;
const GAPS_PT: (f32, f32) = (5.0, 14.0);
/// Most room of an entry's name.
const NAME_PT: f32 = 168.0;
/// Narrower strips, in points, leave out heading and counts, and cut names to this.
const NARROW_PT: f32 = 560.0;
const NARROW_NAME_PT: f32 = 72.0;

/// What the strip explains.
#[derive(Debug)]
pub struct Entries<'a> {
    /// Colours.
    pub colors: &'a [Entry],
    /// Waiting for another rank, where any kernel does.
    pub waits: Option<Entry>,
    /// Why that is no evidence of waiting; `None` when it is.
    pub reservation: Option<String>,
}

/// Draws the strip into `rect`: as many entries as fit, and how many more there are.
pub fn show(ui: &Ui, state: &ViewState, palette: &Palette, entries: &Entries<'_>, rect: Rect) {
    let reservation = entries.reservation.as_ref().filter(|_| entries.waits.is_some());
    // What is no colour of its own comes first, so that it is never left out.
    let entries: Vec<(&Entry, bool)> = entries
        .waits
        .iter()
        .map(|entry| (entry, true))
        .chain(entries.colors.iter().map(|entry| (entry, false)))
        .collect();
    let entries = entries.as_slice();
    let response = ui.interact(rect, ui.scope_id().with("legend"), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, in_words(state, entries, reservation)));
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 0.0, palette.panel);
    painter.hline(rect.x_range(), rect.top(), Stroke::new(1.0, palette.grid));
    let middle = rect.center().y;
    let mut x = rect.left() + 12.0;
    // Where there is little room, what the colours are comes before how many there are of each.
    let narrow = rect.width() < NARROW_PT;
    if !narrow {
        let heading = format!("Colour by {}", state.coloring.text().to_lowercase().replace("nvtx", "NVTX"));
        let galley = painter.layout_no_wrap(heading, LANE_FONT, palette.text_dim);
        let next = x + galley.size().x + GAPS_PT.1;
        painter.galley(pos2(x, middle - galley.size().y / 2.0), galley, palette.text_dim);
        x = next;
    }
    for (at, (entry, waits)) in entries.iter().enumerate() {
        let name_pt = if narrow { NARROW_NAME_PT } else { NAME_PT };
        let name = label::cut(&painter, &entry.text, name_pt, &LANE_FONT, palette.text);
        let count = if narrow { String::new() } else { format::count(entry.count) };
        let count = painter.layout_no_wrap(count, LANE_FONT, palette.text_dim);
        let more = format!("+{} more", format::count((entries.len() - at) as u64));
        let more = painter.layout_no_wrap(more, LANE_FONT, palette.text_dim);
        let width = SWATCH_PT + 2.0 * GAPS_PT.0 + name.size().x + count.size().x;
        let is_last = at + 1 == entries.len();
        let room = rect.right() - 12.0 - if is_last { 0.0 } else { more.size().x + GAPS_PT.1 };
        if x + width > room {
            painter.galley(pos2(x, middle - more.size().y / 2.0), more, palette.text_dim);
            break;
        }
        let swatch = Rect::from_min_size(pos2(x, middle - SWATCH_PT / 2.0), vec2(SWATCH_PT, SWATCH_PT));
        paint_swatch(&painter, palette, entry.ink, *waits, swatch);
        x += SWATCH_PT + GAPS_PT.0;
        let after = x + name.size().x + GAPS_PT.0;
        painter.galley(pos2(x, middle - name.size().y / 2.0), name, palette.text);
        let end = after + count.size().x + GAPS_PT.1;
        painter.galley(pos2(after, middle - count.size().y / 2.0), count, palette.text_dim);
        x = end;
    }
    if let Some(at) = response.hover_pos() {
        let lines = entries.iter().take(24).map(|(entry, _)| line(entry));
        let text = super::tooltip::Text {
            title: format!("Colours by {}", state.coloring.text().to_lowercase().replace("nvtx", "NVTX")),
            lines: lines.chain(reservation.cloned()).map(|line| ("", line)).collect(),
        };
        let bounds = ui.ctx().content_rect();
        let painter =
            ui.ctx().layer_painter(egui::LayerId::new(egui::Order::Tooltip, ui.scope_id().with("legend tip")));
        let spot = super::tooltip::Spot::Near { pointer: at, item: (rect.top(), rect.bottom()), avoid: &[] };
        super::tooltip::paint(&painter, palette, &text, &spot, bounds);
    }
}

/// A colour; with lines along it where it means waiting, as on the lanes.
fn paint_swatch(painter: &Painter, palette: &Palette, ink: Ink, waits: bool, swatch: Rect) {
    if !waits {
        painter.rect_filled(swatch, 2.0, palette.ink(ink));
        return;
    }
    painter.rect_filled(swatch, 2.0, paint::tone(palette, Tone::Wait(ink)));
    for y in [2.0, 5.0, 8.0] {
        painter.hline(swatch.x_range(), swatch.top() + y, Stroke::new(1.0, palette.ink(ink)));
    }
}

fn line(entry: &Entry) -> String {
    let count = format::counted(entry.count, "operation", "operations");
    format!("{}: {count}, {}", entry.text, format::duration(entry.busy_ns))
}

fn in_words(state: &ViewState, entries: &[(&Entry, bool)], reservation: Option<&String>) -> String {
    let lines = entries.iter().take(40).map(|(entry, _)| line(entry));
    let lines: Vec<String> = lines.chain(reservation.cloned()).collect();
    format!("Legend, colours by {}. {}", state.coloring.text(), lines.join("; "))
}
