//! Single operations that differ most between two ranks, as JSON and as a table.

use super::super::document::{Block, Grid};
use super::words::reservation;
use crate::format;
use crate::job::Job;
use serde::Serialize;

/// Rows of the table; JSON has all that are known.
const ROWS: usize = 20;

/// The operations that differ most between two ranks, the farthest from what is usual first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutlierLines {
    /// How many there are; the largest are listed.
    pub count: u64,
    /// Pairs of operations that were compared.
    pub pairs: u64,
    /// The largest.
    pub listed: Vec<OutlierLine>,
}

/// An operation whose difference between two ranks is far from that of others like it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutlierLine {
    /// Its full name.
    pub name: String,
    /// Number of the step on the first rank.
    pub step: Option<i64>,
    /// Its start on the first rank, on the export's own clock.
    pub a_start_ns: i64,
    /// How long it took on the first rank.
    pub a_ns: i64,
    /// How long it took on the second.
    pub b_ns: i64,
    /// How much longer it took on the second.
    pub delta_ns: i64,
    /// Median of that over others like it.
    pub usual_ns: i64,
    /// How much later it began on the second rank, of matched collectives.
    pub later_ns: Option<i64>,
    /// How long each waited for the last rank, of matched collectives.
    pub wait_ns: Option<[i64; 2]>,
}

/// How many outliers there are among how many pairs, of which `listed` are shown.
pub fn outliers_text(count: u64, pairs: u64, listed: u64) -> String {
    let among = format::counted(pairs, "pair", "pairs");
    match count {
        0 if pairs == 0 => "No operation of one could be paired with one of the other.".to_owned(),
        0 => format!("None among {among} of operations."),
        count if count > listed => {
            format!("{} among {among} of operations; the largest {}.", format::count(count), format::count(listed))
        }
        count => format!("{} among {among} of operations.", format::count(count)),
    }
}

/// The operations as a section of a comparison from rank `a` to rank `b`.
pub(super) fn blocks(job: &Job, outliers: &OutlierLines, [a, b]: [&str; 2], blocks: &mut Vec<Block>) {
    let listed = outliers.listed.len().min(ROWS);
    blocks.push(Block::Heading(1, "Outliers".to_owned()));
    blocks.push(Block::Paragraph(outliers_text(outliers.count, outliers.pairs, listed as u64)));
    if listed == 0 {
        return;
    }
    let any_met = outliers.listed.iter().any(|line| line.later_ns.is_some());
    blocks.extend(reservation(job).filter(|_| any_met).map(Block::Paragraph));
    let row = |line: &OutlierLine| {
        vec![
            format::one_line(&line.name, 60),
            line.step.map_or_else(|| format::UNKNOWN.to_owned(), format::integer),
            format::duration(line.a_ns),
            format::duration(line.b_ns),
            format::signed_duration(line.delta_ns),
            format::signed_duration(line.usual_ns),
            line.later_ns.map_or_else(|| format::UNKNOWN.to_owned(), format::signed_duration),
        ]
    };
    let head = ["Operation", "Step", a, b, "Difference", "Usual", "Later"];
    let caption = "Single operations whose difference is far from the usual one of others like them; later: start of a \
                   matched collective on the second rank, by the clock in force";
    let rows = outliers.listed.iter().take(ROWS).map(row).collect();
    blocks.push(Block::Table(Grid::new(caption, &head, &[], rows)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_one_sentence() {
        let texts =
            [(0, 0, 0), (0, 7, 0), (3, 1_000, 3), (300, 2_000, 20)].map(|(n, pairs, m)| outliers_text(n, pairs, m));
        assert_eq!(texts[0], "No operation of one could be paired with one of the other.");
        assert_eq!(texts[1], "None among 7 pairs of operations.");
        assert_eq!(texts[2], "3 among 1\u{2009}000 pairs of operations.");
        assert_eq!(texts[3], "300 among 2\u{2009}000 pairs of operations; the largest 20.");
    }
}
