//! The views shown before, for Back and Forward.

use super::Viewport;

/// How a view came about; equal gestures in a row are one entry of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// A pan: every pan that follows belongs to the same entry.
    Pan,
    /// A zoom: every zoom that follows belongs to the same entry.
    Zoom,
    /// A jump: always an entry of its own.
    Jump,
    /// A step from hit to hit of a search: every such step that follows belongs to the same entry.
    Hit,
}

/// Views to go back and forward to.
///
/// Cost: 16 bytes a view, at most [`History::LIMIT`] of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    past: Vec<Viewport>,
    future: Vec<Viewport>,
    last: Option<Move>,
}

impl History {
    /// Views kept.
    pub const LIMIT: usize = 200;

    /// Notes that `left` is about to be replaced by a `step`.
    pub fn record(&mut self, left: Viewport, step: Move) {
        let same_gesture = step != Move::Jump && self.last == Some(step);
        self.last = Some(step);
        self.future.clear();
        if same_gesture {
            return;
        }
        if self.past.len() >= Self::LIMIT {
            self.past.remove(0);
        }
        self.past.push(left);
    }

    /// The view before `current`, if there is one.
    pub fn back(&mut self, current: Viewport) -> Option<Viewport> {
        let view = self.past.pop()?;
        self.future.push(current);
        self.last = None;
        Some(view)
    }

    /// The view that Back left, if there is one.
    pub fn forward(&mut self, current: Viewport) -> Option<Viewport> {
        let view = self.future.pop()?;
        self.past.push(current);
        self.last = None;
        Some(view)
    }

    /// How the present view came about; `None` after going back or forward.
    pub fn last_move(&self) -> Option<Move> {
        self.last
    }

    /// True when Back has somewhere to go.
    pub fn can_go_back(&self) -> bool {
        !self.past.is_empty()
    }

    /// True when Forward has somewhere to go.
    pub fn can_go_forward(&self) -> bool {
        !self.future.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    fn view(start_ns: i64) -> Viewport {
        Viewport::of(Span::new(start_ns, start_ns + 100))
    }

    #[test]
    fn pans_in_a_row_are_one_entry() {
        let mut history = History::default();
        history.record(view(0), Move::Pan);
        history.record(view(1), Move::Pan);
        history.record(view(2), Move::Zoom);
        history.record(view(3), Move::Pan);
        assert_eq!(history.back(view(4)), Some(view(3)));
        assert_eq!(history.back(view(3)), Some(view(2)));
        assert_eq!(history.back(view(2)), Some(view(0)));
        assert_eq!(history.back(view(0)), None);
        assert_eq!(history.forward(view(0)), Some(view(2)));
    }

    #[test]
    fn going_through_hits_is_one_entry() {
        let mut history = History::default();
        history.record(view(0), Move::Jump);
        history.record(view(1), Move::Hit);
        history.record(view(2), Move::Hit);
        assert_eq!(history.back(view(3)), Some(view(1)));
    }

    #[test]
    fn a_new_move_forgets_the_future() {
        let mut history = History::default();
        history.record(view(0), Move::Jump);
        history.record(view(1), Move::Jump);
        assert_eq!(history.back(view(2)), Some(view(1)));
        history.record(view(1), Move::Jump);
        assert!(!history.can_go_forward() && history.can_go_back());
    }

    #[test]
    fn the_oldest_views_go_first() {
        let mut history = History::default();
        for at in 0..History::LIMIT as i64 + 5 {
            history.record(view(at), Move::Jump);
        }
        let mut last = None;
        while let Some(earlier) = history.back(view(0)) {
            last = Some(earlier);
        }
        assert_eq!(last, Some(view(5)));
    }
}
