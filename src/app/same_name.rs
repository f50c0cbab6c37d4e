//! In the details panel: how long everything of the selected item's name took, and the way to the extremes.

use super::cx::{Cx, pair};
use super::still_plot::{self, YAxis};
use crate::analysis::NameStats;
use crate::format;
use crate::view::{Command, Item, Kin, SameName, Side};
use egui::{RichText, Role, Ui, WidgetInfo};
use egui_plot::Bar;

/// Height of the histogram in points.
const HEIGHT_PT: f32 = 76.0;
/// Width of the names of lines.
const NAME_PT: f32 = 92.0;

/// Draws the block.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, item: Item, same: &SameName, out: &mut Vec<Command>) {
    let stats = &same.stats;
    ui.horizontal_wrapped(|ui| {
        ui.strong("Same name").on_hover_text(scope(item));
        let several = stats.count > 1;
        let mut button = |text: &str, tip: &str, command: Command| {
            if ui.add_enabled(several, egui::Button::new(text).small()).on_hover_text(tip).clicked() {
                out.push(command);
            }
        };
        button("Longest", "Select the longest of this name", Command::Reveal(item.sibling(stats.longest)));
        button("Shortest", "Select the shortest of this name", Command::Reveal(item.sibling(stats.shortest)));
        button("Next", "Select the next of this name (Shift+.)", Command::SelectNeighbour(Kin::Name, Side::After));
    });
    for (name, value) in lines(cx, item, stats) {
        pair(ui, NAME_PT, name, &value);
    }
    if stats.count > 1 {
        let own_ns = item.span(cx.workspace).map_or(0, crate::units::Span::len_ns);
        histogram(ui, cx, stats, own_ns);
    }
}

/// Among what the name is looked for.
const fn scope(item: Item) -> &'static str {
    match item {
        Item::Op(..) => "Operations of this name on the rank; they are marked on the lanes.",
        Item::Call(..) => "Calls of this name in the process; they are marked on the lanes.",
        _ => "Ranges of this name on the lane; they are marked there.",
    }
}

fn lines(cx: &Cx<'_>, item: Item, stats: &NameStats) -> Vec<(&'static str, String)> {
    let all = format!("{}, {} together", format::count(stats.count), format::duration(stats.total_ns));
    let mut lines = vec![("Count, total", all)];
    let steps = match item {
        Item::Op(rank, _) | Item::Projected(rank, ..) => {
            let doc = cx.workspace.docs.get(rank.doc);
            doc.and_then(|doc| doc.analysis.ranks.get(rank.rank)?.steps.as_ref())
        }
        _ => None,
    };
    if let Some((part, step)) = stats.step.and_then(|part| Some((part, steps?.steps.get(part.step)?))) {
        let (share, count) = (format::percent(part.share), format::count(part.count));
        let total = format::duration(part.total_ns);
        lines.push(("Share of step", format!("{share} of {} ({count}, {total})", format::one_line(&step.name, 40))));
    }
    let [min, median, max] = [stats.min_ns, stats.median_ns, stats.max_ns].map(format::duration);
    lines.push(("Minimum", min));
    lines.push(("Median", median));
    lines.push(("Maximum", max));
    lines
}

/// Counts by duration; the bar that holds the selected item stands out.
fn histogram(ui: &mut Ui, cx: &Cx<'_>, stats: &NameStats, own_ns: i64) {
    let palette = cx.palette;
    let bins = &stats.bins;
    let own = stats.bin_of(own_ns);
    let axis = YAxis::up_to(bins.iter().map(|bin| bin.count).max().unwrap_or(1) as f64, 2.0);
    let bars = bins.iter().enumerate().map(|(at, bin)| {
        let color = if at == own { palette.selection } else { palette.accent.gamma_multiply(0.7) };
        Bar::new(at as f64, bin.count as f64).width(0.86).fill(color).stroke(egui::Stroke::NONE)
    });
    let bars: Vec<Bar> = bars.collect();
    let edges: Vec<String> = bins.iter().map(|bin| format::duration(bin.from_ns)).collect();
    let response =
        still_plot::histogram(ui, palette, ("durations of this name", "Duration"), (bars, edges), (axis, 3, HEIGHT_PT));
    let summary = format!(
        "Durations of this name: {} from {} to {}, the selected one {}",
        format::count(stats.count),
        format::duration(stats.min_ns),
        format::duration(stats.max_ns),
        format::duration(own_ns)
    );
    response.response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &summary));
    let under = response.inner.and_then(|pointer| bins.get(pointer.x.round().max(0.0) as usize));
    if let Some(bin) = under {
        let (from, to) = (format::duration(bin.from_ns), format::duration(bin.to_ns));
        response.response.on_hover_ui_at_pointer(|ui| {
            ui.label(format!("{from} to {to}: {}", format::count(bin.count)));
            if bins.get(own) == Some(bin) {
                ui.label(RichText::new("holds the selected one").small().weak());
            }
        });
    }
}
