//! NVTX ranges by name, as the host saw them.

use super::Scope;
use super::report::Report;
use super::summary::{time_cells, time_columns};
use super::table::{Cell, Column, Table, Unit};
use crate::analysis::{Groups, Summary, total};
use crate::trace::{NameId, RangeKind, RangeTable, Trace};

/// Domain (an index, when its name goes before the range's) and name of a range.
pub(super) type RangeName = (Option<u16>, NameId);

/// Every kind of range.
pub(super) fn all(trace: &Trace, scope: &Scope) -> Table {
    ranges(trace, scope, Report::NvtxSum)
}

/// Push/pop ranges.
pub(super) fn push_pop(trace: &Trace, scope: &Scope) -> Table {
    ranges(trace, scope, Report::NvtxPushpopSum)
}

pub(super) const RANGE: Column =
    Column::new("Range", Unit::Text, "name, behind the name of its domain where it has one");
pub(super) const STYLE: Column = Column::new("Style", Unit::Text, "PushPop or StartEnd");

fn ranges(trace: &Trace, scope: &Scope, report: Report) -> Table {
    let every_kind = report == Report::NvtxSum;
    let named = Named::of(trace);
    let mut groups: Groups<(RangeName, bool)> = Groups::default();
    for thread in &trace.threads {
        let table = &thread.nvtx;
        for at in 0..table.len() {
            let start_end = table.kind[at] == RangeKind::StartEnd;
            let kept = (every_kind || !start_end) && scope.holds_host(thread.process, table.span(at));
            if kept {
                groups.add((named.name(table, at), start_end), length(trace, table, at));
            }
        }
    }
    let sums = groups.summaries(|((domain, name), start_end)| (named.text(trace, (domain, name)), start_end));
    let total = total(&sums);
    let row = |((name, start_end), sum): &((RangeName, bool), Summary)| {
        let mut cells = time_cells(sum, total);
        if every_kind {
            cells.push(Cell::Text(style(*start_end).to_owned()));
        }
        cells.push(Cell::Text(named.text(trace, *name)));
        cells
    };
    let rows = sums.iter().map(row).collect();
    let columns =
        if every_kind { time_columns("Instances", &[STYLE, RANGE]) } else { time_columns("Instances", &[RANGE]) };
    Table::new(report, columns, rows)
}

pub(super) const fn style(start_end: bool) -> &'static str {
    if start_end { "StartEnd" } else { "PushPop" }
}

/// Length of a range; an open one lasts to the last time in any NVTX event.
fn length(trace: &Trace, table: &RangeTable, at: usize) -> i64 {
    let end_ns = if table.open[at] { trace.nvtx_end_ns.unwrap_or(table.start_ns[at]) } else { table.end_ns[at] };
    end_ns.saturating_sub(table.start_ns[at])
}

/// Which domains have a name that goes before the names of their ranges.
#[derive(Debug)]
pub(super) struct Named(Vec<bool>);

impl Named {
    pub fn of(trace: &Trace) -> Self {
        let is_named = |name: &NameId| *name != NameId::EMPTY && !trace.unnamed_domains.contains(name);
        Self(trace.domains.iter().map(is_named).collect())
    }

    /// What range `at` is grouped by.
    pub fn name(&self, table: &RangeTable, at: usize) -> RangeName {
        let (domain, name) = (table.domain[at], table.name[at]);
        let named = name != NameId::EMPTY && self.0.get(domain as usize) == Some(&true);
        (named.then_some(domain), name)
    }

    /// The name as it is shown: `domain:name`.
    pub fn text(&self, trace: &Trace, (domain, name): RangeName) -> String {
        let domain = domain.and_then(|domain| trace.domains.get(domain as usize));
        let name = trace.name(name);
        domain.map_or_else(|| name.to_owned(), |domain| format!("{}:{name}", trace.name(*domain)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::testing::{Fixture, PID};
    use crate::trace::{NONE, RawRange};

    fn range(fixture: &mut Fixture, name: &str, domain: &str, start_ns: i64, end_ns: Option<i64>, kind: RangeKind) {
        let names = fixture.builder.names();
        let (name, domain) = (names.intern(name), names.intern(domain));
        fixture.builder.nvtx_time(start_ns);
        end_ns.into_iter().for_each(|ns| fixture.builder.nvtx_time(ns));
        let category = NameId::EMPTY;
        let global_tid = PID | 1;
        fixture.builder.range(RawRange {
            start_ns,
            end_ns,
            global_tid,
            name,
            kind,
            domain,
            category,
            color: NONE,
            ended_elsewhere: false,
            row: 0,
        });
    }

    #[test]
    fn names_carry_their_domain_when_it_has_a_name_of_its_own() {
        let mut fixture = Fixture::new();
        range(&mut fixture, "AllReduce", "NCCL", 0, Some(10), RangeKind::PushPop);
        range(&mut fixture, "step", "", 0, Some(20), RangeKind::PushPop);
        range(&mut fixture, "x", "domain 5", 0, Some(5), RangeKind::StartEnd);
        let unnamed = fixture.builder.names().intern("domain 5");
        fixture.builder.unnamed_domain(unnamed);
        let trace = fixture.build();
        let shown = |table: &Table| table.rows.iter().map(|row| row.last().cloned().unwrap()).collect::<Vec<_>>();
        let text = |name: &str| Cell::Text(name.to_owned());
        let whole = Scope::whole(&trace);
        assert_eq!(shown(&all(&trace, &whole)), [text("step"), text("NCCL:AllReduce"), text("x")]);
        assert_eq!(shown(&push_pop(&trace, &whole)), [text("step"), text("NCCL:AllReduce")]);
        assert_eq!(all(&trace, &whole).rows[2][8], text("StartEnd"));
    }

    #[test]
    fn an_open_range_lasts_to_the_last_nvtx_event_not_to_the_end_of_the_capture() {
        let mut fixture = Fixture::new();
        range(&mut fixture, "open", "", 10, None, RangeKind::PushPop);
        range(&mut fixture, "mark", "", 70, None, RangeKind::Mark);
        let trace = fixture.kernel("k", 7, 0, 500).build();
        let table = all(&trace, &Scope::whole(&trace));
        assert_eq!((table.rows.len(), &table.rows[0][1]), (1, &Cell::Int(60)));
    }
}
