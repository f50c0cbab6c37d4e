//! Counters on the screen.

use crate::analysis::CounterKind;
use crate::timeline::counters::{share_text, tooltip};
use crate::timeline::testing::{Window, window};
use crate::units::Span;
use crate::view::{Command, LaneCommand, LaneKey, RankId, Viewport};
use egui::{PointerButton, pos2};

const RANK: RankId = RankId { doc: 0, rank: 0 };
const BUSY: LaneKey = LaneKey::Counter(RANK, CounterKind::Busy);

fn opened() -> Window {
    let mut window = window();
    window.state.apply(&Command::ToggleLane(LaneKey::Counters(RANK)), &window.workspace);
    window.act(Vec::new());
    window
}

#[test]
fn the_group_opens_to_the_counters_that_the_rank_has() {
    let mut window = window();
    let counters = |window: &mut Window| {
        window.layout().lanes.iter().filter(|lane| matches!(lane.key, LaneKey::Counter(..))).count()
    };
    assert_eq!(counters(&mut window), 0, "closed at first");
    let at = window.beside(|lane| lane.key == LaneKey::Counters(RANK));
    window.click(at, PointerButton::Primary);
    assert_eq!(counters(&mut window), 4, "busy, communication, queue depth, copies to the device");
    window.state.apply(&Command::ToggleLane(LaneKey::Rank(RANK)), &window.workspace);
    assert_eq!(counters(&mut window), 0);
    window.state.apply(&Command::Lane(LaneCommand::Pin(Some(BUSY))), &window.workspace);
    assert_eq!(window.layout().pinned[0].key, BUSY, "one counter can stay while its rank is closed");
}

#[test]
fn the_pointer_reads_the_value_there_and_the_mean_of_its_column() {
    let mut window = opened();
    let busy = window.workspace.docs[0].analysis.ranks[0].busy.spans()[3];
    let middle = window.workspace.docs[0].axis_ns((busy.start_ns + busy.end_ns) / 2);
    for (half_ns, exact) in [(100, true), (2_000_000, false)] {
        window.state.viewport = Viewport::of(Span::new(middle - half_ns, middle + half_ns));
        let y = window.beside(|lane| lane.key == BUSY).y;
        let lines = window.with_frame(|frame, layout, cache| {
            let (text, (top, bottom)) = tooltip(frame, layout, cache, pos2(frame.x_of(middle as f64), y)).unwrap();
            assert!(top < y && y < bottom && text.title == "GPU busy");
            assert_eq!(tooltip(frame, layout, cache, pos2(10.0, y)), None, "not beside the lanes");
            text.lines
        });
        let line = |name: &str| lines.iter().find(|(own, _)| *own == name).map(|(_, value)| value.clone());
        assert_eq!(line("Value").as_deref(), Some("100.0 %"));
        assert_eq!(line("Scale").as_deref(), Some("0 to 100.0 %"));
        assert_eq!(line("Mean").is_none(), exact, "a column of one nanosecond is a value");
    }
}

#[test]
fn the_share_behind_the_name_is_that_of_the_analysis() {
    let mut window = opened();
    let doc = &window.workspace.docs[0];
    let numbers = &doc.analysis.ranks[0];
    let view = Span::new(3_000_000, 17_000_000);
    let parts = numbers.partition(view.intersect(numbers.span).unwrap());
    let busy = crate::format::percent(Some(1.0 - parts.idle_ns as f64 / parts.span_ns as f64));
    window.state.viewport = Viewport::of(doc.axis_span(view));
    let text = window.with_frame(|frame, layout, cache| {
        let lane = layout.lanes.iter().find(|lane| lane.key == BUSY).unwrap();
        share_text(frame, cache, lane)
    });
    assert_eq!(text, busy);
}
