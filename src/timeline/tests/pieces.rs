//! From the model to the draw list and back by hit, at one pixel for a nanosecond.

use crate::analysis::Cause;
use crate::timeline::Cache;
use crate::timeline::draw::{self, Block, DrawList, Frame, Tone};
use crate::timeline::ink::Ink;
use crate::timeline::layout::Layout;
use crate::timeline::select::Linked;
use crate::timeline::testing::workspace_of;
use crate::timeline::{hit, marks, steps, tooltip};
use crate::trace::testing::Fixture;
use crate::units::Span;
use crate::view::{Item, LaneKey, RankId, ViewState, Viewport, Workspace};

const RANK: RankId = RankId { doc: 0, rank: 0 };
/// Gaps before operations whose launch is not recorded.
const IDLE: Ink = Ink::cause(Cause::Unknown);

struct Scene {
    workspace: Workspace,
    state: ViewState,
    cache: Cache,
}

impl Scene {
    /// `fixture` with `span` on a thousand pixels.
    fn new(mut fixture: Fixture, span: Span) -> Self {
        let workspace = workspace_of(&mut fixture);
        let viewport = Viewport::of(span);
        let state = ViewState { viewport, ..ViewState::open(&workspace) };
        Self { workspace, state, cache: Cache::default() }
    }

    fn with<R>(&mut self, run: impl FnOnce(&Frame<'_>, &Cache, &Layout) -> R) -> R {
        let layout = Layout::of(&self.workspace, &self.state, &mut self.cache, 0.0);
        let frame = Frame {
            workspace: &self.workspace,
            state: &self.state,
            gutter_left_pt: -200.0,
            pinned_pt: 0.0,
            left_pt: 0.0,
            right_pt: 1000.0,
            top_pt: 0.0,
            bottom_pt: 1000.0,
            origin_pt: 0.0,
            px_per_pt: 1.0,
        };
        run(&frame, &self.cache, &layout)
    }

    fn drawn(&mut self, key: LaneKey) -> DrawList {
        self.with(|frame, cache, layout| {
            let mut list = DrawList::default();
            let lane = layout.lanes.iter().find(|lane| lane.key == key).unwrap();
            draw::lane(frame, cache, lane, &mut list);
            marks::lane(frame, cache, lane, &mut list);
            steps::rank(frame, layout, lane, &mut list);
            list
        })
    }

    fn hit(&mut self, key: LaneKey, x_pt: f32) -> Option<hit::Hit> {
        self.with(|frame, cache, layout| {
            let lane = layout.lanes.iter().find(|lane| lane.key == key).unwrap();
            hit::at(frame, cache, layout, x_pt, lane.top_pt + lane.first_pt / 2.0)
        })
    }
}

fn with_tone(blocks: &[Block], tone: Tone) -> Vec<(f32, f32)> {
    blocks.iter().filter(|block| block.tone == tone).map(|block| (block.x0, block.x1)).collect()
}

fn comm() -> Tone {
    Tone::Solid(Ink::COMMUNICATION)
}

const NCCL: &str = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

#[test]
fn a_slice_is_drawn_where_it_ran_and_clipped_to_the_lanes() {
    let mut fixture = Fixture::new();
    fixture.kernel(NCCL, 20, 0, 300).kernel(NCCL, 20, 400, 600).kernel(NCCL, 20, 1100, 5000);
    let mut scene = Scene::new(fixture, Span::new(200, 1200));
    let list = scene.drawn(LaneKey::Communication(RANK));
    assert_eq!(with_tone(&list.data, comm()), [(-1.0, 100.0), (200.0, 400.0), (900.0, 1001.0)]);
}

#[test]
fn a_label_sticks_to_the_visible_edge_and_carries_the_duration() {
    let mut fixture = Fixture::new();
    fixture.kernel(NCCL, 20, 0, 1_000);
    let mut scene = Scene::new(fixture, Span::new(500, 1500));
    let list = scene.drawn(LaneKey::Communication(RANK));
    let label = &list.labels[0];
    assert_eq!((label.x0, label.x1, label.name.as_str(), label.detail.as_str()), (0.0, 500.0, NCCL, "1.000 µs"));
    assert_eq!(label.short, "AllReduce");
}

#[test]
fn a_bin_is_as_high_as_it_is_busy() {
    let mut fixture = Fixture::new();
    // One nanosecond in four, for the first half of the view.
    for at in 0..16_000 {
        fixture.kernel(NCCL, 20, at * 4, at * 4 + 1);
    }
    let mut scene = Scene::new(fixture, Span::new(0, 128_000));
    let list = scene.drawn(LaneKey::Communication(RANK));
    let bars: Vec<&Block> = list.data.iter().filter(|block| block.tone == comm()).collect();
    let ground = list.data.iter().find(|block| block.tone == Tone::Faint(Ink::COMMUNICATION)).unwrap();
    let row = ground.y1 - ground.y0;
    assert!(bars.iter().all(|bar| ((bar.y1 - bar.y0) / row - 0.25).abs() < 0.05), "{row} {:?}", bars[0]);
    assert!((bars.iter().map(|bar| bar.x1).fold(0.0, f32::max) - 500.0).abs() < 2.0);
    // Equal neighbours are one block, so that a dense lane costs little.
    assert!(bars.len() < 20, "{}", bars.len());
}

#[test]
fn exposed_communication_is_hatched_and_marked() {
    let mut fixture = Fixture::new();
    fixture.kernel("ampere_sgemm_128x64_nn", 7, 0, 400).kernel(NCCL, 20, 300, 700);
    let mut scene = Scene::new(fixture, Span::new(0, 1000));
    let list = scene.drawn(LaneKey::Communication(RANK));
    let hatches: Vec<(f32, f32)> = list.hatches.iter().map(|block| (block.x0, block.x1)).collect();
    assert_eq!(hatches, [(400.0, 700.0)]);
    assert!(with_tone(&list.marks, Tone::Solid(Ink::EXPOSED)).contains(&(400.0, 700.0)));
    scene.state.marks = false;
    assert!(scene.drawn(LaneKey::Communication(RANK)).hatches.is_empty());
}

#[test]
fn a_listed_gap_and_an_exposed_call_never_vanish() {
    let mut fixture = Fixture::new();
    // Back to back but for one gap of 3 µs and one exposed call of 1 µs in a view of 100 ms.
    let mut at = 0;
    for nth in 0..1000 {
        fixture.kernel("ampere_sgemm_128x64_nn", 7, at, at + 100_000);
        at += 100_000 + if nth == 400 { 3_000 } else { 0 };
        if nth == 600 {
            fixture.kernel(NCCL, 20, at, at + 1_000);
            at += 1_000;
        }
    }
    let mut scene = Scene::new(fixture, Span::new(0, 100_000_000));
    let list = scene.drawn(LaneKey::Idle(RANK));
    let gap = with_tone(&list.marks, Tone::Half(IDLE));
    let exposed = with_tone(&list.marks, Tone::Solid(Ink::EXPOSED));
    assert_eq!((gap.len(), exposed.len()), (1, 1));
    assert!(gap[0].1 - gap[0].0 >= 2.0 && exposed[0].1 - exposed[0].0 >= 2.0);
    assert!((gap[0].0 - 401.0).abs() < 3.0 && (exposed[0].0 - 601.0).abs() < 3.0, "{gap:?} {exposed:?}");
}

#[test]
fn exposed_kernels_keep_their_hatch_when_they_are_drawn_as_one() {
    let mut fixture = Fixture::new();
    for at in 0..16_000 {
        fixture.kernel(NCCL, 20, at * 4, at * 4 + 2);
    }
    let mut scene = Scene::new(fixture, Span::new(0, 128_000));
    let list = scene.drawn(LaneKey::Communication(RANK));
    let hatches: Vec<(f32, f32)> = list.hatches.iter().map(|area| (area.x0, area.x1)).collect();
    let [(x0, x1)] = hatches[..] else { panic!("{hatches:?}") };
    assert!(x0.abs() < 2.0 && (x1 - 500.0).abs() < 2.0, "{x0} {x1}");
}

#[test]
fn short_gaps_everywhere_do_not_look_like_one_long_gap() {
    let mut fixture = Fixture::new();
    for at in 0..2_000 {
        fixture.kernel("gemm", 7, at * 100_000, at * 100_000 + 97_000);
    }
    let mut scene = Scene::new(fixture, Span::new(0, 200_000_000));
    let list = scene.drawn(LaneKey::Idle(RANK));
    let bars: Vec<&Block> = list.data.iter().filter(|block| block.tone == Tone::Solid(IDLE)).collect();
    assert!(!bars.is_empty() && bars.iter().all(|bar| bar.y1 - bar.y0 <= 2.0), "three in a hundred is low");
    assert_eq!(with_tone(&list.marks, Tone::Half(IDLE)), []);
    assert!(with_tone(&list.marks, Tone::Faint(IDLE)).len() > 400, "but every listed gap leaves a trace");
    let hit = scene.hit(LaneKey::Idle(RANK), 500.0).unwrap();
    let text = scene.with(|frame, _, _| tooltip::text(frame, &hit));
    assert!(text.title.ends_with(" gaps drawn as one"), "{}", text.title);
    assert!(text.lines.iter().any(|(name, value)| *name == "Idle" && value.ends_with('%')), "{:?}", text.lines);
}

#[test]
fn an_idle_gap_says_how_long_it_is() {
    let mut fixture = Fixture::new();
    fixture.kernel("gemm", 7, 0, 1_000).kernel("gemm", 7, 6_000, 10_000);
    let mut scene = Scene::new(fixture, Span::new(0, 10_000));
    let list = scene.drawn(LaneKey::Idle(RANK));
    let texts: Vec<&str> = list.labels.iter().map(|label| label.detail.as_str()).collect();
    assert_eq!(texts, ["5.000 µs"]);
}

#[test]
fn a_gap_shows_its_parts_in_the_inks_of_their_causes() {
    let mut fixture = Fixture::new();
    fixture.kernel("gemm", 7, 0, 1_000).launched("gemm", 7, 11, 4_000, 9_000, 10_000);
    let mut scene = Scene::new(fixture, Span::new(0, 10_000));
    let list = scene.drawn(LaneKey::Idle(RANK));
    let part = |cause| with_tone(&list.data, Tone::Solid(Ink::cause(cause)));
    assert_eq!(part(Cause::HostCode), [(100.0, 400.0)]);
    // The cause that takes most lies under the whole gap.
    assert_eq!(part(Cause::LaunchLatency), [(100.0, 900.0)]);
    let texts: Vec<(&str, &str)> = list.labels.iter().map(|l| (l.name.as_str(), l.detail.as_str())).collect();
    assert_eq!(texts, [("host code", "3.000 µs"), ("launch latency", "4.998 µs")]);
    let hit = scene.hit(LaneKey::Idle(RANK), 500.0).unwrap();
    let text = scene.with(|frame, _, _| tooltip::text(frame, &hit));
    assert!(
        text.title.starts_with("8.000 µs: launch latency (62.5 %); cudaLaunchKernel had returned"),
        "{}",
        text.title
    );
    assert!(text.lines.contains(&("host code", "3.000 µs  37.5 %".to_owned())), "{:?}", text.lines);
    // From afar the gap is its main cause.
    scene.state.viewport = Viewport::of(Span::new(0, 2_000_000));
    let list = scene.drawn(LaneKey::Idle(RANK));
    assert_eq!(with_tone(&list.data, Tone::Solid(Ink::cause(Cause::HostCode))), []);
    assert_eq!(with_tone(&list.data, Tone::Solid(Ink::cause(Cause::LaunchLatency))).len(), 1);
}

#[test]
fn step_boundaries_run_through_the_lanes_of_the_rank() {
    let mut fixture = Fixture::new();
    for step in 0..4 {
        let at = step * 1_000;
        fixture.range(&format!("step {step}"), 11, at, at + 900);
        fixture.launched("gemm", 7, 11, at + 10, at + 100, at + 950);
    }
    let mut scene = Scene::new(fixture, Span::new(0, 4_000));
    let (list, bottom) = (scene.drawn(LaneKey::Rank(RANK)), scene.with(|_, _, layout| layout.height_pt));
    let lines: Vec<&Block> = list.marks.iter().filter(|block| block.tone == Tone::Boundary).collect();
    // The first lies on the edge of the view.
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines.iter().all(|line| line.y0 == 0.0 && line.y1 == bottom));
    assert_eq!(list.labels[1].name, "step 1");
    assert_eq!(scene.hit(LaneKey::Rank(RANK), 400.0).map(|hit| hit.item), Some(Item::Step(RANK, 1)));
}

#[test]
fn a_step_that_begins_beside_the_sliver_of_the_one_before_keeps_its_name() {
    let mut fixture = Fixture::new();
    for step in 0..4 {
        let at = step * 1_000;
        fixture.range(&format!("step {step}"), 11, at, at + 900);
        fixture.launched("gemm", 7, 11, at + 10, at + 100, at + 950);
    }
    // Step 1 ends at 1950: one nanosecond of it is in view, then step 2.
    let list = Scene::new(fixture, Span::new(1_949, 2_949)).drawn(LaneKey::Rank(RANK));
    let names: Vec<&str> = list.labels.iter().map(|label| label.name.as_str()).collect();
    assert_eq!(names, ["step 2"]);
}

#[test]
fn what_is_drawn_is_hit_and_narrow_things_from_beside() {
    let mut fixture = Fixture::new();
    fixture.kernel(NCCL, 20, 0, 300).kernel(NCCL, 20, 500, 501);
    let mut scene = Scene::new(fixture, Span::new(0, 1000));
    let mut item = |x| scene.hit(LaneKey::Communication(RANK), x).map(|hit| hit.item);
    assert_eq!(item(200.0), Some(Item::Op(RANK, 0)));
    assert_eq!(item(498.5), Some(Item::Op(RANK, 1)));
    assert_eq!((item(400.0), item(700.0)), (None, None));
}

#[test]
fn a_bin_is_hit_as_a_bin_with_its_longest_slice() {
    let mut fixture = Fixture::new();
    for at in 0..1_000 {
        fixture.kernel(NCCL, 20, at * 100, at * 100 + if at == 505 { 90 } else { 10 });
    }
    let mut scene = Scene::new(fixture, Span::new(0, 1_000_000));
    let hit = scene.hit(LaneKey::Communication(RANK), 50.6).unwrap();
    let bin = hit.bin.unwrap();
    assert_eq!((hit.item, bin.span.len_ns()), (Item::Op(RANK, 505), 1024));
    assert!(bin.count >= 10 && bin.busy_ns > 100 && bin.busy_ns < 300, "{bin:?}");
}

#[test]
fn an_operation_and_its_launch_belong_together() {
    let mut fixture = Fixture::new();
    fixture.launched("gemm", 7, 11, 0, 100, 200).launched("gemm", 7, 11, 10, 200, 300);
    fixture.kernel("orphan", 7, 400, 500);
    let workspace = workspace_of(&mut fixture);
    let call = workspace.docs[0].trace.ranks[0].ops.launch_of(1).unwrap();
    let linked = Linked::of(&workspace, Item::Op(RANK, 1));
    assert_eq!(linked, Linked { call: Some((0, 0, call)), ops: vec![(RANK, 1)] });
    assert_eq!(Linked::of(&workspace, Item::Call(0, 0, call)), linked);
    assert_eq!(Linked::of(&workspace, Item::Op(RANK, 2)).call, None);
    assert_eq!(Linked::of(&workspace, Item::Op(RankId { doc: 9, rank: 9 }, 2)), Linked::default());
}

#[test]
fn steps_of_a_strip_are_named_in_one_form() {
    // Step 0 is six times as long as the others.
    let scene = |per_view: i64| {
        let mut fixture = Fixture::new();
        let mut at = 0;
        for (step, len) in [6_000, 1_000, 1_000, 1_000, 1_000].into_iter().enumerate() {
            fixture.range(&format!("step {step}"), 11, at, at + len - 100);
            fixture.launched("gemm", 7, 11, at + 10, at + 100, at + len - 50);
            at += len;
        }
        let list = Scene::new(fixture, Span::new(0, per_view)).drawn(LaneKey::Rank(RANK));
        list.labels.iter().map(|label| (label.name.clone(), !label.detail.is_empty())).collect::<Vec<_>>()
    };
    let all = |name: &str, detail: bool| (0..5).map(|step| (format!("{name}{step}"), detail)).collect::<Vec<_>>();
    assert_eq!(scene(10_000), all("step ", true), "100 points a step: names and lengths");
    assert_eq!(scene(20_000), all("step ", false), "50 points a step: names, of the long one too");
    assert_eq!(scene(30_000), all("", false), "33 points a step: numbers");
}
