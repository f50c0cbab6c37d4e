//! A progress line on standard error while a file is read, when that is a terminal.

use crate::format;
use crate::nsys::Progress;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

/// How often the line is renewed.
const RENEW: Duration = Duration::from_millis(100);

/// Runs `work` and shows what `progress` says meanwhile.
pub(super) fn shown<T>(path: &Path, progress: &Progress, work: impl FnOnce() -> T) -> T {
    let mut terminal = std::io::stderr();
    if !terminal.is_terminal() {
        return work();
    }
    let (done, wait) = sync_channel::<()>(0);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // The line is a courtesy: a terminal that cannot be written to loses it, nothing else.
            while wait.recv_timeout(RENEW) == Err(RecvTimeoutError::Timeout) {
                let share = progress.fraction().map(f64::from);
                let (bar, share) = (bar(share.unwrap_or(0.0)), format::percent(share));
                let _ = write!(terminal, "\r\x1b[K{bar} {share}  {}  {}", path.display(), progress.table());
                let _ = terminal.flush();
            }
            let _ = write!(terminal, "\r\x1b[K");
        });
        let result = work();
        drop(done);
        result
    })
}

/// Cells of the bar.
const CELLS: usize = 24;

/// A bar that is full at 1.
fn bar(share: f64) -> String {
    let full = ((share.clamp(0.0, 1.0) * CELLS as f64) as usize).min(CELLS);
    format!("[{}{}]", "#".repeat(full), " ".repeat(CELLS - full))
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn the_bar_fills_from_the_left() {
        assert_eq!(bar(0.5), format!("[{}{}]", "#".repeat(12), " ".repeat(12)));
        assert_eq!((bar(-1.0), bar(9.0)), (format!("[{}]", " ".repeat(24)), format!("[{}]", "#".repeat(24))));
    }
}
