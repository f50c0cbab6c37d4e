//! Frames of the timeline without a window, and a fixed script of views, to measure what a frame costs.

use super::Cache;
use super::layout::{Lane, Layout};
use crate::view::{Command, LaneKey, ViewState, Workspace};
use egui::{Context, Pos2, RawInput, Rect, Vec2};

/// The size frames are measured at, in points.
pub const FULL_HD: Vec2 = Vec2::new(1920.0, 1080.0);

/// Stops on the way down through all lanes.
const STOPS: usize = 4;

/// A context in which every frame shows at once what the state says.
pub fn context() -> Context {
    let context = Context::default();
    context.all_styles_mut(|style| style.animation_time = 0.0);
    context
}

/// Lays out and tessellates one frame of `size` points; the result is the number of vertices.
pub fn frame(ctx: &Context, workspace: &Workspace, state: &ViewState, cache: &mut Cache, size: Vec2) -> usize {
    let input = RawInput { screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size)), ..RawInput::default() };
    let mut commands = Vec::new();
    let mut output = ctx.run_ui(input, |ui| super::show(ui, workspace, state, cache, &mut commands));
    output.textures_delta.clear();
    ctx.tessellate(output.shapes, output.pixels_per_point)
        .iter()
        .map(|shape| match &shape.primitive {
            egui::epaint::Primitive::Mesh(mesh) => mesh.vertices.len(),
            egui::epaint::Primitive::Callback(_) => 0,
        })
        .sum()
}

/// What to toggle, in order, so that every lane of the chosen rank is expanded, down to the last nested row. Builds the
/// rows of all of them in `cache`.
pub fn closed_lanes(workspace: &Workspace, state: &ViewState, cache: &mut Cache) -> Vec<LaneKey> {
    let mut state = state.clone();
    let mut opened = Vec::new();
    loop {
        let layout = Layout::of(workspace, &state, cache, 0.0);
        let closed = |lane: &&Lane| lane.expanded == Some(false) && lane.rank == state.rank;
        let found: Vec<LaneKey> = layout.lanes.iter().filter(closed).map(|lane| lane.key).collect();
        // Opening a lane brings up others; a lane that stays closed would be found for ever.
        let found: Vec<LaneKey> = found.into_iter().filter(|key| !opened.contains(key)).collect();
        if found.is_empty() {
            return opened;
        }
        for key in found {
            state.apply(&Command::ToggleLane(key), workspace);
            opened.push(key);
        }
    }
}

/// How far the lanes of `state` can be scrolled in a window of `size` points.
pub fn scroll_pt(workspace: &Workspace, state: &ViewState, cache: &mut Cache, size: Vec2) -> f32 {
    let layout = Layout::of(workspace, state, cache, 0.0);
    super::input::scroll_limit(&layout, size.y - super::RULER_PT)
}

/// Pans and zooms from the whole capture down to one operation, then back and at every zoom through all lanes, which can
/// be scrolled by `scroll_pt`. The same for every run.
pub fn script(workspace: &Workspace, scroll_pt: f32) -> Vec<Command> {
    let Some(whole) = workspace.span() else { return Vec::new() };
    // An operation in the middle of the first rank, to zoom to.
    let at_ns = workspace.ranks().next().and_then(|(_, doc, rank)| {
        let start_ns = rank.ops.start_ns.get(rank.ops.len() / 2)?;
        Some(doc.axis_ns(*start_ns) as f64)
    });
    let at_ns = at_ns.unwrap_or(whole.start_ns as f64 + whole.len_ns() as f64 / 2.0);
    let mut commands = vec![Command::ShowAll];
    let zooms = ((whole.len_ns() as f64 / 2_000.0).log2() * 2.0).ceil().clamp(1.0, 120.0) as usize;
    for _ in 0..zooms {
        commands.push(Command::ZoomAt { at_ns, factor: std::f64::consts::FRAC_1_SQRT_2 });
        commands.push(Command::PanBy(0.08));
        commands.push(Command::PanBy(-0.08));
    }
    for _ in 0..zooms {
        commands.push(Command::ZoomAt { at_ns, factor: std::f64::consts::SQRT_2 });
        commands.extend((0..STOPS).map(|_| Command::ScrollBy(scroll_pt / STOPS as f32)));
        commands.push(Command::ScrollBy(-scroll_pt));
    }
    commands.push(Command::ShowAll);
    commands
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::testing::training;

    #[test]
    fn the_script_goes_down_to_one_operation_and_back_with_every_lane_open() {
        let workspace = training();
        let mut state = ViewState::open(&workspace);
        let whole = state.viewport;
        let (ctx, mut cache) = (context(), Cache::default());
        for lane in closed_lanes(&workspace, &state, &mut cache) {
            state.apply(&Command::ToggleLane(lane), &workspace);
        }
        assert_eq!(closed_lanes(&workspace, &state, &mut cache), []);
        let mut shortest = f64::INFINITY;
        let expanded = state.clone();
        let scroll_pt = scroll_pt(&workspace, &expanded, &mut cache, FULL_HD);
        let layout = Layout::of(&workspace, &expanded, &mut cache, 0.0);
        let counters = layout.lanes.iter().filter(|lane| matches!(lane.key, LaneKey::Counter(..))).count();
        let (doc, numbers) = (&workspace.docs[0].trace, &workspace.docs[0].analysis.ranks[0]);
        let all = crate::analysis::counters_of(doc, &doc.ranks[0], numbers).len();
        assert!(counters == all && all > 2 && state.marks, "every counter, and idle and exposed marks");
        let (mut seen_pt, lowest_pt) = (0.0_f32, layout.height_pt);
        for command in script(&workspace, scroll_pt) {
            state.apply(&command, &workspace);
            seen_pt = seen_pt.max(state.scroll_y_pt + FULL_HD.y - super::super::RULER_PT);
            assert!(frame(&ctx, &workspace, &state, &mut cache, FULL_HD) > 100);
            shortest = shortest.min(state.viewport.len_ns);
        }
        assert!(shortest < 3_000.0, "{shortest}");
        assert!(seen_pt >= lowest_pt - 1.0, "{seen_pt} of {lowest_pt}: every lane comes into sight");
        assert_eq!(state.viewport, whole);
    }

    #[test]
    fn nothing_open_is_a_short_script() {
        assert!(script(&Workspace::default(), 0.0).is_empty());
        let (ctx, mut cache) = (context(), Cache::default());
        assert!(frame(&ctx, &Workspace::default(), &ViewState::default(), &mut cache, FULL_HD) > 0);
    }
}
