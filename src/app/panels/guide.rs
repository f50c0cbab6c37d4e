//! The workflow as a checklist, and how to record.

use crate::analysis::{GuideItem, GuideState};
use crate::app::code_text;
use crate::app::cx::Cx;
use crate::app::icons::{self, Icon};
use crate::app::recipe::{self, Recipe};
use crate::report::{Capture, GuideLine, guide_lines, stage_title, state_title};
use crate::timeline::color::Palette;
use crate::view::{Command, Panel};
use egui::{Label, RichText, Role, Ui, WidgetInfo};

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct GuideCache {
    lines: Option<((u64, bool), Vec<GuideLine>)>,
    /// What was chosen for the next recording.
    pub recipe: Recipe,
}

/// Draws the panel.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, cache: &mut GuideCache, out: &mut Vec<Command>) {
    checklist(ui, cx, cache, out);
    ui.add_space(16.0);
    ui.separator();
    ui.add_space(4.0);
    ui.heading("Record a capture");
    ui.add_space(4.0);
    recipe::show(ui, &mut cache.recipe);
}

/// The checklist for what is open.
fn checklist(ui: &mut Ui, cx: &Cx<'_>, cache: &mut GuideCache, out: &mut Vec<Command>) {
    let known = (cx.revision, cx.workspace.mfu.mfu.is_some());
    if cache.lines.as_ref().is_none_or(|(of, _)| *of != known) {
        let docs = &cx.workspace.docs;
        let captures: Vec<Capture<'_>> =
            docs.iter().map(|doc| Capture { trace: &doc.trace, analysis: &doc.analysis }).collect();
        cache.lines = Some((known, guide_lines(&captures, known.1)));
    }
    let Some((_, lines)) = &cache.lines else { return };
    let mut stage = None;
    for line in lines {
        if stage != Some(line.stage) {
            ui.add_space(if stage.is_some() { 10.0 } else { 0.0 });
            ui.strong(stage_title(line.stage));
            stage = Some(line.stage);
        }
        point(ui, cx.palette, line, out);
    }
}

fn point(ui: &mut Ui, palette: &Palette, line: &GuideLine, out: &mut Vec<Command>) {
    ui.horizontal_top(|ui| {
        let (icon, color) = sign(line.state, palette);
        ui.vertical(|ui| {
            ui.set_width(12.0);
            ui.add_space(3.0);
            let response = icons::show(ui, icon, color);
            let name = format!("{}: {}", line.title, state_title(line.state));
            response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &name));
            response.on_hover_text(state_title(line.state));
        });
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 1.0;
            let title = RichText::new(line.title);
            let faint = line.state == GuideState::NotApplicable;
            ui.add(Label::new(if faint { title.weak() } else { title }).wrap());
            ui.add(Label::new(RichText::new(&line.reason).small().weak()).wrap());
            if let Some(how) = &line.how {
                let how = code_text::small(ui, how);
                ui.add(Label::new(how).wrap().selectable(true));
            }
            if let Some((name, command)) = link(line).filter(|_| line.how.is_some())
                && ui.link(RichText::new(name).small()).clicked()
            {
                out.push(command);
            }
            ui.add_space(4.0);
        });
    });
}

/// The sign of a state: each has a shape of its own.
const fn sign(state: GuideState, palette: &Palette) -> (Icon, egui::Color32) {
    match state {
        GuideState::Done => (Icon::Done, palette.accent),
        GuideState::Open => (Icon::Todo, palette.warning),
        GuideState::NotApplicable => (Icon::Dash, palette.text_dim),
        GuideState::Yours => (Icon::Next, palette.text),
    }
}

/// Where the point can be worked on.
const fn link(line: &GuideLine) -> Option<(&'static str, Command)> {
    let link = match line.item {
        GuideItem::Launches => ("Show launches", Command::ShowPanel(Panel::Launches)),
        GuideItem::EveryRank => ("Open more files…", Command::OpenDialog),
        GuideItem::Settings => ("Show MFU", Command::ShowPanel(Panel::Mfu)),
        GuideItem::Steps | GuideItem::Phases => ("Show NVTX ranges", Command::ShowPanel(Panel::Ranges)),
        GuideItem::WarmUp | GuideItem::TypicalSteps => ("Show steps", Command::ShowPanel(Panel::Steps)),
        GuideItem::Gaps => ("Show gaps", Command::ShowPanel(Panel::Gaps)),
        GuideItem::OneChange => ("Show findings", Command::ShowPanel(Panel::Findings)),
        GuideItem::GpuWork | GuideItem::ApiCalls | GuideItem::OsRuntime | GuideItem::GraphNodes => return None,
    };
    Some(link)
}
