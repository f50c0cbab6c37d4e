//! Hits of a search on the strip of the whole capture: marks in a row of their own below the bars of the steps.

use super::cache::Cache;
use super::color::Palette;
use crate::units::Span;
use crate::view::ViewState;
use crate::view::search::{Hits, Query};
use egui::{Painter, Rect, pos2};
use std::ops::Range;
use std::sync::{Arc, Weak};

/// Height of the row, room above it included.
pub const ROW_PT: f32 = 6.0;
/// Room above the marks.
const ABOVE_PT: f32 = 2.0;
/// Width of a column that is marked or not.
const COLUMN_PT: f32 = 2.0;

/// Runs of marked columns, kept until the answer, the capture or the width is another.
#[derive(Debug)]
pub struct MapHits {
    query: Query,
    hits: Weak<Hits>,
    span: Span,
    columns: usize,
    runs: Arc<Vec<Range<usize>>>,
}

/// Whether the row is there: while anything is searched for, so that the bars do not jump with each answer.
pub fn has_row(state: &ViewState) -> bool {
    state.search_request().is_some()
}

/// Runs of those of `columns` equal parts of `span` (axis time) that hold a hit.
fn runs(cache: &mut Cache, state: &ViewState, span: Span, columns: usize) -> Arc<Vec<Range<usize>>> {
    let Some(request) = state.search_request() else {
        cache.map_hits = None;
        return Arc::default();
    };
    let hits = state.hits().map(Arc::downgrade);
    let known = cache.map_hits.as_ref().filter(|known| {
        let same = known.query == request.query && (known.span, known.columns) == (span, columns);
        // Of the same text in another span, the last marks stay until the answer is there.
        same && hits.as_ref().is_none_or(|hits| Weak::ptr_eq(hits, &known.hits))
    });
    if let Some(known) = known {
        return Arc::clone(&known.runs);
    }
    let Some(hits) = hits else { return Arc::default() };
    let mut runs: Vec<Range<usize>> = Vec::new();
    let marked = state.hit_columns(span, columns);
    for (column, _) in marked.iter().enumerate().filter(|(_, marked)| **marked) {
        match runs.last_mut() {
            Some(last) if last.end == column => last.end += 1,
            _ => runs.push(column..column + 1),
        }
    }
    let runs = Arc::new(runs);
    cache.map_hits = Some(MapHits { query: request.query, hits, span, columns, runs: Arc::clone(&runs) });
    runs
}

/// Paints the marks into the row `rect`, which is as wide as `span`.
pub fn paint(painter: &Painter, palette: &Palette, cache: &mut Cache, state: &ViewState, span: Span, rect: Rect) {
    let columns = (rect.width() / COLUMN_PT).floor().max(1.0) as usize;
    let column_pt = rect.width() / columns as f32;
    for run in runs(cache, state, span, columns).iter() {
        let x = |column: usize| rect.left() + column as f32 * column_pt;
        let mark = Rect::from_min_max(pos2(x(run.start), rect.top() + ABOVE_PT), pos2(x(run.end), rect.bottom()));
        painter.rect_filled(mark, 0.0, palette.hit);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::training;
    use super::*;
    use crate::view::{Command, Workspace};

    fn searched(state: &mut ViewState, workspace: &Workspace, text: &str) {
        let query = Query { text: text.to_owned(), ..Query::default() };
        state.apply(&Command::OpenSearch, workspace);
        state.apply(&Command::SetQuery(query.clone()), workspace);
        let hits = Hits::find(&query, workspace.docs.clone(), &|| false).unwrap().unwrap();
        state.take_hits(Arc::new(hits), workspace);
    }

    #[test]
    fn a_column_is_marked_when_a_hit_touches_it_and_is_looked_up_once() {
        let workspace = training();
        let (mut state, mut cache) = (ViewState::open(&workspace), Cache::default());
        let span = workspace.span().unwrap();
        assert!(!has_row(&state) && runs(&mut cache, &state, span, 100).is_empty());
        for text in ["gemm", "AllReduce", "step 3", "checkpoint"] {
            searched(&mut state, &workspace, text);
            let hits = Arc::clone(state.hits().unwrap());
            let spans: Vec<Span> = (0..hits.len()).map(|at| hits.span(&hits.hit(at).unwrap()).unwrap()).collect();
            for columns in [7, 400] {
                let found = runs(&mut cache, &state, span, columns);
                let edge =
                    |at: usize| span.start_ns + (at as f64 / columns as f64 * span.len_ns() as f64).round() as i64;
                for column in 0..columns {
                    let own = Span::new(edge(column), edge(column + 1));
                    let touches = |hit: &Span| own.contains(hit.start_ns) || hit.intersect(own).is_some();
                    let marked = found.iter().any(|run| run.contains(&column));
                    assert_eq!(marked, spans.iter().any(touches), "{text}: column {column} of {columns}");
                }
                assert!(found.windows(2).all(|pair| pair[0].end < pair[1].start));
                assert!(Arc::ptr_eq(&found, &runs(&mut cache, &state, span, columns)), "kept");
            }
        }
        // While another text is searched for there are none, while another span of the same the last ones.
        let last = runs(&mut cache, &state, span, 400);
        state.apply(&Command::SetScope(crate::view::search::Scope::Visible), &workspace);
        assert!(has_row(&state) && Arc::ptr_eq(&last, &runs(&mut cache, &state, span, 400)));
        state.apply(&Command::SetQuery(Query { text: "gem".to_owned(), ..Query::default() }), &workspace);
        assert!(has_row(&state) && runs(&mut cache, &state, span, 400).is_empty());
    }
}
