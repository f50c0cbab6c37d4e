//! Names of domains and categories as small indices.

use super::super::NameId;
use rustc_hash::FxHashMap;

/// Names of domains or categories as small indices; index 0 is the empty name.
#[derive(Debug, Default)]
pub(super) struct Interned {
    names: Vec<NameId>,
    ids: FxHashMap<NameId, u16>,
}

impl Interned {
    pub(super) fn id(&mut self, name: NameId) -> u16 {
        if self.names.is_empty() {
            self.names.push(NameId::EMPTY);
            self.ids.insert(NameId::EMPTY, 0);
        }
        if let Some(id) = self.ids.get(&name) {
            return *id;
        }
        let Ok(id) = u16::try_from(self.names.len()) else { return 0 };
        self.names.push(name);
        self.ids.insert(name, id);
        id
    }

    pub(super) fn into_names(mut self) -> Vec<NameId> {
        self.id(NameId::EMPTY);
        self.names
    }
}
