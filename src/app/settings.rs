//! What the window remembers between runs. Anything unreadable falls back to the defaults, field by field.

use crate::view::{Axis, Panel, Theme};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Version of the form that settings are written in. A file of a later one is not written over.
pub const VERSION: u64 = 1;
/// Interface scales on offer, in percent.
pub const SCALES_PERCENT: [u16; 5] = [100, 125, 150, 175, 200];
/// Smallest window, in points.
pub const SMALLEST_PT: (u16, u16) = (480, 320);
/// Largest window, in points: more is no screen but a damaged file.
const LARGEST_PT: u16 = 16_384;
/// Recent files kept.
const RECENT: usize = 12;

/// Where the side panel stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Dock {
    /// Left of the timeline.
    Left,
    /// Right of it.
    #[default]
    Right,
    /// Below it.
    Bottom,
}

impl Dock {
    /// All places.
    pub const ALL: [Self; 3] = [Self::Left, Self::Right, Self::Bottom];

    /// The place beside the timeline where there is no room below it.
    pub const fn beside(self) -> Self {
        match self {
            Self::Bottom => Self::Right,
            beside => beside,
        }
    }

    /// In words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Left => "Left",
            Self::Right => "Right",
            Self::Bottom => "Bottom",
        }
    }
}

/// How much of a settings file was understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// All of it.
    Whole,
    /// Some or none of it; the rest has its defaults.
    Damaged,
    /// A later version wrote it, in this form; what is known of it was taken.
    Later(u64),
}

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
    /// Where it stands.
    pub dock: Dock,
    /// Details panel shown.
    pub details: bool,
    /// Side panel tab.
    pub panel: Panel,
    /// Idle and exposed marks shown.
    pub marks: bool,
    /// NVTX rows shown.
    pub nvtx: bool,
    /// From when time is counted.
    pub axis: Axis,
    /// Names of the commands run last from the list of all, newest first.
    pub recalled: Vec<String>,
    /// Width of the window at scale 100 %, in points.
    pub window_width_pt: u16,
    /// Height of the window at scale 100 %, in points.
    pub window_height_pt: u16,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: Theme::default(),
            scale_percent: 100,
            recent: Vec::new(),
            side: true,
            dock: Dock::default(),
            details: true,
            panel: Panel::default(),
            marks: true,
            nvtx: true,
            axis: Axis::default(),
            recalled: Vec::new(),
            window_width_pt: 1440,
            window_height_pt: 900,
        }
    }
}

impl Settings {
    /// Reads settings. Each field stands alone: one that is missing, broken or from another version keeps its default.
    pub fn from_text(text: &str) -> Self {
        Self::read(text).0
    }

    /// Reads settings as [`Settings::from_text`] does, and says how much of the text was understood.
    pub fn read(text: &str) -> (Self, Read) {
        let Ok(serde_json::Value::Object(stored)) = serde_json::from_str(text) else {
            return (Self::default(), Read::Damaged);
        };
        let Ok(serde_json::Value::Object(mut fields)) = serde_json::to_value(Self::default()) else {
            return (Self::default(), Read::Damaged);
        };
        let version = stored.get("version").map_or(Some(VERSION), serde_json::Value::as_u64);
        let mut read = match version {
            Some(version) if version > VERSION => Read::Later(version),
            Some(_) => Read::Whole,
            None => Read::Damaged,
        };
        for (name, value) in stored {
            let Some(before) = fields.get(&name).cloned() else { continue };
            fields.insert(name.clone(), value);
            if serde_json::from_value::<Self>(serde_json::Value::Object(fields.clone())).is_err() {
                fields.insert(name, before);
                read = if read == Read::Whole { Read::Damaged } else { read };
            }
        }
        (serde_json::from_value::<Self>(serde_json::Value::Object(fields)).unwrap_or_default().checked(), read)
    }

    /// The settings as text for [`Settings::from_text`].
    pub fn to_text(&self) -> String {
        let Ok(serde_json::Value::Object(mut fields)) = serde_json::to_value(self) else { return String::new() };
        fields.insert("version".to_owned(), VERSION.into());
        serde_json::Value::Object(fields).to_string()
    }

    /// Puts `path` at the head of the recent files.
    pub fn opened(&mut self, path: &Path) {
        let found = std::fs::canonicalize(path).or_else(|_| std::path::absolute(path));
        let path = found.unwrap_or_else(|_| path.to_owned());
        self.recent.retain(|known| *known != path);
        self.recent.insert(0, path);
        self.recent.truncate(RECENT);
    }

    /// Puts a command at the head of those that were run last.
    pub fn recalled(&mut self, name: String) {
        self.recalled.retain(|known| *known != name);
        self.recalled.insert(0, name);
        self.recalled.truncate(RECENT);
    }

    /// Remembers the window's size; one that is not finite is none.
    pub fn resized(&mut self, width_pt: f32, height_pt: f32) {
        if width_pt.is_finite() && height_pt.is_finite() {
            // Numbers out of range saturate, and are checked with the rest.
            (self.window_width_pt, self.window_height_pt) = (width_pt.round() as u16, height_pt.round() as u16);
            self.clamp_window();
        }
    }

    fn clamp_window(&mut self) {
        self.window_width_pt = self.window_width_pt.clamp(SMALLEST_PT.0, LARGEST_PT);
        self.window_height_pt = self.window_height_pt.clamp(SMALLEST_PT.1, LARGEST_PT);
    }

    fn checked(mut self) -> Self {
        let nearest = SCALES_PERCENT.into_iter().min_by_key(|scale| scale.abs_diff(self.scale_percent));
        self.scale_percent = nearest.unwrap_or(100);
        self.recent.truncate(RECENT);
        self.recalled.truncate(RECENT);
        self.clamp_window();
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
    fn absurd_sizes_become_windows_that_can_be_used() {
        let size = |text: &str| {
            let settings = Settings::from_text(text);
            (settings.window_width_pt, settings.window_height_pt)
        };
        assert_eq!(size(r#"{"window_width_pt":1,"window_height_pt":1}"#), SMALLEST_PT);
        assert_eq!(size(r#"{"window_width_pt":65535,"window_height_pt":700}"#), (16_384, 700));
        for absurd in ["0.0", "-5", "1e300", "null", "\"NaN\"", "99999999"] {
            let text = format!(r#"{{"window_width_pt":{absurd},"window_height_pt":{absurd}}}"#);
            assert_eq!(size(&text), (1440, 900), "{absurd}");
        }
        let mut settings = Settings::default();
        for (width, height) in [(f32::NAN, 600.0), (800.0, f32::INFINITY)] {
            settings.resized(width, height);
            assert_eq!(settings, Settings::default());
        }
        settings.resized(-3.0, 1e9);
        assert_eq!((settings.window_width_pt, settings.window_height_pt), (480, 16_384));
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
