//! Changes of a settings file that leave the rest of it as it was written: comments, order, other sections.

use crate::experiment::RankPlace;
use serde::Deserialize;
use toml::{Table, Value};
use toml_edit::{ArrayOfTables, DocumentMut, Item, TableLike, value};

/// Makes the section `name` say `said`: what says so already stays untouched, what is not said any more goes.
pub(super) fn section(file: &mut DocumentMut, name: &str, said: &Table) {
    if said.is_empty() && !file.contains_key(name) {
        return;
    }
    let Some(section) = file.entry(name).or_insert_with(toml_edit::table).as_table_like_mut() else { return };
    let gone: Vec<String> =
        section.iter().map(|(key, _)| key.to_owned()).filter(|key| !said.contains_key(canonical(name, key))).collect();
    for key in gone {
        section.remove(&key);
    }
    for (key, wanted) in said {
        let key = written_key(section, name, key);
        set(section, key, wanted);
    }
}

/// The tables `[[rank]]` of a file.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Ranks {
    rank: Vec<RankPlace>,
}

/// Makes the tables `[[rank]]` say `said`; they stay untouched when they do.
pub(super) fn ranks(file: &mut DocumentMut, said: &[RankPlace]) {
    let now: Ranks = toml::from_str(&file.to_string()).unwrap_or_default();
    if now.rank == said {
        return;
    }
    let mut tables = ArrayOfTables::new();
    for rank in said {
        let mut table = toml_edit::Table::new();
        // The struct holds nothing that TOML cannot say.
        for (key, value) in Table::try_from(rank).unwrap_or_default() {
            item(&value).into_iter().for_each(|item| drop(table.insert(&key, item)));
        }
        tables.push(table);
    }
    file.remove("rank");
    if !tables.is_empty() {
        file.insert("rank", Item::ArrayOfTables(tables));
    }
}

/// Sets one key; the comment behind the old value stays.
fn set(section: &mut dyn TableLike, key: &str, wanted: &Value) {
    let Some(mut new) = item(wanted) else { return };
    match section.get_mut(key) {
        Some(old) if same(old, wanted) => {}
        Some(old) => {
            if let (Some(old), Some(new)) = (old.as_value(), new.as_value_mut()) {
                *new.decor_mut() = old.decor().clone();
            }
            *old = new;
        }
        None => drop(section.insert(key, new)),
    }
}

fn item(wanted: &Value) -> Option<Item> {
    Some(match wanted {
        Value::String(text) => value(text.as_str()),
        Value::Integer(number) => value(*number),
        Value::Float(number) => value(*number),
        Value::Boolean(on) => value(*on),
        _ => return None,
    })
}

/// True when the file says `wanted` already, in whatever notation.
fn same(old: &Item, wanted: &Value) -> bool {
    let number = |item: &Item| item.as_float().or_else(|| item.as_integer().map(|number| number as f64));
    match wanted {
        Value::String(text) => old.as_str() == Some(text),
        Value::Integer(wanted) => old.as_integer() == Some(*wanted),
        Value::Float(wanted) => number(old) == Some(*wanted),
        Value::Boolean(wanted) => old.as_bool() == Some(*wanted),
        _ => false,
    }
}

/// Section, key, and another name of that key which the file may use.
const ALIASES: [(&str, &str, &str); 1] = [("batch", "micro_batches", "gradient_accumulation")];

/// The key that `key` of the file stands for.
fn canonical<'k>(section: &str, key: &'k str) -> &'k str {
    ALIASES.iter().find(|(of, _, alias)| *of == section && *alias == key).map_or(key, |(_, key, _)| key)
}

/// What the file calls `key`.
fn written_key<'k>(table: &dyn TableLike, section: &str, key: &'k str) -> &'k str {
    let used =
        |(of, of_key, alias): &&(&str, &str, &str)| *of == section && *of_key == key && table.contains_key(alias);
    ALIASES.iter().find(used).map_or(key, |(_, _, alias)| alias)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# The night runs.\n\
        [[rule]]\npattern = \"mine\" # ours\nclass = \"gemm\"\n\n\
        [experiment] # of the run\n# Measured by hand.\ngpus = 16   # two nodes\nname = 'old'\n\n\
        [batch]\ngradient_accumulation = 4 # as the trainer says\n\n\
        [model]\nparameters = 4_000_000_000 # about\n";

    fn edited(section_name: &str, said: &str) -> String {
        let mut file: DocumentMut = FILE.parse().unwrap();
        section(&mut file, section_name, &said.parse().unwrap());
        file.to_string()
    }

    #[test]
    fn a_changed_value_is_all_that_changes() {
        let text = edited("experiment", "gpus = 32\nname = 'old'");
        assert_eq!(text, FILE.replace("gpus = 16", "gpus = 32"));
        let text = edited("batch", "micro_batches = 8");
        assert_eq!(text, FILE.replace("accumulation = 4", "accumulation = 8"));
    }

    #[test]
    fn what_is_said_already_keeps_its_notation() {
        assert_eq!(edited("model", "parameters = 4e9"), FILE);
        assert_eq!(edited("peak", ""), FILE);
    }

    #[test]
    fn places_of_ranks_are_written_and_kept() {
        let rank = |label: &str, pp| RankPlace { label: label.to_owned(), pp: Some(pp), ..RankPlace::default() };
        let mut file: DocumentMut = FILE.parse().unwrap();
        ranks(&mut file, &[rank("3", 1), rank("4", 2)]);
        let text = file.to_string();
        assert_eq!(text, format!("{FILE}\n[[rank]]\nlabel = \"3\"\npp = 1\n\n[[rank]]\nlabel = \"4\"\npp = 2\n"));
        let noted = text.replace("pp = 1", "pp = 1 # moved");
        let mut file: DocumentMut = noted.parse().unwrap();
        ranks(&mut file, &[rank("3", 1), rank("4", 2)]);
        assert_eq!(file.to_string(), noted);
        ranks(&mut file, &[]);
        assert_eq!(file.to_string().trim_end(), FILE.trim_end());
    }

    #[test]
    fn what_is_not_said_any_more_goes_and_new_sections_come_last() {
        assert_eq!(edited("experiment", "gpus = 16"), FILE.replace("name = 'old'\n", ""));
        assert_eq!(edited("peak", "tflops = 312.0"), format!("{FILE}\n[peak]\ntflops = 312.0\n"));
    }
}
