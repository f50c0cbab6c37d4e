//! The verdict as a card, and what verdicts and findings share: the colours of areas, links to places.

use super::code_text;
use super::cx::{Chosen, Cx};
use crate::analysis::{Area, Cause, Place, Verdict};
use crate::report::compare::straggler_text;
use crate::report::{
    bubble_text, margin_text, mfu_text, next_text, no_verdict, place_text, verdict_cost, verdict_title, waiting_text,
};
use crate::timeline::color::Palette;
use crate::units::Span;
use crate::view::{Command, Panel};
use egui::{
    Color32, CornerRadius, Frame, Label, Margin, Rect, Response, RichText, Sense, TextWrapMode, Ui, pos2, vec2,
};

/// Colour of an area: that of what it looks like on the timeline.
pub fn color(area: Area, palette: &Palette) -> Color32 {
    match area {
        Area::Compute => palette.compute,
        Area::Communication => palette.communication,
        Area::Bubble => palette.cause(Cause::DeviceWait),
        Area::Data => palette.cause(Cause::Data),
        Area::Host => palette.cause(Cause::HostCode),
        Area::Copy => palette.copy,
        Area::Unattributed => palette.cause(Cause::Unknown),
        Area::Capture => palette.warning,
        Area::Mfu => palette.accent,
    }
}

/// A square in the colour of an area; its meaning in the tooltip.
pub fn swatch(ui: &mut Ui, palette: &Palette, area: Area) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
    ui.painter().rect_filled(rect, 2.0, color(area, palette));
    response.on_hover_text(area.definition())
}

/// Width of the coloured edge of a card.
const EDGE_PT: f32 = 4.0;

/// A card with a coloured edge.
pub fn card(ui: &mut Ui, edge: Color32, fill: Color32, add: impl FnOnce(&mut Ui)) {
    let margin = Margin { left: 12, right: 8, top: 8, bottom: 8 };
    let shown = Frame::new().fill(fill).corner_radius(4.0).inner_margin(margin).show(ui, |ui| {
        ui.set_width(ui.available_width());
        add(ui);
    });
    let rect = shown.response.rect;
    let edge_rect = Rect::from_min_max(rect.min, pos2(rect.left() + EDGE_PT, rect.bottom()));
    let left = CornerRadius { nw: 4, sw: 4, ne: 0, se: 0 };
    ui.painter().rect_filled(edge_rect, left, edge);
}

/// The verdict on the chosen rank with its evidence and what to do next.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, chosen: &Chosen<'_>, out: &mut Vec<Command>) {
    let diagnosis = &chosen.numbers.diagnosis;
    let Some(verdict) = &diagnosis.verdict else {
        card(ui, cx.palette.warning, cx.palette.header, |ui| {
            for line in no_verdict(diagnosis) {
                let line = code_text::usual(ui, &line);
                ui.add(Label::new(line).wrap().selectable(true));
            }
        });
        return;
    };
    card(ui, color(verdict.area, cx.palette), cx.palette.header, |ui| {
        wrapped(ui, RichText::new(verdict_title(verdict)).heading()).on_hover_text(verdict.area.definition());
        wrapped(ui, RichText::new(verdict_cost(verdict))).on_hover_text(margin_text(verdict));
        details(ui, cx, chosen, verdict);
        if !verdict.places.is_empty() {
            places(ui, chosen, "Longest at once:", &verdict.places, out);
        }
        ui.add_space(4.0);
        let next = code_text::usual(ui, &next_text(verdict, &chosen.beside(cx)));
        ui.add(Label::new(next).wrap());
        straggler(ui, cx, out);
        let count = diagnosis.count_with(cx.workspace.mfu.mfu);
        if count > 0 && ui.link(format!("All findings ({count})")).clicked() {
            out.push(Command::ShowPanel(Panel::Findings));
        }
    });
}

/// The rank that the others wait for, when there is one.
fn straggler(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    let job = &cx.workspace.job;
    if job.stragglers.straggler.is_some() {
        ui.add_space(4.0);
        wrapped(ui, RichText::new(straggler_text(job)));
        if ui.link("All ranks").on_hover_text("Who waits for whom, and what the late rank does longer").clicked() {
            out.push(Command::ShowPanel(Panel::Ranks));
        }
    }
}

/// The lines that not every verdict has.
fn details(ui: &mut Ui, cx: &Cx<'_>, chosen: &Chosen<'_>, verdict: &Verdict) {
    let mfu = mfu_text(verdict, cx.workspace.mfu.mfu);
    let reason = verdict.basis.reason().map(str::to_owned);
    let waiting = waiting_text(verdict, &chosen.beside(cx));
    for line in bubble_text(verdict).into_iter().chain(mfu).chain(reason).chain(waiting) {
        wrapped(ui, RichText::new(line).weak());
    }
}

/// A label that wraps.
pub fn wrapped(ui: &mut Ui, text: RichText) -> Response {
    ui.add(Label::new(text).wrap())
}

/// Links to places; a click shows and selects the place.
pub fn places(ui: &mut Ui, chosen: &Chosen<'_>, name: &str, places: &[Place], out: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        // A place that does not fit stands in the next line as a whole.
        ui.style_mut().wrap_mode = Some(TextWrapMode::Extend);
        ui.label(RichText::new(name).weak());
        for place in places {
            let link = ui.link(place_text(place, &chosen.doc.trace, chosen.numbers.steps.as_ref()));
            if link.on_hover_text("Show it on the timeline").clicked() {
                let span = chosen.doc.axis_span(place.span);
                out.push(Command::SelectSpan(Some(span)));
                out.push(Command::Show(around(span)));
            }
        }
    });
}

/// A span with as much room on each side as it is long, so that what comes before and after is seen too.
const fn around(span: Span) -> Span {
    let room_ns = span.len_ns();
    Span::new(span.start_ns.saturating_sub(room_ns), span.end_ns.saturating_add(room_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Theme;

    #[test]
    fn a_place_is_shown_with_room_around_it() {
        assert_eq!(around(Span::new(10, 14)), Span::new(6, 18));
        assert_eq!(around(Span::new(i64::MIN, 0)).start_ns, i64::MIN);
    }

    #[test]
    fn losses_have_colours_of_their_own() {
        for theme in [Theme::Dark, Theme::Light] {
            let palette = Palette::of(theme);
            for (at, area) in Area::OF_TIME.into_iter().enumerate() {
                for other in Area::OF_TIME.into_iter().skip(at + 1) {
                    assert_ne!(color(area, palette), color(other, palette), "{area:?} {other:?}");
                }
            }
        }
    }
}
