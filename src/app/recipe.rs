//! "Record a capture": choices on one side, the command, its reasons and the code for the training loop on the other.
//! Shown at the end of the guide and as a window of its own.

use super::capture::copy_button;
use super::theme;
use crate::format;
use crate::record::{Framework, Launcher, Question, Range, Recording, Request, split_words};
use egui::{
    CollapsingHeader, ComboBox, DragValue, FontId, Frame, Id, Label, Margin, RichText, ScrollArea, TextEdit, Ui,
};

/// What was chosen, and the recording made of it.
#[derive(Debug)]
pub struct Recipe {
    request: Request,
    /// The training command as it is typed.
    program: String,
    made: Option<(Request, Recording)>,
}

impl Default for Recipe {
    fn default() -> Self {
        let request = Request { launcher: Some(Launcher::Torchrun), ..Request::default() };
        Self { program: request.program.join(" "), request, made: None }
    }
}

/// Processes that a job can have at most, for the field.
const MOST_RANKS: u32 = 65_536;
/// Longest delay and recording in steps or seconds, for the fields.
const LONGEST: u32 = 100_000;
/// Width of the names of choices in points.
const NAMES_PT: f32 = 112.0;

/// Draws the choices and what follows from them.
pub fn show(ui: &mut Ui, recipe: &mut Recipe) {
    choices(ui, recipe);
    ui.add_space(8.0);
    let recording = recipe.recording();
    command(ui, recording);
    ui.add_space(4.0);
    reasons(ui, recording);
    snippet(ui, recording);
    after(ui, recording);
}

impl Recipe {
    /// The recording for the choices, made anew when they changed.
    fn recording(&mut self) -> &Recording {
        let words = split_words(&self.program);
        self.request.program = if words.is_empty() { Request::default().program } else { words };
        let request = &self.request;
        let made = self.made.take().filter(|(of, _)| of == request);
        let made = made.unwrap_or_else(|| (request.clone(), request.recording()));
        &self.made.insert(made).1
    }
}

fn choices(ui: &mut Ui, recipe: &mut Recipe) {
    let request = &mut recipe.request;
    named(ui, "Training command", |ui, name| {
        ui.add(TextEdit::singleline(&mut recipe.program).desired_width(f32::INFINITY)).labelled_by(name);
    });
    named(ui, "Started by", |ui, name| {
        let found = request.launcher.unwrap_or(Launcher::Single);
        pick(ui, "launcher", name, found, Launcher::ALL.map(|one| (one, one.title())), |chosen| {
            request.launcher = Some(chosen);
        });
    });
    if request.launcher != Some(Launcher::Single) {
        named(ui, "Ranks", |ui, name| {
            let mut ranks = request.ranks.unwrap_or(0);
            let field = DragValue::new(&mut ranks)
                .range(0..=MOST_RANKS)
                .custom_formatter(|value, _| if value < 0.5 { "all GPUs".to_owned() } else { format!("{value:.0}") });
            ui.add(field).labelled_by(name);
            request.ranks = (ranks > 0).then_some(ranks);
        });
    }
    named(ui, "Record", |ui, name| {
        pick(ui, "range", name, request.range, Range::ALL.map(|one| (one, one.title())), |chosen| {
            request.range = chosen;
            (request.skip, request.length) = (chosen.skip(), chosen.length());
        });
    });
    let unit = match request.range {
        Range::Profiler => Some(("steps, after step", "First recorded step")),
        Range::Delay => Some(("s, after", "Seconds before the recording")),
        Range::Whole => None,
    };
    if let Some((between, skipped)) = unit {
        named(ui, "Length", |ui, name| {
            ui.add(DragValue::new(&mut request.length).range(1..=LONGEST)).labelled_by(name);
            let between = ui.label(between).id;
            let field = DragValue::new(&mut request.skip).range(0..=LONGEST);
            ui.add(field).labelled_by(between).on_hover_text(skipped);
        });
    }
    named(ui, "Written with", |ui, name| {
        pick(ui, "framework", name, request.framework, Framework::ALL.map(|one| (one, one.title())), |chosen| {
            request.framework = chosen;
        });
    });
    ui.add_space(4.0);
    ui.label(RichText::new("Besides steps, their parts and the causes of idle time, record").weak());
    for question in Question::ALL.into_iter().filter(|question| !question.is_always_recorded()) {
        let mut asked = request.questions.contains(&question);
        if ui.checkbox(&mut asked, question.answers()).changed() {
            request.questions.retain(|other| *other != question);
            if asked {
                request.questions.push(question);
            }
        }
    }
}

/// A choice behind its name.
fn named(ui: &mut Ui, name: &str, add: impl FnOnce(&mut Ui, Id)) {
    ui.horizontal(|ui| {
        let label = ui.allocate_ui(egui::vec2(NAMES_PT, 24.0), |ui| {
            ui.set_width(NAMES_PT);
            ui.label(RichText::new(name).weak()).id
        });
        add(ui, label.inner);
    });
}

/// One of several.
fn pick<T: Copy + PartialEq, const N: usize>(
    ui: &mut Ui,
    salt: &str,
    name: Id,
    now: T,
    all: [(T, &'static str); N],
    mut choose: impl FnMut(T),
) {
    let shown = all.iter().find(|(one, _)| *one == now).map_or("", |(_, title)| title);
    let width = ui.available_width().min(280.0);
    let combo = ComboBox::from_id_salt(salt).selected_text(shown).width(width).truncate();
    let response = combo.show_ui(ui, |ui| {
        for (one, title) in all {
            if ui.selectable_label(one == now, title).clicked() {
                choose(one);
            }
        }
    });
    response.response.labelled_by(name);
}

fn command(ui: &mut Ui, recording: &Recording) {
    head(ui, "Command", "Copy command", &recording.command);
    code(ui, &recording.command, true);
    for note in &recording.notes {
        ui.add(Label::new(RichText::new(note).small().weak()).wrap());
    }
}

fn reasons(ui: &mut Ui, recording: &Recording) {
    CollapsingHeader::new("What its options do").id_salt("options").default_open(false).show(ui, |ui| {
        for flag in &recording.flags {
            ui.add(Label::new(mono(&flag.text)).wrap().selectable(true));
            ui.add(Label::new(RichText::new(flag.reason()).small().weak()).wrap());
            ui.add_space(4.0);
        }
    });
}

fn snippet(ui: &mut Ui, recording: &Recording) {
    let snippet = &recording.snippet;
    ui.add_space(8.0);
    head(ui, "Code for the training loop", "Copy code", &snippet.code);
    ui.add(Label::new(RichText::new(snippet.place).small().weak()).wrap());
    code(ui, &snippet.code, false);
}

fn after(ui: &mut Ui, recording: &Recording) {
    for (at, next) in recording.after.iter().enumerate() {
        ui.add_space(8.0);
        let name = ["Copy export command", "Copy open command", "Copy report command"].get(at).copied();
        head(ui, next.what, name.unwrap_or("Copy"), &next.command);
        code(ui, &next.command, true);
    }
}

/// A heading with a button that copies what stands below.
fn head(ui: &mut Ui, title: &str, copy: &str, text: &str) {
    ui.horizontal_wrapped(|ui| {
        ui.strong(title);
        copy_button(ui, copy, text, &format::counted(text.lines().count() as u64, "line", "lines"));
    });
}

fn mono(text: &str) -> RichText {
    RichText::new(text).font(FontId::monospace(theme::SMALL_PT))
}

/// Text in a box, to be copied. Commands wrap; code keeps its lines and scrolls sideways.
fn code(ui: &mut Ui, text: &str, wraps: bool) {
    let fill = ui.visuals().code_bg_color;
    Frame::new().fill(fill).corner_radius(4).inner_margin(Margin::symmetric(8, 6)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        if wraps {
            ui.add(Label::new(mono(text)).wrap().selectable(true));
        } else {
            ScrollArea::horizontal().id_salt("code").show(ui, |ui| {
                ui.add(Label::new(mono(text.trim_end())).extend().selectable(true));
            });
        }
    });
}
