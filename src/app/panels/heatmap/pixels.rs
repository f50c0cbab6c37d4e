//! Cells of a heatmap to pixels: a cell takes several pixels, or, when there are more cells than pixels, a pixel shows
//! the worst of its cells, so that no odd one disappears.

use crate::job::Heat;
use std::ops::Range;

/// A row or a column of a heatmap in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axis {
    cells: usize,
    pixels: usize,
}

impl Axis {
    /// So many cells on so many pixels, at least one of each.
    pub fn new(cells: usize, pixels: usize) -> Self {
        Self { cells: cells.max(1), pixels: pixels.max(1) }
    }

    /// Places to draw: one for each cell, or one for each pixel when those are fewer.
    pub fn places(&self) -> usize {
        self.cells.min(self.pixels)
    }

    /// The cells that place `at` shows.
    pub fn cells(&self, at: usize) -> Range<usize> {
        let places = self.places();
        // Cell c belongs to place floor(c * places / cells).
        let first = |at: usize| (at * self.cells).div_ceil(places);
        first(at)..first(at + 1)
    }

    /// The pixels that place `at` takes.
    pub fn pixels(&self, at: usize) -> Range<usize> {
        let places = self.places();
        at * self.pixels / places..(at + 1) * self.pixels / places
    }

    /// The place that pixel `pixel` belongs to; `None` outside.
    pub fn place_at(&self, pixel: usize) -> Option<usize> {
        let places = self.places();
        if pixel >= self.pixels {
            return None;
        }
        // The first place whose pixels end after it.
        Some((((pixel + 1) * places).div_ceil(self.pixels)).saturating_sub(1))
    }
}

/// The worst of the cells in these rows and columns, and where it is; of equals the first. `None` when all are empty.
pub fn worst(heat: &Heat, rows: Range<usize>, columns: Range<usize>) -> Option<(usize, usize, f64)> {
    let mut worst: Option<(usize, usize, f64)> = None;
    for row in rows {
        for column in columns.clone() {
            if let Some(value) = heat.cell(row, column)
                && worst.is_none_or(|(.., known)| heat.is_worse(value, known))
            {
                worst = Some((row, column, value));
            }
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::HeatMetric;
    use proptest::prelude::*;

    fn heat(rows: usize, columns: usize, metric: HeatMetric, cells: &[Option<f64>]) -> Heat {
        let cells: Vec<Option<f64>> = (0..rows * columns).map(|at| cells[at % cells.len()]).collect();
        let steps = (0..columns as i64).collect();
        Heat { metric, steps, ranks: (0..rows).collect(), cells, scale: Some((0.0, 1.0)), ..Heat::default() }
    }

    proptest! {
        #[test]
        fn pixels_and_cells_are_shared_out_without_rest(cells in 1_usize..300, pixels in 1_usize..300) {
            let axis = Axis::new(cells, pixels);
            let all_cells: Vec<usize> = (0..axis.places()).flat_map(|at| axis.cells(at)).collect();
            let all_pixels: Vec<usize> = (0..axis.places()).flat_map(|at| axis.pixels(at)).collect();
            prop_assert_eq!(all_cells, (0..cells).collect::<Vec<_>>());
            prop_assert_eq!(all_pixels, (0..pixels).collect::<Vec<_>>());
            for at in 0..axis.places() {
                prop_assert!(!axis.cells(at).is_empty() && !axis.pixels(at).is_empty());
                for pixel in axis.pixels(at) {
                    prop_assert_eq!(axis.place_at(pixel), Some(at));
                }
            }
            prop_assert_eq!(axis.place_at(pixels), None);
        }

        #[test]
        fn a_pixel_shows_the_worst_of_its_cells(
            rows in 1_usize..40,
            columns in 1_usize..40,
            high in 1_usize..30,
            wide in 1_usize..30,
            better in any::<bool>(),
            values in prop::collection::vec(prop::option::weighted(0.8, 0_u8..50), 1..200),
        ) {
            let metric = if better { HeatMetric::Mfu } else { HeatMetric::Idle };
            let values: Vec<Option<f64>> = values.into_iter().map(|value| value.map(f64::from)).collect();
            let heat = heat(rows, columns, metric, &values);
            let (down, across) = (Axis::new(rows, high), Axis::new(columns, wide));
            // By brute force: each cell goes to the pixel that holds its upper left corner.
            for y in 0..down.places() {
                for x in 0..across.places() {
                    let mut all = Vec::new();
                    for row in 0..rows {
                        for column in 0..columns {
                            if row * down.places() / rows == y && column * across.places() / columns == x {
                                all.extend(heat.cell(row, column));
                            }
                        }
                    }
                    let expected = all.into_iter().reduce(|a, b| if better { a.min(b) } else { a.max(b) });
                    let found = worst(&heat, down.cells(y), across.cells(x));
                    prop_assert_eq!(found.map(|(.., value)| value), expected);
                    if let Some((row, column, value)) = found {
                        prop_assert_eq!(heat.cell(row, column), Some(value));
                    }
                }
            }
        }
    }
}
