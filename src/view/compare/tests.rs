use super::*;
use crate::analysis::{Analysis, Params, analyze};
use crate::trace::Trace;
use crate::trace::testing::Fixture;
use crate::units::Span;
use std::sync::Arc;

const A: RankId = RankId { doc: 0, rank: 0 };
const B: RankId = RankId { doc: 1, rank: 0 };

/// Six steps of `step_ns`, the first at `start_ns`, each with a kernel 100 ns after its start.
fn capture(start_ns: i64, step_ns: i64) -> (Arc<Trace>, Arc<Analysis>) {
    let mut fixture = Fixture::new();
    for step in 0..6 {
        let at = start_ns + step * step_ns;
        fixture.range(&format!("step {step}"), 1, at, at + step_ns * 9 / 10);
        fixture.launched("gemm", 7, 1, at + 10, at + 100, at + step_ns / 2);
    }
    let trace = fixture.build();
    let analysis = analyze(&trace, &Params::default());
    (Arc::new(trace), Arc::new(analysis))
}

/// The second rank's steps are a tenth longer, and it starts 7 us into its capture.
fn two() -> (ViewState, Workspace) {
    let workspace = Workspace::new([capture(0, 100_000), capture(7_000, 110_000)]);
    let mut state = ViewState::open(&workspace);
    state.apply(&Command::Compare(CompareCommand::Show(Some(CompareForm::Stacked))), &workspace);
    (state, workspace)
}

fn views(state: &ViewState) -> [Viewport; 2] {
    [0, 1].map(|pane| state.of_pane(pane).viewport)
}

fn send(state: &mut ViewState, workspace: &Workspace, pane: usize, command: Command) {
    state.apply(&Command::InPane(pane, Box::new(command)), workspace);
}

#[test]
fn panes_linked_by_time_show_the_same_time_whichever_is_moved() {
    let (mut state, workspace) = two();
    assert_eq!(state.compare.as_ref().unwrap().ranks, [A, B]);
    for (pane, command) in [
        (1, Command::Show(Span::new(50_000, 90_000))),
        (0, Command::PanBy(0.25)),
        (1, Command::ZoomAt { at_ns: 70_000.0, factor: 0.5 }),
        (1, Command::PanBy(-0.25)),
    ] {
        send(&mut state, &workspace, pane, command);
        let [first, second] = views(&state);
        assert_eq!(first, second);
    }
    assert_eq!(views(&state)[0].len_ns, 20_000.0);
    // Back and forward in either pane are back and forward in both.
    let last = views(&state)[0];
    send(&mut state, &workspace, 0, Command::Back);
    send(&mut state, &workspace, 1, Command::Back);
    assert_eq!(views(&state), [Viewport::of(Span::new(60_000, 100_000)); 2], "the pan is undone last");
    send(&mut state, &workspace, 0, Command::Forward);
    send(&mut state, &workspace, 1, Command::Forward);
    assert_eq!(views(&state), [last; 2]);
}

#[test]
fn panes_apart_are_moved_by_themselves_with_histories_of_their_own() {
    let (mut state, workspace) = two();
    state.apply(&Command::Compare(CompareCommand::Link(PaneLink::Apart)), &workspace);
    let whole = views(&state)[0];
    send(&mut state, &workspace, 1, Command::Show(Span::new(10_000, 20_000)));
    assert_eq!(views(&state), [whole, Viewport::of(Span::new(10_000, 20_000))]);
    send(&mut state, &workspace, 0, Command::Show(Span::new(30_000, 40_000)));
    send(&mut state, &workspace, 1, Command::ScrollBy(40.0));
    send(&mut state, &workspace, 1, Command::Back);
    assert_eq!(views(&state), [Viewport::of(Span::new(30_000, 40_000)), whole]);
    assert_eq!([0, 1].map(|pane| state.of_pane(pane).scroll_y_pt), [0.0, 40.0]);
    // Keys move the pane that is active.
    state.apply(&Command::Compare(CompareCommand::Activate(1)), &workspace);
    state.apply(&Command::Show(Span::new(1_000, 2_000)), &workspace);
    assert_eq!(views(&state)[1], Viewport::of(Span::new(1_000, 2_000)));
    assert_eq!(views(&state)[0], Viewport::of(Span::new(30_000, 40_000)));
}

#[test]
fn panes_linked_by_step_begin_with_the_step_of_one_number() {
    let (mut state, workspace) = two();
    state.apply(&Command::ShowStep(A, 2), &workspace);
    state.apply(&Command::Compare(CompareCommand::Link(PaneLink::Step)), &workspace);
    let start = |rank, step| Item::Step(rank, step).span(&workspace).unwrap().start_ns as f64;
    let starts = |state: &ViewState| views(state).map(|view| view.start_ns);
    assert_eq!(starts(&state), [start(A, 2), start(B, 2)]);
    send(&mut state, &workspace, 1, Command::NextStep);
    assert_eq!(starts(&state), [start(A, 3), start(B, 3)], "each goes to its own step 3");
    let longer = Item::Step(B, 3).span(&workspace).unwrap().len_ns() as f64;
    assert_eq!(views(&state).map(|view| view.len_ns), [longer; 2], "long enough for both");
    let apart = |state: &ViewState| {
        let [first, second] = starts(state);
        second - first
    };
    send(&mut state, &workspace, 0, Command::PanBy(0.1));
    assert_eq!(apart(&state), start(B, 3) - start(A, 3), "and they stay together");
    // The step that comes into the middle is met, and a zoom keeps its length.
    send(&mut state, &workspace, 0, Command::Show(Item::Step(A, 1).span(&workspace).unwrap()));
    assert_eq!(apart(&state), start(B, 1) - start(A, 1));
    let len_ns = views(&state)[0].len_ns;
    send(&mut state, &workspace, 0, Command::ZoomAt { at_ns: start(A, 1) + len_ns / 2.0, factor: 0.5 });
    assert_eq!(apart(&state), start(B, 1) - start(A, 1));
    assert_eq!(views(&state).map(|view| view.len_ns), [len_ns / 2.0; 2]);
}

#[test]
fn panes_are_aligned_where_the_counterparts_end() {
    let (mut state, workspace) = two();
    let end = |item: Item| item.span(&workspace).unwrap().end_ns;
    let (own, other) = (Item::Op(B, 4), Item::Op(A, 4));
    assert!(state.apply(&Command::AlignHere(Some(own)), &workspace), "no file is shifted for it");
    let compare = state.compare.clone().unwrap();
    assert_eq!((compare.link, compare.offset_ns), (PaneLink::Aligned, end(own) - end(other)));
    let [first, second] = views(&state);
    assert_eq!(first.x_of(end(other) as f64, 900.0), second.x_of(end(own) as f64, 900.0));
    // What has no counterpart aligns nothing.
    state.apply(&Command::Select(Some(Item::Idle(A, 0))), &workspace);
    assert!(why_not(&Command::AlignHere(None), &state, &workspace).is_some());
}

#[test]
fn items_are_revealed_in_the_pane_of_their_rank() {
    let (mut state, workspace) = two();
    state.apply(&Command::Compare(CompareCommand::Link(PaneLink::Apart)), &workspace);
    for pane in 0..2 {
        send(&mut state, &workspace, pane, Command::Show(Span::new(0, 1_000)));
    }
    state.apply(&Command::Reveal(Item::Op(B, 5)), &workspace);
    let span = Item::Op(B, 5).span(&workspace).unwrap();
    let [first, second] = views(&state).map(Viewport::span);
    assert!(first.end_ns <= 1_000 && second.intersect(span).is_some());
    state.apply(&Command::ShowStep(A, 1), &workspace);
    assert_eq!(views(&state)[0], Viewport::of(Item::Step(A, 1).span(&workspace).unwrap()));
}

#[test]
fn forms_and_links_go_round_and_swapping_twice_changes_nothing() {
    let (mut state, workspace) = two();
    let form = |state: &ViewState| state.compare.as_ref().map(|compare| compare.form);
    let mut seen = vec![form(&state)];
    for _ in 0..3 {
        state.apply(&Command::Compare(CompareCommand::NextForm), &workspace);
        seen.push(form(&state));
    }
    assert_eq!(seen, [Some(CompareForm::Stacked), Some(CompareForm::SideBySide), Some(CompareForm::Overlay), None]);
    assert_eq!(state.shown_ranks(), None);
    state.apply(&Command::Compare(CompareCommand::Show(Some(CompareForm::Overlay))), &workspace);
    assert_eq!(state.shown_ranks(), Some([A, B].as_slice()));
    assert!(why_not(&Command::Compare(CompareCommand::Link(PaneLink::Apart)), &state, &workspace).is_some());
    state.apply(&Command::Compare(CompareCommand::Show(Some(CompareForm::SideBySide))), &workspace);
    assert_eq!(state.of_pane(1).shown_ranks(), Some([B].as_slice()));
    // Nothing is selected, so panes cannot be aligned: that link is passed over.
    let mut links = Vec::new();
    for _ in 0..3 {
        state.apply(&Command::Compare(CompareCommand::NextLink), &workspace);
        links.push(state.compare.as_ref().unwrap().link);
    }
    assert_eq!(links, [PaneLink::Step, PaneLink::Apart, PaneLink::Time]);
    state.apply(&Command::Compare(CompareCommand::Link(PaneLink::Step)), &workspace);
    let before = (views(&state), state.compare.as_ref().map(|compare| (compare.ranks, compare.offset_ns)));
    state.apply(&Command::Compare(CompareCommand::Swap), &workspace);
    assert_eq!(views(&state), [before.0[1], before.0[0]]);
    state.apply(&Command::Compare(CompareCommand::Swap), &workspace);
    assert_eq!((views(&state), state.compare.as_ref().map(|compare| (compare.ranks, compare.offset_ns))), before);
}

#[test]
fn one_rank_is_compared_with_nothing_and_unknown_ranks_are_refused() {
    let workspace = Workspace::new([capture(0, 100_000)]);
    let mut state = ViewState::open(&workspace);
    let show = Command::Compare(CompareCommand::Show(Some(CompareForm::Stacked)));
    assert_eq!(why_not(&show, &state, &workspace), Some("Only one rank is open"));
    state.apply(&show, &workspace);
    for ranks in [[A, A], [A, B]] {
        state.apply(&Command::Compare(CompareCommand::Ranks(ranks)), &workspace);
    }
    assert!(state.compare.is_none());
    // Without panes a command about one is about the only view.
    send(&mut state, &workspace, 1, Command::Show(Span::new(10_000, 20_000)));
    assert_eq!(state.viewport, Viewport::of(Span::new(10_000, 20_000)));
}

#[test]
fn a_kept_view_has_its_panes_again() {
    use crate::view::SavedView;
    let (mut state, workspace) = two();
    state.apply(&Command::ShowStep(A, 2), &workspace);
    for link in [PaneLink::Step, PaneLink::Apart] {
        state.apply(&Command::Compare(CompareCommand::Link(link)), &workspace);
        let mut again = ViewState::open(&workspace);
        assert!(SavedView::of(&state).restore(&mut again, &workspace));
        assert_eq!(views(&again), views(&state));
        let (kept, own) = (again.compare.unwrap(), state.compare.clone().unwrap());
        assert_eq!((kept.ranks, kept.form, kept.link), (own.ranks, own.form, own.link));
        let offset = if link == PaneLink::Apart { 0 } else { own.offset_ns };
        assert_eq!(kept.offset_ns, offset);
    }
    // Other files have no such ranks.
    let other = Workspace::new([capture(0, 100_000)]);
    let mut again = ViewState::open(&other);
    assert!(!SavedView::of(&state).restore(&mut again, &other), "which is told");
    assert!(again.compare.is_none());
    assert!(SavedView::default().restore(&mut again, &other), "nothing is asked for");
}

#[test]
fn a_rank_in_neither_pane_takes_the_place_of_the_active_one() {
    let workspace = Workspace::new([capture(0, 100_000), capture(7_000, 110_000), capture(0, 90_000)]);
    let mut state = ViewState::open(&workspace);
    let c = RankId { doc: 2, rank: 0 };
    state.apply(&Command::Compare(CompareCommand::Show(Some(CompareForm::SideBySide))), &workspace);
    state.apply(&Command::Compare(CompareCommand::Activate(1)), &workspace);
    state.apply(&Command::Reveal(Item::Op(c, 3)), &workspace);
    assert_eq!(state.compare.as_ref().unwrap().ranks, [A, c]);
    state.apply(&Command::Compare(CompareCommand::Activate(0)), &workspace);
    state.apply(&Command::ShowStep(B, 2), &workspace);
    assert_eq!(state.compare.as_ref().unwrap().ranks, [B, c]);
    assert_eq!(views(&state)[0], Viewport::of(Item::Step(B, 2).span(&workspace).unwrap()));
    // A rank that is not there brings nothing in.
    state.apply(&Command::ShowStep(RankId { doc: 9, rank: 0 }, 0), &workspace);
    assert_eq!(state.compare.as_ref().unwrap().ranks, [B, c]);
}

#[test]
fn hits_of_a_search_are_gone_to_in_the_pane_of_their_rank() {
    use crate::view::search::{Hits, Query};
    for link in [PaneLink::Time, PaneLink::Apart] {
        let (mut state, workspace) = two();
        state.apply(&Command::Compare(CompareCommand::Link(link)), &workspace);
        for pane in 0..2 {
            send(&mut state, &workspace, pane, Command::Show(Span::new(0, 1_000)));
        }
        let query = Query { text: "gemm".to_owned(), ..Query::default() };
        let hits = Hits::find(&query, workspace.docs.clone(), &|| false).unwrap().unwrap();
        let of_b = |number: &usize| hits.hit(*number).and_then(|hit| hits.item(&hit)) == Some(Item::Op(B, 5));
        let number = (0..hits.len()).find(of_b).unwrap();
        for command in [Command::OpenSearch, Command::SetQuery(query)] {
            state.apply(&command, &workspace);
        }
        state.take_hits(Arc::new(hits), &workspace);
        state.apply(&Command::Compare(CompareCommand::Activate(1)), &workspace);
        state.apply(&Command::NextHit, &workspace);
        assert_eq!(state.selected.and_then(Item::rank), Some(B), "the first is one of the pane that keys move");
        state.apply(&Command::ShowHit(number), &workspace);
        let span = Item::Op(B, 5).span(&workspace).unwrap();
        let [first, second] = views(&state);
        assert_eq!(state.selected, Some(Item::Op(B, 5)));
        assert_eq!(second.span().intersect(span), Some(span), "{link:?}");
        assert_eq!(first == second, link == PaneLink::Time);
        assert_eq!(first == Viewport::of(Span::new(0, 1_000)), link == PaneLink::Apart);
    }
}
