//! Where the settings lie on disk: small JSON files of the window's own.
//!
//! The toolkit's store is left unused. It would bring back its own memory and the window's geometry as they stand in
//! the file, and a scale of zero or a window of one pixel would end every start.
//!
//! A file that cannot be understood, or that a later version wrote, is set aside under another name before anything
//! is written in its place: nothing is lost.

use super::bookmarks::Bookmarks;
use super::last_views::LastViews;
use super::settings::{Read, Settings};
use crate::view::Workspace;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Bytes of a file that are read at most; what this program writes is far smaller.
const LARGEST_BYTES: u64 = 64 << 20;
/// Files of one name that are set aside at most.
const MOST_ASIDE: usize = 100;

/// The folder of the settings. Without a place for it, nothing is remembered.
#[derive(Debug, Clone, Default)]
pub struct Store(Option<PathBuf>);

/// What was remembered, and what has to be said of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Remembered {
    /// The settings, each checked.
    pub settings: Settings,
    /// How files were looked at.
    pub views: LastViews,
    /// What was set aside and why, in sentences; empty when everything was understood.
    pub set_aside: Vec<String>,
}

impl Store {
    /// In `folder`, or where the system keeps what programs remember.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self(folder.or_else(|| eframe::storage_dir("stepscope")))
    }

    /// What was remembered; the defaults where there is no file. What cannot be understood is set aside.
    pub fn read(&self) -> Remembered {
        let mut remembered = Remembered::default();
        let Some(folder) = &self.0 else { return remembered };
        let path = folder.join(SETTINGS);
        match read_text(&path) {
            Text::Missing => {}
            Text::Unreadable(reason) => remembered.set_aside.extend(set_aside(&path, &reason)),
            Text::Read(text) => {
                let (settings, read) = Settings::read(&text);
                remembered.settings = settings;
                let reason = match read {
                    Read::Whole => None,
                    Read::Damaged => Some("parts of it cannot be understood".to_owned()),
                    Read::Later(version) => Some(format!("a later version of stepscope wrote it (form {version})")),
                };
                remembered.set_aside.extend(reason.and_then(|reason| set_aside(&path, &reason)));
            }
        }
        let path = folder.join(VIEWS);
        match read_text(&path) {
            Text::Missing => {}
            Text::Unreadable(reason) => remembered.set_aside.extend(set_aside(&path, &reason)),
            Text::Read(text) => match LastViews::from_text(&text) {
                Some(views) => remembered.views = views,
                None => remembered.set_aside.extend(set_aside(&path, "it cannot be understood by this version")),
            },
        }
        let path = folder.join(BOOKMARKS);
        let reason = match read_text(&path) {
            Text::Missing => None,
            Text::Unreadable(reason) => Some(reason),
            Text::Read(text) => {
                Bookmarks::from_text(&text).is_none().then(|| "it cannot be understood by this version".to_owned())
            }
        };
        remembered.set_aside.extend(reason.and_then(|reason| set_aside(&path, &reason)));
        remembered
    }

    /// Bookmarks of all files; none when there is no file or it cannot be read.
    pub fn bookmarks(&self) -> Bookmarks {
        let text = self.0.as_deref().map(|folder| read_text(&folder.join(BOOKMARKS)));
        match text {
            Some(Text::Read(text)) => Bookmarks::from_text(&text).unwrap_or_default(),
            _ => Bookmarks::default(),
        }
    }

    /// Writes the bookmarks of what is open, and leaves those of other files as they are by now: another window may
    /// have written them.
    pub fn keep_bookmarks(&self, bookmarks: &Bookmarks, workspace: &Workspace) {
        let Some(folder) = &self.0 else { return };
        let mut all = self.bookmarks();
        all.take_over(workspace, &bookmarks.of(workspace));
        let _ = replace(&folder.join(BOOKMARKS), &all.to_text());
    }

    /// Writes what is to be remembered. That is not worth a message, so a full disk is no error.
    pub fn write(&self, settings: &Settings, views: &LastViews) {
        let Some(folder) = &self.0 else { return };
        for (name, text) in [(SETTINGS, settings.to_text()), (VIEWS, views.to_text())] {
            let path = folder.join(name);
            let same = matches!(read_text(&path), Text::Read(before) if before == text);
            let nothing = name == VIEWS && views.is_empty() && !path.exists();
            if !same && !nothing {
                let _ = replace(&path, &text);
            }
        }
    }
}

const SETTINGS: &str = "settings.json";
const VIEWS: &str = "views.json";
const BOOKMARKS: &str = "bookmarks.json";

enum Text {
    Missing,
    Unreadable(String),
    Read(String),
}

fn read_text(path: &Path) -> Text {
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Text::Missing,
        Err(error) => return Text::Unreadable(error.to_string()),
    };
    let mut text = String::new();
    match file.take(LARGEST_BYTES).read_to_string(&mut text) {
        Ok(_) => Text::Read(text),
        Err(_) => Text::Unreadable("it is no text".to_owned()),
    }
}

/// Gives a file another name beside its own and says so; `None` when that cannot be done, so that nothing is said of a
/// file that stays where it is.
fn set_aside(path: &Path, reason: &str) -> Option<String> {
    let name = path.file_name()?.to_string_lossy();
    let free =
        (1..=MOST_ASIDE).map(|number| path.with_file_name(format!("{name}.aside-{number}"))).find(|p| !p.exists());
    let aside = free?;
    std::fs::rename(path, &aside).ok()?;
    Some(format!("{name} was set aside as {}: {reason}.", aside.display()))
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

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_written_is_read_again_and_no_file_means_defaults() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(Some(folder.path().join("new")));
        assert_eq!(store.read(), Remembered::default());
        let settings = Settings { scale_percent: 150, window_width_pt: 900, ..Settings::default() };
        store.write(&settings, &LastViews::default());
        assert_eq!(store.read(), Remembered { settings, ..Remembered::default() });
        assert_eq!(names(&folder.path().join("new")), ["settings.json"], "nothing is left beside it");
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
    fn files_that_are_not_understood_are_set_aside_whole_and_said_so() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(Some(folder.path().to_owned()));
        let later = r#"{"version":99,"theme":"Light","new":[1,2]}"#;
        let cases: [(&[u8], &str); 4] = [
            (&[0xff, 0xfe, 0, 1], "no text"),
            (b"{\"theme\":\"Li", "cannot be understood"),
            (br#"{"version":1,"theme":"Light","recent":7}"#, "cannot be understood"),
            (later.as_bytes(), "later version"),
        ];
        for (at, (bytes, reason)) in cases.into_iter().enumerate() {
            std::fs::write(folder.path().join("settings.json"), bytes).unwrap();
            let found = store.read();
            assert_eq!(found.set_aside.len(), 1, "{reason}");
            assert!(found.set_aside[0].contains(reason), "{}", found.set_aside[0]);
            store.write(&found.settings, &found.views);
            let aside = folder.path().join(format!("settings.json.aside-{}", at + 1));
            assert_eq!(std::fs::read(aside).unwrap(), bytes);
            assert!(store.read().set_aside.is_empty());
        }
        std::fs::write(folder.path().join("views.json"), "[]").unwrap();
        assert!(store.read().set_aside[0].starts_with("views.json was set aside as "));
        std::fs::write(folder.path().join("bookmarks.json"), "garbage").unwrap();
        assert!(store.read().set_aside[0].starts_with("bookmarks.json was set aside as "));
        assert_eq!(std::fs::read(folder.path().join("bookmarks.json.aside-1")).unwrap(), b"garbage");
    }

    #[test]
    fn settings_before_versions_were_written_are_read_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("settings.json"), r#"{"theme":"Light","side":false}"#).unwrap();
        let found = Store::new(Some(folder.path().to_owned())).read();
        assert!(!found.settings.side && found.set_aside.is_empty());
    }
}
