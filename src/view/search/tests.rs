//! The search against brute force, and what its commands do.

use super::*;
use crate::analysis::{Params, analyze};
use crate::trace::testing::{Fixture, PID};
use crate::trace::{NONE, NameId, RangeKind, RawRange};
use crate::view::{Command, Doc, Item, OpLane, RankId, ViewState, Workspace};
use proptest::prelude::*;

const RANK: RankId = RankId { doc: 0, rank: 0 };

fn never() -> bool {
    false
}

fn query(text: &str) -> Query {
    Query { text: text.to_owned(), ..Query::default() }
}

fn find(workspace: &Workspace, query: &Query) -> Hits {
    Hits::find(query, workspace.docs.clone(), &never).unwrap().unwrap()
}

fn workspace_of(fixtures: &mut [Fixture]) -> Workspace {
    Workspace::new(fixtures.iter_mut().map(|fixture| {
        let trace = Arc::new(fixture.build());
        let analysis = Arc::new(analyze(&trace, &Params::default()));
        (trace, analysis)
    }))
}

/// Two files. In each: kernels on two streams, ranges, a mark, calls of two threads, OS calls, three steps.
fn workspace() -> Workspace {
    let mut fixtures = [Fixture::new(), Fixture::new()];
    for fixture in &mut fixtures {
        for step in 0..3 {
            let at = step * 1_000_000;
            fixture.range(&format!("step {step}"), 11, at, at + 900_000);
            fixture.range("forward gemm part", 11, at + 10, at + 400_000);
            fixture.launched("gemm_128x64", 7, 11, at + 20, at + 1_000, at + 500_000);
            fixture.launched("ncclDevKernel_AllReduce", 9, 12, at + 30, at + 400_000, at + 700_000);
            fixture.os_call("pthread_mutex_lock", 12, at + 40, at + 60);
        }
        let name = fixture.builder.names().intern("gemm checkpoint");
        let mark = RawRange {
            start_ns: 1_500_000,
            end_ns: None,
            global_tid: PID | 11,
            name,
            kind: RangeKind::Mark,
            domain: NameId::EMPTY,
            category: NameId::EMPTY,
            color: NONE,
            ended_elsewhere: false,
            row: 900,
        };
        fixture.builder.range(mark);
    }
    workspace_of(&mut fixtures)
}

/// Every item of the workspace with its name, the slow way.
fn everything(workspace: &Workspace) -> Vec<(Item, String)> {
    let mut all = Vec::new();
    for (at, doc) in workspace.docs.iter().enumerate() {
        let trace = &doc.trace;
        for (rank, own) in trace.ranks.iter().enumerate() {
            let id = RankId { doc: at, rank };
            for op in 0..own.ops.len() {
                let name = own.ops.name[op];
                let both = format!("{}\n{}", trace.op_short_name(name), trace.op_full_name(name));
                all.push((Item::Op(id, op as u32), both));
            }
            let steps = doc.analysis.ranks[rank].steps.as_ref().map_or(&[][..], |steps| &steps.steps);
            all.extend(steps.iter().enumerate().map(|(n, step)| (Item::Step(id, n as u32), step.name.clone())));
        }
        for (thread, own) in trace.threads.iter().enumerate() {
            let named = |names: &[NameId], item: fn(usize, usize, u32) -> Item| -> Vec<(Item, String)> {
                let of = |(n, name): (usize, &NameId)| (item(at, thread, n as u32), trace.name(*name).to_owned());
                names.iter().enumerate().map(of).collect()
            };
            all.extend(named(&own.nvtx.name, Item::Nvtx));
            all.extend(named(&own.marks.name, Item::Mark));
            all.extend(named(&own.os.name, Item::Os));
            let api = &trace.processes[own.process].api;
            let calls = own.api.clone().map(|n| (Item::Call(at, own.process, n), trace.name(api.name[n as usize])));
            all.extend(calls.map(|(item, name)| (item, name.to_owned())));
        }
    }
    all
}

fn items(hits: &Hits) -> Vec<Item> {
    (0..hits.len()).map(|number| hits.item(&hits.hit(number).unwrap()).unwrap()).collect()
}

#[test]
fn every_kind_of_name_is_found_in_every_document() {
    let workspace = workspace();
    for (text, places) in [
        ("GEMM", vec![Place::Ops(RANK, OpLane::Compute), Place::Ranges(0, 0), Place::Marks(0, 0)]),
        ("allreduce", vec![Place::Ops(RANK, OpLane::Communication)]),
        ("mutex", vec![Place::Os(0, 1)]),
        ("cudaLaunchKernel", vec![Place::Calls(0, 0), Place::Calls(0, 1)]),
        ("step", vec![Place::Steps(RANK), Place::Ranges(0, 0)]),
    ] {
        let hits = find(&workspace, &query(text));
        let mut own: Vec<Place> = hits.groups().iter().map(|g| g.place).filter(|place| place.doc() == 0).collect();
        own.sort();
        let mut places = places;
        places.sort();
        assert_eq!(own, places, "{text}");
        assert_eq!(hits.groups().len(), 2 * places.len(), "{text}: both documents");
    }
}

#[test]
fn a_call_is_found_by_the_name_it_is_shown_with() {
    let exact = Query { regex: true, match_case: true, ..query("^cudaLaunchKernel$") };
    assert_eq!(find(&workspace(), &exact).len(), 12);
}

#[test]
fn a_thread_is_found_by_its_name_and_gone_to() {
    let mut fixture = Fixture::new();
    fixture.range("work", 11, 5_000, 9_000);
    let name = fixture.builder.names().intern("pt_autograd_0");
    fixture.builder.thread_name(PID | 11, name, 0);
    let workspace = workspace_of(&mut [fixture]);
    let hits = find(&workspace, &query("autograd"));
    assert_eq!((hits.len(), hits.groups()[0].place), (1, Place::Threads(0)));
    let hit = hits.hit(0).unwrap();
    assert_eq!((hits.name(&hit), hits.item(&hit)), ("pt_autograd_0", Some(Item::Nvtx(0, 0, 0))));
    assert_eq!(hits.span(&hit), Some(Span::new(0, 4_000)));
}

#[test]
fn groups_are_in_order_of_their_total_time() {
    let hits = find(&workspace(), &query("gemm"));
    let totals: Vec<i64> = hits.groups().iter().map(|group| group.total_ns).collect();
    assert_eq!(totals, [1_497_000, 1_497_000, 1_199_970, 1_199_970, 0, 0]);
    assert_eq!(hits.len(), 14);
}

#[test]
fn a_cancelled_search_has_no_answer() {
    let workspace = workspace();
    assert!(Hits::find(&query("gemm"), workspace.docs.clone(), &|| true).unwrap().is_none());
    assert!(find(&workspace, &query("gemm")).within(Span::new(0, 9), &|| true).is_none());
}

/// A view of `workspace` in which a search for `text` has finished.
fn searching(workspace: &Workspace, text: &str) -> ViewState {
    let mut state = ViewState::open(workspace);
    state.apply(&Command::OpenSearch, workspace);
    state.apply(&Command::SetQuery(query(text)), workspace);
    answer(&mut state, workspace);
    state
}

/// Runs what is asked for, as the application does on another thread.
fn answer(state: &mut ViewState, workspace: &Workspace) {
    let request = state.search_request().unwrap();
    let all = find(workspace, &request.query);
    let hits = request.within.map_or_else(|| find(workspace, &request.query), |span| all.within(span, &never).unwrap());
    state.take_hits(Arc::new(hits), workspace);
}

/// Hits with their numbers in the order they are gone through, the slow way; each file has one rank.
fn way(hits: &Hits, workspace: &Workspace) -> Vec<(usize, Item)> {
    let mut all: Vec<(usize, Item)> = items(hits).into_iter().enumerate().collect();
    all.sort_by_key(|(number, item)| (item.doc(), item.span(workspace).unwrap().start_ns, *number));
    all
}

#[test]
fn stepping_goes_through_a_rank_by_time_then_through_the_next_and_around() {
    let workspace = workspace();
    let mut state = searching(&workspace, "gemm");
    let all = way(state.hits().unwrap(), &workspace);
    assert_eq!(all.len(), 14);
    let go = |state: &mut ViewState, command: Command, at: usize| {
        state.apply(&command, &workspace);
        assert_eq!((state.search.current, state.selected), (Some(all[at].0), Some(all[at].1)));
        let standing = state.hits().unwrap().standing(all[at].0).unwrap();
        let rank = RankId { doc: at / 7, rank: 0 };
        assert_eq!(standing, Standing { block: Block::Rank(rank), before: at % 7, of: 7, alone: false });
        let span = state.selected.unwrap().span(&workspace).unwrap();
        let view = state.viewport.span();
        assert!(view.start_ns <= span.start_ns && span.end_ns <= view.end_ns, "{span:?} in {view:?}");
    };
    for round in 0..=all.len() {
        go(&mut state, Command::NextHit, round % all.len());
    }
    for at in (0..all.len()).rev() {
        go(&mut state, Command::PreviousHit, at);
    }
    for _ in 0..=2 * all.len() {
        state.apply(&Command::Back, &workspace);
    }
    assert_eq!(state.viewport, ViewState::open(&workspace).viewport, "back to before the first hit");
}

#[test]
fn stepping_goes_on_from_what_is_selected_and_else_begins_in_the_chosen_rank() {
    let workspace = workspace();
    let mut state = searching(&workspace, "gemm");
    let all = way(state.hits().unwrap(), &workspace);
    let start_ns = |at: usize| all[at].1.span(&workspace).unwrap().start_ns;
    state.apply(&Command::Select(Some(all[4].1)), &workspace);
    state.apply(&Command::NextHit, &workspace);
    assert_eq!(state.selected, Some(all[5].1));
    // Something that is no hit, in the second file.
    let other = Item::Os(1, 1, 1);
    let at_ns = other.span(&workspace).unwrap().start_ns;
    let next = (7..14).find(|at| start_ns(*at) >= at_ns).unwrap();
    for (command, wanted) in [(Command::NextHit, next), (Command::PreviousHit, next - 1)] {
        state.apply(&Command::Select(Some(other)), &workspace);
        state.apply(&command, &workspace);
        assert_eq!(state.selected, Some(all[wanted].1));
    }
    // Nothing: the chosen rank, from the left edge of the view.
    let mut state = searching(&workspace, "gemm");
    state.apply(&Command::ChooseRank(RankId { doc: 1, rank: 0 }), &workspace);
    state.apply(&Command::Show(Span::new(start_ns(8) + 1, start_ns(8) + 100_000)), &workspace);
    state.apply(&Command::NextHit, &workspace);
    assert_eq!(state.selected, Some(all[9].1));
    state.apply(&Command::Select(None), &workspace);
    state.apply(&Command::NextHit, &workspace);
    assert_eq!(state.selected, Some(all[10].1), "what was cleared is gone on from");
}

#[test]
fn a_rank_without_hits_is_passed_over_both_ways() {
    let mut fixtures = [Fixture::new(), Fixture::new(), Fixture::new()];
    for (at, fixture) in fixtures.iter_mut().enumerate() {
        for start_ns in [100, 300] {
            fixture.kernel(if at == 1 { "softmax" } else { "gemm" }, 7, start_ns, start_ns + 50);
        }
    }
    let workspace = workspace_of(&mut fixtures);
    for (command, wanted) in [(Command::NextHit, (2, 0)), (Command::PreviousHit, (0, 1))] {
        let mut state = searching(&workspace, "gemm");
        state.apply(&Command::Select(Some(Item::Op(RankId { doc: 1, rank: 0 }, 1))), &workspace);
        state.apply(&command, &workspace);
        assert_eq!(state.selected, Some(Item::Op(RankId { doc: wanted.0, rank: 0 }, wanted.1)));
    }
}

#[test]
fn a_step_that_was_asked_for_too_early_is_done_when_the_answer_comes() {
    let workspace = workspace();
    let mut state = searching(&workspace, "gemm");
    state.apply(&Command::SetQuery(query("allreduce")), &workspace);
    assert!(state.hits().is_none(), "the old answer is not that to the new question");
    state.apply(&Command::NextHit, &workspace);
    assert_eq!(state.selected, None);
    answer(&mut state, &workspace);
    assert_eq!((state.search.current, state.hits().unwrap().len()), (Some(0), 6));
    let whole = workspace.span().unwrap();
    assert!(state.hit_columns(whole, 300).contains(&true));
    assert!(matches!(state.selected, Some(Item::Op(..))));
}

#[test]
fn an_answer_to_an_older_question_is_dropped() {
    let workspace = workspace();
    let mut state = searching(&workspace, "gemm");
    let old = Arc::clone(state.hits().unwrap());
    state.apply(&Command::SetQuery(query("")), &workspace);
    state.take_hits(old, &workspace);
    assert!(state.search.hits.is_none() && state.search_request().is_none());
}

#[test]
fn a_wrong_expression_is_no_search_and_says_why() {
    let workspace = workspace();
    let mut state = searching(&workspace, "gemm");
    let wrong = Query { regex: true, ..query("gemm(") };
    state.apply(&Command::SetQuery(wrong), &workspace);
    assert!(state.search_request().is_none() && state.search.hits.is_none());
    assert!(state.search.error.as_ref().unwrap().to_string().contains("unclosed group"));
}

#[test]
fn only_the_visible_span_counts_and_the_view_stays_then() {
    let workspace = workspace();
    let mut state = searching(&workspace, "gemm_128");
    assert_eq!(state.hits().unwrap().len(), 6);
    state.apply(&Command::SetScope(Scope::Visible), &workspace);
    state.apply(&Command::Show(Span::new(600_000, 1_200_000)), &workspace);
    answer(&mut state, &workspace);
    assert_eq!(state.hits().unwrap().len(), 2);
    let before = state.viewport;
    state.apply(&Command::NextHit, &workspace);
    assert!(state.selected.is_some() && state.viewport == before);
    state.apply(&Command::SetScope(Scope::Selected), &workspace);
    state.apply(&Command::SelectSpan(Some(Span::new(100, 300))), &workspace);
    answer(&mut state, &workspace);
    assert_eq!(state.hits().unwrap().len(), 0);
}

#[test]
fn closing_keeps_the_text_and_goes_back_to_the_tab_before() {
    let workspace = workspace();
    let mut state = searching(&workspace, "gemm");
    assert_eq!(state.panel, Panel::Search);
    state.apply(&Command::CloseSearch, &workspace);
    assert!(state.search.hits.is_none() && state.hits().is_none());
    assert_eq!(state.hit_columns(Span::new(0, 100), 3), [false; 3]);
    assert_eq!((state.panel, state.search.query.text.as_str()), (Panel::Overview, "gemm"));
    state.apply(&Command::NextHit, &workspace);
    answer(&mut state, &workspace);
    assert_eq!((state.panel, state.selected), (Panel::Overview, Some(Item::Nvtx(0, 0, 1))), "F3 searches again");
}

/// Kernels and ranges at any times, with few names.
fn any_job() -> impl Strategy<Value = Workspace> {
    let op = (0..4_usize, 0..2_000_i64, 0..300_i64, 7..9_i64);
    let range = (0..4_usize, 0..2_000_i64, 0..500_i64);
    (prop::collection::vec(op, 1..200), prop::collection::vec(range, 0..40)).prop_map(|(ops, ranges)| {
        const NAMES: [&str; 4] = ["gemm_a", "gemm_b", "ncclDevKernel_AllReduce", "Softmax"];
        let mut fixture = Fixture::new();
        for (name, start_ns, len_ns, stream) in ops {
            fixture.launched(NAMES[name], stream, 11, start_ns - 9, start_ns, start_ns + len_ns);
        }
        for (name, start_ns, len_ns) in ranges {
            fixture.range(&format!("{} of it", NAMES[name]), 12, start_ns, start_ns + len_ns);
        }
        workspace_of(&mut [fixture])
    })
}

fn touches(span: Span, of: Span) -> bool {
    span.start_ns < of.end_ns && (span.end_ns > of.start_ns || span.start_ns >= of.start_ns)
}

proptest! {
    #[test]
    fn hits_equal_the_brute_force(job in any_job(), text in "[a-e_]{1,2}|nccl|Cuda|of", from in -50..2_600_i64, len in 0..900_i64) {
        let span = Span::new(from, from + len);
        let all = find(&job, &query(&text));
        let scoped = all.within(span, &never).unwrap();
        let wanted: Vec<Item> = everything(&job).into_iter()
            .filter(|(_, name)| name.to_lowercase().contains(&text.to_lowercase())).map(|(item, _)| item).collect();
        let inside = wanted.iter().filter(|item| touches(item.span(&job).unwrap(), span)).copied();
        let set = |items: Vec<Item>| items.into_iter().collect::<std::collections::HashSet<Item>>();
        prop_assert_eq!(set(items(&all)), set(wanted.clone()));
        prop_assert_eq!(all.len(), wanted.len());
        prop_assert_eq!(set(items(&scoped)), set(inside.collect()));
        for (number, item) in items(&scoped).into_iter().enumerate() {
            prop_assert_eq!(scoped.number_of(item), Some(number));
        }
        for (at, group) in scoped.groups().iter().enumerate() {
            let spans: Vec<Span> = (0..group.len())
                .map(|position| scoped.span(&scoped.hit(scoped.before(at) + position).unwrap()).unwrap()).collect();
            prop_assert!(spans.windows(2).all(|pair| pair[0].start_ns <= pair[1].start_ns));
            prop_assert_eq!(group.total_ns, spans.iter().map(|span| span.len_ns()).sum::<i64>());
        }
    }

    #[test]
    fn the_way_equals_the_brute_force(job in any_job(), text in "[a-e_]{1,2}|nccl|of", at_ns in -50..2_600_i64) {
        let hits = find(&job, &query(&text));
        let all: Vec<usize> = way(&hits, &job).into_iter().map(|(number, _)| number).collect();
        for (at, number) in all.iter().enumerate() {
            prop_assert_eq!(hits.beside(*number, true), Some(all[(at + 1) % all.len()]));
            prop_assert_eq!(hits.beside(*number, false), Some(all[(at + all.len() - 1) % all.len()]));
            let standing = hits.standing(*number).unwrap();
            prop_assert_eq!((standing.before, standing.of, standing.alone), (at, all.len(), true));
        }
        let start_ns = |number: &&usize| hits.span(&hits.hit(**number).unwrap()).unwrap().start_ns;
        let next = all.iter().find(|number| start_ns(number) >= at_ns).or(all.first()).copied();
        let last = all.iter().rev().find(|number| start_ns(number) < at_ns).or(all.last()).copied();
        prop_assert_eq!(hits.from((None, Some(RANK)), at_ns, true), next);
        prop_assert_eq!(hits.from((None, Some(RANK)), at_ns, false), last);
    }

    #[test]
    fn columns_equal_the_brute_force(job in any_job(), text in "gemm|nccl|of|Soft", from in -50..2_600_i64, len in 1..2_000_i64, count in 1..90_usize) {
        let hits = find(&job, &query(&text));
        let spans: Vec<Span> = items(&hits).iter().map(|item| item.span(&job).unwrap()).collect();
        let edge = |column: usize| from + (column as f64 / count as f64 * len as f64).round() as i64;
        for (column, any) in hits.columns(Span::new(from, from + len), count).into_iter().enumerate() {
            let own = Span::new(edge(column), edge(column + 1));
            let wanted = spans.iter().any(|span| {
                span.start_ns >= own.start_ns && span.start_ns < own.end_ns || span.start_ns < own.start_ns && span.end_ns > own.start_ns
            });
            prop_assert_eq!(any, wanted, "column {} of {:?}", column, own);
        }
    }
}

#[test]
fn columns_of_nothing_are_none() {
    let workspace = workspace();
    let hits = find(&workspace, &query("nothing like it"));
    assert!(hits.is_empty() && hits.columns(Span::new(0, 100), 8) == vec![false; 8]);
    assert!(hits.hit(0).is_none() && hits.beside(0, true).is_none());
    assert!(hits.from((None, None), 0, true).is_none() && hits.standing(0).is_none());
    let docs: Vec<Doc> = Vec::new();
    assert!(Hits::find(&query("x"), docs, &never).unwrap().unwrap().is_empty());
}
