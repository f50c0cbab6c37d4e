//! The schedule of one step: a lane for each stage, its passes in it as blocks, to scale on the job's clock.
//!
//! Forward passes stand at the upper edge of a lane, backward ones at the lower edge, so that they differ without
//! colour. What no block covers is tinted by phase: bubble, and whatever else kept the stage from computing. The strip
//! below a lane names the phases with their bubble as a share of the step.

use crate::analysis::{Block, Pass, PipelineTime};
use crate::app::cx::Cx;
use crate::app::parts::readable_on;
use crate::app::theme::SMALL_PT;
use crate::format;
use crate::job::{Job, Phase, StageLane, StagedStep, Stages};
use crate::timeline::color::Palette;
use crate::timeline::ruler;
use crate::units::{Span, share};
use crate::view::{Command, LaneKey, RankId};
use egui::{
    Align2, Color32, FontId, Label, Painter, Pos2, Rect, Response, RichText, Role, Sense, Stroke, StrokeKind, Ui,
    WidgetInfo, pos2, vec2,
};

/// Room of the names of stages.
const NAMES_PT: f32 = 60.0;
/// Height of a lane with its strip, at least and at most.
const LANE_PT: (f32, f32) = (34.0, 56.0);
/// Height of the strip of phases below the blocks.
const STRIP_PT: f32 = 14.0;
/// Space between lanes.
const GAP_PT: f32 = 6.0;
/// Share of the panel's height for the picture.
const SHARE: f32 = 0.5;
/// How much lower backward blocks begin, and how much higher forward blocks end, as a share of the height.
const OFFSET: f32 = 0.3;
/// Narrower blocks are no widgets of their own: the lane answers for them.
const WIDGET_FROM_PT: f32 = 5.0;
/// Height of the ruler.
const RULER_PT: f32 = 16.0;
/// Room of a tick with its label.
const TICK_PT: f32 = 64.0;

/// Time to points.
#[derive(Debug, Clone, Copy)]
struct Scale {
    span: Span,
    left: f32,
    width: f32,
}

impl Scale {
    fn x(&self, at_ns: i64) -> f32 {
        let at = at_ns.clamp(self.span.start_ns, self.span.end_ns).saturating_sub(self.span.start_ns);
        self.left + self.width * share(at, self.span.len_ns()).unwrap_or(0.0) as f32
    }

    fn at_ns(&self, x: f32) -> i64 {
        let share = f64::from((x - self.left) / self.width.max(1.0));
        self.span.start_ns.saturating_add((share * self.span.len_ns() as f64) as i64)
    }

    fn rect(&self, span: Span, y: egui::Rangef) -> Rect {
        Rect::from_x_y_ranges(self.x(span.start_ns)..=self.x(span.end_ns), y)
    }
}

/// A stage as it is drawn.
#[derive(Debug, Clone, Copy)]
struct Drawn<'a> {
    job: &'a Job,
    number: u32,
    rank: usize,
    /// The rank, when it is open and not only its summary.
    open: Option<RankId>,
    lane: &'a StageLane,
    origin_ns: i64,
}

/// What a phase is called.
const fn phase_text(phase: Phase) -> &'static str {
    match phase {
        Phase::WarmUp => "warm-up",
        Phase::Steady => "steady state",
        Phase::CoolDown => "cool-down",
    }
}

fn phase_color(phase: Phase, palette: &Palette) -> Color32 {
    let (color, strength) = match phase {
        Phase::WarmUp => (palette.communication, 0.35),
        Phase::Steady => (palette.sync, 0.45),
        Phase::CoolDown => (palette.copy, 0.35),
    };
    palette.background.lerp_to_gamma(color, strength)
}

fn pass_color(pass: Pass, palette: &Palette) -> Color32 {
    match pass {
        Pass::Forward => palette.compute,
        Pass::Backward => palette.compute.lerp_to_gamma(palette.background, 0.45),
    }
}

const fn pass_text(pass: Pass) -> &'static str {
    match pass {
        Pass::Forward => "Forward",
        Pass::Backward => "Backward",
    }
}

/// What the colours mean.
pub fn legend(ui: &mut Ui, cx: &Cx<'_>) {
    let passes = [Pass::Forward, Pass::Backward].map(|pass| (pass_color(pass, cx.palette), pass_text(pass)));
    let bubble = [Phase::WarmUp, Phase::Steady, Phase::CoolDown];
    let bubble = bubble.map(|phase| (phase_color(phase, cx.palette), phase_text(phase)));
    for (at, (color, text)) in passes.into_iter().chain(bubble).enumerate() {
        let text = match at {
            0 => format!("{text} (upper)"),
            1 => format!("{text} (lower)"),
            2 => format!("Outside blocks: {text}"),
            _ => text.to_owned(),
        };
        let galley = ui.painter().layout_no_wrap(text.clone(), FontId::proportional(SMALL_PT), cx.palette.text_dim);
        let (rect, response) = ui.allocate_exact_size(vec2(galley.size().x + 14.0, 16.0), Sense::hover());
        let square = Rect::from_center_size(pos2(rect.left() + 5.0, rect.center().y), vec2(10.0, 10.0));
        ui.painter().rect(square, 1.0, color, Stroke::new(1.0, cx.palette.grid), StrokeKind::Inside);
        let y = rect.center().y - galley.size().y / 2.0;
        ui.painter().galley(pos2(rect.left() + 14.0, y), galley, cx.palette.text_dim);
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &text));
    }
}

/// Draws `step`.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, stages: &Stages, step: &StagedStep, out: &mut Vec<Command>) {
    let job = &cx.workspace.job;
    let count = stages.stages.len().max(1) as f32;
    let room_pt = ui.clip_rect().height() * SHARE / count - GAP_PT;
    let height = room_pt.clamp(LANE_PT.0, LANE_PT.1);
    let mut unkept = false;
    for (at, stage) in stages.stages.iter().enumerate() {
        let (rect, response) = ui.allocate_exact_size(
            vec2(ui.available_width(), height + GAP_PT - ui.spacing().item_spacing.y),
            Sense::click(),
        );
        if !ui.is_rect_visible(rect) {
            continue;
        }
        let rect = rect.with_max_y(rect.top() + height - ui.spacing().item_spacing.y.min(GAP_PT));
        name(ui, cx, rect, stage.stage, job, stage.rank);
        let scale = scale(rect, step);
        let Some(lane) = stages.lane(job, step, at) else {
            let text = format!("Stage {}: no step {}", stage.stage, step.number);
            let font = FontId::proportional(SMALL_PT);
            ui.painter().text(
                pos2(scale.left, rect.center().y),
                Align2::LEFT_CENTER,
                "does not have this step",
                font,
                cx.palette.text_dim,
            );
            response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &text));
            continue;
        };
        unkept |= lane.blocks.is_empty() && lane.passes > 0;
        let drawn = Drawn {
            job,
            number: stage.stage,
            rank: stage.rank,
            open: cx.workspace.open_rank(stage.rank),
            lane: &lane,
            origin_ns: cx.workspace.origin_ns,
        };
        draw(ui, cx.palette, (rect, scale), drawn, response, out);
    }
    ruler(ui, cx.palette, step);
    if unkept {
        ui.add(Label::new(
            RichText::new("The blocks of this step are not kept: choose an earlier one.").small().weak(),
        ));
    }
}

fn scale(rect: Rect, step: &StagedStep) -> Scale {
    let left = rect.left() + NAMES_PT;
    Scale { span: step.span, left, width: (rect.right() - left - 1.0).max(1.0) }
}

/// The stage, and the rank that stands for it where there is room.
fn name(ui: &Ui, cx: &Cx<'_>, rect: Rect, stage: u32, job: &Job, rank: usize) {
    let painter = ui.painter().with_clip_rect(rect.with_max_x(rect.left() + NAMES_PT - 4.0).intersect(ui.clip_rect()));
    let font = FontId::proportional(SMALL_PT);
    painter.text(rect.left_top(), Align2::LEFT_TOP, format!("Stage {stage}"), font.clone(), cx.palette.text);
    let label =
        job.ranks.get(rank).map_or_else(String::new, |rank| format!("rank {}", format::one_line(&rank.label, 40)));
    painter.text(rect.left_top() + vec2(0.0, 14.0), Align2::LEFT_TOP, label, font, cx.palette.text_dim);
}

fn draw(
    ui: &Ui,
    palette: &Palette,
    (rect, scale): (Rect, Scale),
    drawn: Drawn<'_>,
    response: Response,
    out: &mut Vec<Command>,
) {
    let lane = drawn.lane;
    let blocks_y = egui::Rangef::new(rect.top(), rect.bottom() - STRIP_PT);
    let strip_y = egui::Rangef::new(rect.bottom() - STRIP_PT, rect.bottom());
    let painter = ui.painter();
    painter.rect_filled(scale.rect(lane.window, blocks_y), 0.0, palette.background);
    for (phase, span, time) in &lane.phases {
        let color = phase_color(*phase, palette);
        painter.rect_filled(scale.rect(*span, blocks_y), 0.0, color);
        let strip = scale.rect(*span, strip_y);
        painter.rect_filled(strip, 0.0, palette.header);
        let percent = format::percent(lane.share_of_step(time));
        fitting(
            painter,
            strip,
            &[
                &format!("{}: bubble {percent}", phase_text(*phase)),
                &format!("{} {percent}", phase_text(*phase)),
                &percent,
            ],
            palette.text,
        );
    }
    for block in &lane.blocks {
        let block_rect = block_rect(scale, block, blocks_y);
        let color = pass_color(block.pass, palette);
        // Beside a block of less than the full height is no bubble.
        painter.rect_filled(block_rect.with_min_y(blocks_y.min).with_max_y(blocks_y.max), 0.0, palette.background);
        painter.rect_filled(block_rect, 1.0, color);
        if block_rect.width() > 3.0 {
            painter.vline(block_rect.left(), block_rect.y_range(), Stroke::new(1.0, palette.background));
        }
        fitting(painter, block_rect, &[&block.micro_batch.to_string()], readable_on(color, palette));
        if block_rect.width() >= WIDGET_FROM_PT {
            let id = response.id.with((block.pass, block.micro_batch, block.span.start_ns));
            let own = ui.interact(block_rect, id, Sense::click());
            own.widget_info(|| WidgetInfo::labeled(Role::Button, true, drawn.block_text(block)));
            if own.clicked() {
                drawn.go_to(block, out);
            }
            own.on_hover_ui_at_pointer(|ui| drawn.block_tip(ui, block));
        }
    }
    // Between phases, over blocks that reach from one into the other.
    for (_, span, _) in lane.phases.iter().skip(1) {
        painter.vline(scale.x(span.start_ns), rect.y_range(), Stroke::new(1.5, palette.text));
    }
    painter.rect_stroke(
        scale.rect(lane.window, rect.y_range()),
        0.0,
        Stroke::new(1.0, palette.grid),
        StrokeKind::Outside,
    );
    lane_answers(scale, drawn, (blocks_y, strip_y), response, out);
}

/// What lies under the pointer where no widget of its own does: narrow blocks and phases.
fn lane_answers(
    scale: Scale,
    drawn: Drawn<'_>,
    (blocks_y, strip_y): (egui::Rangef, egui::Rangef),
    response: Response,
    out: &mut Vec<Command>,
) {
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, drawn.lane_text()));
    let hovered = |at: Pos2| {
        drawn.lane.blocks.iter().find(|block| block_rect(scale, block, blocks_y).expand2(vec2(1.0, 0.0)).contains(at))
    };
    if let (true, Some(block)) = (response.clicked(), response.interact_pointer_pos().and_then(hovered)) {
        drawn.go_to(block, out);
    }
    let Some(pointer) = response.hover_pos().filter(|at| at.x >= scale.left && at.y <= strip_y.max) else { return };
    let at_ns = scale.at_ns(pointer.x);
    let block = hovered(pointer);
    response.on_hover_ui_at_pointer(|ui| match block {
        Some(block) => drawn.block_tip(ui, block),
        None => drawn.phase_tip(ui, at_ns),
    });
}

fn block_rect(scale: Scale, block: &Block, y: egui::Rangef) -> Rect {
    let offset = y.span() * OFFSET;
    let y = match block.pass {
        Pass::Forward => egui::Rangef::new(y.min, y.max - offset),
        Pass::Backward => egui::Rangef::new(y.min + offset, y.max),
    };
    let rect = scale.rect(block.span, y);
    rect.with_max_x(rect.right().max(rect.left() + 1.0))
}

/// Writes the first of `texts` that fits into `rect`.
fn fitting(painter: &Painter, rect: Rect, texts: &[&str], ink: Color32) {
    for text in texts {
        let galley = painter.layout_no_wrap((*text).to_owned(), FontId::proportional(SMALL_PT), ink);
        if galley.size().x + 3.0 <= rect.width() && galley.size().y <= rect.height() + 2.0 {
            let at = Align2::CENTER_CENTER.align_size_within_rect(galley.size(), rect);
            painter.galley(at.min, galley, ink);
            return;
        }
    }
}

/// Time since the start of the step.
fn ruler(ui: &mut Ui, palette: &Palette, step: &StagedStep) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), RULER_PT), Sense::hover());
    let scale = scale(rect, step);
    let len_ns = step.span.len_ns();
    let tick_ns = ruler::tick_ns(len_ns as f64 * f64::from(TICK_PT / scale.width));
    for number in 0..=len_ns.checked_div(tick_ns).unwrap_or(0) {
        let at_ns = number.saturating_mul(tick_ns);
        let x = scale.x(step.span.start_ns.saturating_add(at_ns));
        ui.painter().vline(x, rect.top()..=rect.top() + 4.0, Stroke::new(1.0, palette.text_dim));
        let text = format::time_at(at_ns, tick_ns);
        let galley = ui.painter().layout_no_wrap(text, FontId::proportional(SMALL_PT), palette.text_dim);
        let left = (x - galley.size().x / 2.0).max(scale.left);
        if left + galley.size().x <= rect.right() {
            ui.painter().galley(pos2(left, rect.top() + 3.0), galley, palette.text_dim);
        }
    }
}

impl Drawn<'_> {
    fn block_text(&self, block: &Block) -> String {
        format!(
            "{} of micro-batch {} on stage {}, {}",
            pass_text(block.pass),
            block.micro_batch,
            self.number,
            format::duration(block.span.len_ns())
        )
    }

    fn lane_text(&self) -> String {
        let phase = |(phase, _, time): &(Phase, Span, PipelineTime)| {
            format!(", {} {}", phase_text(*phase), format::percent(self.lane.share_of_step(time)))
        };
        let phases: String = self.lane.phases.iter().map(phase).collect();
        format!("Stage {}: bubble {} of the step{phases}", self.number, format::percent(self.lane.whole.bubble_share()))
    }

    /// Goes to the block in the timeline, when its rank is open.
    fn go_to(&self, block: &Block, out: &mut Vec<Command>) {
        let Some(id) = self.open else { return };
        let axis = block.span.shifted(self.origin_ns);
        out.push(Command::ChooseRank(id));
        out.push(Command::SelectSpan(Some(axis)));
        out.push(Command::Show(super::super::around(axis)));
        out.push(Command::ShowLane(LaneKey::Compute(id)));
    }

    fn block_tip(&self, ui: &mut Ui, block: &Block) {
        ui.strong(format!("{} of micro-batch {}", pass_text(block.pass), block.micro_batch));
        let rank = self.job.ranks.get(self.rank).map_or("?", |rank| rank.label.as_str());
        ui.label(format!("Stage {}, rank {}", self.number, format::one_line(rank, 60)));
        let (len_ns, own_ns) = (block.span.len_ns(), block.compute_ns);
        let share = format::percent(share(own_ns, len_ns));
        ui.label(format!("{}, of that compute {} ({share})", format::duration(len_ns), format::duration(own_ns)));
        let hint = if self.open.is_some() { "Click to show it" } else { "Only the summary of this rank is open" };
        ui.label(RichText::new(hint).small().weak());
    }

    fn phase_tip(&self, ui: &mut Ui, at_ns: i64) {
        let Some((phase, _, time)) = self.lane.phases.iter().find(|(_, span, _)| span.contains(at_ns)) else {
            ui.label(self.lane_text());
            return;
        };
        ui.strong(format!("Stage {}, {}", self.number, phase_text(*phase)));
        ui.label(format!(
            "{}, of that bubble {} ({} of the step)",
            format::duration(time.span_ns),
            format::duration(time.bubble_ns()),
            format::percent(self.lane.share_of_step(time)),
        ));
        ui.label(format!(
            "Exposed point-to-point {}, idle beside it {}",
            format::duration(time.exposed_ns),
            format::duration(time.idle_ns)
        ));
    }
}
