//! MFU of every step, and what it would be without each loss.

use crate::analysis::{Loss, Mfu, Step};
use crate::app::cx::{Chosen, Cx};
use crate::app::parts::hatch;
use crate::app::step_chart::one_per_bar;
use crate::app::still_plot::{YAxis, bound_to_bars, still_plot};
use crate::app::verdict::color;
use crate::format;
use crate::timeline::color::{Palette, step_color};
use crate::view::Command;
use egui::{Align, Color32, Label, Layout, Rect, RichText, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};
use egui_plot::{Bar, BarChart, HLine};

const HEIGHT_PT: f32 = 104.0;
/// Room of names and of numbers beside a bar, in points.
const NAMES_PT: f32 = 148.0;
const NUMBERS_PT: f32 = 56.0;
const BAR_PT: f32 = 14.0;

/// One bar a step, as high as its MFU; of many steps the lowest of several. A click shows the step.
pub fn per_step(ui: &mut Ui, cx: &Cx<'_>, mfu: &Mfu, out: &mut Vec<Command>) {
    let Some(chosen) = cx.chosen() else { return };
    let Some(steps) = chosen.steps().filter(|steps| !steps.estimated && mfu.mfu.is_some()) else { return };
    let (_, shown) = one_per_bar(&steps.steps);
    ui.strong("MFU by step").on_hover_text("Each step's window in place of the median step time.");
    plot(ui, cx, &chosen, mfu, &shown, out);
    ui.add_space(12.0);
}

fn plot(ui: &mut Ui, cx: &Cx<'_>, chosen: &Chosen<'_>, mfu: &Mfu, shown: &[(usize, &Step)], out: &mut Vec<Command>) {
    let percent = |step: &Step| mfu.of_step(step.window.len_ns()).unwrap_or(0.0) * 100.0;
    let bars: Vec<Bar> = shown
        .iter()
        .enumerate()
        .map(|(at, (_, step))| {
            let fill = step_color(step, cx.palette);
            Bar::new(at as f64, percent(step)).width(0.8).fill(fill).stroke(Stroke::NONE)
        })
        .collect();
    let top = shown.iter().map(|(_, step)| percent(step)).fold(1.0, f64::max);
    let axis = YAxis::up_to(top, 4.0);
    let label = |value: f64| format!("{} %", format::count(value.round() as u64));
    let response = still_plot("mfu by step", cx.palette, axis, label).height(HEIGHT_PT).show(ui, |plot| {
        // The bars follow the settings.
        bound_to_bars(plot, shown.len(), axis);
        plot.bar_chart(BarChart::new("MFU", bars).allow_hover(false));
        if let Some(all) = mfu.mfu {
            plot.hline(HLine::new("MFU", all * 100.0).color(cx.palette.text_dim).width(1.0).allow_hover(false));
        }
        plot.pointer_coordinate()
    });
    let text = format!("MFU by step, {} bars; click one to show its step", shown.len());
    response.response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &text));
    let under = response.inner.filter(|pointer| pointer.x > -0.5).map(|pointer| pointer.x.round() as usize);
    let Some((at, step)) = under.and_then(|bar| shown.get(bar)) else { return };
    if response.response.clicked() {
        out.push(Command::ShowStep(chosen.id, *at as u32));
    }
    response.response.on_hover_ui_at_pointer(|ui| {
        ui.strong(&step.name);
        let length = format::duration(step.window.len_ns());
        ui.label(format!("MFU {}, {length}", format::percent(mfu.of_step(step.window.len_ns()))));
        ui.label(RichText::new("Click to show it").small().weak());
    });
}

/// From today's MFU to what would be left if the losses vanished, the largest first.
pub fn losses(ui: &mut Ui, cx: &Cx<'_>, mfu: &Mfu) {
    let Some(today) = mfu.mfu.filter(|_| !mfu.losses.is_empty()) else { return };
    ui.strong("If losses vanished, one after the other").on_hover_text(
        "MFU at most, when the losses of the typical step vanish one after the other, the largest first, and nothing else \
         changes.",
    );
    let best = mfu.if_only_compute().unwrap_or(today);
    let scale = best.max(mfu.ceiling.unwrap_or(0.0)).max(today);
    let palette = cx.palette;
    row(ui, palette, "Today", today, scale, &[(today, palette.compute)], "MFU of the median step.");
    let mut before = today;
    for loss in &mfu.losses {
        let Some(after) = loss.mfu_if_gone_with_larger else { break };
        let pieces = [(before, palette.compute.gamma_multiply(0.4)), (after, color(loss.area, palette))];
        row(ui, palette, loss.area.text(), after, scale, &pieces, &tip(loss));
        before = after;
    }
    if let Some(ceiling) = mfu.ceiling {
        let tip = "MFU if every operation ran like the best matrix product measured on this GPU.";
        row(ui, palette, "Practical ceiling", ceiling, scale, &[(ceiling, palette.grid)], tip);
    }
    ui.add_space(12.0);
}

fn tip(loss: &Loss) -> String {
    format!(
        "{} {} of the typical step. If it alone vanished, MFU would be at most {}; with all larger losses gone too, at most \
         {}.",
        loss.area.definition(),
        format::percent(Some(loss.share)),
        format::percent(loss.mfu_if_gone),
        format::percent(loss.mfu_if_gone_with_larger),
    )
}

/// A name, a bar of pieces that end at the given values, and a number.
fn row(ui: &mut Ui, palette: &Palette, name: &str, value: f64, scale: f64, pieces: &[(f64, Color32)], tip: &str) {
    ui.horizontal(|ui| {
        ui.allocate_ui_with_layout(vec2(NAMES_PT, 18.0), Layout::left_to_right(Align::Center), |ui| {
            ui.set_min_width(NAMES_PT);
            ui.add(Label::new(RichText::new(name).weak()).truncate()).on_hover_text(tip);
        });
        let width = (ui.available_width() - NUMBERS_PT).max(24.0);
        let (rect, response) = ui.allocate_exact_size(vec2(width, BAR_PT), Sense::hover());
        let text = format!("{name}: {}", format::percent(Some(value)));
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &text));
        response.on_hover_text(tip);
        let mut left = rect.left();
        for (at, (end, fill)) in pieces.iter().enumerate() {
            let right = rect.left() + rect.width() * (end / scale) as f32;
            let piece = Rect::from_min_max(pos2(left, rect.top()), pos2(right.max(left + 1.0), rect.bottom()));
            ui.painter().rect_filled(piece, 0.0, *fill);
            // What is won is told apart without colour, too.
            if at > 0 {
                hatch(&ui.painter().with_clip_rect(piece.intersect(ui.clip_rect())), piece, palette.panel);
            }
            left = right;
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(format::percent(Some(value))).on_hover_text(tip);
        });
    });
}
