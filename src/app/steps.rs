//! The steps tab: every step of the chosen rank with its window and its five parts. A click shows the step.
//!
//! Only visible rows are laid out; the sorted order is kept until the rank or the sorting changes.

use super::cx::{Chosen, Cx};
use super::icons::{self, Icon};
use super::step_chart;
use crate::analysis::{Part, Step, Steps};
use crate::format;
use crate::view::{Command, RankId};
use egui::{Align, Button, Label, Layout, Response, RichText, Role, Sense, Ui, WidgetInfo, vec2};
use egui_extras::{Column, TableBuilder, TableRow};

/// Columns of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Order,
    Window,
    Share(Part),
    Kind,
}

impl Key {
    const ALL: [Self; 8] = [
        Self::Order,
        Self::Window,
        Self::Share(Part::Compute),
        Self::Share(Part::Overlapped),
        Self::Share(Part::Exposed),
        Self::Share(Part::Copy),
        Self::Share(Part::Idle),
        Self::Kind,
    ];

    /// In the order in which they find room.
    const BY_NEED: [Self; 8] = [
        Self::Order,
        Self::Window,
        Self::Share(Part::Idle),
        Self::Share(Part::Exposed),
        Self::Share(Part::Compute),
        Self::Share(Part::Overlapped),
        Self::Kind,
        Self::Share(Part::Copy),
    ];

    fn text(self) -> &'static str {
        match self {
            Self::Order => "Step",
            Self::Window => "Window",
            Self::Share(part) => part.short(),
            Self::Kind => "Kind",
        }
    }

    fn tip(self) -> &'static str {
        match self {
            Self::Order => "Name of the step's range, in order of time.",
            Self::Window => {
                "GPU time the step owns: from the end of the last operation launched during the step before to the end of \
                 the last operation launched during this one, on the primary stream."
            }
            Self::Share(part) => part.definition(),
            Self::Kind => {
                "Typical steps are within 20 % of the median. Warm-up: the first, when longer than 1.5 times the median. \
                 Cut: the capture starts or ends inside. Outlier: over 1.5 times the median."
            }
        }
    }

    fn width(self) -> f32 {
        match self {
            Self::Order => 56.0,
            Self::Window | Self::Kind => 56.0,
            Self::Share(_) => 38.0,
        }
    }
}

/// Space between columns.
const GAP_PT: f32 = 4.0;

/// What the table keeps between frames.
#[derive(Debug)]
pub struct StepTable {
    sort: Key,
    descending: bool,
    order: Vec<u32>,
    ordered_for: Option<(u64, RankId, Key, bool)>,
}

impl Default for StepTable {
    fn default() -> Self {
        Self { sort: Key::Order, descending: false, order: Vec::new(), ordered_for: None }
    }
}

impl StepTable {
    fn sort_by(&mut self, key: Key) {
        // Numbers are first wanted largest first, names in order.
        self.descending = if self.sort == key { !self.descending } else { key != Key::Order };
        self.sort = key;
    }

    fn update(&mut self, revision: u64, rank: RankId, steps: &[Step]) {
        let wanted = (revision, rank, self.sort, self.descending);
        if self.ordered_for == Some(wanted) {
            return;
        }
        self.ordered_for = Some(wanted);
        self.order = order(steps, self.sort, self.descending);
    }
}

fn order(steps: &[Step], sort: Key, descending: bool) -> Vec<u32> {
    let mut order: Vec<u32> = (0..steps.len() as u32).collect();
    let share = |step: &Step, part: Part| part.share(&step.parts).unwrap_or(-1.0);
    order.sort_by(|a, b| {
        let (Some(left), Some(right)) = (steps.get(*a as usize), steps.get(*b as usize)) else { return a.cmp(b) };
        match sort {
            Key::Order => a.cmp(b),
            Key::Window => left.window.len_ns().cmp(&right.window.len_ns()),
            Key::Share(part) => share(left, part).total_cmp(&share(right, part)),
            Key::Kind => step_chart::kind(left).cmp(step_chart::kind(right)),
        }
    });
    if descending {
        order.reverse();
    }
    order
}

/// Draws the tab.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, table: &mut StepTable, out: &mut Vec<Command>) {
    let Some(chosen) = cx.chosen() else {
        ui.label(RichText::new("No GPU work, so no steps.").weak());
        return;
    };
    step_chart::show(ui, cx, &chosen, out);
    let Some(steps) = chosen.steps() else { return };
    ui.add_space(8.0);
    table.update(cx.revision, chosen.id, &steps.steps);
    ui.spacing_mut().item_spacing.x = GAP_PT;
    let keys = columns(ui.available_width() - ui.spacing().scroll.allocated_width());
    rows(ui, cx, &chosen, (steps, &keys), table, out);
}

/// The columns that fit into `width`.
fn columns(width: f32) -> Vec<Key> {
    let mut left = width + GAP_PT;
    let fits = |key: &Key| {
        left -= key.width() + GAP_PT;
        left >= 0.0
    };
    let fit: Vec<Key> = Key::BY_NEED.into_iter().take_while(fits).collect();
    Key::ALL.into_iter().filter(|key| fit.contains(key)).collect()
}

fn rows(
    ui: &mut Ui,
    cx: &Cx<'_>,
    chosen: &Chosen<'_>,
    (steps, keys): (&Steps, &[Key]),
    table: &mut StepTable,
    out: &mut Vec<Command>,
) {
    let current = chosen.step_meant(cx.view, cx.workspace);
    let mut builder = TableBuilder::new(ui)
        .striped(true)
        .sense(Sense::click())
        .cell_layout(Layout::right_to_left(Align::Center))
        .auto_shrink([false, false]);
    for key in keys {
        builder = builder.column(match key {
            Key::Order => Column::remainder().at_least(key.width()).clip(true),
            _ => Column::exact(key.width()).clip(true),
        });
    }
    let mut clicked = None;
    let built = builder.header(24.0, |mut row| {
        for key in keys {
            row.col(|ui| {
                if heading(ui, *key, table).clicked() {
                    clicked = Some(*key);
                }
            });
        }
    });
    built.body(|body| {
        body.rows(24.0, table.order.len(), |mut row| {
            let Some(at) = table.order.get(row.index()).copied() else { return };
            let Some(step) = steps.steps.get(at as usize) else { return };
            row.set_selected(current == Some(at as usize));
            cells(&mut row, keys, step);
            let response = row.response();
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Show {}", step.name)));
            if response.clicked() {
                out.push(Command::ShowStep(chosen.id, at));
            }
            response.on_hover_ui(|ui| tip(ui, step));
        });
    });
    if let Some(key) = clicked {
        table.sort_by(key);
    }
}

fn heading(ui: &mut Ui, key: Key, table: &StepTable) -> Response {
    if table.sort == key {
        let icon = if table.descending { Icon::Down } else { Icon::Up };
        let (rect, _) = ui.allocate_exact_size(vec2(6.0, 6.0), Sense::hover());
        icons::paint(ui.painter(), rect, icon, ui.visuals().text_color());
    }
    let response = ui.add(Button::new(RichText::new(key.text()).small().strong()).frame(false));
    let name = format!("Sort by {}", key.text());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    response.on_hover_text(key.tip())
}

/// Everything about a step, for the columns that found no room.
fn tip(ui: &mut Ui, step: &Step) {
    ui.strong(&step.name);
    let shares = Key::ALL.into_iter().filter_map(|key| match key {
        Key::Share(part) => {
            let share = format::percent(part.share(&step.parts));
            Some((part.text(), format!("{}  {share}", format::duration(part.of(&step.parts)))))
        }
        _ => None,
    });
    let window = ("Window", format::duration(step.window.len_ns()));
    egui::Grid::new("step").num_columns(2).spacing([12.0, 2.0]).show(ui, |ui| {
        for (name, value) in std::iter::once(window).chain(shares) {
            ui.label(RichText::new(name).weak());
            ui.label(value);
            ui.end_row();
        }
    });
    ui.label(RichText::new(step_chart::kind(step)).weak());
}

fn cells(row: &mut TableRow<'_, '_>, keys: &[Key], step: &Step) {
    for key in keys {
        row.col(|ui| match *key {
            Key::Order => {
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.add_space(4.0);
                    ui.add(Label::new(RichText::new(&step.name).small()).truncate());
                });
            }
            Key::Window => {
                ui.label(RichText::new(format::duration(step.window.len_ns())).small());
            }
            Key::Share(part) => {
                let share = RichText::new(format::percent(part.share(&step.parts))).small();
                let length = format!("{} {}", part.text(), format::duration(part.of(&step.parts)));
                ui.label(share).on_hover_text(length);
            }
            Key::Kind => {
                ui.label(RichText::new(step_chart::kind(step)).small().weak());
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Partition;
    use crate::units::Span;

    fn step(number: i64, len_ns: i64, idle_ns: i64) -> Step {
        let window = Span::new(number * 1000, number * 1000 + len_ns);
        let parts = Partition { span_ns: len_ns, idle_ns, compute_only_ns: len_ns - idle_ns, ..Partition::default() };
        Step {
            name: format!("step {number}"),
            number: Some(number),
            range: window,
            window,
            gpu_ops: 1,
            empty_before: 0,
            parts,
            causes: crate::analysis::Causes::default(),
            typical: true,
            edge: None,
        }
    }

    #[test]
    fn steps_sort_by_any_column_both_ways() {
        let steps = [step(0, 10, 1), step(1, 30, 3), step(2, 20, 10)];
        assert_eq!(order(&steps, Key::Order, false), [0, 1, 2]);
        assert_eq!(order(&steps, Key::Window, true), [1, 2, 0]);
        assert_eq!(order(&steps, Key::Share(Part::Idle), true), [2, 1, 0]);
        assert_eq!(order(&steps, Key::Share(Part::Compute), true), [1, 0, 2]);
    }

    #[test]
    fn a_narrow_panel_keeps_the_columns_that_matter_most() {
        assert_eq!(columns(400.0), Key::ALL);
        let narrow = columns(308.0);
        assert!(narrow.contains(&Key::Share(Part::Idle)) && !narrow.contains(&Key::Kind));
        assert_eq!(columns(130.0), [Key::Order, Key::Window]);
    }

    #[test]
    fn a_second_click_turns_the_order_around() {
        let mut table = StepTable::default();
        table.sort_by(Key::Window);
        assert!(table.descending);
        table.sort_by(Key::Window);
        assert!(!table.descending);
        table.sort_by(Key::Order);
        assert!(!table.descending);
    }
}
