//! Short messages over the lower edge of the window: what was done, or why not.

use super::cx::Cx;
use super::icons::{self, Icon};
use egui::{Align2, Area, Context, Frame, Id, Label, Order, Role, Stroke, Ui, WidgetInfo, vec2};

/// A short message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// What happened.
    pub text: String,
    /// False for a refusal or failure.
    pub good: bool,
}

impl Message {
    /// Something was done.
    pub fn done(text: impl Into<String>) -> Self {
        Self { text: text.into(), good: true }
    }

    /// Something was not done.
    pub fn refused(text: impl Into<String>) -> Self {
        Self { text: text.into(), good: false }
    }
}

/// Where a panel leaves what it copied, for the window to say so.
const COPIED: &str = "copied";

/// Puts `text` on the clipboard; the window will say that it holds `what`, as in "12 rows".
pub fn copy(ctx: &Context, text: String, what: impl Into<String>) {
    ctx.copy_text(text);
    ctx.data_mut(|data| data.insert_temp::<String>(Id::unique(COPIED), what.into()));
}

/// What was copied since the last call.
pub fn take_copied(ctx: &Context) -> Option<Message> {
    let what = ctx.data_mut(|data| data.remove_temp::<String>(Id::unique(COPIED)));
    what.map(|what| Message::done(format!("Copied {what}")))
}

/// Draws `message`; it lies over everything and takes no click.
pub fn show(ui: &Ui, cx: &Cx<'_>, message: &Message) {
    let (icon, color) =
        if message.good { (Icon::Done, cx.palette.accent) } else { (Icon::Warning, cx.palette.warning) };
    let widest = (ui.ctx().content_rect().width() - 96.0).clamp(120.0, 640.0);
    let area = Area::new(Id::unique("toast")).order(Order::Foreground).interactable(false);
    area.anchor(Align2::CENTER_BOTTOM, vec2(0.0, -40.0)).show(ui.ctx(), |ui| {
        let frame = Frame::window(ui.style()).stroke(Stroke::new(1.5, color)).inner_margin(egui::Margin::same(10));
        frame.show(ui, |ui| {
            ui.set_max_width(widest);
            ui.horizontal(|ui| {
                icons::show(ui, icon, color);
                let response = ui.add(Label::new(&message.text).wrap());
                response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &message.text));
            });
        });
    });
}
