//! What the colours of GPU operations stand for.

use serde::{Deserialize, Serialize};

/// What the colours of GPU operations stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coloring {
    /// Compute in shades of blue, communication, copies.
    #[default]
    Class,
    /// Each family of compute kernels in a colour of its own.
    Family,
    /// Each name in one of a few colours; the same name always in the same one.
    Name,
    /// Each stream.
    Stream,
    /// The outermost NVTX range below the step.
    Range,
}

impl Coloring {
    /// All of them, in the order of the menu.
    pub const ALL: [Self; 5] = [Self::Class, Self::Family, Self::Name, Self::Stream, Self::Range];

    /// Text for menus.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Class => "Class",
            Self::Family => "Kernel family",
            Self::Name => "Name",
            Self::Stream => "Stream",
            Self::Range => "NVTX range",
        }
    }

    /// The one after it, around.
    #[must_use]
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|coloring| *coloring == self).unwrap_or(0);
        Self::ALL.get((at + 1) % Self::ALL.len()).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Coloring;
    use crate::view::shortcuts::SHORTCUTS;
    use crate::view::{Command, ViewState, Workspace};

    fn apply(state: &mut ViewState, commands: &[Command], workspace: &Workspace) {
        commands.iter().for_each(|command| assert!(state.apply(command, workspace)));
    }

    #[test]
    fn going_on_comes_to_every_one_and_back() {
        let mut seen = vec![Coloring::default()];
        while let Some(next) = seen.last().map(|last| last.next()).filter(|next| *next != Coloring::default()) {
            seen.push(next);
        }
        assert_eq!(seen, Coloring::ALL);
    }

    #[test]
    fn the_legend_comes_with_other_colours_until_the_user_says_whether_it_is_shown() {
        let workspace = Workspace::default();
        let mut state = ViewState::default();
        apply(&mut state, &[Command::NextColoring], &workspace);
        assert!(state.legend);
        apply(&mut state, &[Command::ToggleLegend, Command::NextColoring], &workspace);
        assert!(!state.legend, "hidden by the user");
        apply(&mut state, &[Command::ToggleLegend, Command::SetColoring(Coloring::Class)], &workspace);
        assert!(state.legend, "shown by the user");
    }

    #[test]
    fn keys_that_go_on_to_the_next_count_as_often_as_they_are_pressed_in_a_frame() {
        let workspace = Workspace::default();
        let mut state = ViewState::default();
        let (coloring, axis) = (state.coloring, state.axis);
        let pressed = |key: &str| {
            let shortcut = SHORTCUTS.iter().find(|s| s.chords.iter().any(|chord| chord.text() == key)).unwrap();
            (shortcut.commands)(&ViewState::default(), &workspace)
        };
        let frame = [pressed("C"), pressed("C"), pressed("T"), pressed("T")].concat();
        apply(&mut state, &frame, &workspace);
        assert_eq!((state.coloring, state.axis), (coloring.next().next(), axis.next().next()));
    }
}
