//! Which lanes there are, and where.

use crate::analysis::{Attribution, Params, analyze};
use crate::timeline::Cache;
use crate::timeline::layout::{Lane, Layout};
use crate::timeline::testing::{AUTOGRAD, MAIN, Window, training, workspace_of};
use crate::trace::testing::{Fixture, PID};
use crate::trace::{OpKind, RawCall};
use crate::view::{Command, LaneKey, OpLane, RankId, ViewState, Workspace};
use std::sync::Arc;

const RANK: RankId = RankId { doc: 0, rank: 0 };

fn keys(workspace: &Workspace, state: &ViewState) -> Vec<LaneKey> {
    Layout::of(workspace, state, &mut Cache::default(), 0.0).lanes.iter().map(|lane| lane.key).collect()
}

fn lane_of(workspace: &Workspace, state: &ViewState, key: LaneKey) -> Lane {
    let layout = Layout::of(workspace, state, &mut Cache::default(), 0.0);
    layout.lanes.into_iter().find(|lane| lane.key == key).unwrap()
}

#[test]
fn a_rank_shows_nvtx_above_and_the_host_below_its_gpu_lanes() {
    let workspace = training();
    let state = ViewState::open(&workspace);
    assert_eq!(
        keys(&workspace, &state),
        [
            LaneKey::Rank(RANK),
            LaneKey::Nvtx(0, 0),
            LaneKey::Nvtx(0, 1),
            LaneKey::Projection(RANK, Attribution::Process),
            LaneKey::Compute(RANK),
            LaneKey::Communication(RANK),
            LaneKey::Copies(RANK),
            LaneKey::Idle(RANK),
            LaneKey::Counters(RANK),
            LaneKey::Launches(0, 0),
            LaneKey::OsRuntime(0, 0),
        ]
    );
}

#[test]
fn switches_and_a_collapsed_rank_leave_lanes_out() {
    let workspace = training();
    let mut state = ViewState::open(&workspace);
    state.apply(&Command::ToggleNvtx, &workspace);
    state.apply(&Command::ToggleMarks, &workspace);
    let switched = |key: &LaneKey| matches!(key, LaneKey::Nvtx(..) | LaneKey::Projection(..) | LaneKey::Idle(_));
    assert!(!keys(&workspace, &state).iter().any(switched));
    state.apply(&Command::ToggleLane(LaneKey::Rank(RANK)), &workspace);
    let slim = [LaneKey::Rank(RANK), LaneKey::Compute(RANK), LaneKey::Communication(RANK)];
    assert_eq!(keys(&workspace, &state), slim);
}

#[test]
fn an_expanded_lane_is_followed_by_its_streams_and_threads() {
    let workspace = training();
    let mut state = ViewState::open(&workspace);
    for lane in [
        LaneKey::Compute(RANK),
        LaneKey::Communication(RANK),
        LaneKey::Copies(RANK),
        LaneKey::Launches(0, 0),
        LaneKey::OsRuntime(0, 0),
    ] {
        state.apply(&Command::ToggleLane(lane), &workspace);
    }
    let keys = keys(&workspace, &state);
    let after = |key: LaneKey| keys[keys.iter().position(|k| *k == key).unwrap() + 1];
    assert_eq!(after(LaneKey::Compute(RANK)), LaneKey::Stream(RANK, 0, OpLane::Compute));
    assert_eq!(after(LaneKey::Communication(RANK)), LaneKey::Stream(RANK, 1, OpLane::Communication));
    assert_eq!(after(LaneKey::Copies(RANK)), LaneKey::Stream(RANK, 0, OpLane::Copies), "copies on stream 7 too");
    assert_eq!(after(LaneKey::Launches(0, 0)), LaneKey::Api(0, 0));
    assert_eq!(after(LaneKey::OsRuntime(0, 0)), LaneKey::Os(0, 2));
}

#[test]
fn the_streams_of_a_lane_hold_together_what_the_lane_holds() {
    let workspace = training();
    let mut state = ViewState::open(&workspace);
    let groups = [LaneKey::Compute(RANK), LaneKey::Communication(RANK), LaneKey::Copies(RANK)];
    for lane in groups {
        state.apply(&Command::ToggleLane(lane), &workspace);
    }
    let mut cache = Cache::default();
    let layout = Layout::of(&workspace, &state, &mut cache, 0.0);
    let held = |lane: &Lane| -> usize {
        let rows = cache.rows(lane.rows_key().unwrap()).unwrap();
        rows.rows.iter().map(super::super::row::Row::len).sum()
    };
    for group in groups {
        let at = layout.lanes.iter().position(|lane| lane.key == group).unwrap();
        let streams = layout.lanes[at + 1..].iter().take_while(|lane| matches!(lane.key, LaneKey::Stream(..)));
        assert_eq!(streams.map(held).sum::<usize>(), held(&layout.lanes[at]), "{group:?}");
    }
}

#[test]
fn crossing_ranges_and_marks_have_rows_of_their_own() {
    let workspace = training();
    let lane = lane_of(&workspace, &ViewState::open(&workspace), LaneKey::Nvtx(0, 0));
    // step, forward or optimizer; prefetch, checkpoint that crosses it; marks.
    assert_eq!((lane.rows, lane.mark_row(), lane.hidden_rows), (5, Some(4), 0));
}

#[test]
fn lanes_lie_below_each_other_and_are_found_by_height() {
    let workspace = training();
    let state = ViewState::open(&workspace);
    let layout = Layout::of(&workspace, &state, &mut Cache::default(), 0.0);
    for pair in layout.lanes.windows(2) {
        assert_eq!(pair[0].bottom_pt(), pair[1].top_pt);
    }
    for lane in &layout.lanes {
        assert_eq!(layout.at(lane.top_pt + 1.0).map(|l| l.key), Some(lane.key));
        for row in 0..lane.rows {
            let (top, bottom) = lane.row_edges_pt(row);
            assert!(bottom <= lane.height_pt);
            assert_eq!(lane.row_at((top + bottom) / 2.0), Some(row));
        }
    }
    assert_eq!(layout.at(-1.0), None);
    assert_eq!(layout.at(layout.height_pt + 1.0), None);
    let (top, bottom) = layout.block(RANK).unwrap();
    assert_eq!((top, bottom), (0.0, layout.height_pt));
    assert_eq!(layout.within(0.0, 10.0).len(), 1);
    assert_eq!(layout.within(-100.0, 1e6).len(), layout.lanes.len());
}

#[test]
fn work_that_overlaps_on_a_lane_gets_rows_of_its_own() {
    let mut fixture = Fixture::new();
    for stream in 0..5 {
        fixture.kernel("gemm", stream, 1000 + stream, 9000);
    }
    let workspace = workspace_of(&mut fixture);
    let state = ViewState::open(&workspace);
    let lane = lane_of(&workspace, &state, LaneKey::Compute(RANK));
    assert_eq!(lane.rows, 5);
    let single = lane_of(&training(), &state, LaneKey::Compute(RANK));
    assert!(lane.height_pt > single.height_pt);
}

#[test]
fn a_hundred_threads_hide_behind_one_header() {
    let mut fixture = Fixture::new();
    fixture.launched("gemm", 7, MAIN, 0, 100, 900);
    fixture.range("forward", MAIN, 0, 1000);
    for tid in 100..220 {
        fixture.range("worker", tid, 10, 20);
    }
    let workspace = workspace_of(&mut fixture);
    let mut state = ViewState::open(&workspace);
    assert!(keys(&workspace, &state).len() < 10);
    let header = LaneKey::OtherNvtx(0, 0);
    assert_eq!(lane_of(&workspace, &state, header).threads, 120);
    state.apply(&Command::ToggleLane(header), &workspace);
    assert!(keys(&workspace, &state).len() > 120);
}

#[test]
fn a_process_without_gpu_work_shows_its_ranges() {
    let mut fixture = Fixture::new();
    for tid in 0..20 {
        fixture.range("work", 50 + tid, tid, tid + 10);
    }
    let workspace = workspace_of(&mut fixture);
    let keys = keys(&workspace, &ViewState::open(&workspace));
    assert_eq!(keys[0], LaneKey::Process(0, 0));
    assert_eq!(keys.iter().filter(|key| matches!(key, LaneKey::Nvtx(..))).count(), 8);
    assert_eq!(*keys.last().unwrap(), LaneKey::OtherNvtx(0, 0));
}

#[test]
fn calls_of_the_operating_system_are_shown_when_there_is_nothing_else() {
    let mut fixture = Fixture::new();
    let name = fixture.builder.names().intern("read");
    let call = RawCall { start_ns: 0, end_ns: Some(9), global_tid: PID | 5, correlation: None, name, row: 0 };
    fixture.builder.os_call(call);
    let workspace = workspace_of(&mut fixture);
    let keys = keys(&workspace, &ViewState::open(&workspace));
    assert_eq!(keys, [LaneKey::Process(0, 0), LaneKey::OsRuntime(0, 0), LaneKey::Os(0, 0)]);
}

#[test]
fn many_ranks_start_collapsed() {
    let one = || {
        let trace = Arc::new(Fixture::new().kernel("gemm", 7, 0, 100).build());
        let analysis = Arc::new(analyze(&trace, &Params::default()));
        (trace, analysis)
    };
    let workspace = Workspace::new((0..6).map(|_| one()));
    let state = ViewState::open(&workspace);
    let layout = Layout::of(&workspace, &state, &mut Cache::default(), 0.0);
    assert!(layout.lanes.iter().filter(|lane| lane.is_header()).all(|lane| lane.expanded == Some(false)));
    assert_eq!(layout.lanes.len(), 12, "a header and a slim lane each");
}

#[test]
fn gpu_lanes_grow_into_the_room_there_is() {
    let workspace = training();
    let state = ViewState::open(&workspace);
    let height = |room_pt| {
        let layout = Layout::of(&workspace, &state, &mut Cache::default(), room_pt);
        let compute = layout.lanes.iter().find(|lane| lane.key == LaneKey::Compute(RANK)).unwrap().height_pt;
        (layout.height_pt, compute)
    };
    let (least, low) = height(0.0);
    assert_eq!(height(least), (least, low));
    for room in 0..200 {
        let room_pt = least + room as f32 * 3.0;
        assert!(height(room_pt).0 <= room_pt, "lanes outgrow {room_pt}");
    }
    // Nested rows take the first of it: they had given way.
    let (more, higher) = height(least + 120.0);
    assert!(higher > low && more <= least + 120.0, "{more} {least}");
    let most = height(5_000.0).0;
    assert!((least * 1.6..least * 4.0).contains(&most), "then the others grow too, within limits: {least} to {most}");
}

#[test]
fn nested_rows_give_way_where_the_lanes_do_not_fit() {
    let workspace = training();
    let state = ViewState::open(&workspace);
    let sizes = |room_pt| {
        let layout = Layout::of(&workspace, &state, &mut Cache::default(), room_pt);
        let of = |nested| layout.lanes.iter().filter(move |lane| lane.is_nested() == nested);
        let nested: Vec<f32> = of(true).map(|lane| lane.first_pt).collect();
        (nested, of(false).map(|lane| lane.height_pt).sum::<f32>(), layout.height_pt)
    };
    let (low, others, least) = sizes(0.0);
    assert!(!low.is_empty() && low.iter().all(|pt| *pt == 13.0), "{low:?}");
    let natural =
        (0..100).map(|more| sizes(least + more as f32)).find(|(nested, ..)| nested.iter().all(|pt| *pt == 15.0));
    let (_, same, whole) = natural.unwrap();
    assert!(same == others && whole > least, "other lanes keep their size");
}

#[test]
fn a_header_stays_at_the_top_until_the_next_rank_pushes_it_out() {
    let workspace = training();
    let state = ViewState::open(&workspace);
    let layout = Layout::of(&workspace, &state, &mut Cache::default(), 0.0);
    let header = layout.lanes[0].clone();
    let top = |scroll_pt| layout.sticky(scroll_pt, 400.0).map(|lane| lane.top_pt);
    assert_eq!(top(0.0), None);
    assert_eq!(top(50.0), Some(50.0));
    assert_eq!(top(layout.height_pt - 10.0), Some(layout.height_pt - header.height_pt));
    assert_eq!(top(layout.height_pt), None);
    assert_eq!(layout.sticky(50.0, 60.0), None, "it would take most of the room");
    let seen = |y_pt| layout.seen_at(y_pt, layout.sticky(50.0, 400.0)).map(|lane| lane.key);
    assert_eq!(seen(60.0), Some(header.key));
    assert_ne!(seen(90.0), Some(header.key));
}

#[test]
fn an_empty_workspace_has_no_lanes() {
    assert_eq!(Layout::of(&Workspace::default(), &ViewState::default(), &mut Cache::default(), 0.0), Layout::default());
}

#[test]
fn graph_blocks_are_compute() {
    let mut fixture = Fixture::new();
    fixture.gpu_op(OpKind::Graph, "graph", 7, 0, 100, None, None);
    fixture.range("forward", AUTOGRAD, 0, 100);
    let workspace = workspace_of(&mut fixture);
    assert!(keys(&workspace, &ViewState::open(&workspace)).contains(&LaneKey::Compute(RANK)));
}

#[test]
fn projected_ranges_nest_below_each_other_and_follow_the_attribution() {
    let workspace = training();
    let mut state = ViewState::open(&workspace);
    for by in [Attribution::Process, Attribution::SameThread] {
        state.apply(&Command::SetAttribution(by), &workspace);
        let lane = lane_of(&workspace, &state, LaneKey::Projection(RANK, by));
        assert!(lane.rows >= 2, "{by:?}: steps and what is inside them");
    }
    let lone = Fixture::new().range("r", 1, 0, 10).launched("k", 7, 1, 50, 60, 70).build();
    let analysis = analyze(&lone, &Params::default());
    let workspace = Workspace::new([(Arc::new(lone), Arc::new(analysis))]);
    let has_lane = |key: &LaneKey| matches!(key, LaneKey::Projection(..));
    assert!(!keys(&workspace, &ViewState::open(&workspace)).iter().any(has_lane), "no range ran anything");
}

#[test]
fn a_deep_nest_shows_its_first_rows_and_tells_of_the_others() {
    let mut fixture = Fixture::new();
    fixture.launched("gemm", 7, MAIN, 100, 200, 900);
    for depth in 0..64 {
        fixture.range(&format!("level {depth}"), MAIN, depth, 1000 - depth);
    }
    let mut window = Window::new(workspace_of(&mut fixture), egui::vec2(1280.0, 640.0));
    window.act(Vec::new());
    let key = LaneKey::Nvtx(0, 0);
    let find = |window: &mut Window| window.layout().lanes.into_iter().find(|lane| lane.key == key).unwrap();
    let lane = find(&mut window);
    assert_eq!((lane.rows, lane.hidden_rows, lane.expanded), (4, 60, Some(false)));
    let (y, last_row) = window.with_frame(|frame, layout, _| {
        let y = frame.origin_pt + lane.bottom_pt() - 10.0;
        assert_eq!(frame.more_at(layout, y).map(|lane| lane.key), Some(key));
        (y, frame.origin_pt + lane.top_pt + 5.0)
    });
    assert!(window.with_frame(|frame, layout, _| frame.more_at(layout, last_row).is_none()));
    assert_eq!(window.click(egui::pos2(800.0, y), egui::PointerButton::Primary), [Command::ToggleLane(key)]);
    let lane = find(&mut window);
    assert_eq!((lane.rows, lane.hidden_rows, lane.more_pt), (64, 0, 0.0));
    assert!(window.layout().height_pt > 640.0, "all rows can be scrolled to");
}
