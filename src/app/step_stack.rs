//! The five parts of every step as stacked bars of equal height; a click shows the step.
//!
//! Bars stand for the same steps as those of the step times, and lie below them.

use super::cx::{Chosen, Cx};
use super::parts::{color, hatch, swatch};
use super::step_chart::{kind, one_per_bar, step_under};
use super::still_plot::{YAxis, bound_to_bars, still_plot};
use crate::analysis::{Part, Step};
use crate::format;
use crate::view::Command;
use egui::{Color32, Label, Rect, RichText, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};
use egui_plot::{Bar, BarChart, PlotPoint, PlotTransform};

const HEIGHT_PT: f32 = 96.0;
/// Narrower bars, in points, have no room for a hatch.
const HATCH_FROM_PT: f32 = 5.0;
const WIDTH: f64 = 0.8;

/// Draws the chart with its heading and its legend.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, chosen: &Chosen<'_>, out: &mut Vec<Command>) {
    let Some(steps) = chosen.steps() else { return };
    ui.strong("Parts of each step").on_hover_text("Shares of the window of each step. The five parts sum to it.");
    let (per_bar, shown) = one_per_bar(&steps.steps);
    let current = chosen.step_meant(cx.view, cx.workspace).map(|current| current / per_bar);
    let axis = YAxis { top: 1.0, tick: 0.5 };
    let label = |value: f64| format::percent(Some(value));
    let response = still_plot("parts of steps", cx.palette, axis, label).height(HEIGHT_PT).show(ui, |plot| {
        bound_to_bars(plot, shown.len(), axis);
        for part in Part::ALL {
            let bars = shown.iter().enumerate().filter_map(|(bar, (_, step))| {
                let (base, share) = piece(step, part)?;
                let stroke = if current == Some(bar) { Stroke::new(1.5, cx.palette.text) } else { Stroke::NONE };
                let fill = color(part, cx.palette);
                Some(Bar::new(bar as f64, share).base_offset(base).width(WIDTH).fill(fill).stroke(stroke))
            });
            plot.bar_chart(BarChart::new(part.text(), bars.collect()).allow_hover(false));
        }
        plot.pointer_coordinate()
    });
    hatched(ui, response.response.rect, &response.transform, &shown, cx.palette.exposed);
    legend(ui, cx);
    let text = format!("Parts of each step, {} bars; click one to show its step", shown.len());
    response.response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &text));
    let Some(at) = response.inner.and_then(|pointer| step_under(pointer, &shown)) else { return };
    let clicked = response.response.clicked();
    if let Some(step) = steps.steps.get(at) {
        response.response.on_hover_ui_at_pointer(|ui| told(ui, cx, step));
    }
    if clicked {
        out.push(Command::ShowStep(chosen.id, at as u32));
    }
}

/// Where a part of a step begins and how high it is, as shares of the step; `None` when it takes no time.
fn piece(step: &Step, part: Part) -> Option<(f64, f64)> {
    let below = Part::ALL.into_iter().take_while(|other| *other != part).filter_map(|other| other.share(&step.parts));
    let share = part.share(&step.parts).filter(|share| *share > 0.0)?;
    Some((below.fold(0.0, |sum, share| sum + share), share))
}

/// Exposed communication is told by its hatch too, where there is room for it.
fn hatched(ui: &Ui, plot: Rect, transform: &PlotTransform, shown: &[(usize, &Step)], ink: Color32) {
    for (bar, (_, step)) in shown.iter().enumerate() {
        let Some((base, share)) = piece(step, Part::Exposed) else { continue };
        let corner = |side: f64, y: f64| transform.position_from_point(&PlotPoint::new(bar as f64 + side, y));
        let rect = Rect::from_two_pos(corner(-WIDTH / 2.0, base), corner(WIDTH / 2.0, base + share)).intersect(plot);
        if rect.width() >= HATCH_FROM_PT && rect.height() >= 1.0 {
            hatch(&ui.painter().with_clip_rect(rect.intersect(ui.clip_rect())), rect, ink);
        }
    }
}

/// The parts from the bottom of a bar to its top.
fn legend(ui: &mut Ui, cx: &Cx<'_>) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.add(Label::new(RichText::new("From below:").small().weak()));
        for part in Part::ALL {
            named_swatch(ui, cx, part);
        }
    });
}

/// A part's square and name as one widget, so that no line ends between them.
fn named_swatch(ui: &mut Ui, cx: &Cx<'_>, part: Part) {
    let font = egui::FontId::proportional(super::theme::SMALL_PT);
    let galley = ui.painter().layout_no_wrap(part.text().to_owned(), font, cx.palette.text);
    let (rect, response) = ui.allocate_exact_size(vec2(galley.size().x + 22.0, galley.size().y), Sense::hover());
    let square = Rect::from_center_size(pos2(rect.left() + 5.0, rect.center().y), vec2(10.0, 10.0));
    let painter = ui.painter_at(square);
    painter.rect_filled(square, 2.0, color(part, cx.palette));
    if part == Part::Exposed {
        hatch(&painter, square, cx.palette.exposed);
    }
    ui.painter().galley(pos2(rect.left() + 14.0, rect.top()), galley, cx.palette.text);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, part.text()));
    response.on_hover_text(part.definition());
}

fn told(ui: &mut Ui, cx: &Cx<'_>, step: &Step) {
    ui.strong(&step.name);
    let about = [format::duration(step.window.len_ns()), kind(step).to_owned()];
    ui.label(about.into_iter().filter(|text| !text.is_empty()).collect::<Vec<String>>().join(", "));
    egui::Grid::new("parts of the step").num_columns(3).spacing([12.0, 2.0]).show(ui, |ui| {
        for part in Part::ALL {
            ui.horizontal(|ui| {
                swatch(ui, cx.palette, part);
                ui.label(part.text());
            });
            ui.label(format::percent(part.share(&step.parts)));
            ui.label(format::duration(part.of(&step.parts)));
            ui.end_row();
        }
    });
    ui.label(RichText::new("Click to show it").small().weak());
}
