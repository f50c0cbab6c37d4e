//! Looking into folders and reading summaries, on a thread beside the frame.

use super::captures::{Entry, FEW};
use super::state::{file_name, real};
use crate::job::ExportSummary;
use crate::job::file::{self, ReadError};
use crate::job::folder::{self, Capture};
use crate::nsys;
use crate::task::Wake;
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// What was found in files and folders.
#[derive(Debug, Default)]
pub struct Found {
    /// Captures.
    pub entries: Vec<Entry>,
    /// Files that only the loader can tell of: reports that were not exported.
    pub others: Vec<PathBuf>,
    /// Captures beyond those that are listed.
    pub left_out: usize,
    /// Names of what could not be read, and why.
    pub failures: Vec<(String, String)>,
}

/// What the thread tells.
#[derive(Debug)]
pub enum Told {
    /// What was found.
    Found(Found),
    /// Hosts of exports that have no summary, found later since each file has to be opened for it.
    Hosts(Vec<(PathBuf, String)>),
}

/// Looks into folders, one request at a time after the other.
pub struct Gather {
    sender: SyncSender<(u64, Told)>,
    receiver: Receiver<(u64, Told)>,
    wake: Wake,
    stop: Arc<AtomicBool>,
    /// Requests that have not told what they found; those before `since` are given up.
    waiting: Vec<u64>,
    next: u64,
    since: u64,
}

impl std::fmt::Debug for Gather {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gather").field("waiting", &self.waiting).finish_non_exhaustive()
    }
}

impl Gather {
    /// Nothing asked for yet. `wake` is called when there is something to be polled.
    pub fn new(wake: Wake) -> Self {
        let (sender, receiver) = sync_channel(8);
        let stop = Arc::new(AtomicBool::new(false));
        Self { sender, receiver, wake, stop, waiting: Vec::new(), next: 0, since: 0 }
    }

    /// Starts looking at `paths`.
    pub fn start(&mut self, paths: Vec<PathBuf>) {
        let (id, sender, wake, stop) = (self.next, self.sender.clone(), self.wake.clone(), Arc::clone(&self.stop));
        self.next += 1;
        let work = move || {
            let found = found(&paths);
            let unknown = unknown_hosts(&found.entries);
            // The receiver is gone when the window closed meanwhile: nothing is left to tell.
            let _ = sender.send((id, Told::Found(found)));
            wake.call();
            let hosts = hosts(&unknown, &stop);
            if !hosts.is_empty() {
                let _ = sender.send((id, Told::Hosts(hosts)));
                wake.call();
            }
        };
        if std::thread::Builder::new().name("folder".to_owned()).spawn(work).is_ok() {
            self.waiting.push(id);
        }
    }

    /// The next thing that was found. Never blocks.
    pub fn poll(&mut self) -> Option<Told> {
        while let Ok((id, told)) = self.receiver.try_recv() {
            if matches!(told, Told::Found(_)) {
                self.waiting.retain(|waiting| *waiting != id);
            }
            if id >= self.since {
                return Some(told);
            }
        }
        None
    }

    /// True while a request has not told what it found.
    pub fn is_busy(&self) -> bool {
        self.waiting.iter().any(|id| *id >= self.since)
    }

    /// Gives up what was asked for.
    pub fn cancel(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.stop = Arc::new(AtomicBool::new(false));
        self.since = self.next;
        self.waiting.clear();
    }
}

impl Drop for Gather {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// Lists folders and reads summaries.
fn found(paths: &[PathBuf]) -> Found {
    let mut found = Found::default();
    let mut captures: Vec<(Capture, bool)> = Vec::new();
    for path in paths {
        if path.is_dir() {
            look_into(path, &mut captures, &mut found);
        } else if file::is_named(path) {
            captures.push((Capture { export: None, summary: Some(path.clone()) }, true));
        } else if nsys::is_report(path) {
            found.others.push(path.clone());
        } else {
            captures.push((Capture { export: Some(path.clone()), summary: None }, true));
        }
    }
    let left_out = captures.len().saturating_sub(folder::MOST_LISTED);
    captures.truncate(folder::MOST_LISTED);
    found.left_out += left_out;
    let files: Vec<PathBuf> = captures.iter().filter_map(|(capture, _)| capture.summary.clone()).collect();
    let mut read: HashMap<PathBuf, Result<Option<ExportSummary>, ReadError>> =
        files.iter().cloned().zip(file::read_files(&files)).collect();
    for (capture, named) in captures {
        let summary = match capture.summary.as_ref().and_then(|path| Some((path, read.remove(path)?))) {
            Some((_, Ok(Some(summary)))) => Some(Arc::new(summary)),
            Some((path, Ok(None))) => {
                found.failures.push((file_name(path), file::FileError::NotASummary.to_string()));
                None
            }
            Some((path, Err(error))) => {
                found.failures.push((file_name(path), error.to_string()));
                None
            }
            None => None,
        };
        let listed = capture.export.is_some();
        let elsewhere = || folder::export_of(summary.as_deref()?, capture.summary.as_deref()?);
        let export = capture.export.clone().or_else(elsewhere).map(|path| real(&path));
        let Some(file) = export.as_deref().or(capture.summary.as_deref()).filter(|_| listed || summary.is_some())
        else {
            continue;
        };
        let bytes = file.metadata().map_or(0, |facts| facts.len());
        let summary_file = capture.summary.filter(|_| summary.is_some());
        let named = named && listed;
        found.entries.push(Entry { export, summary, summary_file, host: None, bytes, listed, named });
    }
    found
}

/// Adds the captures in a folder; reports when it holds nothing else.
fn look_into(path: &Path, captures: &mut Vec<(Capture, bool)>, found: &mut Found) {
    let name = file_name(path);
    let listing = match folder::list(path) {
        Ok(listing) => listing,
        Err(error) => {
            found.failures.push((name, format!("The folder {} cannot be read: {error}.", path.display())));
            return;
        }
    };
    found.left_out += listing.left_out;
    if !listing.captures.is_empty() {
        captures.extend(listing.captures.into_iter().map(|capture| (capture, false)));
        return;
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut reports: Vec<PathBuf> = entries.filter(|path| nsys::is_report(path) && path.is_file()).collect();
    reports.sort();
    if reports.is_empty() {
        let message = format!(
            "No export: {} holds no file that ends in .sqlite, .sqlite3, .db or .summary. Folders inside it are not \
             searched.",
            path.display()
        );
        found.failures.push((name, message));
    }
    // A list of questions, one for each report, helps nobody.
    found.others.extend(reports.into_iter().take(FEW));
}

/// Exports whose host is not told by a summary; none when they are opened at once, without being chosen from.
fn unknown_hosts(entries: &[Entry]) -> Vec<PathBuf> {
    if entries.iter().filter(|entry| entry.listed).count() <= FEW {
        return Vec::new();
    }
    entries.iter().filter(|entry| entry.summary.is_none()).filter_map(|entry| entry.export.clone()).collect()
}

/// Hosts of exports, as far as the files tell; several are looked into at once.
fn hosts(exports: &[PathBuf], stop: &AtomicBool) -> Vec<(PathBuf, String)> {
    let known = Mutex::new(Vec::new());
    exports.par_iter().for_each(|path| {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        if let Some(host) = nsys::peek(path).ok().and_then(|source| source.host) {
            known.lock().unwrap_or_else(PoisonError::into_inner).push((path.clone(), host));
        }
    });
    let mut hosts = known.into_inner().unwrap_or_else(PoisonError::into_inner);
    hosts.sort();
    hosts
}
