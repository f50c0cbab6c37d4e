//! The search: typed, stepped through, narrowed, closed; and what the lanes look like then.

use crate::harness::Driven;
use crate::job;
use crate::pictures::{compare, cut};
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable as _;
use std::sync::Arc;
use stepscope::app::Window;
use stepscope::app::picture::{PictureOptions, render};
use stepscope::units::Span;
use stepscope::view::search::{Hits, Query, Scope};
use stepscope::view::{Command, Item, Panel, RankId, Theme, ViewState, Workspace};

fn query(text: &str) -> Query {
    Query { text: text.to_owned(), ..Query::default() }
}

fn count(window: &Window) -> Option<usize> {
    window.state().view.hits().map(|hits| hits.len())
}

/// A window with two ranks in which a search for `text` has finished.
fn searched(text: &str) -> Driven {
    let mut driven = Driven::open();
    driven.send(Command::OpenSearch);
    driven.send(Command::SetQuery(query(text)));
    driven.wait(|window| count(window).is_some());
    driven
}

fn type_text(driven: &mut Driven, text: &str) {
    driven.harness.event(egui::Event::Text(text.to_owned()));
    driven.settle();
}

#[test]
fn keys_alone_search_step_and_close() {
    let mut driven = Driven::open();
    driven.harness.key_press_modifiers(Modifiers::COMMAND, Key::F);
    driven.settle();
    let field = driven.harness.get_by_role(Role::TextInput);
    assert!(field.is_focused());
    // Letters that are shortcuts elsewhere are text here.
    for key in [Key::M, Key::N, Key::W] {
        driven.press(key);
    }
    let view = &driven.window().state().view;
    assert!(view.marks && view.nvtx && view.panel == Panel::Search);
    type_text(&mut driven, "gemm");
    driven.wait(|window| count(window).is_some_and(|count| count > 2));
    assert_eq!(driven.window().state().view.selected, None);
    let hits = Arc::clone(driven.window().state().view.hits().unwrap());
    let of = |doc| (0..hits.len()).filter(|at| hits.hit(*at).unwrap().place.doc() == doc).count();
    let (first_rank, second_rank) = (of(0), of(1));
    driven.press(Key::Enter);
    assert!(driven.shows(&format!("rank 0: 1 of {first_rank}")));
    let first = driven.window().state().view.selected;
    assert!(matches!(first, Some(Item::Op(..))));
    driven.press(Key::Enter);
    assert!(driven.shows(&format!("rank 0: 2 of {first_rank}")), "the field keeps the keyboard");
    driven.harness.key_press_modifiers(Modifiers::SHIFT, Key::Enter);
    driven.settle();
    assert_eq!(driven.window().state().view.selected, first);
    driven.press(Key::F3);
    assert!(driven.shows(&format!("rank 0: 2 of {first_rank}")));
    driven.harness.key_press_modifiers(Modifiers::SHIFT, Key::F3);
    driven.settle();
    driven.harness.key_press_modifiers(Modifiers::SHIFT, Key::F3);
    driven.settle();
    assert!(driven.shows(&format!("rank 1: {second_rank} of {second_rank}")), "around the ends");
    driven.press(Key::Escape);
    let state = driven.window().state();
    assert!(!state.view.search.open && state.view.panel == Panel::Overview);
    assert!(state.view.selected.is_some(), "the hit stays selected");
    driven.press(Key::F3);
    driven.wait(|window| window.state().view.search.current.is_some());
}

#[test]
fn escape_outside_the_field_clears_the_selection_first() {
    let mut driven = searched("gemm");
    driven.send(Command::NextHit);
    let at = driven.harness.get_by_role(Role::TextInput);
    assert!(at.is_focused());
    driven.harness.ctx.memory_mut(|memory| memory.surrender_focus(memory.focused().unwrap()));
    driven.settle();
    driven.press(Key::Escape);
    assert!(driven.window().state().view.search.open && driven.window().state().view.selected.is_none());
    driven.press(Key::Escape);
    assert!(!driven.window().state().view.search.open);
}

#[test]
fn a_step_asked_for_while_typing_is_done_when_the_hits_are_there() {
    let mut driven = Driven::open();
    driven.send(Command::OpenSearch);
    driven.send(Command::SetQuery(query("gemm")));
    driven.send(Command::NextHit);
    driven.wait(|window| matches!(window.state().view.selected, Some(Item::Op(RankId { doc: 0, rank: 0 }, _))));
}

#[test]
fn hits_are_grouped_by_lane_and_a_click_goes_there() {
    let mut driven = searched("gemm");
    for text in ["Rank 0  Compute", "Rank 1  Compute"] {
        assert!(driven.shows(text), "{text}");
    }
    let hits = Arc::clone(driven.window().state().view.hits().unwrap());
    let groups = hits.groups();
    assert!(groups.windows(2).all(|pair| pair[0].total_ns >= pair[1].total_ns));
    driven.click("List the hits of Rank 1  Compute");
    let place = groups.iter().position(|group| group.place.doc() == 1).unwrap();
    let hit = hits.hit(hits.before(place) + 2).unwrap();
    let rows: Vec<_> = driven.harness.query_all_by_label_contains("Go to ").collect();
    assert!(rows.len() > 3 && rows.len() < 40, "{} rows: only those in sight are made", rows.len());
    rows[2].click();
    driven.settle();
    let view = &driven.window().state().view;
    assert_eq!(view.selected, hits.item(&hit));
    let (span, shown) = (hits.span(&hit).unwrap(), view.viewport.span());
    assert!(shown.start_ns <= span.start_ns && span.end_ns <= shown.end_ns);
    assert!(shown.len_ns() < span.len_ns() * 300, "it is wide enough to be seen");
}

#[test]
fn a_wrong_expression_is_explained_at_the_field() {
    let mut driven = searched("gemm(");
    assert!(driven.shows("No hits") && driven.shows("Nothing is called “gemm(” in the open files."));
    driven.click("Search as a regular expression");
    assert!(driven.shows("Not a regular expression: unclosed group, at character 5"));
    assert!(driven.window().state().view.hits().is_none());
    driven.click("Search for the text as it is");
    driven.wait(|window| count(window) == Some(0));
    driven.send(Command::SetQuery(Query { regex: true, ..query("(gemm|softmax)") }));
    driven.wait(|window| count(window).is_some_and(|count| count > 0));
}

#[test]
fn no_hit_offers_what_could_find_more() {
    let mut driven = Driven::open();
    driven.send(Command::OpenSearch);
    driven.send(Command::SetQuery(Query { match_case: true, ..query("GEMM") }));
    driven.send(Command::SetScope(Scope::Visible));
    driven.wait(|window| count(window) == Some(0));
    driven.click("Ignore case");
    driven.wait(|window| count(window).is_some_and(|count| count > 0));
    driven.send(Command::SetScope(Scope::Selected));
    driven.wait(|window| count(window) == Some(0));
    assert!(driven.shows("no span is selected"));
    driven.click("Search everywhere");
    driven.wait(|window| count(window).is_some_and(|count| count > 0));
}

#[test]
fn the_visible_span_is_followed_and_stays_when_stepping() {
    let mut driven = searched("gemm");
    let all = count(driven.window()).unwrap();
    driven.send(Command::SetScope(Scope::Visible));
    driven.send(Command::ShowStep(RankId { doc: 0, rank: 0 }, 4));
    driven.wait(|window| count(window).is_some_and(|count| count < all && count > 0));
    let before = driven.window().state().view.viewport;
    driven.press(Key::F3);
    let view = &driven.window().state().view;
    assert!(view.selected.is_some() && view.viewport == before);
    driven.send(Command::ShowAll);
    driven.wait(|window| count(window) == Some(all));
}

#[test]
fn the_lane_of_a_hit_opens_and_comes_into_sight() {
    let mut driven = searched("step 3");
    // Closed ranks show kernels only.
    for doc in 0..2 {
        driven.send(Command::ToggleLane(stepscope::view::LaneKey::Rank(RankId { doc, rank: 0 })));
    }
    driven.send(Command::ToggleNvtx);
    let hits = Arc::clone(driven.window().state().view.hits().unwrap());
    let range = (0..hits.len()).find(|at| matches!(hits.item(&hits.hit(*at).unwrap()), Some(Item::Nvtx(1, ..))));
    driven.send(Command::ShowHit(range.unwrap()));
    driven.settle();
    let view = &driven.window().state().view;
    assert!(view.nvtx && matches!(view.selected, Some(Item::Nvtx(1, ..))));
    let closed = |doc| view.toggled.contains(&stepscope::view::LaneKey::Rank(RankId { doc, rank: 0 }));
    assert!(!closed(1) && closed(0), "only its own rank opens");
}

#[test]
fn another_file_is_searched_too() {
    let mut driven = searched("gemm");
    let two = count(driven.window()).unwrap();
    driven.send(Command::Open(vec!["/x/rank2.sqlite".into()]));
    driven.wait(|window| window.state().workspace.docs.len() == 3 && count(window).is_some_and(|count| count > two));
    driven.send(Command::CloseAll);
    let view = &driven.window().state().view;
    assert!(!view.search.open && view.search.hits.is_none() && view.panel != Panel::Search);
}

#[test]
fn the_search_tab_is_not_what_the_next_start_shows() {
    let mut driven = Driven::open();
    driven.send(Command::ShowPanel(Panel::Gaps));
    driven.send(Command::OpenSearch);
    assert_eq!(driven.window().state().settings.panel, Panel::Gaps);
    driven.send(Command::CloseSearch);
    assert_eq!(driven.window().state().view.panel, Panel::Gaps);
}

/// A view of the job in which hits of `query` are marked.
fn marked(workspace: &Workspace, query: &Query, within: Option<Span>) -> ViewState {
    let mut state = ViewState::open(workspace);
    state.apply(&Command::OpenSearch, workspace);
    state.apply(&Command::ShowPanel(Panel::Overview), workspace);
    state.apply(&Command::SetQuery(query.clone()), workspace);
    let hits = Hits::find(query, workspace.docs.clone(), &|| false).unwrap().unwrap();
    state.take_hits(Arc::new(hits), workspace);
    if let Some(span) = within {
        state.apply(&Command::Show(span), workspace);
    }
    state
}

#[test]
fn hits_on_lanes_look_as_designed() {
    let workspace = Workspace::new([job::opened(0, 12)]);
    let regex = Query { regex: true, ..query("AllReduce|softmax|step 4") };
    let step = Item::Step(RankId { doc: 0, rank: 0 }, 4).span(&workspace).unwrap();
    let options = PictureOptions { width_px: 600, height_px: 300, theme: Theme::Dark, ..PictureOptions::default() };
    for (within, name) in [(Some(step), "hits_step_dark"), (None, "hits_whole_dark")] {
        let image = render(&workspace, &marked(&workspace, &regex, within), &options);
        compare(&cut(&image, 0, 0, 600, 300), name);
    }
}

#[test]
fn hits_on_the_overview_of_the_capture_look_as_designed() {
    let workspace = Workspace::new([job::opened(0, 12)]);
    let step = Item::Step(RankId { doc: 0, rank: 0 }, 4).span(&workspace).unwrap();
    for (theme, name) in [(Theme::Dark, "hits_map_dark"), (Theme::Light, "hits_map_light")] {
        let options = PictureOptions { width_px: 600, height_px: 400, theme, ..PictureOptions::default() };
        let image = render(&workspace, &marked(&workspace, &query("AllReduce"), Some(step)), &options);
        compare(&cut(&image, 0, 30, 600, 60), name);
    }
}
