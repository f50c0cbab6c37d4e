//! Jumps that are seen: the view slides to where it was sent instead of blinking there.
//!
//! The state holds the target at once; only what is drawn lags behind, and any pan or zoom ends it.

use crate::view::{Move, ViewState, Viewport};

/// How long a jump takes, in seconds.
const EASE_S: f64 = 0.12;

/// Follows the state's view.
#[derive(Debug, Default)]
pub struct Ease {
    shown: Option<Viewport>,
    jump: Option<Jump>,
}

#[derive(Debug, Clone, Copy)]
struct Jump {
    from: Viewport,
    to: Viewport,
    start_s: f64,
}

impl Ease {
    /// What to draw at `now_s`, and whether there is more to come. Without `animate` that is the state's view.
    pub fn follow(&mut self, state: &ViewState, now_s: f64, animate: bool) -> (Viewport, bool) {
        let to = state.viewport;
        let from = *self.shown.get_or_insert(to);
        let jumped = !matches!(state.history.last_move(), Some(Move::Pan | Move::Zoom));
        if !(animate && jumped) {
            self.jump = None;
        } else if from != to && self.jump.is_none_or(|jump| jump.to != to) {
            self.jump = Some(Jump { from, to, start_s: now_s });
        }
        let share = self.jump.map_or(1.0, |jump| ((now_s - jump.start_s) / EASE_S).clamp(0.0, 1.0));
        let view = match self.jump {
            Some(jump) if share < 1.0 => between(jump.from, jump.to, share),
            _ => to,
        };
        if share >= 1.0 {
            self.jump = None;
        }
        self.shown = Some(view);
        (view, self.jump.is_some())
    }
}

/// Slows down towards the end. Lengths change by equal factors, so that a long zoom does not rush through its last part.
fn between(from: Viewport, to: Viewport, share: f64) -> Viewport {
    let share = 1.0 - (1.0 - share).powi(3);
    let len_ns = from.len_ns * (to.len_ns / from.len_ns).powf(share);
    // The edges follow the length, which keeps the point that both views share in its place.
    let grown = if (to.len_ns - from.len_ns).abs() > 1e-9 * to.len_ns {
        (len_ns - from.len_ns) / (to.len_ns - from.len_ns)
    } else {
        share
    };
    Viewport { start_ns: from.start_ns + (to.start_ns - from.start_ns) * grown, len_ns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;
    use crate::view::{Command, Workspace};

    fn jumped() -> (ViewState, Viewport) {
        let state = ViewState { viewport: Viewport::of(Span::new(0, 1_000_000)), ..ViewState::default() };
        let before = state.viewport;
        (state, before)
    }

    #[test]
    fn a_jump_starts_where_the_view_was_and_ends_where_it_was_sent() {
        let (mut state, before) = jumped();
        let mut ease = Ease::default();
        assert_eq!(ease.follow(&state, 0.0, true), (before, false));
        state.apply(&Command::Show(Span::new(400_000, 410_000)), &Workspace::default());
        let lens: Vec<f64> = (0..5).map(|n| ease.follow(&state, 1.0 + f64::from(n) * 0.03, true).0.len_ns).collect();
        assert_eq!(lens[0], before.len_ns);
        assert!(lens.windows(2).all(|pair| pair[1] < pair[0]), "{lens:?}");
        assert_eq!(ease.follow(&state, 1.2, true), (state.viewport, false));
    }

    #[test]
    fn a_zoom_interrupts_a_jump() {
        let (mut state, _) = jumped();
        let mut ease = Ease::default();
        ease.follow(&state, 0.0, true);
        state.apply(&Command::Show(Span::new(400_000, 410_000)), &Workspace::default());
        assert!(ease.follow(&state, 1.0, true).1);
        state.apply(&Command::ZoomAt { at_ns: 405_000.0, factor: 0.9 }, &Workspace::default());
        assert_eq!(ease.follow(&state, 1.01, true), (state.viewport, false));
    }

    #[test]
    fn without_animation_the_view_is_the_state_s() {
        let (mut state, _) = jumped();
        let mut ease = Ease::default();
        ease.follow(&state, 0.0, false);
        state.apply(&Command::Show(Span::new(400_000, 410_000)), &Workspace::default());
        assert_eq!(ease.follow(&state, 1.0, false), (state.viewport, false));
    }

    #[test]
    fn the_point_that_both_views_share_stays_in_its_place() {
        let (from, to) = (Viewport::of(Span::new(0, 1000)), Viewport::of(Span::new(200, 700)));
        for share in [0.1, 0.5, 0.9] {
            let view = between(from, to, share);
            assert!((view.x_of(400.0, 100.0) - 40.0).abs() < 1e-6);
        }
    }
}
