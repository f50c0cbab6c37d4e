//! Putting what is open together as one job: beside the frame where that takes long, one piece of work at a time. The
//! window shows what it had meanwhile.

use crate::task::{Task, Wake};
use crate::view::Workspace;
use std::sync::Arc;

/// With more collectives and steps over all ranks than this a frame does not wait: they take some milliseconds.
pub const LARGE: usize = 20_000;

/// What puts things together.
pub type Work = Arc<dyn Fn() -> Workspace + Send + Sync>;

/// What came of the work that was started.
#[derive(Debug)]
pub enum Joined {
    /// What is wanted.
    Ready(Box<Workspace>),
    /// Something changed meanwhile, or it failed: it has to be made anew.
    Outdated,
}

/// Does the work.
#[derive(Debug)]
pub struct Joining {
    wake: Wake,
    task: Option<Task<Workspace>>,
    wanted: bool,
    valid: bool,
}

impl Joining {
    /// Nothing to do yet. `wake` is called when something is ready.
    pub fn new(wake: Wake) -> Self {
        Self { wake, task: None, wanted: false, valid: false }
    }

    /// Has `work` done: at once where it is of no more than `large` collectives and steps, which gives what it makes;
    /// else on a thread. While other work is being done there, what is asked for is outdated before it begins:
    /// [`Joining::poll`] tells to ask anew.
    pub fn start(&mut self, size: usize, large: usize, work: Work) -> Option<Workspace> {
        (self.wanted, self.valid) = (size > large, self.task.is_none());
        if !self.wanted {
            return Some(work());
        }
        if self.task.is_none() {
            self.task = Some(Task::start("job", Some(self.wake.clone()), move |_| Some(work())));
        }
        None
    }

    /// What is being made is of something that has changed.
    pub const fn outdate(&mut self) {
        self.valid = false;
    }

    /// True while something is wanted that is not there.
    pub const fn is_busy(&self) -> bool {
        self.wanted
    }

    /// What came of the work, when that is over. Never blocks.
    pub fn poll(&mut self) -> Option<Joined> {
        match self.task.take()?.take() {
            Err(task) => {
                self.task = Some(task);
                None
            }
            Ok(_) if !self.wanted => None,
            Ok(made) => {
                self.wanted = false;
                Some(made.filter(|_| self.valid).map_or(Joined::Outdated, |made| Joined::Ready(Box::new(made))))
            }
        }
    }
}

/// Whether what is moved by hand rests: it does once no move came between two frames.
#[derive(Debug)]
pub struct Rest {
    wake: Wake,
    moved: bool,
}

impl Rest {
    /// At rest. `wake` asks for another frame.
    pub fn new(wake: Wake) -> Self {
        Self { wake, moved: false }
    }

    /// Something was moved.
    pub fn moved(&mut self) {
        self.moved = true;
        self.wake.call();
    }

    /// Asked once a frame: true when nothing was moved since it was asked last.
    pub fn is_at_rest(&mut self) -> bool {
        if std::mem::take(&mut self.moved) {
            self.wake.call();
            return false;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, sync_channel};

    fn waiting() -> (Joining, Receiver<()>) {
        let (woken, wakes) = sync_channel(16);
        let wake = move || {
            let _ = woken.send(());
        };
        (Joining::new(Wake::new(wake)), wakes)
    }

    fn made(origin_ns: i64) -> Work {
        Arc::new(move || Workspace { origin_ns, ..Workspace::default() })
    }

    #[test]
    fn little_work_is_done_at_once_and_much_beside_the_frame() {
        let (mut joining, wakes) = waiting();
        assert_eq!(joining.start(5, 5, made(1)).map(|made| made.origin_ns), Some(1));
        assert!(!joining.is_busy() && joining.start(6, 5, made(2)).is_none() && joining.is_busy());
        wakes.recv().unwrap();
        let Some(Joined::Ready(workspace)) = joining.poll() else { panic!("it is ready") };
        assert_eq!((workspace.origin_ns, joining.is_busy()), (2, false));
        assert!(joining.poll().is_none());
    }

    #[test]
    fn what_is_overtaken_is_made_anew_or_forgotten() {
        let (mut joining, wakes) = waiting();
        assert!(joining.start(6, 5, made(1)).is_none() && joining.start(6, 5, made(2)).is_none());
        wakes.recv().unwrap();
        assert!(matches!(joining.poll(), Some(Joined::Outdated)), "only one thread at a time");
        assert!(joining.start(6, 5, made(2)).is_none());
        joining.outdate();
        wakes.recv().unwrap();
        assert!(matches!(joining.poll(), Some(Joined::Outdated)), "something changed meanwhile");
        assert!(joining.start(6, 5, made(3)).is_none() && joining.start(1, 5, made(4)).is_some());
        wakes.recv().unwrap();
        assert!(joining.poll().is_none(), "what was made at once is newer");
        assert!(joining.start(6, 5, Arc::new(|| panic!("on purpose"))).is_none());
        wakes.recv().unwrap();
        assert!(matches!(joining.poll(), Some(Joined::Outdated)));
    }

    #[test]
    fn what_is_moved_rests_once_a_frame_passes_without_a_move() {
        let mut rest = Rest::new(Wake::new(|| {}));
        assert!(rest.is_at_rest());
        rest.moved();
        assert!(!rest.is_at_rest() && rest.is_at_rest());
    }
}
