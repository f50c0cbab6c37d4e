//! Idle gaps with their causes: which ones cost the most, and where they are.
//!
//! The list is made when the rank, the filter or the order changes: one pass over the gaps and a sort of what is kept.
//! Only the rows in sight are laid out.

use super::grid::{Column, Grid, NAME_PT, Shown, at, column, filter_bar};
use super::sheet::{Cell, Filter, Key, Row, Rows, Sheet};
use crate::analysis::{Cause, GapReport, GapSum, Idle};
use crate::app::causes;
use crate::app::cx::{Chosen, Cx};
use crate::format;
use crate::report::Gap;
use crate::units::{Span, microseconds_of, share};
use crate::view::{Command, Item, RankId};
use egui::{ComboBox, DragValue, Label, RichText, Role, Sense, Ui, WidgetInfo, vec2};

/// Columns of the list behind the cause.
const COLUMNS: [Column; 3] = [
    column("Length", 68.0, "How long nothing ran on the GPU."),
    at("Start", 72.0, "Since the first event of the capture."),
    column("Step", 52.0, "The step that owns the time at which the gap begins."),
];

/// What decides which gaps are listed, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Choice {
    least_ns: i64,
    cause: Option<Cause>,
}

/// What the panel keeps between frames.
#[derive(Debug, Default)]
pub struct GapsCache {
    /// Shortest gap listed, when the user chose one.
    least_ns: Option<i64>,
    cause: Option<Cause>,
    filter: Filter,
    sheet: Sheet,
    made_for: Option<(u64, RankId, Choice)>,
    /// How often the list was made.
    made: u64,
    rows: Vec<u32>,
    /// What the rows sum to, and the gaps that are too short to be listed.
    listed: GapSum,
    shorter: GapSum,
}

impl GapsCache {
    fn update(&mut self, revision: u64, rank: RankId, idle: &Idle) {
        let least_ns = self.least_ns.unwrap_or(idle.listed_ns);
        let choice = Choice { least_ns, cause: self.cause };
        if self.made_for == Some((revision, rank, choice)) {
            return;
        }
        self.made_for = Some((revision, rank, choice));
        self.made += 1;
        self.rows = idle.by_length(least_ns);
        self.rows.retain(|gap| self.cause.is_none_or(|cause| idle.cause_of(*gap as usize) == Some(cause)));
        self.listed = idle.sum(&self.rows);
        self.shorter = idle.shorter(least_ns);
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

fn list(ui: &mut Ui, cx: &Cx<'_>, chosen: &Chosen<'_>, cache: &mut GapsCache, out: &mut Vec<Command>) {
    let selection = chosen.selection(cx);
    let copied = filter_bar(ui, &mut cache.filter, "gaps", selection, true);
    if cache.rows.is_empty() {
        ui.label(RichText::new("No such gap on this rank.").weak());
        return;
    }
    let rows = Gaps { cx, chosen, gaps: &cache.rows };
    let grid = Grid { id: "gaps", name: "Cause", columns: &COLUMNS, tall: true, name_pt: NAME_PT };
    let shown = Shown { token: cache.made, filter: &cache.filter, selection, copy: copied.as_ref() };
    if let Some(gap) = grid.show(ui, &mut cache.sheet, shown, &rows).and_then(|at| rows.gaps.get(at)) {
        out.push(Command::Select(Some(Item::Idle(chosen.id, *gap))));
        out.push(Command::ShowSelection);
    }
    if let Some(copied) = copied {
        copied.finish(ui);
    }
}

/// Gaps as rows of a table, the longest first.
struct Gaps<'a> {
    cx: &'a Cx<'a>,
    chosen: &'a Chosen<'a>,
    gaps: &'a [u32],
}

impl Gaps<'_> {
    fn gap(&self, at: usize) -> Option<(u32, Span, Cause)> {
        let (gap, idle) = (*self.gaps.get(at)?, &self.chosen.numbers.idle);
        Some((gap, idle.gap(gap as usize)?, idle.cause_of(gap as usize)?))
    }

    fn start(&self, span: Span) -> String {
        format::duration(self.chosen.doc.trace.since_start_ns(span.start_ns))
    }
}

impl Rows for Gaps<'_> {
    fn count(&self) -> usize {
        self.gaps.len()
    }

    fn row(&self, at: usize) -> Row {
        let Some((gap, span, cause)) = self.gap(at) else { return Row::default() };
        let (length, start) = (format::duration(span.len_ns()), self.start(span));
        Row {
            name: cause.text().to_owned(),
            action: format!("Show the gap of {length} at {start}: {}", cause.text()),
            cells: vec![
                Cell::whole(length, span.len_ns()),
                Cell::whole(start, span.start_ns),
                Cell::text(step_text(self.chosen, span)),
            ],
            swatch: Some(self.cx.palette.cause(cause)),
            selected: self.cx.view.selected == Some(Item::Idle(self.chosen.id, gap)),
            ..Row::default()
        }
    }

    fn key(&self, at: usize, column: usize) -> Key {
        let Some((_, span, cause)) = self.gap(at) else { return Key::Number(f64::NAN) };
        match column {
            0 => Key::Text(cause.text().to_lowercase()),
            1 => Key::Number(span.len_ns() as f64),
            2 => Key::Number(span.start_ns as f64),
            _ => Key::Number(
                self.chosen.steps().and_then(|steps| steps.at(span.start_ns)).map_or(f64::NAN, |at| at as f64),
            ),
        }
    }

    fn contains(&self, at: usize, wanted: &str) -> bool {
        let Some((_, span, cause)) = self.gap(at) else { return false };
        cause.text().to_lowercase().contains(wanted)
            || step_text(self.chosen, span).to_lowercase().contains(wanted)
            || format::duration(span.len_ns()).contains(wanted)
    }

    fn note(&self, at: usize) -> String {
        let (trace, rank, numbers) = (&self.chosen.doc.trace, self.chosen.rank, self.chosen.numbers);
        let report = self.gap(at).and_then(|(gap, ..)| GapReport::of(trace, rank, numbers, gap as usize));
        report.map_or_else(String::new, |report| Gap::of(trace, rank, numbers, &report).sentence)
    }

    fn span(&self, at: usize) -> Option<Span> {
        self.gap(at).map(|(_, span, _)| span)
    }
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
    fn the_list_follows_threshold_and_cause() {
        let (idle, rank) = (idle(), RankId { doc: 0, rank: 0 });
        let mut cache = GapsCache::default();
        cache.update(1, rank, &idle);
        assert_eq!((&cache.rows[..], cache.listed.total_ns, cache.shorter.count), (&[1, 0][..], 12_000, 1));
        cache.least_ns = Some(0);
        cache.update(1, rank, &idle);
        assert_eq!((&cache.rows[..], cache.shorter), (&[1, 0, 2][..], GapSum::default()));
        cache.cause = Some(Cause::HostCode);
        cache.update(1, rank, &idle);
        assert_eq!((&cache.rows[..], cache.listed.total_ns, cache.made), (&[1][..], 9_000, 3));
    }
}
