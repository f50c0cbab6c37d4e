//! The panels beside the timeline, one file each.

pub mod bookmarks;
pub mod comm;
pub mod differences;
pub mod findings;
pub mod gaps;
pub mod grid;
pub mod guide;
pub mod heatmap;
pub mod kernels;
pub mod launches;
pub mod mfu;
pub mod pipeline;
pub mod ranges;
pub mod ranks;
pub mod search;
pub mod selection;
pub mod sheet;

use super::cx::Cx;
use crate::timeline;
use crate::units::Span;
use crate::view::{Command, Panel};
use egui::{Context, ScrollArea, Ui};

/// What the panels keep between frames.
#[derive(Debug, Default)]
pub struct PanelCaches {
    /// The panel of that name.
    pub findings: findings::FindingsCache,
    /// The panel of that name.
    pub kernels: kernels::KernelsCache,
    /// The panel of that name.
    pub gaps: gaps::GapsCache,
    /// The panel of that name.
    pub comm: comm::CommunicationCache,
    /// The panel of that name.
    pub pipeline: pipeline::PipelineCache,
    /// The panel of that name.
    pub ranges: ranges::RangesCache,
    /// The panel of that name.
    pub launches: launches::LaunchesCache,
    /// The panel of that name.
    pub mfu: mfu::MfuCache,
    /// The panel of that name.
    pub ranks: ranks::RanksCache,
    /// The panel of that name.
    pub heatmap: heatmap::HeatmapCache,
    /// The panel of that name.
    pub differences: differences::DifferencesCache,
    /// The panel of that name.
    pub guide: guide::GuideCache,
    /// The panel of that name.
    pub selection: selection::SelectionCache,
    /// The panel of that name.
    pub bookmarks: bookmarks::BookmarksCache,
    /// The panel of that name.
    pub search: search::SearchCache,
}

impl PanelCaches {
    /// From now on what takes long is looked for beside the frame, and `ctx` is drawn anew when it is there. Without
    /// this, as for pictures, a frame waits.
    pub fn work_beside(&mut self, ctx: &Context) {
        self.differences.outliers.look_beside(&timeline::wake(ctx));
    }
}

/// Said over the panels while a file is moved by hand.
const MOVING: &str =
    "A file is being moved. Who waited for whom is of the clock before, and computed anew once it rests.";

/// Draws `panel`, when it is one of these; false otherwise.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, panel: Panel, caches: &mut PanelCaches, out: &mut Vec<Command>) -> bool {
    if cx.workspace.job.moving {
        grid::remark(ui, MOVING);
    }
    // Panels with long tables scroll by themselves and take what room there is.
    match panel {
        Panel::Kernels => kernels::show(ui, cx, &mut caches.kernels, out),
        Panel::Gaps => gaps::show(ui, cx, &mut caches.gaps, out),
        Panel::Ranges => ranges::show(ui, cx, &mut caches.ranges, out),
        Panel::Search => search::show(ui, cx, &mut caches.search, out),
        Panel::Heatmap => heatmap::show(ui, cx, &mut caches.heatmap, out),
        Panel::Findings
        | Panel::Ranks
        | Panel::Differences
        | Panel::Communication
        | Panel::Launches
        | Panel::Pipeline
        | Panel::Mfu
        | Panel::Guide
        | Panel::Selection
        | Panel::Bookmarks => {
            ScrollArea::vertical().id_salt(panel).auto_shrink([false, false]).show(ui, |ui| match panel {
                Panel::Findings => findings::show(ui, cx, &mut caches.findings, out),
                Panel::Ranks => ranks::show(ui, cx, &mut caches.ranks, out),
                Panel::Differences => differences::show(ui, cx, &mut caches.differences, out),
                Panel::Communication => comm::show(ui, cx, &mut caches.comm, out),
                Panel::Launches => launches::show(ui, cx, &mut caches.launches, out),
                Panel::Pipeline => pipeline::show(ui, cx, &mut caches.pipeline, out),
                Panel::Bookmarks => bookmarks::show(ui, cx, &mut caches.bookmarks, out),
                Panel::Selection => selection::show(ui, cx, &mut caches.selection, out),
                Panel::Mfu => mfu::show(ui, cx, &mut caches.mfu, out),
                _ => guide::show(ui, cx, &mut caches.guide, out),
            });
        }
        Panel::Overview | Panel::Steps | Panel::Capture => return false,
    }
    true
}

/// `span` with as much before and after it, and at least some microseconds in all.
fn around(span: Span) -> Span {
    let margin_ns = span.len_ns().max(1_000);
    Span::new(span.start_ns.saturating_sub(margin_ns), span.end_ns.saturating_add(margin_ns))
}
