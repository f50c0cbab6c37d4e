//! Where the settings lie on disk: one small JSON file of the window's own.
//!
//! The toolkit's store is left unused. It would bring back its own memory and the window's geometry as they stand in
//! the file, and a scale of zero or a window of one pixel would end every start.

use super::settings::Settings;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Bytes of a settings file that are read at most; what this program writes is far smaller.
const LARGEST_BYTES: u64 = 1 << 20;

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
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(LARGEST_BYTES).read_to_string(&mut text).ok()?;
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
    fn a_file_that_is_no_text_means_defaults() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("settings.json"), [0xff, 0xfe, 0, 1]).unwrap();
        assert_eq!(Store::new(Some(folder.path().to_owned())).read(), Settings::default());
    }
}
