//! Names of the lanes at the left, with the share of the visible span that each is busy.

use super::cache::Cache;
use super::color::Palette;
use super::counters;
use super::draw::Frame;
use super::label;
use super::lanes::LaneSlices;
use super::layout::{Lane, Layout};
use super::paint::{LANE_FONT, TEXT_FONT};
use super::strip;
use crate::format;
use crate::report::compare;
use crate::trace::Trace;
use crate::units::{self, Span};
use crate::view::{LaneKey, RankId, Workspace};
use egui::{Color32, FontId, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, pos2, vec2};
use std::sync::Arc;

/// Width of a rank's coloured edge.
const EDGE_PT: f32 = 4.0;
/// Room for the triangle before a name.
const TRIANGLE_PT: f32 = 12.0;
/// Room between a name and the share after it, and at the right.
const SHARE_GAP_PT: f32 = 8.0;
const RIGHT_PT: f32 = 8.0;
/// The same for a share, which leaves room for the button of the lane's menu whether that is there or not.
const SHARE_RIGHT_PT: f32 = super::gutter_input::MENU_PT + 4.0;
/// Height of the header of an open rank.
const HEADER_PT: f32 = 34.0;
/// Names move only in lanes higher than this.
const TALL_PT: f32 = 48.0;
/// Indent of a nested lane.
const INDENT_PT: f32 = 12.0;

/// What painting the names needs.
pub struct Names<'a> {
    /// Clipped to the gutter.
    pub painter: Painter,
    /// What is where.
    pub frame: &'a Frame<'a>,
    /// The rows that are busy.
    pub cache: &'a Cache,
    /// Colours.
    pub palette: &'a Palette,
    /// The gutter.
    pub rect: Rect,
    /// The pointer, while it is over the timeline.
    pub pointer: Option<Pos2>,
}

impl Names<'_> {
    /// Paints the gutter of the visible lanes, and of the `sticky` header over them.
    pub fn paint(&self, layout: &Layout, sticky: Option<&Lane>) {
        let (frame, rect, palette) = (self.frame, self.rect, self.palette);
        self.painter.rect_filled(rect, 0.0, palette.gutter);
        let (top, bottom) = (frame.top_pt - frame.origin_pt, frame.bottom_pt - frame.origin_pt);
        let under = self.pointer.filter(|at| rect.contains(*at)).and_then(|at| frame.lane_at(layout, at.y));
        let under = under.map(|lane| lane.key);
        for lane in layout.within(top, bottom).iter().chain(sticky) {
            self.lane(lane, under == Some(lane.key));
        }
        self.painter.vline(rect.right(), rect.y_range(), Stroke::new(frame.px_pt(), palette.grid));
    }

    fn lane(&self, lane: &Lane, is_under_pointer: bool) {
        let (frame, rect, palette) = (self.frame, self.rect, self.palette);
        let y0 = frame.snap(frame.origin_pt + lane.top_pt);
        let y1 = frame.snap(frame.origin_pt + lane.bottom_pt());
        let area = Rect::from_min_max(pos2(rect.left(), y0), pos2(rect.right(), y1));
        if lane.is_header() {
            self.painter.rect_filled(area, 0.0, palette.gutter);
            self.painter.rect_filled(area, 0.0, palette.header);
        }
        if is_under_pointer && lane.expanded.is_some() && self.pointer.is_some_and(|at| rect.contains(at)) {
            self.painter.rect_filled(area, 0.0, palette.text.gamma_multiply(0.06));
        }
        if let Some(color) = edge_color(frame, lane, palette) {
            // The rank that the side panel speaks about has the wider edge.
            let wide = lane.rank.is_some() && lane.rank == frame.state.rank;
            let width = if wide { EDGE_PT + 2.0 } else { EDGE_PT };
            self.painter.rect_filled(Rect::from_min_size(area.min, vec2(width, area.height())), 0.0, color);
        }
        let is_chosen = frame.state.lanes.focus == Some(lane.key);
        names(&self.painter, (frame, lane, is_chosen || is_under_pointer), self.cache, palette, area);
        if is_chosen {
            let inner = area.shrink2(vec2(1.0, 1.0));
            self.painter.rect_stroke(inner, 2.0, Stroke::new(1.0, palette.accent), StrokeKind::Inside);
        }
        self.painter.hline(rect.x_range(), y1 - frame.px_pt() / 2.0, Stroke::new(frame.px_pt(), palette.grid));
    }
}

/// What tells ranks apart where lanes do not stand below the header of theirs, after the lane's name.
fn rank_of_lane(frame: &Frame<'_>, lane: &Lane) -> String {
    let shown = frame.state.shown_ranks().map_or_else(|| frame.workspace.ranks().count(), <[_]>::len);
    let is_overlaid = frame.state.compare.as_ref().is_some_and(|compare| !compare.has_panes());
    // Arrivals name two ranks already.
    let names_ranks = lane.is_header() || matches!(lane.key, LaneKey::Differences(_));
    let is_apart = lane.pinned || is_overlaid && !names_ranks;
    let rank = lane.rank.filter(|_| is_apart && shown > 1);
    rank.map_or_else(String::new, |rank| format!(", rank {}", label::safe(frame.workspace.label(rank))))
}

/// Colour that tells ranks apart, in the order of the workspace.
fn edge_color(frame: &Frame<'_>, lane: &Lane, palette: &Palette) -> Option<Color32> {
    let rank = lane.rank?;
    let at = frame.workspace.ranks().position(|(id, ..)| id == rank)?;
    palette.ranks.get(at % palette.ranks.len()).copied()
}

/// Paints the name of a lane and what stands beside it. `has_button` says that the button of its menu is there.
fn names(
    painter: &Painter,
    (frame, lane, has_button): (&Frame<'_>, &Lane, bool),
    cache: &Cache,
    palette: &Palette,
    area: Rect,
) {
    let left = name_left(frame, lane);
    // In the middle of the first row, so that a name stands where its lane begins.
    let middle =
        if lane.is_header() { area.center().y } else { first_seen_pt(frame, lane, area) + name_pt(lane, area) / 2.0 };
    if let Some(open) = lane.expanded {
        triangle(painter, pos2(left - TRIANGLE_PT + 3.0, middle), open, palette.text_dim);
    }
    let right = area.right() - if has_button { SHARE_RIGHT_PT } else { RIGHT_PT };
    if area.height() < 9.0 {
        return;
    }
    let (name, detail) = lane_name(frame.workspace, lane);
    let name = name + &rank_of_lane(frame, lane);
    let strong = if lane.is_header() { palette.text } else { palette.lane_text };
    let font = name_font(lane);
    let put = |text: &str, y: f32, right: f32, font: &FontId, color: Color32| {
        let galley = label::cut(painter, text, right - left, font, color);
        painter.galley(pos2(left, y - galley.size().y / 2.0), galley, color);
    };
    if lane.is_header() && area.height() >= 30.0 {
        put(&name, middle - 7.0, right, &font, strong);
        put(&detail, middle + 7.5, right, &LANE_FONT, palette.text_dim);
        return;
    }
    if lane.is_header() && !detail.is_empty() {
        put(&format!("{name}  {detail}"), middle, right, &font, strong);
        return;
    }
    let width = |text: &str| painter.layout_no_wrap(text.to_owned(), font.clone(), strong).size().x;
    // The name comes first: a share that would leave it no room goes where the button would be, is cut at its comma, or
    // is left out.
    let name_right = left + width(&name) + SHARE_GAP_PT;
    let share = share_text(frame, cache, lane);
    let texts = [share.as_str(), share.split(',').next().unwrap_or_default()];
    let galleys = texts.map(|text| painter.layout_no_wrap(text.to_owned(), LANE_FONT, palette.text_dim));
    let rights = [area.right() - SHARE_RIGHT_PT, right];
    let places = galleys.iter().flat_map(|galley| rights.map(|right| (galley, right - galley.size().x)));
    if let Some((galley, x)) = places.into_iter().find(|(_, x)| *x >= name_right) {
        painter.galley(pos2(x, middle - galley.size().y / 2.0), Arc::clone(galley), palette.text_dim);
    }
    let short = short_name(frame.workspace, lane).filter(|_| width(&name) > right - left);
    put(short.unwrap_or(&name), middle, right, &font, strong);
}

fn name_font(lane: &Lane) -> FontId {
    match lane {
        lane if lane.is_header() => TEXT_FONT,
        lane if lane.height_pt < 14.0 => LANE_FONT,
        _ => FontId::proportional(11.5),
    }
}

/// What a lane is called where its name does not fit.
fn short_name(workspace: &Workspace, lane: &Lane) -> Option<&'static str> {
    match lane.key {
        LaneKey::Communication(_) => Some("Comm."),
        LaneKey::Idle(_) => Some("Idle"),
        LaneKey::Differences(_) => Some(strip::name(workspace, lane).1),
        LaneKey::Launches(..) => Some("Launches"),
        _ => None,
    }
}

/// Height of the row that a lane's name stands beside.
fn name_pt(lane: &Lane, area: Rect) -> f32 {
    lane.first_pt.min(area.height()).max(8.0)
}

/// Top of the part of a lane that is seen: the name of a high lane stays in sight while its top is scrolled away.
fn first_seen_pt(frame: &Frame<'_>, lane: &Lane, area: Rect) -> f32 {
    // The header of its rank stays over the lanes.
    let seen = frame.top_pt + if lane.rank.is_some() && !lane.pinned { HEADER_PT } else { 0.0 };
    let lowest = area.bottom() - name_pt(lane, area).max(TALL_PT);
    area.top().max(seen.min(lowest))
}

/// Left edge of a lane's name.
fn name_left(frame: &Frame<'_>, lane: &Lane) -> f32 {
    let indent = INDENT_PT * f32::from(lane.depth.saturating_sub(1));
    frame.gutter_left_pt + EDGE_PT + 8.0 + indent + TRIANGLE_PT
}

/// True when there is no room for the whole name.
pub fn is_cut(painter: &Painter, frame: &Frame<'_>, lane: &Lane) -> bool {
    let (name, _) = lane_name(frame.workspace, lane);
    let name = name + &rank_of_lane(frame, lane);
    let whole = painter.layout_no_wrap(name, name_font(lane), Color32::WHITE).size().x;
    whole > frame.left_pt - RIGHT_PT - name_left(frame, lane)
}

fn triangle(painter: &Painter, at: Pos2, open: bool, color: Color32) {
    let size = 3.5;
    let points = if open {
        vec![at + vec2(-size, -size / 2.0), at + vec2(size, -size / 2.0), at + vec2(0.0, size)]
    } else {
        vec![at + vec2(-size / 2.0, -size), at + vec2(size, 0.0), at + vec2(-size / 2.0, size)]
    };
    painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
}

/// Name of a lane and, for headers, what else there is to say.
pub fn lane_name(workspace: &Workspace, lane: &Lane) -> (String, String) {
    let Some(trace) = workspace.docs.get(lane.key.doc()).map(|doc| &*doc.trace) else { return Default::default() };
    let plain = |name: &str| (name.to_owned(), String::new());
    match lane.key {
        LaneKey::Rank(rank) => rank_name(workspace, trace, rank),
        LaneKey::Process(_, process) => (process_name(trace, process), label::safe(&file_name(trace))),
        LaneKey::Compute(_) => plain("Compute"),
        LaneKey::Communication(_) => plain("Communication"),
        LaneKey::Copies(_) => plain("Copies"),
        LaneKey::Stream(rank, stream, _) => {
            let stream = trace.ranks.get(rank.rank).and_then(|r| r.streams.get(stream));
            plain(&stream.map_or_else(String::new, |stream| format!("Stream {}", stream.id)))
        }
        LaneKey::Idle(_) => plain("Idle and exposed"),
        LaneKey::Differences(_) => (strip::name(workspace, lane).0, String::new()),
        LaneKey::Projection(..) => plain("NVTX on the GPU"),
        LaneKey::Nvtx(_, thread) => plain(&format!("NVTX {}", thread_name(trace, thread))),
        LaneKey::Api(_, thread) | LaneKey::Os(_, thread) => plain(&thread_name(trace, thread)),
        LaneKey::Counters(_) => plain("Counters"),
        LaneKey::Counter(_, kind) => plain(&counters::name(trace, kind)),
        LaneKey::Launches(..) => plain("CPU launches"),
        LaneKey::OsRuntime(..) => {
            plain(&format!("OS runtime ({})", format::counted(lane.threads as u64, "thread", "threads")))
        }
        LaneKey::OtherNvtx(..) => {
            plain(&format!("NVTX of {}", format::counted(lane.threads as u64, "more thread", "more threads")))
        }
    }
}

fn rank_name(workspace: &Workspace, trace: &Trace, id: RankId) -> (String, String) {
    let Some(rank) = trace.ranks.get(id.rank) else { return <_>::default() };
    let gpu = rank.gpu.and_then(|gpu| trace.gpus.get(gpu)).map_or("GPU", |gpu| gpu.name.as_str());
    let name = format!("Rank {}   {}", workspace.label(id), gpu.trim_start_matches("NVIDIA "));
    let shift = workspace.job.clock.sources.get(id.doc).map(|source| source.shift_ns).filter(|ns| *ns != 0);
    let host = trace.source.host.clone();
    let place = [shift.map(compare::shifted_by), host, Some(format!("device {}", rank.device)), Some(file_name(trace))];
    (label::safe(&name), label::safe(&place.into_iter().flatten().collect::<Vec<_>>().join(", ")))
}

fn file_name(trace: &Trace) -> String {
    trace.source.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn process_name(trace: &Trace, process: usize) -> String {
    let Some(process) = trace.processes.get(process) else { return String::new() };
    let name = process.name.map(|name| trace.name(name)).filter(|name| !name.is_empty()).unwrap_or("Process");
    label::safe(&format!("{name} ({})", process.pid))
}

/// Name of a thread, with its id when the name alone does not tell it from others.
pub fn thread_name(trace: &Trace, thread: usize) -> String {
    let Some(thread) = trace.threads.get(thread) else { return String::new() };
    let name = thread.name.map(|name| trace.name(name)).filter(|name| !name.is_empty());
    let text = name.map_or_else(|| format!("thread {}", thread.tid), |name| format!("{name} ({})", thread.tid));
    label::safe(&text)
}

/// Busy share of the visible part of the rank's span.
fn share_text(frame: &Frame<'_>, cache: &Cache, lane: &Lane) -> String {
    if matches!(lane.key, LaneKey::Counter(..)) {
        return counters::share_text(frame, cache, lane);
    }
    if matches!(lane.key, LaneKey::Differences(_)) {
        return strip::scale_text(cache, lane);
    }
    let Some(rank) = lane.rank else { return String::new() };
    let analysis = frame.workspace.docs.get(rank.doc).and_then(|d| d.analysis.ranks.get(rank.rank));
    let Some((analysis, window)) = analysis.and_then(|a| Some((a, frame.window(rank.doc).intersect(a.span)?))) else {
        return String::new();
    };
    let share = |busy_ns: i64| format::percent(units::share(busy_ns, window.len_ns()));
    match lane.key {
        LaneKey::Compute(_) => share(analysis.partition(window).compute_ns()),
        LaneKey::Communication(_) => {
            let exposed = analysis.exposed.within(window);
            let comm = share(analysis.comm.within(window));
            if exposed > 0 { format!("{comm}, exposed {}", share(exposed)) } else { comm }
        }
        LaneKey::Idle(_) => format!("idle {}", share(analysis.partition(window).idle_ns)),
        LaneKey::Copies(_) | LaneKey::Stream(..) => {
            rows_share(frame, cache, lane, window).map(share).unwrap_or_default()
        }
        _ => String::new(),
    }
}

fn rows_share(frame: &Frame<'_>, cache: &Cache, lane: &Lane, window: Span) -> Option<i64> {
    let key = lane.rows_key()?;
    let inks = cache.inks(key.doc());
    let slices = LaneSlices::of(frame.workspace, &inks, key)?;
    cache.rows(key)?.busy_within(&slices, window)
}
