//! Kernels by name: how many, how long, what they do and where they ran; a click goes to the longest of them.
//!
//! The sums are made by `analysis` for a scope and kept; those of a large rank are made on a thread of their own.

mod sums;

use super::grid::{Column, Grid, Shown, column, filter_bar, remark};
use super::sheet::{Cell, Filter, Key, Row, Rows, Sheet};
use crate::analysis::{Class, KernelRow, KernelTable, Limit, NamedBy, Summary};
use crate::app::cx::{Chosen, Cx};
use crate::format;
use crate::timeline::Ink;
use crate::units::{Span, share};
use crate::view::{Command, Item};
use egui::{Button, ComboBox, Label, RichText, Ui};
use sums::{Sums, SumsKey};

/// What the numbers are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
enum Over {
    #[default]
    Capture,
    Typical,
    Visible,
    Selected,
}

/// What the panel keeps between frames.
#[derive(Debug)]
pub struct KernelsCache {
    over: Over,
    by: NamedBy,
    grouped: bool,
    filter: Filter,
    sheet: Sheet,
    sums: Sums,
    /// The visible span in the last frame.
    seen: Span,
    /// What was shown last, so that the table stays while the view moves.
    shown: Option<SumsKey>,
}

impl Default for KernelsCache {
    fn default() -> Self {
        Self {
            over: Over::default(),
            by: NamedBy::default(),
            grouped: false,
            filter: Filter::default(),
            sheet: Sheet::sorted_by(TOTAL, true),
            sums: Sums::default(),
            seen: Span::default(),
            shown: None,
        }
    }
}

/// Panels narrower than this, in points, have the choices as lists.
const NARROW_PT: f32 = 300.0;

/// Number of the column of totals; 0 is the name.
const TOTAL: usize = 1;

const COLUMNS: [Column; 10] = [
    column("Total", 62.0, "Sum of the durations of the kernels; kernels that overlap count each in full."),
    column("Count", 50.0, "Kernels of this name."),
    column(
        "Of compute",
        66.0,
        "Share of the sum of the durations of all kernels that compute; \"-\" for communication.",
    ),
    column("Mean", 60.0, "Mean duration."),
    column("Class", 140.0, "What the kernels do, by their names; a settings file can say otherwise."),
    column("Max", 60.0, "Longest; a click on the row shows it."),
    column("Median", 60.0, "Middle duration, or the mean of the two middle ones."),
    column("Min", 60.0, "Shortest."),
    column("Streams", 60.0, "Streams that they ran on."),
    column("Of all", 50.0, "Share of the sum of the durations of all kernels, as in the summary tables."),
];

/// Draws the panel.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, cache: &mut KernelsCache, out: &mut Vec<Command>) {
    let Some(chosen) = cx.chosen() else {
        ui.add(Label::new(RichText::new(Limit::NoGpuWork.consequence()).weak()).wrap());
        return;
    };
    let selection = chosen.selection(cx);
    if (cache.over == Over::Typical && chosen.steps().is_none())
        || (cache.over == Over::Selected && selection.is_none())
    {
        cache.over = Over::Capture;
    }
    controls(ui, &chosen, selection, cache);
    let copied = filter_bar(ui, &mut cache.filter, "kernels", None, false);
    let key = wanted(ui, cx, &chosen, selection, cache);
    let Some(table) = cache.sums.get(ui.ctx(), &key, &chosen) else {
        ui.horizontal(|ui| {
            ui.spinner();
            ui.label(RichText::new("Adding up the kernels").weak());
        });
        return;
    };
    cache.shown = Some(key.clone());
    let token = key.token(cache.grouped);
    let rows = Table { table: &table, chosen: &chosen, cx, grouped: cache.grouped };
    let listed = cache.sheet.follow(token, &cache.filter, None, &rows);
    remark(ui, &rows.count_text(listed));
    if table.rows.is_empty() {
        ui.label(RichText::new("No kernel ran in it.").weak());
        return;
    }
    let grid = Grid { id: "kernels", name: "Kernel", columns: &COLUMNS, tall: true, name_pt: 132.0 };
    let shown = Shown { token, filter: &cache.filter, selection: None, copy: copied.as_ref() };
    let clicked = grid.show(ui, &mut cache.sheet, shown, &rows);
    if let Some(op) = clicked.and_then(|at| rows.longest(at)) {
        out.push(Command::Select(Some(Item::Op(chosen.id, op))));
        out.push(Command::ShowSelection);
    }
    if let Some(copied) = copied {
        copied.finish(ui);
    }
}

/// The scope, the names, and the grouping.
fn controls(ui: &mut Ui, chosen: &Chosen<'_>, selection: Option<Span>, cache: &mut KernelsCache) {
    let scopes = scopes(chosen, selection);
    if ui.available_width() < NARROW_PT {
        lists(ui, &scopes, cache);
        return;
    }
    ui.horizontal_wrapped(|ui| {
        for (over, name, tip, usable) in scopes {
            let button = Button::selectable(cache.over == over, name);
            if ui.add_enabled(usable, button).on_hover_text(tip).clicked() {
                cache.over = over;
            }
        }
    });
    ui.horizontal_wrapped(|ui| {
        choose_names(ui, &mut cache.by);
        let group = Button::selectable(cache.grouped, "Group by class");
        if ui.add(group).on_hover_text("Kernels under the sum of what they do").clicked() {
            cache.grouped = !cache.grouped;
        }
    });
}

/// What the numbers can be over: its name, what it means, and whether there is such a thing now.
type Scope = (Over, &'static str, &'static str, bool);

fn scopes(chosen: &Chosen<'_>, selection: Option<Span>) -> [Scope; 4] {
    let steps = chosen.steps();
    let estimated = steps.is_some_and(|steps| steps.estimated);
    let typical = if estimated { "Estimated steps" } else { "Typical steps" };
    let selected = "Kernels that overlap the span or the item selected on the timeline";
    [
        (Over::Capture, "Whole capture", "Every kernel of the rank", true),
        (Over::Typical, typical, "Kernels that overlap a typical step; each counts once", steps.is_some()),
        (Over::Visible, "In view", "Kernels that overlap what the timeline shows", true),
        (Over::Selected, "Selected", selected, selection.is_some()),
    ]
}

/// Scope, names and grouping as lists in one line, which leave the table its room.
fn lists(ui: &mut Ui, scopes: &[Scope], cache: &mut KernelsCache) {
    ui.horizontal(|ui| {
        let spacing = ui.spacing();
        let width = (ui.available_width() - spacing.item_spacing.x) / 2.0 - 2.0 * spacing.button_padding.x;
        let list = |id: &str, text: &str| ComboBox::from_id_salt(id).selected_text(text).width(width).truncate();
        let name = scopes.iter().find(|(over, ..)| *over == cache.over).map_or("", |(_, name, ..)| name);
        let scope = list("kernel scope", name).show_ui(ui, |ui| {
            for (over, name, tip, usable) in scopes {
                ui.add_enabled_ui(*usable, |ui| {
                    ui.selectable_value(&mut cache.over, *over, *name).on_hover_text(*tip);
                });
            }
        });
        scope.response.on_hover_text("Which kernels are counted");
        let names = list("kernel rows", if cache.grouped { "By class" } else { name_of(cache.by) });
        let rows = names.show_ui(ui, |ui| {
            for by in NAMES {
                ui.selectable_value(&mut cache.by, by, name_of(by));
            }
            ui.checkbox(&mut cache.grouped, "Group by class");
        });
        rows.response.on_hover_text("By which names kernels share a row");
    });
}

/// What a row can be named by.
const NAMES: [NamedBy; 2] = [NamedBy::Base, NamedBy::Full];

const fn name_of(by: NamedBy) -> &'static str {
    match by {
        NamedBy::Base => "base name",
        NamedBy::Full => "full name",
    }
}

/// By which names kernels share a row.
pub fn choose_names(ui: &mut Ui, by: &mut NamedBy) {
    let label = ui.label("By");
    let list = ComboBox::from_id_salt("kernel names").selected_text(name_of(*by)).width(104.0).show_ui(ui, |ui| {
        for name in NAMES {
            ui.selectable_value(by, name, name_of(name));
        }
    });
    list.response
        .labelled_by(label.id)
        .on_hover_text("Base name: without template arguments and parameters. Full name: as the summary tables count.");
}

/// Which sums are wanted. While the view moves, those of where it was stay.
fn wanted(ui: &Ui, cx: &Cx<'_>, chosen: &Chosen<'_>, selection: Option<Span>, cache: &mut KernelsCache) -> SumsKey {
    let visible = chosen.visible(cx.view);
    let moves = std::mem::replace(&mut cache.seen, visible) != visible;
    let windows = match cache.over {
        Over::Capture => None,
        Over::Typical => {
            let steps = chosen.steps().map(|steps| steps.steps.iter());
            Some(steps.into_iter().flatten().filter(|step| step.typical).map(|step| step.window).collect())
        }
        Over::Visible => Some(vec![visible]),
        Over::Selected => Some(selection.into_iter().collect()),
    };
    let key = SumsKey { revision: cx.revision, rank: chosen.id, by: cache.by, windows };
    match &cache.shown {
        Some(shown) if cache.over == Over::Visible && moves && shown.is_same_but_moved(&key) => {
            ui.ctx().request_repaint();
            shown.clone()
        }
        _ => key,
    }
}

/// The kernels, and below them the heads of their classes when they are grouped.
struct Table<'a> {
    table: &'a KernelTable,
    chosen: &'a Chosen<'a>,
    cx: &'a Cx<'a>,
    grouped: bool,
}

/// What rows of kernels and of classes have in common.
struct Line<'a> {
    sum: &'a Summary,
    class: Class,
    streams: &'a [u16],
    longest: u32,
}

impl Table<'_> {
    fn line(&self, at: usize) -> Option<Line<'_>> {
        if let Some(row) = self.table.rows.get(at) {
            return Some(Line { sum: &row.sum, class: row.class, streams: &row.streams, longest: row.longest });
        }
        let group = self.table.groups.get(at - self.table.rows.len())?;
        Some(Line { sum: &group.sum, class: group.class, streams: &group.streams, longest: group.longest })
    }

    fn longest(&self, at: usize) -> Option<u32> {
        self.line(at).map(|line| line.longest)
    }

    /// How many kernels of how many names stand in the rows `listed`, and of how many in all when those are more.
    fn count_text(&self, listed: &[u32]) -> String {
        // Heads of groups stand behind the names; their kernels are counted by name.
        let shown = || listed.iter().filter_map(|at| self.table.rows.get(*at as usize));
        let kernels = |rows: &mut dyn Iterator<Item = &KernelRow>| rows.map(|row| row.sum.count as u64).sum::<u64>();
        let (names, all_names) = (shown().count() as u64, self.table.rows.len() as u64);
        let (count, all) = (kernels(&mut shown()), kernels(&mut self.table.rows.iter()));
        let total_ns = shown().map(|row| row.sum.total).fold(0, i64::saturating_add);
        let of = |part: u64, all: u64| if part == all { String::new() } else { format!("{} of ", format::count(part)) };
        format!(
            "{}{}, {}{}, {} in sum",
            of(count, all),
            format::counted(all, "kernel", "kernels"),
            of(names, all_names),
            format::counted(all_names, "name", "names"),
            format::duration(total_ns)
        )
    }

    fn full(&self, at: usize) -> &str {
        self.table.rows.get(at).map_or("", |row| self.chosen.doc.trace.op_full_name(row.op_name))
    }

    fn name(&self, at: usize) -> String {
        match self.table.rows.get(at) {
            Some(row) => format::one_line(&row.label.text, 200),
            None => self.line(at).map_or_else(String::new, |line| line.class.text()),
        }
    }

    fn streams(&self, line: &Line<'_>) -> String {
        let id = |at: &u16| self.chosen.rank.streams.get(usize::from(*at)).map(|stream| stream.id.to_string());
        line.streams.iter().filter_map(id).collect::<Vec<String>>().join(", ")
    }

    fn of_compute(&self, line: &Line<'_>) -> Option<f64> {
        share(line.sum.total, self.table.compute_ns).filter(|_| line.class.is_compute())
    }
}

impl Rows for Table<'_> {
    fn count(&self) -> usize {
        self.table.rows.len() + if self.grouped { self.table.groups.len() } else { 0 }
    }

    fn row(&self, at: usize) -> Row {
        let Some(line) = self.line(at) else { return Row::default() };
        let (sum, name) = (line.sum, self.name(at));
        let of_compute = self.of_compute(&line);
        let of_all = share(sum.total, self.table.total_ns);
        let cells = vec![
            Cell::whole(format::duration(sum.total), sum.total),
            Cell::whole(format::count(sum.count as u64), sum.count as i64),
            Cell::maybe(format::percent(of_compute), of_compute),
            Cell::number(format::duration_f(sum.mean), sum.mean),
            Cell::text(line.class.text()),
            Cell::whole(format::duration(sum.max), sum.max),
            Cell::number(format::duration_f(sum.median), sum.median),
            Cell::whole(format::duration(sum.min), sum.min),
            Cell::text(self.streams(&line)),
            Cell::maybe(format::percent(of_all), of_all),
        ];
        let note = self.table.rows.get(at).map_or_else(String::new, |row| variants_text(row.variants));
        Row {
            action: format!("Show the longest {name}"),
            full: self.full(at).to_owned(),
            swatch: Some(self.cx.palette.ink(Ink::of(line.class))),
            selected: self.is_selected(at),
            shared: self.table.rows.get(at).map_or(0, |row| row.label.shared),
            name,
            cells,
            note,
            ..Row::default()
        }
    }

    fn key(&self, at: usize, column: usize) -> Key {
        let Some(line) = self.line(at) else { return Key::Number(f64::NAN) };
        let sum = line.sum;
        match column {
            0 => Key::Text(self.name(at).to_lowercase()),
            TOTAL => Key::Number(sum.total as f64),
            2 => Key::Number(sum.count as f64),
            3 => Key::Number(self.of_compute(&line).unwrap_or(f64::NAN)),
            4 => Key::Number(sum.mean),
            5 => Key::Text(line.class.text()),
            6 => Key::Number(sum.max as f64),
            7 => Key::Number(sum.median),
            8 => Key::Number(sum.min as f64),
            9 => Key::Text(self.streams(&line)),
            _ => Key::Number(share(sum.total, self.table.total_ns).unwrap_or(f64::NAN)),
        }
    }

    fn contains(&self, at: usize, wanted: &str) -> bool {
        let class = self.line(at).map_or_else(String::new, |line| line.class.text());
        self.full(at).to_lowercase().contains(wanted) || class.contains(wanted)
    }

    fn head(&self, at: usize) -> Option<usize> {
        let row = self.table.rows.get(at).filter(|_| self.grouped)?;
        let group = self.table.groups.iter().position(|group| group.class == row.class)?;
        Some(self.table.rows.len() + group)
    }
}

impl Table<'_> {
    /// True for the kernels of the name that the timeline has selected.
    fn is_selected(&self, at: usize) -> bool {
        let Some(Item::Op(rank, op)) = self.cx.view.selected else { return false };
        let names = &self.chosen.rank.ops.name;
        let (Some(row), Some(name)) = (self.table.rows.get(at), names.get(op as usize)) else { return false };
        let trace = &self.chosen.doc.trace;
        rank == self.chosen.id && crate::analysis::kernel_name(trace, *name, self.by()) == row.name
    }

    /// What the rows of this table are named by.
    fn by(&self) -> NamedBy {
        self.table.by
    }
}

/// How many full names a row stands for, when it is more than the one that is shown.
pub fn variants_text(variants: u32) -> String {
    match variants {
        0 | 1 => String::new(),
        many => format!("{} full names; this is that of the longest.", format::count(many.into())),
    }
}
