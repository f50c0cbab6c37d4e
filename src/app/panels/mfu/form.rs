//! The settings as a form. What is typed takes effect as soon as it makes sense; until then the lines that do not say
//! why, and the numbers stay those of before.

use crate::app::cx::Cx;
use crate::experiment::{Convention, Dtype, Experiment, GpuSpec, Recompute, labelled, presets, with_labels};
use crate::settings::{Fields, Problem, fields, from_fields, model_defaults};
use crate::view::Command;
use egui::{CollapsingHeader, ComboBox, Id, Label, Response, RichText, TextEdit, Ui};

/// What the form keeps between frames.
#[derive(Debug, Default)]
pub struct Form {
    /// What is typed.
    lines: Fields,
    /// What is in force for the model where nothing is typed.
    defaults: Fields,
    /// Lines that cannot be used yet.
    problems: Vec<Problem>,
    /// The settings that the lines belong to; `None` before the first frame.
    of: Option<Option<Experiment>>,
}

/// How a line is filled in.
#[derive(Clone, Copy)]
enum Kind {
    /// A number, in a narrow field.
    Number,
    /// Text, over the whole width.
    Text,
    /// Yes or no.
    Flag,
    /// One of a list, over the whole width.
    Choice(fn() -> Vec<&'static str>, &'static str),
}

/// One line of the form.
struct Line {
    key: &'static str,
    kind: Kind,
    tip: &'static str,
}

impl Line {
    fn label(&self) -> &'static str {
        labelled(self.key).map_or(self.key, |field| field.label)
    }
}

const fn number(key: &'static str, tip: &'static str) -> Line {
    Line { key, kind: Kind::Number, tip }
}

const fn flag(key: &'static str, tip: &'static str) -> Line {
    Line { key, kind: Kind::Flag, tip }
}

const fn choice(key: &'static str, of: fn() -> Vec<&'static str>, none: &'static str, tip: &'static str) -> Line {
    Line { key, kind: Kind::Choice(of, none), tip }
}

/// A group of lines, and whether it is open at first.
type Group = (bool, &'static [Line]);

const GROUPS: [Group; 6] = [
    (
        true,
        &[
            choice("model.preset", preset_names, "None", "A known model; what is typed below overrides it."),
            number("model.parameters", "In all, such as 125e6. Enough for the rough rule by itself."),
            number("model.layers", "Transformer layers."),
            number("model.hidden", "Width of the residual stream."),
            number("model.heads", "Attention heads."),
            number("model.kv_heads", "Heads of keys and values; as many as heads when empty."),
            number("model.head_dim", "Hidden size / heads when empty."),
            number("model.ffn", "Width of the feed-forward part."),
            number("model.vocab", "As trained, padding included."),
            flag("model.gated", "SwiGLU or GeGLU: three matrices instead of two."),
            flag("model.tied", "One table for input embedding and output layer."),
        ],
    ),
    (
        true,
        &[
            number("batch.sequences", "Of a step, over all GPUs. Or give micro-batches."),
            number("batch.sequence_length", "Tokens of a sequence."),
            number("batch.micro_batch", "Sequences of a micro-batch on one data-parallel rank."),
            number("batch.micro_batches", "Of a step on one rank: accumulation or pipeline filling."),
        ],
    ),
    (
        true,
        &[
            choice("experiment.dtype", dtypes, "Not given", "Of the matrix products; decides the peak."),
            choice("experiment.convention", conventions, "By what is known", "What counts as the model's FLOPs."),
            choice(
                "experiment.recompute",
                recomputes,
                "None given",
                "What backward computes again; only HFU contains it.",
            ),
            number("experiment.gpus", "That work on a step; from the layout or the open ranks when empty."),
            number("experiment.step_time_ms", "In place of the captured median."),
            Line { key: "experiment.name", kind: Kind::Text, tip: "A name for the run." },
            Line { key: "experiment.notes", kind: Kind::Text, tip: "Anything worth remembering." },
        ],
    ),
    (
        false,
        &[
            number("parallel.dp", "Data-parallel ranks; the rest of the GPUs when empty."),
            number("parallel.tp", "Tensor-parallel ranks; 1 when empty."),
            number("parallel.pp", "Pipeline stages; 1 when empty."),
            number("parallel.cp", "Context-parallel ranks; 1 when empty."),
            number("parallel.ep", "Expert-parallel ranks, made of the others' GPUs."),
            number("parallel.interleave", "Model chunks on each pipeline stage."),
        ],
    ),
    (
        false,
        &[
            choice("peak.gpu", gpus, "As named in the capture", "Whose peak is used."),
            number("peak.tflops", "Peak of one GPU, in place of the table's."),
            flag("peak.sparse", "Twice the dense one: only for models trained with structured sparsity."),
        ],
    ),
    (
        false,
        &[
            number("model.active_parameters", "Parameters that a token passes through."),
            number("model.experts", "Of a layer; none in a dense model."),
            number("model.active_experts", "That a token passes through, without shared ones."),
            number("model.expert_ffn", "Width of an expert; the FFN width when empty."),
            number("model.shared_ffn", "Width of all shared experts together."),
            number("model.dense_layers", "Layers without experts."),
            number("model.window", "Sliding attention window in tokens."),
            number("model.window_layers", "Layers that have it; all when empty."),
            number("model.positions", "Rows of a learned position table."),
            number("model.q_rank", "Of latent attention."),
            number("model.kv_rank", "Of latent attention; makes the attention latent."),
            number("model.nope_dim", "Of a latent query, without positions."),
            number("model.rope_dim", "Of a latent query, with positions."),
            number("model.value_dim", "Of latent attention."),
            number("model.mtp_layers", "Extra prediction heads, each with its own logits."),
            number("model.layer_norms", "Norms in a layer; 2 when empty."),
            flag("model.bias", "On all linear layers."),
            flag("model.qkv_bias", "On queries, keys and values only."),
            flag("model.norm_bias", "Norms with a bias."),
            flag("model.qk_norm", "Norms on queries and keys."),
        ],
    ),
];

/// Key of the preset's line.
const PRESET: &str = "model.preset";

fn preset_names() -> Vec<&'static str> {
    presets().iter().map(|preset| preset.name).collect()
}

fn dtypes() -> Vec<&'static str> {
    Dtype::ALL.map(Dtype::text).to_vec()
}

fn conventions() -> Vec<&'static str> {
    Convention::ALL.map(Convention::key).to_vec()
}

fn recomputes() -> Vec<&'static str> {
    Recompute::ALL.map(Recompute::text).to_vec()
}

fn gpus() -> Vec<&'static str> {
    GpuSpec::all().map(|row| row.name).collect()
}

/// Narrowest column of a number, in points.
const CELL_PT: f32 = 92.0;

impl Form {
    /// Shows the settings in force, unless the lines are theirs already.
    fn follow(&mut self, experiment: Option<&Experiment>) {
        if self.of.as_ref().is_some_and(|of| of.as_ref() == experiment) {
            return;
        }
        let nothing = Experiment::default();
        let said = experiment.unwrap_or(&nothing);
        self.lines = fields(said);
        self.defaults = model_defaults(&said.model);
        self.problems = Vec::new();
        self.of = Some(experiment.cloned());
    }

    /// Reads the lines after a change.
    fn changed(&mut self, before: Option<&Experiment>, out: &mut Vec<Command>) {
        let nothing = Experiment::default();
        match from_fields(&self.lines, before.unwrap_or(&nothing)) {
            Ok(experiment) => {
                self.problems = Vec::new();
                self.defaults = model_defaults(&experiment.model);
                self.of = Some(Some(experiment.clone()));
                out.push(Command::SetExperiment(Box::new(experiment)));
            }
            Err(problems) => self.problems = problems,
        }
    }
}

/// Draws the form.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, form: &mut Form, out: &mut Vec<Command>) {
    let before = cx.workspace.experiment.as_ref();
    form.follow(before);
    ui.strong("What was trained");
    files(ui, cx, out);
    if !form.problems.is_empty() {
        let text = "Not used yet: the settings do not fit together. The numbers are those of before.";
        ui.add(Label::new(RichText::new(text).color(cx.palette.error)).wrap());
        let shown = |key: &str| GROUPS.iter().any(|(_, lines)| lines.iter().any(|line| line.key == key));
        for problem in form.problems.iter().filter(|problem| !shown(&problem.key)) {
            error(ui, cx, &with_labels(&format!("{} {}", problem.key, problem.why)));
        }
    }
    let mut changed = config(ui, form);
    for (open, lines) in &GROUPS {
        let title = lines.first().and_then(|line| labelled(line.key)).map_or("", |field| field.group);
        let wrong = form.problems.iter().any(|problem| lines.iter().any(|line| line.key == problem.key));
        let title_text = if wrong { format!("{title} (see below)") } else { title.to_owned() };
        let header = CollapsingHeader::new(title_text).id_salt(title).default_open(*open).open(wrong.then_some(true));
        header.show(ui, |ui| changed |= group(ui, cx, form, lines));
    }
    if changed {
        form.changed(before, out);
    }
    ui.add_space(12.0);
}

fn files(ui: &mut Ui, cx: &Cx<'_>, out: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        let buttons = [
            ("Load settings…", "Load a settings file (TOML).", Command::LoadSettings),
            (
                "Save settings…",
                "Write these settings; stepscope.toml beside an export is used for it.",
                Command::SaveSettings,
            ),
            ("Load config.json…", "Take the model from a Hugging Face config.json.", Command::LoadModelConfig),
        ];
        for (name, tip, command) in buttons {
            if ui.button(name).on_hover_text(tip).clicked() {
                out.push(command);
            }
        }
    });
    if cx.workspace.is_edited() {
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new("Edited, not saved").small().color(cx.palette.warning));
            let file = cx.workspace.in_file.clone().unwrap_or_default();
            if ui.small_button("Revert").on_hover_text("Back to what the file says.").clicked() {
                out.push(Command::SetExperiment(Box::new(file)));
            }
        });
    }
    ui.add_space(4.0);
}

/// The model's file, when there is one, and a way to be rid of it.
fn config(ui: &mut Ui, form: &mut Form) -> bool {
    let Some(path) = form.lines.get("model.config").filter(|path| !path.is_empty()).cloned() else { return false };
    let mut gone = false;
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("Model from").weak());
        ui.add(Label::new(path).truncate());
        gone = ui.button("Forget").on_hover_text("Do without the file.").clicked();
    });
    if gone {
        form.lines.remove("model.config");
    }
    gone
}

/// Numbers and flags stand side by side as far as there is room, texts and choices alone.
fn group(ui: &mut Ui, cx: &Cx<'_>, form: &mut Form, lines: &[Line]) -> bool {
    let columns = ((ui.available_width() / CELL_PT) as usize).clamp(1, 4);
    let mut changed = false;
    let mut rest = lines;
    while let Some(first) = rest.first() {
        let narrow = matches!(first.kind, Kind::Number | Kind::Flag);
        // A check box beside a field would stand between its label and its line.
        let alike = |line: &&Line| narrow && std::mem::discriminant(&line.kind) == std::mem::discriminant(&first.kind);
        let taken = rest.iter().take(columns).take_while(alike).count().max(1);
        let (now, later) = rest.split_at(taken);
        rest = later;
        if narrow {
            ui.columns(columns, |cells| {
                for (ui, line) in cells.iter_mut().zip(now) {
                    changed |= cell(ui, form, line);
                }
            });
        } else {
            changed |= wide(ui, form, first);
        }
        for line in now {
            for problem in form.problems.iter().filter(|problem| problem.key == line.key) {
                error(ui, cx, &with_labels(&format!("{}: {}", line.label(), problem.why)));
            }
        }
    }
    changed
}

fn error(ui: &mut Ui, cx: &Cx<'_>, text: &str) {
    ui.add(Label::new(RichText::new(text).small().color(cx.palette.error)).wrap());
}

/// A label above a narrow field, or a check box.
fn cell(ui: &mut Ui, form: &mut Form, line: &Line) -> bool {
    ui.spacing_mut().item_spacing.y = 1.0;
    let default = form.defaults.get(line.key).cloned().unwrap_or_default();
    if matches!(line.kind, Kind::Flag) {
        let typed = form.lines.get(line.key).filter(|text| !text.is_empty()).unwrap_or(&default);
        let mut on = typed == "true";
        let clicked = ui.checkbox(&mut on, RichText::new(line.label()).small()).on_hover_text(line.tip).changed();
        if clicked {
            form.lines.insert(line.key.to_owned(), on.to_string());
        }
        return clicked;
    }
    let label = label(ui, line);
    let text = form.lines.entry(line.key.to_owned()).or_default();
    // An identity of its own: messages that come and go above must not take the focus away.
    let field = TextEdit::singleline(text).id(Id::unique(("experiment", line.key)));
    let field = field.hint_text(default).desired_width(f32::INFINITY);
    ui.add(field).labelled_by(label.id).on_hover_text(line.tip).changed()
}

/// The label above a field.
fn label(ui: &mut Ui, line: &Line) -> Response {
    ui.add(Label::new(RichText::new(line.label()).small().weak()).truncate()).on_hover_text(line.tip)
}

/// A label above a field as wide as there is room.
fn wide(ui: &mut Ui, form: &mut Form, line: &Line) -> bool {
    let mut changed = false;
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = 1.0;
        let label = label(ui, line);
        let text = form.lines.entry(line.key.to_owned()).or_default();
        let Kind::Choice(of, none) = line.kind else {
            let field = TextEdit::singleline(text).id(Id::unique(("experiment", line.key)));
            let field = field.desired_width(f32::INFINITY);
            changed = ui.add(field).labelled_by(label.id).on_hover_text(line.tip).changed();
            return;
        };
        let selected = if text.is_empty() { none } else { text.as_str() };
        let list = ComboBox::from_id_salt(line.key).selected_text(selected.to_owned()).width(ui.available_width());
        let list = list.truncate().show_ui(ui, |ui| {
            for (value, shown) in std::iter::once(("", none)).chain(of().into_iter().map(|name| (name, name))) {
                if ui.selectable_label(text == value, shown).clicked() && text != value {
                    *text = value.to_owned();
                    changed = true;
                }
            }
        });
        list.response.labelled_by(label.id).on_hover_text(line.tip);
    });
    if changed && line.key == PRESET {
        // A preset is a whole model: what another one left in the fields would override it.
        let others = form.lines.iter_mut().filter(|(key, _)| key.starts_with("model.") && *key != PRESET);
        others.for_each(|(_, text)| text.clear());
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_a_label_and_stands_with_its_group() {
        for (_, lines) in GROUPS {
            let groups: Vec<_> = lines.iter().map(|line| labelled(line.key).map(|field| field.group)).collect();
            assert!(groups.iter().all(|group| group.is_some() && *group == groups[0]), "{groups:?}");
        }
    }
}
