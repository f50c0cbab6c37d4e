//! Idle gaps with their causes: which ones cost the most, and where they are.
//!
//! The list is made when the rank, the filter or the order changes: one pass over the gaps and a sort of what is kept.
//! Only the rows in sight are laid out, and a page holds `PAGE` of them at most.

use crate::analysis::{Cause, GapReport, GapSum, Idle};
use crate::app::causes;
use crate::app::cx::{Chosen, Cx};
use crate::app::icons::{self, Icon};
use crate::format;
use crate::report::Gap;
use crate::units::{Span, microseconds_of, share};
use crate::view::{Command, Item, RankId};
use egui::{Align, Button, ComboBox, DragValue, Label, Layout, Response, RichText, Role, Sense, Ui, WidgetInfo, vec2};
use egui_extras::{Column, TableBuilder, TableRow};

/// Rows of a page: positions further down a list would lose precision.
const PAGE: usize = 10_000;

/// Columns of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Cause,
    Length,
    Start,
    Step,
}

impl Key {
    const ALL: [Self; 4] = [Self::Cause, Self::Length, Self::Start, Self::Step];

    const fn text(self) -> &'static str {
        match self {
            Self::Cause => "Cause",
            Self::Length => "Length",
            Self::Start => "Start",
            Self::Step => "Step",
        }
    }

    const fn tip(self) -> &'static str {
        match self {
            Self::Cause => "The cause that takes most of the gap.",
            Self::Length => "How long nothing ran on the GPU.",
            Self::Start => "Since the first event of the capture.",
            Self::Step => "The step that owns the time at which the gap begins.",
        }
    }

    const fn width_pt(self) -> f32 {
        match self {
            Self::Cause => 104.0,
            Self::Length | Self::Start => 68.0,
            Self::Step => 44.0,
        }
    }

    const fn sorts(self) -> bool {
        matches!(self, Self::Length | Self::Start)
    }
}

/// What decides which gaps are listed, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Choice {
    least_ns: i64,
    cause: Option<Cause>,
    by_start: bool,
}

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct GapsCache {
    /// Shortest gap listed, when the user chose one.
    least_ns: Option<i64>,
    cause: Option<Cause>,
    by_start: bool,
    page: usize,
    made_for: Option<(u64, RankId, Choice)>,
    rows: Vec<u32>,
    /// What the rows sum to, and the gaps that are too short to be listed.
    listed: GapSum,
    shorter: GapSum,
}

impl GapsCache {
    fn update(&mut self, revision: u64, rank: RankId, idle: &Idle) {
        let least_ns = self.least_ns.unwrap_or(idle.listed_ns);
        let choice = Choice { least_ns, cause: self.cause, by_start: self.by_start };
        if self.made_for == Some((revision, rank, choice)) {
            return;
        }
        self.made_for = Some((revision, rank, choice));
        self.page = 0;
        self.rows = idle.by_length(least_ns);
        self.rows.retain(|gap| self.cause.is_none_or(|cause| idle.cause_of(*gap as usize) == Some(cause)));
        self.listed = idle.sum(&self.rows);
        self.shorter = idle.shorter(least_ns);
        if self.by_start {
            self.rows.sort_unstable();
        }
    }

    fn shown(&self) -> &[u32] {
        let first = (self.page * PAGE).min(self.rows.len());
        &self.rows[first..self.rows.len().min(first + PAGE)]
    }
}

/// Draws the panel.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, cache: &mut GapsCache, out: &mut Vec<Command>) {
    let Some(chosen) = cx.chosen() else {
        ui.label(RichText::new("No GPU work, so no gaps in it.").weak());
        return;
    };
    let idle = &chosen.numbers.idle;
    choose(ui, cx, idle, cache);
    cache.update(cx.revision, chosen.id, idle);
    ui.add_space(4.0);
    sums(ui, &chosen, cache);
    ui.add_space(4.0);
    pages(ui, cache);
    list(ui, cx, &chosen, cache, out);
}

/// The threshold and the filter.
fn choose(ui: &mut Ui, cx: &Cx<'_>, idle: &Idle, cache: &mut GapsCache) {
    ui.horizontal_wrapped(|ui| {
        let label = ui.label("Gaps of at least");
        let mut least_us = microseconds_of(cache.least_ns.unwrap_or(idle.listed_ns));
        let value = DragValue::new(&mut least_us).range(0.0..=1e9).speed(0.5).max_decimals(3).suffix(" µs");
        let tip = "Shorter gaps are summed, not listed. Drag, or click to type.";
        if ui.add(value).labelled_by(label.id).on_hover_text(tip).changed() {
            cache.least_ns = Some((least_us * 1e3).round() as i64);
        }
        let label = ui.label("by");
        let text = |cause: Option<Cause>| cause.map_or("any cause", Cause::text);
        let list = ComboBox::from_id_salt("gap cause").selected_text(text(cache.cause)).show_ui(ui, |ui| {
            for cause in std::iter::once(None).chain(Cause::ALL.map(Some)) {
                let row = ui.horizontal(|ui| {
                    match cause {
                        Some(cause) => causes::swatch(ui, cx.palette, cause),
                        None => ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover()).1,
                    };
                    let choice = ui.selectable_label(cache.cause == cause, text(cause));
                    let name = cause.map_or_else(|| "Gaps of any cause".to_owned(), |c| format!("Only {}", c.text()));
                    let chosen = cache.cause == cause;
                    choice.widget_info(|| WidgetInfo::selected(Role::Button, true, chosen, &name));
                    choice
                });
                if row.inner.on_hover_text(cause.map_or("", Cause::definition)).clicked() {
                    cache.cause = cause;
                }
            }
        });
        list.response.labelled_by(label.id);
    });
}

/// Room for the scroll bar, in points.
const SCROLL_BAR_PT: f32 = 12.0;

/// What is listed and what is not.
fn sums(ui: &mut Ui, chosen: &Chosen<'_>, cache: &GapsCache) {
    let span_ns = chosen.numbers.whole.span_ns;
    let of_span = format::percent(share(cache.listed.total_ns, span_ns));
    let (count, total) = (format::counted(cache.listed.count, "gap", "gaps"), format::duration(cache.listed.total_ns));
    ui.label(format!("{count}, {total}")).on_hover_text(format!("{of_span} of the rank's GPU span."));
    if cache.shorter.count > 0 {
        let (count, total) = (
            format::counted(cache.shorter.count, "shorter one", "shorter ones"),
            format::duration(cache.shorter.total_ns),
        );
        let of_span = format::percent(share(cache.shorter.total_ns, span_ns));
        let text = format!("{count}, of any cause, {total} together");
        ui.add(Label::new(RichText::new(text).small().weak()).wrap())
            .on_hover_text(format!("{of_span} of the rank's GPU span."));
    }
}

/// Which page of the list is shown, when there are several.
fn pages(ui: &mut Ui, cache: &mut GapsCache) {
    let pages = cache.rows.len().div_ceil(PAGE);
    if pages < 2 {
        return;
    }
    ui.horizontal(|ui| {
        let first = cache.page * PAGE;
        if ui.add_enabled(cache.page > 0, Button::new("Previous page")).clicked() {
            cache.page -= 1;
        }
        if ui.add_enabled(cache.page + 1 < pages, Button::new("Next page")).clicked() {
            cache.page += 1;
        }
        let last = (first + PAGE).min(cache.rows.len());
        let text = format!("{} to {}", format::count(first as u64 + 1), format::count(last as u64));
        ui.label(RichText::new(text).small().weak());
    });
}

fn list(ui: &mut Ui, cx: &Cx<'_>, chosen: &Chosen<'_>, cache: &mut GapsCache, out: &mut Vec<Command>) {
    if cache.rows.is_empty() {
        ui.label(RichText::new("No such gap on this rank.").weak());
        return;
    }
    ui.spacing_mut().item_spacing.x = 4.0;
    // Where there is no room the last columns go: the timeline tells step and start too.
    let room_pt = ui.available_width() - SCROLL_BAR_PT;
    let width_pt = |keys: &[Key]| keys.iter().map(|key| key.width_pt() + 4.0).sum::<f32>();
    let mut keys = &Key::ALL[..];
    while keys.len() > 2 && width_pt(keys) > room_pt {
        keys = &keys[..keys.len() - 1];
    }
    let mut builder = TableBuilder::new(ui)
        .striped(true)
        .sense(Sense::click())
        .cell_layout(Layout::right_to_left(Align::Center))
        .auto_shrink([false, false]);
    for key in keys {
        builder = builder.column(match key {
            Key::Cause => Column::remainder().at_least(key.width_pt()).clip(true),
            _ => Column::exact(key.width_pt()).clip(true),
        });
    }
    let mut clicked = None;
    let built = builder.header(24.0, |mut row| {
        for key in keys {
            row.col(|ui| {
                if heading(ui, *key, cache.by_start) {
                    clicked = Some(*key);
                }
            });
        }
    });
    let shown = cache.shown();
    built.body(|body| {
        body.rows(22.0, shown.len(), |mut row| {
            let Some(gap) = shown.get(row.index()).copied() else { return };
            one_gap(&mut row, keys, (cx, chosen, gap), out);
        });
    });
    if let Some(key) = clicked {
        cache.by_start = key == Key::Start;
    }
}

/// A column's name; true when it was clicked to sort by it.
fn heading(ui: &mut Ui, key: Key, by_start: bool) -> bool {
    let name = RichText::new(key.text()).small().strong();
    if !key.sorts() {
        let layout = if key == Key::Cause { Layout::left_to_right(Align::Center) } else { *ui.layout() };
        ui.with_layout(layout, |ui| ui.label(name).on_hover_text(key.tip()));
        return false;
    }
    if by_start == (key == Key::Start) {
        let icon = if by_start { Icon::Up } else { Icon::Down };
        let (rect, _) = ui.allocate_exact_size(vec2(6.0, 6.0), Sense::hover());
        icons::paint(ui.painter(), rect, icon, ui.visuals().text_color());
    }
    let response = ui.add(Button::new(name).frame(false));
    let name = format!("Sort by {}", key.text());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    response.on_hover_text(key.tip()).clicked()
}

/// A row; a click selects the gap and shows it on the timeline.
fn one_gap(
    row: &mut TableRow<'_, '_>,
    keys: &[Key],
    (cx, chosen, gap): (&Cx<'_>, &Chosen<'_>, u32),
    out: &mut Vec<Command>,
) {
    let idle = &chosen.numbers.idle;
    let (Some(span), Some(cause)) = (idle.gap(gap as usize), idle.cause_of(gap as usize)) else { return };
    let item = Item::Idle(chosen.id, gap);
    row.set_selected(cx.view.selected == Some(item));
    row.col(|ui| {
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.add_space(4.0);
            causes::swatch(ui, cx.palette, cause);
            ui.add(Label::new(RichText::new(cause.text()).small()).truncate());
        });
    });
    let start = format::duration(chosen.doc.trace.since_start_ns(span.start_ns));
    let length = format::duration(span.len_ns());
    for (key, text) in [(Key::Length, &length), (Key::Start, &start)] {
        if keys.contains(&key) {
            row.col(|ui| {
                ui.label(RichText::new(text).small());
            });
        }
    }
    if keys.contains(&Key::Step) {
        row.col(|ui| {
            ui.label(RichText::new(step_text(chosen, span)).small().weak());
        });
    }
    let response: Response = row.response();
    let name = format!("Show the gap of {length} at {start}: {}", cause.text());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    if response.clicked() {
        out.push(Command::Select(Some(item)));
        out.push(Command::ShowSelection);
    }
    response.on_hover_ui(|ui| {
        let report = GapReport::of(&chosen.doc.trace, chosen.rank, chosen.numbers, gap as usize);
        if let Some(report) = report {
            ui.label(Gap::of(&chosen.doc.trace, chosen.rank, chosen.numbers, &report).sentence);
        }
    });
}

/// Number of the step that owns the gap's begin; its place in order when it has none.
fn step_text(chosen: &Chosen<'_>, gap: Span) -> String {
    let step = chosen.steps().and_then(|steps| Some((steps.at(gap.start_ns)?, steps)));
    step.and_then(|(at, steps)| Some(steps.steps.get(at)?.number.map_or_else(|| format!("{at}."), |n| n.to_string())))
        .unwrap_or_else(|| format::UNKNOWN.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Params, analyze};
    use crate::trace::testing::Fixture;

    /// Gaps of 3, 9 and 1 µs; the second is one that the host was late for.
    fn idle() -> Idle {
        let mut fixture = Fixture::new();
        fixture.kernel("gemm", 7, 0, 1_000).kernel("gemm", 7, 4_000, 5_000);
        fixture.launched("gemm", 7, 1, 13_000, 14_000, 15_000).kernel("gemm", 7, 16_000, 17_000);
        analyze(&fixture.build(), &Params::default()).ranks[0].idle.clone()
    }

    #[test]
    fn the_list_follows_threshold_cause_and_order() {
        let (idle, rank) = (idle(), RankId { doc: 0, rank: 0 });
        let mut cache = GapsCache::default();
        cache.update(1, rank, &idle);
        assert_eq!((cache.shown(), cache.listed.total_ns, cache.shorter.count), (&[1, 0][..], 12_000, 1));
        cache.least_ns = Some(0);
        cache.by_start = true;
        cache.update(1, rank, &idle);
        assert_eq!((cache.shown(), cache.shorter), (&[0, 1, 2][..], GapSum::default()));
        cache.cause = Some(Cause::HostCode);
        cache.update(1, rank, &idle);
        assert_eq!((cache.shown(), cache.listed.total_ns), (&[1][..], 9_000));
    }

    #[test]
    fn a_long_list_comes_in_pages() {
        let rows: Vec<u32> = (0..25_000).collect();
        let mut cache = GapsCache { rows, ..GapsCache::default() };
        assert_eq!(cache.shown().len(), PAGE);
        cache.page = 2;
        assert_eq!((cache.shown().len(), cache.shown().first()), (5_000, Some(&20_000)));
        cache.page = 9;
        assert_eq!(cache.shown(), [] as [u32; 0]);
    }
}
