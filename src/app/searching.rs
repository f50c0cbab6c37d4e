//! Searches on threads of their own: the newest question wins, older ones are cancelled.
//!
//! What was found everywhere is kept, so that another scope costs a pass over the hits alone.

use crate::task::Wake;
use crate::view::Workspace;
use crate::view::search::{Hits, Request};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// What a search found: everywhere, and where it was asked for.
struct Answer {
    number: u64,
    everywhere: Arc<Hits>,
    asked: Arc<Hits>,
}

/// Runs searches.
pub struct Searching {
    wake: Wake,
    /// Number of the newest question; a thread that answers an older one stops.
    newest: Arc<AtomicU64>,
    sender: SyncSender<Answer>,
    receiver: Receiver<Answer>,
    /// The question that is answered or being answered, and of which documents.
    asked: Option<(Request, u64)>,
    /// The last answer everywhere, and of which documents.
    everywhere: Option<(Arc<Hits>, u64)>,
}

impl std::fmt::Debug for Searching {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Searching").field("asked", &self.asked).finish_non_exhaustive()
    }
}

impl Searching {
    /// Nothing asked yet. `wake` is called when there is an answer.
    pub fn new(wake: Wake) -> Self {
        let (sender, receiver) = sync_channel(1);
        Self { wake, newest: Arc::default(), sender, receiver, asked: None, everywhere: None }
    }

    /// Starts answering `request`, unless that is done already. `revision` changes with the documents.
    pub fn follow(&mut self, request: Option<Request>, workspace: &Workspace, revision: u64) {
        let wanted = request.map(|request| (request, revision));
        if self.asked == wanted {
            return;
        }
        self.asked = wanted;
        let number = self.newest.fetch_add(1, Ordering::SeqCst) + 1;
        let Some((request, _)) = self.asked.clone() else {
            self.everywhere = None;
            return;
        };
        let known =
            self.everywhere.as_ref().filter(|(hits, of)| *of == revision && hits.request.query == request.query);
        let known = known.map(|(hits, _)| Arc::clone(hits));
        let (newest, docs) = (Arc::clone(&self.newest), workspace.docs.clone());
        let (sender, wake) = (self.sender.clone(), self.wake.clone());
        let work = move || {
            let cancelled = || newest.load(Ordering::Relaxed) != number;
            let find = || Hits::find(&request.query, docs, &cancelled).ok().flatten().map(Arc::new);
            let Some(everywhere) = known.or_else(find) else { return };
            let asked = match request.within {
                None => Arc::clone(&everywhere),
                Some(span) => match everywhere.within(span, &cancelled) {
                    Some(hits) => Arc::new(hits),
                    None => return,
                },
            };
            // The receiver is gone when the window closed meanwhile.
            let _ = sender.send(Answer { number, everywhere, asked });
            wake.call();
        };
        if std::thread::Builder::new().name("search".to_owned()).spawn(work).is_err() {
            // Asked again with the next command.
            self.asked = None;
        }
    }

    /// The answer to the newest question, once it is there. Never blocks.
    pub fn poll(&mut self) -> Option<Arc<Hits>> {
        while let Ok(answer) = self.receiver.try_recv() {
            if answer.number == self.newest.load(Ordering::SeqCst) {
                self.everywhere = self.asked.as_ref().map(|(_, revision)| (answer.everywhere, *revision));
                return Some(answer.asked);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Params, analyze};
    use crate::trace::testing::Fixture;
    use crate::units::Span;
    use crate::view::search::Query;

    fn workspace() -> Workspace {
        let mut fixture = Fixture::new();
        for at in 0..100 {
            fixture.kernel(if at % 2 == 0 { "gemm" } else { "softmax" }, 7, at * 100, at * 100 + 50);
        }
        let trace = Arc::new(fixture.build());
        let analysis = Arc::new(analyze(&trace, &Params::default()));
        Workspace::new([(trace, analysis)])
    }

    fn request(text: &str, within: Option<Span>) -> Option<Request> {
        Some(Request { query: Query { text: text.to_owned(), ..Query::default() }, within })
    }

    #[test]
    fn only_the_newest_question_is_answered() {
        let (woken, wakes) = sync_channel(64);
        let mut searching = Searching::new(Wake::new(move || {
            let _ = woken.send(());
        }));
        let workspace = workspace();
        for text in ["g", "ge", "gem", "soft"] {
            searching.follow(request(text, None), &workspace, 1);
        }
        let hits = loop {
            wakes.recv().unwrap();
            if let Some(hits) = searching.poll() {
                break hits;
            }
        };
        assert_eq!((Some(hits.request.clone()), hits.len()), (request("soft", None), 50));
        searching.follow(request("soft", Some(Span::new(0, 1_000))), &workspace, 1);
        let narrow = loop {
            wakes.recv().unwrap();
            if let Some(hits) = searching.poll() {
                break hits;
            }
        };
        assert_eq!(narrow.len(), 5);
        searching.follow(request("soft", None), &workspace, 1);
        let wide = loop {
            wakes.recv().unwrap();
            if let Some(hits) = searching.poll() {
                break hits;
            }
        };
        assert!(Arc::ptr_eq(&wide, &hits), "found once");
    }
}
