//! Something that is made once, beside the frame where that takes long.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Called from any thread when something is ready: asks for another frame.
#[derive(Clone)]
pub struct Wake(Arc<dyn Fn() + Send + Sync>);

impl Wake {
    /// What to call.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(wake))
    }

    /// Calls it.
    pub fn call(&self) {
        (self.0)();
    }
}

impl std::fmt::Debug for Wake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Wake")
    }
}

/// Something that is being made on a thread, and what was made once that is over. Dropping it gives the work up.
#[derive(Debug)]
pub struct Task<T> {
    /// Nothing inside when the work was given up or failed.
    made: Arc<OnceLock<Option<T>>>,
    stop: Arc<AtomicBool>,
}

impl<T: Send + Sync + 'static> Task<T> {
    /// Starts `work` on a thread called `name` and calls `wake` when it is over. Without `wake`, and where no thread can
    /// be had, the work is done before this returns.
    ///
    /// Work is given a question to ask now and then: whether it may stop, with `None`.
    pub fn start(
        name: &str,
        wake: Option<Wake>,
        work: impl Fn(&dyn Fn() -> bool) -> Option<T> + Send + Sync + 'static,
    ) -> Self {
        let task = Self { made: Arc::default(), stop: Arc::default() };
        let work = Arc::new(work);
        let started = wake.is_some_and(|wake| {
            let (made, stop, work) = (Arc::clone(&task.made), Arc::clone(&task.stop), Arc::clone(&work));
            let beside = move || {
                let is_stopped = || stop.load(Ordering::Relaxed);
                let done = catch_unwind(AssertUnwindSafe(|| work(&is_stopped))).ok().flatten();
                // What the work holds may be much, and whoever takes what was made has to be its only holder.
                drop(work);
                made.get_or_init(|| done);
                drop(made);
                wake.call();
            };
            std::thread::Builder::new().name(name.to_owned()).spawn(beside).is_ok()
        });
        if !started {
            let done = work(&|| false);
            task.made.get_or_init(|| done);
        }
        task
    }

    /// What was made; `None` as long as it is not there, and when the work was given up or failed.
    pub fn get(&self) -> Option<&T> {
        self.made.get()?.as_ref()
    }

    /// True once the work is over, whatever came of it: [`Task::get`] gives it, if there is anything.
    pub fn is_over(&self) -> bool {
        self.made.get().is_some()
    }

    /// Gives the work up: it ends soon.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// True once somebody gave the work up.
    pub fn is_given_up(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What was made, once the work is over; `None` inside when it was given up or failed.
    ///
    /// # Errors
    ///
    /// The task itself, while it goes on.
    pub fn take(mut self) -> Result<Option<T>, Self> {
        match Arc::get_mut(&mut self.made).and_then(OnceLock::take) {
            Some(made) => Ok(made),
            None => Err(self),
        }
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, sync_channel};

    fn wake() -> (Wake, Receiver<()>) {
        let (woken, wakes) = sync_channel(16);
        let wake = move || {
            let _ = woken.send(());
        };
        (Wake::new(wake), wakes)
    }

    #[test]
    fn work_is_done_at_once_or_beside_and_can_be_taken_when_it_is_over() {
        let at_once = Task::start("test", None, |_| Some(7));
        assert_eq!((at_once.get(), at_once.is_over()), (Some(&7), true));
        assert_eq!(at_once.take().unwrap(), Some(7));
        let ((wake, wakes), (go, start)) = (wake(), sync_channel::<()>(1));
        let start = std::sync::Mutex::new(start);
        let beside = Task::start("test", Some(wake), move |_| start.lock().unwrap().recv().ok().map(|()| 8));
        assert_eq!((beside.get(), beside.is_over()), (None, false));
        let Err(beside) = beside.take() else { panic!("it waits to be let go") };
        go.send(()).unwrap();
        wakes.recv().unwrap();
        assert_eq!(beside.get(), Some(&8));
        assert_eq!(beside.take().unwrap(), Some(8));
    }

    #[test]
    fn work_that_is_given_up_or_fails_is_over_without_a_result() {
        let (wake, wakes) = wake();
        let until_stopped = |is_stopped: &dyn Fn() -> bool| -> Option<u8> {
            while !is_stopped() {
                std::thread::yield_now();
            }
            None
        };
        let task = Task::start("test", Some(wake.clone()), until_stopped);
        task.stop();
        wakes.recv().unwrap();
        assert_eq!((task.get(), task.is_over()), (None, true));
        drop(Task::start("test", Some(wake.clone()), until_stopped));
        wakes.recv().unwrap();
        let failed: Task<u8> = Task::start("test", Some(wake), |_| panic!("on purpose"));
        wakes.recv().unwrap();
        assert_eq!((failed.get(), failed.is_over()), (None, true));
    }
}
