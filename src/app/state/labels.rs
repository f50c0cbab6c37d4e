//! Labels that the user gives to ranks, and ranks that several files call the same.

use super::super::fingerprint::fingerprint;
use super::super::toast::Message;
use super::{AppState, PathQuestion, Then, file_name};
use crate::format;
use crate::view::{Doc, RankId, Workspace};
use std::collections::{BTreeMap, HashMap};

/// Letters of a label at most.
const LONGEST: usize = 60;

/// Labels by file (its fingerprint) and rank (its index there).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels(HashMap<String, BTreeMap<usize, String>>);

impl Labels {
    /// Takes over what is known of a file.
    pub fn set(&mut self, file: String, labels: BTreeMap<usize, String>) {
        self.0.insert(file, labels);
    }

    fn of(&self, doc: &Doc, rank: usize) -> Option<String> {
        self.0.get(&fingerprint(&doc.trace))?.get(&rank).cloned()
    }
}

/// Labels of a document that are not those of its file.
pub fn given(doc: &Doc) -> BTreeMap<usize, String> {
    let ranks = doc.summary.ranks.iter().zip(&doc.trace.ranks).enumerate();
    ranks.filter(|(_, (now, own))| now.label != own.label).map(|(at, (now, _))| (at, now.label.clone())).collect()
}

impl AppState {
    pub(super) fn ask_rank_name(&mut self, rank: RankId) {
        let label = self.workspace.docs.get(rank.doc).and_then(|doc| doc.summary.ranks.get(rank.rank));
        if let Some(label) = label.map(|rank| rank.label.clone()) {
            self.ask(PathQuestion::RankName(rank), label);
        }
    }

    pub(super) fn rename_rank(&mut self, rank: RankId, label: &str) {
        let Some(doc) = self.workspace.docs.get(rank.doc) else { return };
        let label = format::one_line(label.trim(), LONGEST);
        let mut labels = given(doc);
        if label.is_empty() {
            labels.remove(&rank.rank);
        } else {
            labels.insert(rank.rank, label);
        }
        self.labels.set(fingerprint(&doc.trace), labels);
        self.put_together(Then::default());
    }

    /// Gives the ranks of the open files the labels that the user gave them, now or when they were open before.
    pub(super) fn relabel_opened(&mut self) {
        for doc in &self.opened {
            let file = fingerprint(&doc.trace);
            let known = self.last_views.labels(&file).filter(|_| !self.labels.0.contains_key(&file)).cloned();
            if let Some(known) = known {
                self.labels.set(file, known);
            }
        }
        for doc in &mut self.opened {
            doc.relabel(|doc, rank| self.labels.of(doc, rank));
        }
    }

    /// The same for what is shown, at once.
    pub(in crate::app) fn relabel(&mut self) {
        self.relabel_opened();
        let labels = &self.labels;
        self.workspace.relabel(|doc, rank| labels.of(doc, rank));
    }

    /// Asks about ranks that two files call the same: one was written over, or they are of two runs. Once for each.
    pub(super) fn tell_same_ranks(&mut self) {
        let same = same_ranks(&self.workspace);
        let fresh: Vec<&SameRank> = same.iter().filter(|same| !self.told_twice.contains(&same.line())).collect();
        if fresh.is_empty() {
            return;
        }
        let lines: Vec<String> = fresh.iter().take(8).map(|same| same.line()).collect();
        let more = fresh.len().saturating_sub(lines.len());
        let more = if more > 0 {
            format!("\nand {}", format::counted(more as u64, "more rank", "more ranks"))
        } else {
            String::new()
        };
        let all: Vec<String> = fresh.iter().map(|same| same.line()).collect();
        if fresh.iter().any(|same| same.at_once) {
            let message = format!(
                "{}{more}\n\nIs one of them another rank whose file was given the wrong name, or is it of another run? Until \
                 you rename it (menu of the rank's header), the file stands behind the label.",
                lines.join("\n")
            );
            let title = "Two files call themselves the same rank";
            self.tell(title, message);
        } else {
            self.status = Some(Message::done(format!("{}: taken for two runs", lines.join("; "))));
        }
        self.told_twice.extend(all);
    }
}

/// A rank that two files have.
struct SameRank {
    label: String,
    files: [String; 2],
    /// The captures overlap in time, or it is not known when they were made.
    at_once: bool,
}

impl SameRank {
    fn line(&self) -> String {
        format!("Rank {} is in {} and in {}", format::one_line(&self.label, LONGEST), self.files[0], self.files[1])
    }
}

/// Ranks that an earlier file has, too, by what the files themselves tell.
fn same_ranks(workspace: &Workspace) -> Vec<SameRank> {
    let mut seen: HashMap<&str, &Doc> = HashMap::new();
    let mut same = Vec::new();
    for (id, doc, rank) in workspace.ranks().filter(|(.., rank)| rank.told) {
        let label = doc.summary.ranks.get(id.rank).map_or(rank.label.as_str(), |rank| rank.label.as_str());
        let other = *seen.entry(label).or_insert(doc);
        if !std::sync::Arc::ptr_eq(&other.trace, &doc.trace) {
            let files = [other, doc].map(|doc| file_name(&doc.trace.source.path));
            same.push(SameRank { label: label.to_owned(), files, at_once: overlap(other, doc).unwrap_or(true) });
        }
    }
    same
}

/// Whether two captures were made at the same time by their wall clocks; `None` where those are not known.
fn overlap(a: &Doc, b: &Doc) -> Option<bool> {
    let wall = |doc: &Doc| {
        let (epoch_ns, span) = (doc.trace.source.utc_epoch_ns?, doc.trace.span?);
        Some((epoch_ns.saturating_add(span.start_ns), epoch_ns.saturating_add(span.end_ns)))
    };
    let ((a_start, a_end), (b_start, b_end)) = (wall(a)?, wall(b)?);
    Some(a_start < b_end && b_start < a_end)
}
