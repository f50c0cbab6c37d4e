//! The table of ranges: which nodes of the tree are on screen, and their cells.

use super::super::grid::{head, left_out, rows_text};
use super::super::sheet::tsv;
use super::columns::{GAP_PT, Key, NAME_PT, columns};
use super::{Choice, Sort, Sums};
use crate::analysis::{RangeSum, Ranges, Trend};
use crate::app::cx::{Chosen, Cx};
use crate::app::icons::{self, Icon};
use crate::app::toast;
use crate::format;
use crate::trace::Trace;
use crate::units;
use crate::view::{Command, Item};
use egui::{Align, Label, Layout, Rect, RichText, Role, Sense, Ui, WidgetInfo, pos2, vec2};
use egui_extras::{Column, TableBuilder, TableRow};
use std::borrow::Cow;
use std::collections::HashSet;

/// Children listed of a node.
const MOST: usize = 200;
const ROW_PT: f32 = 22.0;
const INDENT_PT: f32 = 10.0;
/// Bars of a trend; with more steps a bar is the most of several.
const BARS: usize = 26;

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// A node and its indentation.
    Node(u32, u16),
    /// Nodes that are not listed, at an indentation.
    Hidden(usize, u16),
    /// Operations outside all ranges.
    Outside,
}

/// The lines on screen, kept until something opens, closes or is filtered.
#[derive(Debug)]
pub(super) struct Rows {
    filter: String,
    sort: (Sort, bool),
    open: HashSet<u32>,
    lines: Vec<Line>,
}

/// What the table shows.
pub(super) struct Table<'a> {
    pub ranges: &'a Ranges,
    pub sums: &'a Sums,
    pub chosen: &'a Chosen<'a>,
    pub cx: &'a Cx<'a>,
}

impl Rows {
    /// The lines for what is open and filtered now.
    pub fn follow<'r>(kept: &'r mut Option<Self>, table: &Table<'_>, choice: &Choice) -> &'r Self {
        let fits = |rows: &Self| {
            rows.filter == choice.filter.text && rows.sort == choice.sort && rows.open == *choice.opened()
        };
        if !kept.as_ref().is_some_and(fits) {
            *kept = None;
        }
        kept.get_or_insert_with(|| Self {
            filter: choice.filter.text.clone(),
            sort: choice.sort,
            open: choice.opened().clone(),
            lines: table.lines(choice),
        })
    }

    /// How many [`Table::text`] gives.
    pub fn count(&self) -> usize {
        self.lines.iter().filter(|line| !matches!(line, Line::Hidden(..))).count()
    }
}

impl Table<'_> {
    fn trace(&self) -> &Trace {
        &self.chosen.doc.trace
    }

    fn sum(&self, node: u32) -> RangeSum {
        self.sums.sums.nodes.get(node as usize).copied().unwrap_or_default()
    }

    /// True when anything of `node` lies in what the sums are of.
    fn is_there(&self, node: u32) -> bool {
        let sum = self.sum(node);
        sum.count > 0 || sum.gpu_ops > 0 || sum.cpu_ns > 0 || sum.busy_ns > 0
    }

    /// The root of the tree, when there is but one.
    pub fn lone_root(&self) -> Option<u32> {
        let roots = self.ranges.listed_by(&self.sums.sums, None, 2, |node| self.is_there(node), |sum| sum.busy_ns);
        <[u32; 1]>::try_from(roots.nodes).ok().map(|[root]| root)
    }

    fn lines(&self, choice: &Choice) -> Vec<Line> {
        let matching = matching(self.ranges, self.trace(), &choice.filter.text);
        let keep = |node: u32| self.is_there(node) && matching.as_ref().is_none_or(|nodes| nodes.contains(&node));
        let mut lines = Vec::new();
        self.add_lines(None, 0, choice, matching.is_some(), &keep, &mut lines);
        if matching.is_none() && self.sums.sums.outside.busy_ns > 0 {
            lines.push(Line::Outside);
        }
        lines
    }

    fn add_lines(
        &self,
        node: Option<u32>,
        depth: u16,
        choice: &Choice,
        all_open: bool,
        keep: &impl Fn(u32) -> bool,
        lines: &mut Vec<Line>,
    ) {
        let (sort, descending) = choice.sort;
        let value = |sum: &RangeSum| {
            let value = match sort {
                Sort::Busy => sum.busy_ns,
                Sort::Ops => i64::try_from(sum.gpu_ops).unwrap_or(i64::MAX),
                Sort::Count => i64::try_from(sum.count).unwrap_or(i64::MAX),
                Sort::Cpu => sum.cpu_ns,
                // Those that matter are listed; they are put in order below.
                Sort::Name => return sum.busy_ns,
            };
            if descending { value } else { value.saturating_neg() }
        };
        let mut listing = self.ranges.listed_by(&self.sums.sums, node, MOST, keep, value);
        if sort == Sort::Name {
            listing.nodes.sort_by_cached_key(|node| self.ranges.name(self.trace(), *node).to_lowercase());
            if descending {
                listing.nodes.reverse();
            }
        }
        for node in listing.nodes {
            lines.push(Line::Node(node, depth));
            if all_open || choice.opened().contains(&node) {
                self.add_lines(Some(node), depth + 1, choice, all_open, keep, lines);
            }
        }
        if listing.hidden > 0 {
            lines.push(Line::Hidden(listing.hidden, depth));
        }
    }

    /// Draws the table.
    pub fn show(&self, ui: &mut Ui, rows: &Rows, choice: &mut Choice, out: &mut Vec<Command>) {
        ui.add(Label::new(RichText::new(&self.sums.title).small().weak()).truncate());
        ui.spacing_mut().item_spacing.x = GAP_PT;
        let keys = columns(ui.available_width() - ui.spacing().scroll.allocated_width(), self.ranges.has_steps());
        let mut builder = TableBuilder::new(ui)
            .striped(true)
            .sense(Sense::click())
            .cell_layout(Layout::right_to_left(Align::Center))
            .auto_shrink([false, false])
            .column(Column::remainder().at_least(NAME_PT).clip(true));
        for key in &keys {
            builder = builder.column(Column::exact(key.width()).clip(true));
        }
        let mut clicked = None;
        let sorted = choice.sort;
        let order = |sort: Sort| (sorted.0 == sort).then_some(sorted.1);
        let built = builder.header(24.0, |mut row| {
            row.col(|ui| {
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    if head(ui, "Range", "", order(Sort::Name)).clicked() {
                        clicked = Some(Sort::Name);
                    }
                    let hidden = Key::ALL.into_iter().filter(|key| !keys.contains(key));
                    let has_trend = self.ranges.has_steps();
                    left_out(ui, hidden.filter(|key| has_trend || *key != Key::Trend).map(Key::text));
                });
            });
            for key in &keys {
                row.col(|ui| match key.sort() {
                    Some(sort) => {
                        // A share of one window sorts as the time does: one mark is enough.
                        let mark = order(sort).filter(|_| *key != Key::Share);
                        if head(ui, key.text(), key.tip(), mark).clicked() {
                            clicked = Some(sort);
                        }
                    }
                    None => {
                        ui.add(Label::new(RichText::new(key.text()).small().strong())).on_hover_text(key.tip());
                    }
                });
            }
        });
        if let Some(sort) = clicked {
            choice.sort_by(sort);
        }
        built.body(|body| {
            body.rows(ROW_PT, rows.lines.len(), |mut row| {
                if let Some(line) = rows.lines.get(row.index()) {
                    self.line(&mut row, *line, &keys, choice, out);
                }
            });
        });
    }

    fn line(&self, row: &mut TableRow<'_, '_>, line: Line, keys: &[Key], choice: &mut Choice, out: &mut Vec<Command>) {
        let (node, depth) = match line {
            Line::Node(node, depth) => (node, depth),
            Line::Hidden(count, depth) => {
                row.col(|ui| note(ui, depth, &format!("{} more not listed", format::count(count as u64))));
                keys.iter().for_each(|_| drop(row.col(|_| {})));
                return;
            }
            Line::Outside => {
                row.col(|ui| note(ui, 0, "Outside all ranges"));
                for key in keys {
                    row.col(|ui| match key {
                        Key::Busy | Key::Share | Key::Ops => self.cell(ui, *key, self.sums.sums.outside, None),
                        _ => {}
                    });
                }
                return;
            }
        };
        let name = format::one_line(&self.ranges.name(self.trace(), node), 200);
        row.col(|ui| self.name(ui, node, depth, &name, choice));
        for key in keys {
            row.col(|ui| self.cell(ui, *key, self.sum(node), Some(node)));
        }
        let response = row.response();
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Go to {name}")));
        if response.clicked() {
            self.go(node, choice, out);
        }
        response.context_menu(|ui| {
            if ui.button("Copy row").clicked() {
                let numbers = Key::ALL.into_iter().filter(|key| *key != Key::Trend);
                let numbers = numbers.map(|key| Cow::Owned(self.number(key, self.sum(node))));
                let full = Cow::Owned(self.ranges.name(self.trace(), node).to_string());
                toast::copy(ui.ctx(), tsv([std::iter::once(full).chain(numbers).collect()]), rows_text(1));
                ui.close();
            }
        });
        let shown = self.ranges.shown_first();
        response.on_hover_text(format!("{name}\nClick: show {shown}. Click again: the next in time."));
    }

    fn name(&self, ui: &mut Ui, node: u32, depth: u16, name: &str, choice: &mut Choice) {
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.add_space(2.0 + INDENT_PT * f32::from(depth.min(12)));
            if self.ranges.has_children(node) {
                let open = choice.opened().contains(&node);
                let (rect, response) = ui.allocate_exact_size(vec2(14.0, ROW_PT), Sense::click());
                let place = Rect::from_center_size(rect.center(), vec2(9.0, 9.0));
                icons::paint(
                    ui.painter(),
                    place,
                    if open { Icon::Down } else { Icon::Next },
                    ui.visuals().text_color(),
                );
                let what = if open { "Collapse" } else { "Expand" };
                response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{what} {name}")));
                if response.clicked() {
                    choice.toggle(node);
                }
            } else {
                ui.add_space(14.0 + GAP_PT);
            }
            ui.add(Label::new(RichText::new(name).small()).truncate());
        });
    }

    /// The lines on screen as tab-separated text, a range below another indented.
    pub fn text(&self, rows: &Rows) -> String {
        let numbers = Key::ALL.into_iter().filter(|key| *key != Key::Trend);
        let heads = std::iter::once("Range").chain(numbers.clone().map(Key::text)).map(Cow::Borrowed).collect();
        let line = |line: &Line| {
            let (name, sum) = match line {
                Line::Node(node, depth) => {
                    let indent = "  ".repeat(usize::from(*depth));
                    (format!("{indent}{}", self.ranges.name(self.trace(), *node)), self.sum(*node))
                }
                Line::Outside => ("Outside all ranges".to_owned(), self.sums.sums.outside),
                Line::Hidden(..) => return None,
            };
            Some(
                std::iter::once(name).chain(numbers.clone().map(|key| self.number(key, sum))).map(Cow::Owned).collect(),
            )
        };
        tsv(std::iter::once(heads).chain(rows.lines.iter().filter_map(line)))
    }

    /// What a column tells of a range; empty for the trend, which is a picture.
    fn number(&self, key: Key, sum: RangeSum) -> String {
        match key {
            Key::Busy => format::duration(sum.busy_ns),
            Key::Share => format::percent(units::share(sum.busy_ns, self.sums.window_ns)),
            Key::Ops => format::count(sum.gpu_ops),
            Key::Count => format::count(sum.count),
            Key::Cpu => format::duration(sum.cpu_ns),
            Key::Trend => String::new(),
        }
    }

    fn cell(&self, ui: &mut Ui, key: Key, sum: RangeSum, node: Option<u32>) {
        if key == Key::Trend {
            let by = self.sums.key.attribution;
            if let Some(trend) = node.and_then(|node| self.ranges.trend(self.trace(), by, node)) {
                self.trend(ui, &trend);
            }
            return;
        }
        let text = self.number(key, sum);
        let response = ui.label(RichText::new(text).small());
        if key == Key::Busy && sum.span_ns > 0 {
            let span = format::duration(sum.span_ns);
            response.on_hover_text(format!("From first start to last end, added up over the ranges: {span}"));
        }
    }

    /// One bar a step, as high as its share of the most.
    fn trend(&self, ui: &mut Ui, trend: &Trend) {
        let (rect, response) = ui.allocate_exact_size(vec2(Key::Trend.width() - 4.0, ROW_PT - 6.0), Sense::hover());
        let per_bar = trend.by_step_ns.len().div_ceil(BARS).max(1);
        let bars = trend.by_step_ns.chunks(per_bar).map(|steps| steps.iter().copied().max().unwrap_or(0));
        let width = rect.width() / trend.by_step_ns.len().div_ceil(per_bar).max(1) as f32;
        for (at, ns) in bars.enumerate() {
            let Some(part) = units::share(ns, trend.most_ns).filter(|part| *part > 0.0) else { continue };
            let left = rect.left() + at as f32 * width;
            let top = rect.bottom() - (rect.height() * part as f32).max(1.0);
            let bar = Rect::from_min_max(pos2(left, top), pos2(left + (width - 1.0).max(1.0), rect.bottom()));
            ui.painter().rect_filled(bar, 0.0, self.cx.palette.text_dim);
        }
        let [least, median, most] = [trend.least_ns, trend.median_ns, trend.most_ns].map(format::duration);
        let steps = format::counted(trend.by_step_ns.len() as u64, "step", "steps");
        let text = format!("GPU busy in {steps}: median {median}, from {least} to {most}");
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &text));
        response.on_hover_text(text);
    }

    /// Goes to the range of `node` to be shown first, and from there to the next in time.
    fn go(&self, node: u32, choice: &mut Choice, out: &mut Vec<Command>) {
        let trace = self.trace();
        let by = self.sums.key.attribution;
        let last = choice.last.filter(|(of, ..)| *of == node).map(|(_, thread, range)| (thread, range));
        let Some((thread, range)) = self.ranges.next_instance(trace, by, node, last) else { return };
        choice.last = Some((node, thread, range));
        let id = self.chosen.id;
        let item = match self.ranges.projection_at(trace, by, thread, range) {
            Some(at) => Item::Projected(id, by, at as u32),
            None => Item::Nvtx(id.doc, thread, range),
        };
        out.extend([Command::Select(Some(item)), Command::ShowSelection]);
    }
}

/// The nodes whose names hold `filter`, and those above them; `None` when nothing is filtered.
fn matching(ranges: &Ranges, trace: &Trace, filter: &str) -> Option<HashSet<u32>> {
    let filter = filter.trim().to_lowercase();
    if filter.is_empty() {
        return None;
    }
    let mut found = HashSet::new();
    let hits = (0..ranges.len() as u32).filter(|node| ranges.name(trace, *node).to_lowercase().contains(&filter));
    for hit in hits {
        let mut node = Some(hit);
        while let Some(at) = node.filter(|at| found.insert(*at)) {
            node = ranges.parent(at);
        }
    }
    Some(found)
}

fn note(ui: &mut Ui, depth: u16, text: &str) {
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.add_space(16.0 + GAP_PT + INDENT_PT * f32::from(depth.min(12)));
        ui.add(Label::new(RichText::new(text).small().weak()).truncate());
    });
}
