//! Captures that could be opened: what is cheaply known of each, and which are chosen.
//!
//! Summaries are read at once, since they are kilobytes. Exports are only listed until the user asks for them.

use crate::format;
use crate::job::ExportSummary;
use crate::nsys;
use crate::view::Choose;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Exports that a folder opens without asking.
pub const FEW: usize = 8;

/// A capture that could be opened.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Entry {
    /// Its export, when there is one on this machine.
    pub export: Option<PathBuf>,
    /// What its summary tells.
    pub summary: Option<Arc<ExportSummary>>,
    /// Where that was read.
    pub summary_file: Option<PathBuf>,
    /// Host name, of exports that were looked into.
    pub host: Option<String>,
    /// Size of the export, else of the summary.
    pub bytes: u64,
    /// The export lies in the folder or was named itself, and was not found by what a summary says.
    pub listed: bool,
    /// It was named itself.
    pub named: bool,
}

impl Entry {
    /// Name of the export, else that which the summary was made of.
    pub fn file(&self) -> String {
        let recorded = self.summary.as_ref().map(|summary| summary.file.as_path());
        self.export.as_deref().or(recorded).map(super::file_name).unwrap_or_default()
    }

    /// Labels of its ranks; of an export without a summary the number in its name.
    pub fn ranks(&self) -> String {
        match &self.summary {
            Some(summary) => {
                let labels: Vec<&str> = summary.ranks.iter().map(|rank| rank.label.as_str()).collect();
                format::one_line(&labels.join(", "), 40)
            }
            None => self.export.as_deref().and_then(nsys::rank_in_name).unwrap_or_default(),
        }
    }

    /// Name of the machine it was recorded on.
    pub fn node(&self) -> Option<&str> {
        self.summary.as_ref().and_then(|summary| summary.host.as_deref()).or(self.host.as_deref())
    }

    /// Steps of its first rank that has any.
    pub fn steps(&self) -> Option<usize> {
        let ranks = &self.summary.as_ref()?.ranks;
        ranks.iter().map(|rank| rank.steps.len()).find(|steps| *steps > 0)
    }

    /// Median length of those steps in nanoseconds.
    pub fn median_step_ns(&self) -> Option<i64> {
        self.summary.as_ref()?.ranks.iter().find_map(|rank| Some(rank.typical?.median_span_ns))
    }

    /// What is there of it.
    pub const fn state(&self) -> &'static str {
        match (&self.export, &self.summary) {
            (Some(_), Some(_)) => "export, summary",
            (Some(_), None) => "export",
            (None, _) => "summary only",
        }
    }

    /// True when what is shown of it contains `wanted`, which is in lower case.
    fn contains(&self, wanted: &str) -> bool {
        let texts = [self.file(), self.ranks(), self.node().unwrap_or_default().to_owned(), self.state().to_owned()];
        wanted.is_empty() || texts.iter().any(|text| text.to_lowercase().contains(wanted))
    }
}

/// Captures that could be opened, and which of them are chosen.
#[derive(Debug, Default)]
pub struct Captures {
    /// The captures, in the order of the numbers in their names.
    pub entries: Vec<Entry>,
    /// Captures that were found and are not listed.
    pub left_out: usize,
    /// What the list is filtered by.
    pub filter: String,
    /// Changes whenever the list would look otherwise.
    pub revision: u64,
    /// Exports that are chosen.
    chosen: HashSet<PathBuf>,
    /// Exports that are open.
    open: HashSet<PathBuf>,
}

impl Captures {
    /// Adds what was found. What is known already is not listed twice: the same export, or a summary of the same run.
    /// Exports that were named are chosen at once.
    pub fn add(&mut self, found: Vec<Entry>) {
        for entry in found {
            if entry.named {
                self.chosen.extend(entry.export.clone());
            }
            let same = self.entries.iter_mut().find(|known| match (&known.export, &entry.export) {
                (Some(known), Some(export)) => known == export,
                _ => known.summary.as_ref().zip(entry.summary.as_ref()).is_some_and(|(a, b)| a.is_of_same_run(b)),
            });
            match same {
                Some(known) => {
                    if entry.summary.is_some() {
                        (known.summary, known.summary_file) = (entry.summary, entry.summary_file);
                    }
                    known.listed |= entry.listed;
                    if known.export.is_none() {
                        (known.export, known.bytes) = (entry.export, entry.bytes);
                    }
                }
                None => self.entries.push(entry),
            }
        }
        self.revision += 1;
    }

    /// Takes over the hosts of exports that were looked into.
    pub fn add_hosts(&mut self, hosts: &[(PathBuf, String)]) {
        for (export, host) in hosts {
            if let Some(entry) = self.entries.iter_mut().find(|entry| entry.export.as_ref() == Some(export)) {
                entry.host = Some(host.clone());
            }
        }
        self.revision += 1;
    }

    /// Says which exports are open, by their real paths.
    pub fn follow(&mut self, open: HashSet<PathBuf>) {
        if self.open != open {
            self.chosen.retain(|path| !open.contains(path));
            self.open = open;
            self.revision += 1;
        }
    }

    /// What the summaries tell of exports that are not open themselves.
    pub fn summaries(&self) -> Vec<Arc<ExportSummary>> {
        let closed = self.entries.iter().filter(|entry| !self.is_open(entry));
        closed.filter_map(|entry| entry.summary.clone()).collect()
    }

    /// Where those were read.
    pub fn summary_files(&self) -> Vec<PathBuf> {
        let closed = self.entries.iter().filter(|entry| !self.is_open(entry));
        closed.filter_map(|entry| entry.summary_file.clone()).collect()
    }

    /// True when its export is open.
    pub fn is_open(&self, entry: &Entry) -> bool {
        entry.export.as_ref().is_some_and(|export| self.open.contains(export))
    }

    /// True when it can be chosen: its export is there and not open yet.
    pub fn can_open(&self, entry: &Entry) -> bool {
        entry.export.is_some() && !self.is_open(entry)
    }

    /// True when it is chosen.
    pub fn is_chosen(&self, entry: &Entry) -> bool {
        entry.export.as_ref().is_some_and(|export| self.chosen.contains(export))
    }

    /// The exports that are chosen, in the order of the list, and their bytes in all.
    pub fn chosen(&self) -> (Vec<PathBuf>, u64) {
        let chosen = || self.entries.iter().filter(|entry| self.is_chosen(entry));
        (chosen().filter_map(|entry| entry.export.clone()).collect(), chosen().map(|entry| entry.bytes).sum())
    }

    /// How many of the chosen ones the filter hides.
    pub fn chosen_hidden(&self) -> usize {
        self.entries.iter().filter(|entry| self.is_chosen(entry) && !self.is_shown(entry)).count()
    }

    /// True when the filter lets it through.
    pub fn is_shown(&self, entry: &Entry) -> bool {
        entry.contains(&self.filter.trim().to_lowercase())
    }

    /// Changes what is chosen. All but a single tick is about what the filter lets through.
    pub fn apply(&mut self, choose: &Choose) {
        self.revision += 1;
        let pick = |entry: &&Entry| self.can_open(entry) && self.is_shown(entry);
        let export = |entry: &Entry| entry.export.clone();
        match choose {
            Choose::Filter(text) => self.filter.clone_from(text),
            Choose::Toggle(at) => {
                let entry = self.entries.get(*at).filter(|entry| self.can_open(entry));
                if let Some(export) = entry.and_then(export)
                    && !self.chosen.remove(&export)
                {
                    self.chosen.insert(export);
                }
            }
            Choose::All => {
                let all: Vec<PathBuf> = self.entries.iter().filter(pick).filter_map(export).collect();
                self.chosen.extend(all);
            }
            Choose::None => {
                let shown: Vec<PathBuf> =
                    self.entries.iter().filter(|entry| self.is_shown(entry)).filter_map(export).collect();
                shown.iter().for_each(|export| drop(self.chosen.take(export)));
            }
            Choose::FirstOfEachNode => {
                let mut nodes = HashSet::new();
                let first = |entry: &&Entry| nodes.insert(entry.node().map(str::to_owned));
                self.chosen = self.entries.iter().filter(pick).filter(first).filter_map(export).collect();
            }
            Choose::EveryNth(n) => {
                self.chosen = self.entries.iter().filter(pick).step_by((*n).max(1)).filter_map(export).collect();
            }
        }
    }

    /// The export of the capture that a summary tells of.
    pub fn export_of(&self, summary: &ExportSummary) -> Option<&Path> {
        let of = |entry: &&Entry| entry.summary.as_ref().is_some_and(|known| known.is_of_same_run(summary));
        self.entries.iter().find(of)?.export.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exports of ranks 0 to 7 on two nodes; of the last one only the summary is there.
    fn captures() -> Captures {
        let entry = |rank: usize| {
            let file = PathBuf::from(format!("/job/rank{rank}.sqlite"));
            let host = Some(format!("node{}", rank / 4));
            let summary = ExportSummary { file: file.clone(), host, ..ExportSummary::default() };
            let export = (rank < 7).then_some(file);
            Entry { export, summary: Some(Arc::new(summary)), bytes: 10, listed: true, ..Entry::default() }
        };
        let mut captures = Captures::default();
        captures.add((0..8).map(entry).collect());
        captures
    }

    fn chosen(captures: &Captures) -> Vec<String> {
        captures.chosen().0.iter().filter_map(|path| nsys::rank_in_name(path)).collect()
    }

    #[test]
    fn ranks_are_chosen_one_by_one_by_node_and_by_number_among_those_that_can_be_opened() {
        let mut captures = captures();
        captures.apply(&Choose::Toggle(3));
        captures.apply(&Choose::Toggle(7));
        assert_eq!(chosen(&captures), ["3"], "of rank 7 there is no export");
        captures.apply(&Choose::FirstOfEachNode);
        assert_eq!(chosen(&captures), ["0", "4"]);
        captures.apply(&Choose::EveryNth(3));
        assert_eq!((chosen(&captures), captures.chosen().1), (vec!["0".into(), "3".into(), "6".into()], 30));
        captures.apply(&Choose::EveryNth(0));
        assert_eq!(chosen(&captures).len(), 7);
    }

    #[test]
    fn all_and_none_are_about_what_the_filter_lets_through_and_open_ones_are_left_alone() {
        let mut captures = captures();
        captures.apply(&Choose::Filter(" NODE1 ".to_owned()));
        captures.apply(&Choose::All);
        assert_eq!(chosen(&captures), ["4", "5", "6"]);
        captures.follow(HashSet::from([PathBuf::from("/job/rank5.sqlite")]));
        assert_eq!(chosen(&captures), ["4", "6"]);
        captures.apply(&Choose::Filter("rank4".to_owned()));
        captures.apply(&Choose::None);
        captures.apply(&Choose::Toggle(5));
        assert_eq!(chosen(&captures), ["6"]);
    }

    #[test]
    fn what_is_found_again_is_listed_once_and_an_open_export_wins_over_its_summary() {
        let mut captures = captures();
        let again = captures.entries.clone();
        let mut last = again[7].clone();
        last.export = Some("/elsewhere/rank7.sqlite".into());
        captures.add(again);
        captures.add(vec![last]);
        assert_eq!((captures.entries.len(), captures.entries[7].state()), (8, "export, summary"));
        captures.follow(HashSet::from([PathBuf::from("/job/rank0.sqlite")]));
        assert_eq!(captures.summaries().len(), 7);
        let of = captures.entries[7].summary.clone().unwrap();
        assert_eq!(captures.export_of(&of), Some(Path::new("/elsewhere/rank7.sqlite")));
    }
}
