//! Row numbers of events in their table, as runs: files are nearly in the order of the columns.

use super::NONE;

/// The row number of each event.
///
/// Cost: 8 bytes a run of consecutive numbers, or 4 bytes an event when runs do not pay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowNumbers(Store);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Store {
    /// First event and its row, for each run; sorted by event.
    Runs(Vec<(u32, u32)>),
    /// The row of each event.
    Each(Vec<u32>),
}

impl Default for Store {
    fn default() -> Self {
        Self::Runs(Vec::new())
    }
}

impl RowNumbers {
    /// Row number of event `at`; `None` when it has no place in the file. The event must be one of the table.
    pub fn get(&self, at: usize) -> Option<u32> {
        let row = match &self.0 {
            Store::Each(rows) => rows.get(at).copied()?,
            Store::Runs(runs) => {
                let at = u32::try_from(at).ok()?;
                let run = runs.partition_point(|(first, _)| *first <= at).checked_sub(1)?;
                let (first, row) = runs.get(run)?;
                if *row == NONE { NONE } else { row.checked_add(at - first)? }
            }
        };
        (row != NONE).then_some(row)
    }
}

impl From<Vec<u32>> for RowNumbers {
    /// Takes the row of each event, [`NONE`] for none.
    fn from(rows: Vec<u32>) -> Self {
        let follows =
            |before: u32, row: u32| if before == NONE { row == NONE } else { before + 1 == row && row != NONE };
        let begins = |at: usize| at == 0 || !follows(rows[at - 1], rows[at]);
        let count = (0..rows.len()).filter(|at| begins(*at)).count();
        if count * 2 >= rows.len() && count > 1 {
            return Self(Store::Each(rows));
        }
        let mut runs = Vec::with_capacity(count);
        runs.extend((0..rows.len()).filter(|at| begins(*at)).map(|at| (at as u32, rows[at])));
        Self(Store::Runs(runs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rows_in_order_are_one_run() {
        let rows = RowNumbers::from((5..105).collect::<Vec<u32>>());
        assert_eq!(rows.0, Store::Runs(vec![(0, 5)]));
        assert_eq!((rows.get(0), rows.get(99)), (Some(5), Some(104)));
    }

    proptest! {
        #[test]
        fn runs_give_the_rows_they_were_made_of(steps in proptest::collection::vec((0_u32..9, 0_u32..4), 0..60)) {
            let mut rows = Vec::new();
            for (start, count) in steps {
                match start {
                    8 => rows.push(NONE),
                    7 => rows.push(NONE - 1),
                    _ => rows.extend(start * 10..start * 10 + count),
                }
            }
            let numbers = RowNumbers::from(rows.clone());
            let back: Vec<u32> = (0..rows.len()).map(|at| numbers.get(at).unwrap_or(NONE)).collect();
            prop_assert_eq!(back, rows);
        }
    }
}
