//! What colours stand for.

use crate::timeline::coloring::Entry;
use crate::timeline::ink::Ink;
use crate::timeline::lanes::RowsKey;
use crate::timeline::testing::{Window, window};
use crate::view::{Coloring, Command, LaneKey, RankId};

const RANK: RankId = RankId { doc: 0, rank: 0 };

fn colored(coloring: Coloring) -> Window {
    let mut window = window();
    window.state.apply(&Command::SetColoring(coloring), &window.workspace);
    window.act(Vec::new());
    window
}

fn ink(window: &Window, op: usize) -> Ink {
    let doc = &window.workspace.docs[0];
    window.cache.inks(0).of_rank(0).ink(&doc.trace.ranks[0].ops, &doc.analysis.classes, op as u32)
}

fn legend(window: &mut Window) -> Vec<Entry> {
    window.cache.legend(&window.workspace, &window.state).to_vec()
}

#[test]
fn rows_are_summed_anew_in_the_inks_that_are_wanted() {
    let inks = |window: &Window| window.cache.rows(RowsKey::Lane(LaneKey::Compute(RANK))).unwrap().inks.clone();
    let mut window = window();
    let by_class = inks(&window);
    assert!(by_class.iter().all(|ink| ink.as_hue().is_none()));
    for coloring in [Coloring::Family, Coloring::Name, Coloring::Stream, Coloring::Range] {
        window.state.apply(&Command::SetColoring(coloring), &window.workspace);
        window.act(Vec::new());
        assert!(inks(&window).iter().any(|ink| ink.as_hue().is_some()), "{coloring:?}");
    }
    window.state.apply(&Command::SetColoring(Coloring::Class), &window.workspace);
    window.act(Vec::new());
    assert_eq!(inks(&window), by_class);
}

#[test]
fn equal_names_and_streams_have_equal_colours() {
    let trace = |window: &Window| window.workspace.docs[0].trace.clone();
    let window = colored(Coloring::Name);
    let ops = &trace(&window).ranks[0].ops;
    for op in 1..ops.len() {
        for other in 0..op.min(40) {
            let same = ops.name[op] == ops.name[other] && ops.kind[op] == ops.kind[other];
            assert!(!same || ink(&window, op) == ink(&window, other));
        }
    }
    let window = colored(Coloring::Stream);
    for op in 0..ops.len() {
        assert_eq!(ink(&window, op), Ink::hue(ops.stream[op] as usize));
    }
}

#[test]
fn ranges_below_the_step_tell_operations_apart() {
    let mut window = colored(Coloring::Range);
    let names: Vec<String> = legend(&mut window).into_iter().map(|entry| entry.text).collect();
    assert!(names.iter().any(|name| name.contains("forward")), "{names:?}");
    assert!(names.iter().any(|name| name.contains("optimizer")), "{names:?}");
    let inks: Vec<Ink> = legend(&mut window).into_iter().map(|entry| entry.ink).collect();
    let mut distinct = inks.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), inks.len(), "few ranges never share a colour");
}

#[test]
fn the_legend_counts_every_operation_once() {
    for coloring in Coloring::ALL {
        let mut window = colored(coloring);
        let ops = window.workspace.docs[0].trace.ranks[0].ops.len() as u64;
        let entries = legend(&mut window);
        assert_eq!(entries.iter().map(|entry| entry.count).sum::<u64>(), ops, "{coloring:?}");
        assert!(entries.iter().all(|entry| !entry.text.is_empty()), "{entries:?}");
        assert!(entries.windows(2).all(|pair| pair[0].busy_ns >= pair[1].busy_ns));
    }
}

#[test]
fn the_legend_comes_with_other_colours_and_takes_its_room_from_the_lanes() {
    let mut window = window();
    let height = window.layout().height_pt;
    assert!(!window.state.legend);
    window.state.apply(&Command::SetColoring(Coloring::Stream), &window.workspace);
    assert!(window.state.legend);
    window.state.apply(&Command::ToggleLegend, &window.workspace);
    assert!(!window.state.legend && window.state.coloring == Coloring::Stream);
    window.act(Vec::new());
    assert_eq!(window.layout().height_pt, height);
}

#[test]
fn the_colours_before_stay_until_the_others_are_made_beside_the_frame() {
    let by_class = window();
    let mut window = window();
    window.work_beside();
    let shown = |window: &Window| {
        let rows = window.cache.rows(RowsKey::Lane(LaneKey::Compute(RANK))).unwrap().inks.clone();
        let ops = window.workspace.docs[0].trace.ranks[0].ops.len();
        (rows, (0..ops).any(|op| ink(window, op).as_hue().is_some()))
    };
    let before = shown(&window);
    assert_eq!(before, shown(&by_class));
    window.state.apply(&Command::SetColoring(Coloring::Range), &window.workspace);
    for _ in 0..2_000 {
        window.act(Vec::new());
        let (rows, by_range) = shown(&window);
        // Rows and inks change in the same frame.
        assert_eq!(by_range, rows != before.0);
        assert!(by_range || legend(&mut window).is_empty() || shown(&window).1, "no legend of other colours");
        if by_range {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(shown(&window), shown(&colored(Coloring::Range)));
    assert_eq!(legend(&mut window), legend(&mut colored(Coloring::Range)));
}
