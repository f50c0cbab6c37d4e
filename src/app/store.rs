//! Where the settings lie on disk: one small JSON file of the window's own.
//!
//! The toolkit's store is left unused. It would bring back its own memory and the window's geometry as they stand in
//! the file, and a scale of zero or a window of one pixel would end every start.

use super::bookmarks::Bookmarks;
use super::settings::Settings;
use crate::view::Workspace;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Bytes of a settings file that are read at most; what this program writes is far smaller.
const LARGEST_BYTES: u64 = 1 << 20;
/// The same of the bookmarks.
const LARGEST_BOOKMARKS_BYTES: u64 = 64 << 20;

/// The settings' file. Without a place for it, nothing is remembered.
#[derive(Debug, Clone, Default)]
pub struct Store(Option<PathBuf>);

impl Store {
    /// In `folder`, or where the system keeps what programs remember.
    pub fn new(folder: Option<PathBuf>) -> Self {
        let folder = folder.or_else(|| eframe::storage_dir("stepscope"));
        Self(folder.map(|folder| folder.join("settings.json")))
    }

    /// The settings in the file, each checked; the defaults when there is no file or it cannot be read.
    pub fn read(&self) -> Settings {
        let text = self.0.as_deref().and_then(read_text);
        text.map_or_else(Settings::default, |text| Settings::from_text(&text))
    }

    /// Bookmarks of all files; none when there is no file or it cannot be read.
    pub fn bookmarks(&self) -> Bookmarks {
        let text = self.beside("bookmarks.json").and_then(|path| read_up_to(&path, LARGEST_BOOKMARKS_BYTES));
        text.map_or_else(Bookmarks::default, |text| Bookmarks::from_text(&text))
    }

    /// Writes the bookmarks of what is open, and leaves those of other files as they are by now: another window may
    /// have written them.
    pub fn keep_bookmarks(&self, bookmarks: &Bookmarks, workspace: &Workspace) {
        let Some(path) = self.beside("bookmarks.json") else { return };
        let mut all = self.bookmarks();
        all.take_over(workspace, &bookmarks.of(workspace));
        let _ = replace(&path, &all.to_text());
    }

    fn beside(&self, name: &str) -> Option<PathBuf> {
        self.0.as_ref().map(|settings| settings.with_file_name(name))
    }

    /// Writes the settings. What a program remembers is not worth a message, so a full disk is no error.
    pub fn write(&self, settings: &Settings) {
        let Some(path) = &self.0 else { return };
        let text = settings.to_text();
        if read_text(path).is_none_or(|before| before != text) {
            let _ = replace(path, &text);
        }
    }
}

fn read_text(path: &Path) -> Option<String> {
    read_up_to(path, LARGEST_BYTES)
}

fn read_up_to(path: &Path, bytes: u64) -> Option<String> {
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(bytes).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Writes beside the file, then renames, so that no crash leaves half a file.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let beside = path.with_extension(format!("{}.part", std::process::id()));
    std::fs::write(&beside, text)?;
    std::fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_and_no_file_means_defaults() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(Some(folder.path().join("new")));
        assert_eq!(store.read(), Settings::default());
        let settings = Settings { scale_percent: 150, window_width_pt: 900, ..Settings::default() };
        store.write(&settings);
        assert_eq!(store.read(), settings);
        assert_eq!(std::fs::read_dir(folder.path().join("new")).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn bookmarks_of_other_files_stay_when_those_of_the_open_one_are_written() {
        use crate::view::{Command, ViewState};
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(Some(folder.path().to_owned()));
        let open = |name: &str| {
            let mut trace = crate::trace::testing::Fixture::new().kernel("gemm", 7, 0, 1_000).build();
            trace.source.path = name.into();
            let analysis = crate::analysis::analyze(&trace, &crate::analysis::Params::default());
            Workspace::new([(std::sync::Arc::new(trace), std::sync::Arc::new(analysis))])
        };
        // Two windows that know nothing of each other.
        for name in ["a.sqlite", "b.sqlite"] {
            let workspace = open(name);
            let mut view = ViewState::open(&workspace);
            view.apply(&Command::AddBookmark, &workspace);
            let mut own = Bookmarks::default();
            own.take_over(&workspace, &view.bookmarks);
            store.keep_bookmarks(&own, &workspace);
        }
        let all = store.bookmarks();
        assert_eq!((all.of(&open("a.sqlite")).len(), all.of(&open("b.sqlite")).len()), (1, 1));
        store.keep_bookmarks(&Bookmarks::default(), &open("a.sqlite"));
        assert_eq!(
            (store.bookmarks().of(&open("a.sqlite")).len(), store.bookmarks().of(&open("b.sqlite")).len()),
            (0, 1)
        );
    }

    #[test]
    fn a_file_that_is_no_text_means_defaults() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("settings.json"), [0xff, 0xfe, 0, 1]).unwrap();
        assert_eq!(Store::new(Some(folder.path().to_owned())).read(), Settings::default());
    }
}
