//! Which range names count as one in tables: those that differ by a number, or by the counters that `emit_nvtx` puts
//! behind an operator's name.

use crate::trace::{NameId, Names};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher as _;

/// Counters behind an operator's name; they are no part of it.
const COUNTERS: [&str; 2] = [", seq = ", ", op_id = "];

/// Part of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    Number,
}

/// The parts of a name; counters are left out.
#[derive(Debug, Clone)]
struct Pieces<'a>(&'a str);

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        while let Some((_, rest)) = counter(self.0) {
            self.0 = rest;
        }
        let (digits, rest) = split_digits(self.0);
        if !digits.is_empty() {
            self.0 = rest;
            // `2d` and `0x1f` are words; `step4` and `layer_3` end in numbers.
            let is_word = rest.starts_with(|c: char| c.is_alphabetic());
            return Some(if is_word { Piece::Text(digits) } else { Piece::Number });
        }
        let text = self.0;
        let end = text.bytes().enumerate().position(|(at, byte)| {
            byte.is_ascii_digit() || (byte == b',' && text.get(at..).is_some_and(|rest| counter(rest).is_some()))
        });
        let (piece, rest) = text.split_at(end.unwrap_or(text.len()));
        self.0 = rest;
        (!piece.is_empty()).then_some(Piece::Text(piece))
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len()))
}

/// The number of a counter that `text` begins with, and what comes behind it.
fn counter(text: &str) -> Option<(&str, &str)> {
    let rest = COUNTERS.iter().find_map(|counter| text.strip_prefix(counter))?;
    Some(split_digits(rest)).filter(|(digits, _)| !digits.is_empty())
}

/// What the names of a group have in common, with `#` for numbers that differ.
pub fn group_name(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for piece in Pieces(name) {
        text.push_str(match piece {
            Piece::Text(piece) => piece,
            Piece::Number => "#",
        });
    }
    text
}

/// The sequence number in a name such as `aten::mm, seq = 42`: backward carries the number of its forward.
pub fn sequence_number(name: &str) -> Option<u64> {
    let at = name.rfind(COUNTERS[0])?;
    counter(name.get(at..)?).and_then(|(digits, _)| digits.parse().ok())
}

/// Names by group. Groups are numbered in the order in which they are first met.
///
/// Cost: 4 bytes a name of the trace, while ranges are grouped.
#[derive(Debug)]
pub(super) struct Groups<'a> {
    names: &'a Names,
    /// Group of each name, when known.
    known: Vec<u32>,
    /// First name of each group, by hash of its parts.
    firsts: FxHashMap<u64, (u32, NameId)>,
    exact: bool,
}

const UNKNOWN: u32 = u32::MAX;

impl<'a> Groups<'a> {
    /// No groups yet; with `exact` each name is a group of its own.
    pub fn new(names: &'a Names, exact: bool) -> Self {
        let known = if exact { Vec::new() } else { vec![UNKNOWN; names.len()] };
        Self { names, known, firsts: FxHashMap::default(), exact }
    }

    /// Group of `name`.
    pub fn of(&mut self, name: NameId) -> u32 {
        if self.exact {
            return name.0;
        }
        match self.known.get(name.0 as usize) {
            Some(group) if *group != UNKNOWN => return *group,
            _ => {}
        }
        let text = self.names.get(name);
        let mut hasher = FxHasher::default();
        for piece in Pieces(text) {
            match piece {
                Piece::Text(piece) => hasher.write(piece.as_bytes()),
                Piece::Number => hasher.write_u8(0),
            }
        }
        let mut hash = hasher.finish();
        let next = self.firsts.len() as u32;
        // Groups with equal hashes sit at the following keys.
        let group = loop {
            match self.firsts.get(&hash) {
                Some((group, first)) if Pieces(self.names.get(*first)).eq(Pieces(text)) => break *group,
                Some(_) => hash = hash.wrapping_add(1),
                None => {
                    self.firsts.insert(hash, (next, name));
                    break next;
                }
            }
        };
        if let Some(slot) = self.known.get_mut(name.0 as usize) {
            *slot = group;
        }
        group
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_by_a_number_or_a_counter_share_a_group() {
        let cases = [
            ("step 12", "step #"),
            ("layer_3.mlp", "layer_#.mlp"),
            ("aten::mm, seq = 42, op_id = 7", "aten::mm"),
            ("aten::mm, op_id = 7", "aten::mm"),
            ("AddmmBackward0, seq = 42", "AddmmBackward#"),
            ("Conv2d", "Conv2d"),
            ("Conv2d_1", "Conv2d_#"),
            ("0x1f at 7", "0x1f at #"),
            ("sizes, seq = none", "sizes, seq = none"),
            ("é7, ü", "é#, ü"),
            ("", ""),
        ];
        for (name, group) in cases {
            assert_eq!(group_name(name), group, "{name}");
        }
    }

    #[test]
    fn groups_are_numbered_as_they_come() {
        let mut names = Names::default();
        let ids: Vec<NameId> = ["step 1", "fwd", "step 22", "step", "fwd, seq = 3"].map(|n| names.intern(n)).to_vec();
        let mut groups = Groups::new(&names, false);
        let found: Vec<u32> = ids.iter().chain(&ids).map(|id| groups.of(*id)).collect();
        assert_eq!(found, [0, 1, 0, 2, 1, 0, 1, 0, 2, 1]);
        let mut exact = Groups::new(&names, true);
        assert_ne!(exact.of(ids[0]), exact.of(ids[2]));
    }

    #[test]
    fn sequence_numbers_are_read_from_names() {
        assert_eq!(sequence_number("aten::mm, seq = 42, op_id = 7"), Some(42));
        assert_eq!(sequence_number("MmBackward0, seq = 42"), Some(42));
        for name in ["aten::mm, op_id = 7", "seq = 4", ", seq = ", "x, seq = 99999999999999999999999"] {
            assert_eq!(sequence_number(name), None, "{name}");
        }
    }
}
