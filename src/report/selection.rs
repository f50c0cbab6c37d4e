//! A selected span as tables: the same cells on the screen and as text to be pasted.

use super::table::table;
use crate::analysis::{Cause, NamedBy, Part, RankAnalysis, SpanParts, SpanSums};
use crate::format;
use crate::trace::Trace;
use crate::units::share;

/// Names that a table lists at most.
const LISTED: usize = 12;

/// What a table of the selection is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Topic {
    /// The five parts.
    Parts,
    /// Idle time by cause.
    Causes,
    /// What ran: kernels and copies.
    Work,
    /// Kernels by name.
    Kernels,
    /// Collectives by kind.
    Collectives,
    /// NVTX ranges.
    Ranges,
    /// CUDA calls.
    Calls,
}

/// One table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectionTable {
    /// What it is about.
    pub topic: Topic,
    /// Heading, and the heads of the columns behind it.
    pub head: Vec<&'static str>,
    /// Name and cells.
    pub rows: Vec<Vec<String>>,
    /// How many rows were left out.
    pub hidden: usize,
}

impl Topic {
    const fn head(self) -> &'static [&'static str] {
        match self {
            Self::Parts => &["Part", "Share", "Time", "Exact"],
            Self::Causes => &["Idle by cause", "Share", "Time"],
            Self::Work => &["Inside", "Count", "Total"],
            Self::Kernels => &["Kernel", "Total", "Share", "Count"],
            Self::Collectives => &["Collective", "Total", "Exposed", "Count"],
            Self::Ranges => &["NVTX range", "GPU busy", "Host", "Begun"],
            Self::Calls => &["API call", "Total", "Longest", "Count"],
        }
    }

    fn table(self, all: impl ExactSizeIterator<Item = Vec<String>>) -> Option<SelectionTable> {
        let hidden = all.len().saturating_sub(LISTED);
        let rows: Vec<Vec<String>> = all.take(LISTED).collect();
        (!rows.is_empty()).then(|| SelectionTable { topic: self, head: self.head().to_vec(), rows, hidden })
    }
}

/// How the time of the span was spent: the parts and the causes of idle time.
pub fn selection_parts(span: &SpanParts) -> Vec<SelectionTable> {
    let cells = |name: &str, ns: i64| {
        vec![name.to_owned(), format::percent(share(ns, span.parts.span_ns)), format::duration(ns)]
    };
    let part = |name: &str, ns: i64| {
        let mut cells = cells(name, ns);
        cells.push(format!("{} ns", format::integer(ns)));
        cells
    };
    let mut parts: Vec<Vec<String>> = Part::ALL.map(|p| part(p.text(), p.of(&span.parts))).into();
    parts.push(part("Sum", span.parts.span_ns));
    let causes: Vec<Vec<String>> = span.causes.iter().map(|(cause, ns)| cells(Cause::text(cause), ns)).collect();
    // All parts and causes, however many.
    let whole =
        |topic: Topic, rows: Vec<Vec<String>>| SelectionTable { topic, head: topic.head().to_vec(), rows, hidden: 0 };
    let tables = [whole(Topic::Parts, parts), whole(Topic::Causes, causes)];
    tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

/// What ran in the span, kernels named `by` base or full names.
pub fn selection_sums(
    trace: &Trace,
    numbers: &RankAnalysis,
    span: &SpanParts,
    (sums, by): (&SpanSums, NamedBy),
) -> Vec<SelectionTable> {
    let (time, count) = (format::duration, format::count);
    let name = |text: &str| format::one_line(text, 80);
    let work = [("kernels", sums.kernels), ("copies and fills", sums.copies)];
    let work = work.map(|(what, sum)| vec![what.to_owned(), count(sum.count), time(sum.total_ns)]);
    let kernels = sums.kernels_by(by).iter().map(|sum| {
        let part = format::percent(share(sum.sum.total_ns, span.parts.span_ns));
        vec![name(&sum.label.text), time(sum.sum.total_ns), part, count(sum.sum.count)]
    });
    let collectives = sums
        .collectives
        .iter()
        .map(|(kind, sum)| vec![kind.text().to_owned(), time(sum.total_ns), time(sum.exposed_ns), count(sum.count)]);
    let ranges = sums.ranges.iter().map(|(node, sum)| {
        vec![name(&numbers.ranges.name(trace, *node)), time(sum.busy_ns), time(sum.cpu_ns), count(sum.count)]
    });
    let calls = sums
        .calls
        .iter()
        .map(|call| vec![name(&call.name), time(call.total_ns), time(call.longest_ns), count(call.count)]);
    let tables = [
        Topic::Work.table(work.into_iter()),
        Topic::Kernels.table(kernels),
        Topic::Collectives.table(collectives),
        Topic::Ranges.table(ranges),
        Topic::Calls.table(calls),
    ];
    tables.into_iter().flatten().collect()
}

/// One line on a span: its length, and from when to when.
pub fn span_text(len_ns: i64, from: &str, to: &str) -> String {
    format!("{} from {from} to {to}", format::duration(len_ns))
}

/// One line on a rank in the span.
pub fn busy_text(span: &SpanParts) -> String {
    let idle = format::percent(Part::Idle.share(&span.parts));
    format!("{} busy, {idle} idle", format::percent(span.busy))
}

/// The selection as aligned text: `title`, then for each rank its line and its tables.
pub fn selection_text(title: &str, ranks: &[(String, Vec<SelectionTable>)]) -> String {
    let mut text = format!("{title}\n");
    for (line, tables) in ranks {
        text.push_str(&format!("\n{line}\n"));
        for one in tables {
            let head = one.head.iter().map(|cell| (*cell).to_owned()).collect();
            let rows: Vec<Vec<String>> = std::iter::once(head).chain(one.rows.iter().cloned()).collect();
            text.push_str(&format!("\n{}", table("  ", &rows)));
            if let Some(hidden) = hidden_text(one) {
                text.push_str(&format!("  {hidden}\n"));
            }
        }
    }
    text
}

/// How many rows a table leaves out, in words.
pub fn hidden_text(table: &SelectionTable) -> Option<String> {
    (table.hidden > 0).then(|| format!("and {} more", format::count(table.hidden as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Params, analyze};
    use crate::trace::testing::Fixture;
    use crate::units::Span;

    #[test]
    fn the_text_holds_every_cell_of_the_tables() {
        let mut fixture = Fixture::new();
        fixture.range("step 0", 11, 0, 9_000).launched("gemm", 7, 11, 5, 1_000, 3_000);
        fixture.launched("add", 7, 11, 10, 4_000, 5_000);
        let trace = fixture.build();
        let analysis = analyze(&trace, &Params::default());
        let numbers = &analysis.ranks[0];
        let window = Span::new(2_000, 6_000);
        let parts = numbers.span_parts(window);
        let sums = SpanSums::of(&trace, 0, &analysis.classes, numbers, window);
        let mut tables = selection_parts(&parts);
        tables.extend(selection_sums(&trace, numbers, &parts, (&sums, NamedBy::Base)));
        let topics: Vec<Topic> = tables.iter().map(|table| table.topic).collect();
        assert_eq!(topics, [Topic::Parts, Topic::Causes, Topic::Work, Topic::Kernels, Topic::Ranges]);
        let text = selection_text("4.000 µs from 2 µs to 6 µs", &[("rank 0".to_owned(), tables.clone())]);
        for cell in tables.iter().flat_map(|table| &table.rows).flatten() {
            assert!(text.contains(cell.as_str()), "{cell}");
        }
        assert!(text.contains("Compute only       50.0 %  2.000 µs"), "{text}");
        assert_eq!(busy_text(&parts), "50.0 % busy, 50.0 % idle");
    }
}
