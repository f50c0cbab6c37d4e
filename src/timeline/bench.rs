//! Frames of the timeline without a window, and a fixed script of views, to measure what a frame costs.

use super::Cache;
use super::layout::{Lane, Layout};
use crate::view::{Command, LaneKey, ViewState, Workspace};
use egui::{Context, Pos2, RawInput, Rect, Vec2};

/// The size frames are measured at, in points.
pub const FULL_HD: Vec2 = Vec2::new(1920.0, 1080.0);

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

/// Pans and zooms from the whole capture down to one operation and back, the same for every run.
pub fn script(workspace: &Workspace) -> Vec<Command> {
    let Some(whole) = workspace.span() else { return Vec::new() };
    // An operation in the middle of the first rank, to zoom to.
    let at_ns = workspace.ranks().next().and_then(|(_, doc, rank)| {
        let start_ns = rank.ops.start_ns.get(rank.ops.len() / 2)?;
        Some((start_ns + doc.offset_ns) as f64)
    });
    let at_ns = at_ns.unwrap_or(whole.start_ns as f64 + whole.len_ns() as f64 / 2.0);
    let mut commands = vec![Command::ShowAll];
    let zooms = ((whole.len_ns() as f64 / 2_000.0).log2() * 2.0).ceil().clamp(1.0, 120.0) as usize;
    for _ in 0..zooms {
        commands.push(Command::ZoomAt { at_ns, factor: std::f64::consts::FRAC_1_SQRT_2 });
        commands.push(Command::PanBy(0.08));
        commands.push(Command::PanBy(-0.08));
    }
    for nth in 0..zooms {
        commands.push(Command::ZoomAt { at_ns, factor: std::f64::consts::SQRT_2 });
        commands.push(Command::ScrollBy(if nth % 2 == 0 { 120.0 } else { -120.0 }));
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
        for command in script(&workspace) {
            state.apply(&command, &workspace);
            assert!(frame(&ctx, &workspace, &state, &mut cache, FULL_HD) > 100);
            shortest = shortest.min(state.viewport.len_ns);
        }
        assert!(shortest < 3_000.0, "{shortest}");
        assert_eq!(state.viewport, whole);
    }

    #[test]
    fn nothing_open_is_a_short_script() {
        assert!(script(&Workspace::default()).is_empty());
        let (ctx, mut cache) = (context(), Cache::default());
        assert!(frame(&ctx, &Workspace::default(), &ViewState::default(), &mut cache, FULL_HD) > 0);
    }
}
