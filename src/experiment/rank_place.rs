//! Where the user says that single ranks stand in the parallel layout.

use super::{Invalid, Parallel};
use serde::{Deserialize, Serialize};

/// A table `[[rank]]` of the settings: a rank by its label, and its numbers along the axes, from 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankPlace {
    /// Its label, as lists of ranks show it.
    pub label: String,
    /// Data parallel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dp: Option<u32>,
    /// Tensor parallel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tp: Option<u32>,
    /// Pipeline stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pp: Option<u32>,
    /// Context parallel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cp: Option<u32>,
    /// Expert parallel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ep: Option<u32>,
}

/// Checks that every rank has a label of its own and a place within the layout.
///
/// # Errors
/// The first that has not.
pub(super) fn check(ranks: &[RankPlace], sizes: &Parallel) -> Result<(), Invalid> {
    for (at, rank) in ranks.iter().enumerate() {
        if rank.label.trim().is_empty() {
            return Err(Invalid::new("rank.label", "must not be empty: name the rank as lists of ranks do".to_owned()));
        }
        if ranks.iter().take(at).any(|other| other.label == rank.label) {
            return Err(Invalid::new("rank.label", format!("{:?} comes twice: keep one", rank.label)));
        }
        let axes = [
            ("rank.dp", rank.dp, sizes.dp),
            ("rank.tp", rank.tp, sizes.tp),
            ("rank.pp", rank.pp, sizes.pp),
            ("rank.cp", rank.cp, sizes.cp),
            ("rank.ep", rank.ep, sizes.ep),
        ];
        for (key, place, size) in axes {
            if let (Some(place), Some(size)) = (place, size)
                && u64::from(place) >= size
            {
                let why = format!("of rank {:?} must be 0 to {}, not {place}", rank.label, size.saturating_sub(1));
                return Err(Invalid::new(key, why));
            }
        }
    }
    Ok(())
}
