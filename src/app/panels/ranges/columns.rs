//! The columns of the table of ranges, and which of them find room.

use super::Sort;

/// Space between columns.
pub(super) const GAP_PT: f32 = 4.0;
/// Least width of the names.
pub(super) const NAME_PT: f32 = 116.0;

/// Columns behind the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Busy,
    Share,
    Trend,
    Ops,
    Count,
    Cpu,
}

impl Key {
    /// In the order in which they find room.
    const BY_NEED: [Self; 6] = [Self::Busy, Self::Share, Self::Ops, Self::Trend, Self::Count, Self::Cpu];
    /// From left to right.
    pub const ALL: [Self; 6] = [Self::Busy, Self::Share, Self::Trend, Self::Ops, Self::Count, Self::Cpu];

    pub fn text(self) -> &'static str {
        match self {
            Self::Busy => "GPU busy",
            Self::Share => "Share",
            Self::Trend => "By step",
            Self::Ops => "GPU ops",
            Self::Count => "Count",
            Self::Cpu => "CPU",
        }
    }

    pub fn tip(self) -> &'static str {
        match self {
            Self::Busy => {
                "Time during which anything that belongs to these ranges ran on the GPU. Overlapping operations count \
                 once."
            }
            Self::Share => "GPU busy as a share of the window named above the table.",
            Self::Trend => "GPU busy of every step, over the whole capture.",
            Self::Ops => "GPU operations that belong to these ranges.",
            Self::Count => "Ranges that began.",
            Self::Cpu => "Time that these ranges were open on the host, added up over the ranges.",
        }
    }

    /// What its numbers sort by; a trend has no order.
    pub const fn sort(self) -> Option<Sort> {
        match self {
            Self::Busy | Self::Share => Some(Sort::Busy),
            Self::Trend => None,
            Self::Ops => Some(Sort::Ops),
            Self::Count => Some(Sort::Count),
            Self::Cpu => Some(Sort::Cpu),
        }
    }

    pub fn width(self) -> f32 {
        match self {
            Self::Busy | Self::Cpu | Self::Trend => 60.0,
            Self::Share => 46.0,
            Self::Ops | Self::Count => 52.0,
        }
    }
}

/// The columns that fit into `width` beside the name.
pub(super) fn columns(width: f32, trend: bool) -> Vec<Key> {
    let mut left = width - NAME_PT;
    let mut fit = Vec::new();
    for key in Key::BY_NEED.into_iter().filter(|key| trend || *key != Key::Trend) {
        left -= key.width() + GAP_PT;
        if left < 0.0 {
            break;
        }
        fit.push(key);
    }
    Key::ALL.into_iter().filter(|key| fit.contains(key)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_panel_keeps_the_columns_that_matter_most() {
        assert_eq!(columns(312.0, true), [Key::Busy, Key::Share, Key::Ops]);
        assert_eq!(columns(420.0, true), [Key::Busy, Key::Share, Key::Trend, Key::Ops, Key::Count]);
        assert_eq!(columns(600.0, true), Key::ALL);
        assert!(columns(100.0, true).is_empty());
    }
}
