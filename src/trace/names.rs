//! Interned text.

use rustc_hash::FxBuildHasher;
use std::collections::HashMap;

/// Handle of a text in [`Names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub u32);

impl NameId {
    /// The empty text; always present.
    pub const EMPTY: Self = Self(0);
}

/// Handle of a distinct operation name in [`super::Trace::op_names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpNameId(pub u32);

/// Name of a GPU operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OpName {
    /// Base name without template arguments.
    pub short: NameId,
    /// Demangled name with template arguments; equal to `short` when the file has no other.
    pub full: NameId,
}

/// Texts, each kept once, in one allocation.
///
/// Cost: the bytes of the text plus 4 per entry, and about 16 more per entry while texts are added.
#[derive(Debug, Clone)]
pub struct Names {
    text: String,
    ends: Vec<u32>,
    ids: HashMap<u64, NameId, FxBuildHasher>,
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Self { text: String::new(), ends: Vec::new(), ids: HashMap::default() };
        names.intern("");
        names
    }
}

impl Names {
    /// Text of `id`; empty for a handle of another table.
    pub fn get(&self, id: NameId) -> &str {
        let at = id.0 as usize;
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize);
        self.ends.get(at).and_then(|end| self.text.get(start..*end as usize)).unwrap_or("")
    }

    /// Handle of `text`, added when new.
    ///
    /// Past 4 GiB of text (or 4 billion texts) new texts become [`NameId::EMPTY`]; the loader reports that as a warning.
    pub fn intern(&mut self, text: &str) -> NameId {
        use std::hash::BuildHasher as _;
        let mut hash = FxBuildHasher.hash_one(text);
        // Entries with equal hashes sit at the following keys: rare, so a second table is not worth its memory.
        while let Some(&id) = self.ids.get(&hash) {
            if self.get(id) == text {
                return id;
            }
            hash = hash.wrapping_add(1);
        }
        let (Ok(end), Ok(at)) = (u32::try_from(self.text.len() + text.len()), u32::try_from(self.ends.len())) else {
            return NameId::EMPTY;
        };
        let id = NameId(at);
        self.text.push_str(text);
        self.ends.push(end);
        self.ids.insert(hash, id);
        id
    }

    /// Gives back what only adding needs: the index by text and spare room. Adding still works, but a text that is
    /// there already is kept a second time.
    pub(super) fn freeze(&mut self) {
        self.ids = HashMap::default();
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Never true: the empty text is always there.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All texts with their handles.
    pub fn iter(&self) -> impl Iterator<Item = (NameId, &str)> {
        (0..self.ends.len() as u32).map(|at| (NameId(at), self.get(NameId(at))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_one_handle() {
        let mut names = Names::default();
        let a = names.intern("gemm");
        assert_eq!(names.intern("gemm"), a);
        assert_ne!(names.intern("gemm2"), a);
        assert_eq!((names.get(a), names.get(NameId::EMPTY), names.get(NameId(99))), ("gemm", "", ""));
        names.freeze();
        assert_eq!((names.get(a), names.len()), ("gemm", 3));
    }
}
