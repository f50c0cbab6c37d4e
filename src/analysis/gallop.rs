//! A search in a sorted column that begins near its answer.

/// First place at or after `from` for which `before` does not hold; it must hold for a run from there on. Costs the
/// logarithm of the distance.
pub fn gallop<T: Copy>(column: &[T], from: usize, before: impl Fn(T) -> bool) -> usize {
    let mut step = 1;
    let mut low = from;
    while let Some(value) = column.get(low + step - 1) {
        if !before(*value) {
            break;
        }
        low += step;
        step *= 2;
    }
    let high = (low + step - 1).min(column.len());
    let rest = column.get(low..high).unwrap_or(&[]);
    low + rest.partition_point(|value| before(*value))
}
