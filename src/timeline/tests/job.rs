//! Several ranks on the screen: waits inside bars, counterparts, shifts by hand, arrivals as a lane.

use crate::analysis::{Params, analyze};
use crate::timeline::draw::{DrawList, Tone};
use crate::timeline::testing::Window;
use crate::timeline::{beside, draw, hit, strip, waits};
use crate::trace::testing::Fixture;
use crate::units::Span;
use crate::view::{Command, Item, LaneCommand, LaneKey, RankId, Viewport, Workspace};
use egui::{Modifiers, PointerButton, Pos2, pos2, vec2};
use std::sync::Arc;

const US: i64 = 1_000;
pub(super) const FIRST: RankId = RankId { doc: 0, rank: 0 };
pub(super) const SECOND: RankId = RankId { doc: 1, rank: 0 };
const COLLECTIVES: i64 = 6;

/// A rank that comes to every collective `late_us` after its start time, in a capture that began `offset_us` earlier.
fn rank(late_us: i64, offset_us: i64) -> (Arc<crate::trace::Trace>, Arc<crate::analysis::Analysis>) {
    let mut f = Fixture::new();
    for at in 0..COLLECTIVES {
        let start = (at * 1_000 + offset_us) * US;
        f.launched("gemm", 7, 1, start, start + 10 * US, start + (100 + late_us) * US);
        let arrives = start + (200 + late_us) * US;
        f.launched("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, 1, start + 20 * US, arrives, start + 900 * US);
    }
    let trace = f.build();
    let analysis = analyze(&trace, &Params::default());
    (Arc::new(trace), Arc::new(analysis))
}

/// The second rank comes 400 us later to everything.
pub(super) fn two() -> Window {
    let mut window = Window::new(Workspace::new([rank(0, 0), rank(400, 70)]), vec2(1280.0, 900.0));
    window.act(Vec::new());
    window
}

fn drawn(window: &mut Window, key: LaneKey) -> DrawList {
    window.with_frame(|frame, layout, cache| {
        let lane = layout.lanes.iter().find(|lane| lane.key == key).unwrap();
        let mut list = DrawList::default();
        draw::lane(frame, cache, lane, &mut list);
        strip::lane(frame, cache, lane, &mut list);
        list
    })
}

pub(super) fn all_reduce(window: &Window, id: RankId, at: usize) -> Item {
    let doc = &window.workspace.docs[id.doc];
    Item::Op(id, doc.analysis.ranks[id.rank].communication.kernels[at].op)
}

#[test]
fn a_bar_is_lighter_until_the_last_rank_has_started() {
    let mut window = two();
    let list = drawn(&mut window, LaneKey::Communication(FIRST));
    let waits: Vec<(f32, f32)> =
        list.data.iter().filter(|b| matches!(b.tone, Tone::Wait(_))).map(|b| (b.x0, b.x1)).collect();
    assert_eq!(waits.len(), COLLECTIVES as usize);
    let late = (0..COLLECTIVES as usize).map(|at| all_reduce(&window, SECOND, at).span(&window.workspace).unwrap());
    let late: Vec<Span> = late.collect();
    window.with_frame(|frame, _, _| {
        for ((_, x1), span) in waits.iter().zip(&late) {
            assert!((x1 - frame.x_of(span.start_ns as f64)).abs() <= frame.px_pt(), "up to the last start");
        }
    });
    let others = drawn(&mut window, LaneKey::Communication(SECOND));
    assert!(!others.data.iter().any(|b| matches!(b.tone, Tone::Wait(_))), "who comes last does not wait");
    let on_wait = |list: &DrawList| list.labels.iter().filter(|label| matches!(label.on, Tone::Wait(_))).count();
    assert_eq!((on_wait(&list), on_wait(&others)), (COLLECTIVES as usize, 0), "text has the ground of its bar");
    // Far away a bar is too narrow for it.
    window.state.viewport = Viewport::of(Span::new(0, 3_000_000 * US));
    let far = drawn(&mut window, LaneKey::Communication(FIRST));
    assert!(!far.data.iter().any(|b| matches!(b.tone, Tone::Wait(_))));
}

#[test]
fn the_legend_counts_the_kernels_that_waited_and_no_other() {
    let window = two();
    let entry = waits::legend(&window.workspace).unwrap();
    assert_eq!(entry.count, COLLECTIVES as u64, "those of the first rank; the second comes last to all");
    assert_eq!(entry.busy_ns, COLLECTIVES * 400 * US);
    assert!(waits::legend(&Workspace::new([rank(0, 0)])).is_none());
}

#[test]
fn arrivals_stand_above_the_line_where_the_rank_came_later() {
    let mut window = two();
    assert!(!window.layout().lanes.iter().any(|lane| lane.key == LaneKey::Differences(FIRST)), "the first has none");
    let list = drawn(&mut window, LaneKey::Differences(SECOND));
    let middle = list.data.iter().find(|b| b.tone == Tone::Boundary).unwrap().y0;
    let bars: Vec<_> = list.data.iter().filter(|b| b.tone != Tone::Boundary).collect();
    assert_eq!(bars.len(), COLLECTIVES as usize);
    assert!(bars.iter().all(|bar| bar.y1 == middle && bar.y0 < middle - 4.0), "400 us later, upwards");
    assert_eq!(list.marks.len(), COLLECTIVES as usize, "the first rank's kernels took longer");
    assert!(list.marks.iter().all(|mark| mark.y1 < middle));
    let own = all_reduce(&window, SECOND, 2);
    let x = own.span(&window.workspace).unwrap().start_ns as f64;
    let y = window.beside(|lane| lane.key == LaneKey::Differences(SECOND)).y;
    window.with_frame(|frame, layout, cache| {
        let at = pos2(frame.x_of(x) + 3.0, y);
        let (text, _) = strip::tooltip(frame, layout, cache, at).unwrap();
        let lines: Vec<&str> = text.lines.iter().map(|(_, value)| value.as_str()).collect();
        assert!(
            lines[0].starts_with("400.0 \u{b5}s later \u{b1}") && lines[0].ends_with("than rank 0 (made-by-hand)"),
            "{lines:?}"
        );
        assert_eq!(lines[1], "400.0 \u{b5}s shorter than on rank 0 (made-by-hand)");
        assert_eq!(hit::at(frame, cache, layout, at.x, at.y).map(|hit| hit.item), Some(own), "a click selects it");
    });
    window.state.apply(&Command::Lane(LaneCommand::Hide(Some(LaneKey::Differences(SECOND)))), &window.workspace);
    assert!(!window.layout().lanes.iter().any(|lane| lane.key == LaneKey::Differences(SECOND)));
}

#[test]
fn what_is_pointed_at_marks_its_counterparts_else_what_is_selected() {
    let mut window = two();
    let (selected, pointed) = (all_reduce(&window, FIRST, 1), all_reduce(&window, SECOND, 3));
    let at = window.place(pointed).unwrap();
    let marked = |window: &mut Window, pointer: Option<Pos2>| {
        let mut cache = std::mem::take(&mut window.cache);
        let found = {
            let layout =
                crate::timeline::layout::Layout::of(&window.workspace, &window.state, &mut cache, 900.0 - 24.0);
            let rect = egui::Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 900.0));
            let frame = crate::timeline::frame(&window.workspace, &window.state, &layout, rect, 1.0);
            cache.pointed = beside::pointed(&frame, &layout, &mut cache, pointer);
            beside::item(&frame, &mut cache)
        };
        window.cache = cache;
        found
    };
    assert_eq!(marked(&mut window, None), None);
    window.state.selected = Some(selected);
    assert_eq!(marked(&mut window, None), Some(selected));
    assert_eq!(marked(&mut window, Some(at)), Some(pointed));
    assert_eq!(marked(&mut window, Some(pos2(at.x, 5.0))), Some(selected), "nothing is pointed at");
}

#[test]
fn alt_and_a_drag_shift_the_file_of_the_lane() {
    let mut window = two();
    let ns_per_pt = window.with_frame(|frame, _, _| frame.viewport().len_ns / frame.width_pt());
    let total = |commands: &[Command], doc: usize| -> i64 {
        commands
            .iter()
            .map(|c| {
                if let Command::ShiftDoc { doc: d, by_ns } = c
                    && *d == doc
                {
                    *by_ns
                } else {
                    0
                }
            })
            .sum()
    };
    for (id, doc) in [(FIRST, 0), (SECOND, 1)] {
        let y = window.beside(|lane| lane.key == LaneKey::Compute(id)).y;
        let commands = window.drag(pos2(600.0, y), pos2(660.0, y), Modifiers::ALT);
        assert!((total(&commands, doc) as f64 - 60.0 * ns_per_pt).abs() <= 1.0, "{commands:?}");
        assert!(commands.iter().all(|c| matches!(c, Command::ShiftDoc { doc: d, .. } if *d == doc)), "{commands:?}");
        let header = window.beside(|lane| lane.key == LaneKey::Rank(id));
        let commands = window.drag(header, header + vec2(-40.0, 0.0), Modifiers::ALT);
        assert!((total(&commands, doc) as f64 + 40.0 * ns_per_pt).abs() <= 1.0, "{commands:?}");
        let commands = window.drag(pos2(600.0, y), pos2(660.0, y), Modifiers::NONE);
        assert_eq!(total(&commands, doc), 0);
        let both = Modifiers { alt: true, shift: true, ..Modifiers::NONE };
        let commands = window.drag(pos2(600.0, y), pos2(660.0, y), both);
        assert!(total(&commands, doc) == 0 && commands.iter().any(|c| matches!(c, Command::SelectSpan(_))));
        window.state.apply(&Command::SelectSpan(None), &window.workspace);
    }
    let mut alone = Window::new(Workspace::new([rank(0, 0)]), vec2(1280.0, 900.0));
    alone.act(Vec::new());
    let y = alone.beside(|lane| lane.key == LaneKey::Compute(FIRST)).y;
    let commands = alone.drag_with(PointerButton::Primary, pos2(600.0, y), pos2(660.0, y), Modifiers::ALT);
    assert_eq!(total(&commands, 0), 0, "one file stands against nothing");
}
