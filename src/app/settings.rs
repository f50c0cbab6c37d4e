//! What the window remembers between runs. Anything unreadable falls back to the defaults, field by field.

use crate::view::{Panel, Theme};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Key under which the settings are stored.
pub const KEY: &str = "stepscope-settings";
/// Interface scales on offer, in percent.
pub const SCALES_PERCENT: [u16; 5] = [100, 125, 150, 175, 200];
/// Recent files kept.
const RECENT: usize = 12;

/// What the window remembers between runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Colours.
    pub theme: Theme,
    /// Interface scale in percent.
    pub scale_percent: u16,
    /// Files opened last, newest first.
    pub recent: Vec<PathBuf>,
    /// Side panel shown.
    pub side: bool,
    /// Details panel shown.
    pub details: bool,
    /// Side panel tab.
    pub panel: Panel,
    /// Idle and exposed marks shown.
    pub marks: bool,
    /// NVTX rows shown.
    pub nvtx: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: Theme::default(),
            scale_percent: 100,
            recent: Vec::new(),
            side: true,
            details: true,
            panel: Panel::default(),
            marks: true,
            nvtx: true,
        }
    }
}

impl Settings {
    /// Reads settings. Each field stands alone: one that is missing, broken or from another version keeps its default.
    pub fn from_text(text: &str) -> Self {
        let Ok(serde_json::Value::Object(stored)) = serde_json::from_str(text) else { return Self::default() };
        let Ok(serde_json::Value::Object(mut fields)) = serde_json::to_value(Self::default()) else {
            return Self::default();
        };
        for (name, value) in stored {
            let Some(before) = fields.get(&name).cloned() else { continue };
            fields.insert(name.clone(), value);
            if serde_json::from_value::<Self>(serde_json::Value::Object(fields.clone())).is_err() {
                fields.insert(name, before);
            }
        }
        serde_json::from_value::<Self>(serde_json::Value::Object(fields)).unwrap_or_default().checked()
    }

    /// The settings as text for [`Settings::from_text`].
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Puts `path` at the head of the recent files.
    pub fn opened(&mut self, path: &Path) {
        let found = std::fs::canonicalize(path).or_else(|_| std::path::absolute(path));
        let path = found.unwrap_or_else(|_| path.to_owned());
        self.recent.retain(|known| *known != path);
        self.recent.insert(0, path);
        self.recent.truncate(RECENT);
    }

    fn checked(mut self) -> Self {
        let nearest = SCALES_PERCENT.into_iter().min_by_key(|scale| scale.abs_diff(self.scale_percent));
        self.scale_percent = nearest.unwrap_or(100);
        self.recent.truncate(RECENT);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_the_way_through_text() {
        let mut settings = Settings { theme: Theme::Light, scale_percent: 150, ..Settings::default() };
        settings.opened(Path::new("/captures/rank0.sqlite"));
        assert_eq!(Settings::from_text(&settings.to_text()), settings);
    }

    #[test]
    fn broken_settings_fall_back_field_by_field() {
        assert_eq!(Settings::from_text("no json"), Settings::default());
        assert_eq!(Settings::from_text("[1]"), Settings::default());
        let odd = r#"{"theme":"Light","scale_percent":9999,"recent":7,"side":"yes","from_the_future":{}}"#;
        let expected = Settings { theme: Theme::Light, scale_percent: 200, ..Settings::default() };
        assert_eq!(Settings::from_text(odd), expected, "a scale that is not on offer becomes the nearest that is");
        assert_eq!(Settings::from_text(r#"{"scale_percent":-3}"#).scale_percent, 100);
    }

    #[test]
    fn recent_files_are_newest_first_without_doubles() {
        let mut settings = Settings::default();
        for name in ["/a", "/b", "/a"] {
            settings.opened(Path::new(name));
        }
        assert_eq!(settings.recent, [PathBuf::from("/a"), PathBuf::from("/b")]);
        for at in 0..40 {
            settings.opened(Path::new(&format!("/{at}")));
        }
        assert_eq!(settings.recent.len(), RECENT);
    }
}
