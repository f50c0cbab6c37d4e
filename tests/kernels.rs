//! Kernels by name: the panel's table and the summary table of `stats` say the same.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;
use std::path::PathBuf;
use stepscope::analysis::{Classes, KernelTable, NamedBy, Rules};
use stepscope::nsys::{LoadOptions, Progress, open};
use stepscope::sim::Demo;
use stepscope::stats::{Cell, Request, Scope, table};
use stepscope::units::Span;

/// Count, total, mean, median, shortest and longest of the kernels of one rank by name.
type Numbers = BTreeMap<String, (i64, i64, f64, f64, i64, i64)>;

fn of_stats(trace: &stepscope::trace::Trace, scope: &Scope, base: bool) -> Numbers {
    let request = Request::parse(if base { "cuda_gpu_kern_sum:base" } else { "cuda_gpu_kern_sum" }).unwrap();
    let rows = table(trace, &request, scope).rows;
    let int = |cell: &Cell| if let Cell::Int(value) = cell { *value } else { panic!("{cell:?}") };
    let float = |cell: &Cell| if let Cell::Float(value) = cell { *value } else { panic!("{cell:?}") };
    let text = |cell: &Cell| if let Cell::Text(value) = cell { value.clone() } else { panic!("{cell:?}") };
    let row = |row: &Vec<Cell>| {
        let numbers = (int(&row[2]), int(&row[1]), float(&row[3]), float(&row[4]), int(&row[5]), int(&row[6]));
        (text(row.last().unwrap()), numbers)
    };
    rows.iter().map(row).collect()
}

fn of_panel(trace: &stepscope::trace::Trace, by: NamedBy, windows: Option<&[Span]>) -> Numbers {
    let table = KernelTable::of(trace, 0, &Classes::of(trace, &Rules::default()), by, windows);
    let row = |row: &stepscope::analysis::KernelRow| {
        let sum = &row.sum;
        let numbers = (sum.count as i64, sum.total, sum.mean, sum.median, sum.min, sum.max);
        (trace.name(row.name).to_owned(), numbers)
    };
    table.rows.iter().map(row).collect()
}

#[test]
fn the_table_of_kernels_is_the_summary_table_in_every_export_of_one_rank() {
    let demo = Demo::write().unwrap();
    let exports: Vec<PathBuf> = support::shared_exports().into_iter().chain(demo.exports.iter().cloned()).collect();
    let mut compared = 0;
    for path in exports {
        let Ok(trace) = open(&path, &LoadOptions::default(), &Progress::default()) else { continue };
        if trace.ranks.len() != 1 {
            continue;
        }
        compared += 1;
        let whole = Scope::whole(&trace);
        assert_eq!(of_panel(&trace, NamedBy::Full, None), of_stats(&trace, &whole, false), "{}", path.display());
        // One base name may stand for kernels of several classes, which are rows of their own.
        let sum = |numbers: &Numbers| numbers.values().map(|row| row.1).sum::<i64>();
        let base = KernelTable::of(&trace, 0, &Classes::of(&trace, &Rules::default()), NamedBy::Base, None);
        assert_eq!(base.total_ns, sum(&of_stats(&trace, &whole, true)), "{}", path.display());
        let hull = trace.ranks[0].ops.hull().unwrap();
        let middle = Span::new(hull.start_ns + hull.len_ns() / 3, hull.start_ns + hull.len_ns() / 2);
        let scope = Scope::span(&trace, middle);
        assert_eq!(of_panel(&trace, NamedBy::Full, Some(&[middle])), of_stats(&trace, &scope, false));
    }
    assert!(compared >= 2, "the demo's ranks at least");
}
