//! Time to pixels and back, and how far a view may go.
//!
//! All maths is in `f64` axis time; `f32` appears only where a pixel coordinate leaves this module.

use crate::units::Span;

/// The visible part of the time axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viewport {
    /// Axis time at the left edge, in nanoseconds.
    pub start_ns: f64,
    /// Visible length in nanoseconds; at least [`Viewport::MIN_LEN_NS`].
    pub len_ns: f64,
}

impl Default for Viewport {
    fn default() -> Self {
        Self::fitted(Span::default())
    }
}

impl Viewport {
    /// The shortest visible length: one nanosecond is then wider than any label.
    pub const MIN_LEN_NS: f64 = 20.0;
    /// Share of a fitted span that stays free on either side of it.
    pub const MARGIN: f64 = 0.02;
    /// What an empty capture shows, in nanoseconds.
    const EMPTY_LEN_NS: i64 = 1_000_000;

    /// The viewport that shows exactly `span`.
    pub fn of(span: Span) -> Self {
        Self { start_ns: span.start_ns as f64, len_ns: (span.len_ns() as f64).max(Self::MIN_LEN_NS) }
    }

    /// The viewport that shows `span` with a margin on both sides; an empty span gets a view of useful length.
    pub fn fitted(span: Span) -> Self {
        let span = Self::usable(span);
        let exact = Self::of(span);
        let margin = exact.len_ns * Self::MARGIN;
        Self { start_ns: exact.start_ns - margin, len_ns: exact.len_ns + 2.0 * margin }
    }

    /// Axis time at the right edge.
    pub fn end_ns(self) -> f64 {
        self.start_ns + self.len_ns
    }

    /// Axis time in the middle.
    pub fn middle_ns(self) -> f64 {
        self.start_ns + self.len_ns / 2.0
    }

    /// The visible span, rounded outwards to whole nanoseconds.
    pub fn span(self) -> Span {
        Span::new(self.start_ns.floor() as i64, self.end_ns().ceil() as i64)
    }

    /// Nanoseconds per pixel when `width_px` pixels show the view.
    pub fn ns_per_px(self, width_px: f64) -> f64 {
        self.len_ns / width_px.max(1.0)
    }

    /// Pixels from the left edge to axis time `at_ns`; may lie outside of `0..=width_px`.
    pub fn x_of(self, at_ns: f64, width_px: f64) -> f64 {
        (at_ns - self.start_ns) / self.len_ns * width_px
    }

    /// Axis time under the pixel `x_px` from the left edge.
    pub fn time_at(self, x_px: f64, width_px: f64) -> f64 {
        self.start_ns + x_px / width_px.max(1.0) * self.len_ns
    }

    /// Moved by a share of its length; positive is later.
    #[must_use]
    pub fn panned(self, share: f64) -> Self {
        Self { start_ns: self.start_ns + share * self.len_ns, ..self }
    }

    /// Scaled by `factor` around axis time `at_ns`, which keeps its place on screen.
    #[must_use]
    pub fn zoomed(self, at_ns: f64, factor: f64) -> Self {
        if !(factor.is_finite() && factor > 0.0 && at_ns.is_finite()) {
            return self;
        }
        let len_ns = (self.len_ns * factor).max(Self::MIN_LEN_NS);
        let factor = len_ns / self.len_ns;
        Self { start_ns: at_ns - (at_ns - self.start_ns) * factor, len_ns }
    }

    /// The nearest view that may be shown of a capture that covers `whole`: never longer than the fitted whole, and
    /// never so far out that less than half of the view is capture.
    #[must_use]
    pub fn clamped(self, whole: Span) -> Self {
        let whole = Self::usable(whole);
        let fitted = Self::fitted(whole);
        if !(self.start_ns.is_finite() && self.len_ns.is_finite()) {
            return fitted;
        }
        let len_ns = self.len_ns.clamp(Self::MIN_LEN_NS.min(fitted.len_ns), fitted.len_ns);
        let pad = (fitted.len_ns - (whole.len_ns() as f64)) / 2.0;
        let margin = (len_ns / 2.0).min(pad + (fitted.len_ns - len_ns) / 2.0);
        let first = whole.start_ns as f64 - margin;
        let last = whole.end_ns as f64 + margin - len_ns;
        Self { start_ns: self.start_ns.clamp(first, last.max(first)), len_ns }
    }

    fn usable(span: Span) -> Span {
        if span.is_empty() { Span::new(span.start_ns, span.start_ns.saturating_add(Self::EMPTY_LEN_NS)) } else { span }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_capture_still_has_a_view() {
        let view = Viewport::default();
        assert!(view.len_ns >= 1e6 && view.start_ns.is_finite());
    }

    #[test]
    fn zooming_out_ends_at_the_fitted_whole() {
        let whole = Span::new(100, 1_000_100);
        let mut view = Viewport::of(Span::new(800_000, 800_100));
        for _ in 0..200 {
            view = view.zoomed(800_050.0, 1.5).clamped(whole);
        }
        let fitted = Viewport::fitted(whole);
        assert!((view.start_ns - fitted.start_ns).abs() < 1e-3 && (view.len_ns - fitted.len_ns).abs() < 1e-3);
    }

    #[test]
    fn panning_stops_when_half_of_the_view_is_empty() {
        let whole = Span::new(0, 1_000_000);
        let view = Viewport::of(Span::new(0, 1000)).panned(-40.0).clamped(whole);
        assert_eq!((view.start_ns, view.len_ns), (-500.0, 1000.0));
    }

    proptest! {
        #[test]
        fn pixels_and_times_are_inverse(start in -1e12..1e12_f64, len in 20.0..1e13_f64, x in -4000.0..4000.0_f64) {
            let view = Viewport { start_ns: start, len_ns: len };
            let back = view.x_of(view.time_at(x, 1920.0), 1920.0);
            // At the shortest view a pixel is 0.01 ns, where f64 still resolves 1e12 ns to 1e-4 ns.
            prop_assert!((back - x).abs() < 0.05, "{back} {x}");
        }

        #[test]
        fn the_time_under_the_pointer_stays_there(start in 0.0..1e12_f64, len in 100.0..1e12_f64, at in 0.0..1.0_f64,
                                                  factor in 0.2..5.0_f64) {
            let view = Viewport { start_ns: start, len_ns: len };
            let at_ns = start + at * len;
            let zoomed = view.zoomed(at_ns, factor);
            prop_assert!((zoomed.x_of(at_ns, 1000.0) - view.x_of(at_ns, 1000.0)).abs() < 0.05);
        }

        #[test]
        fn clamping_twice_changes_nothing(start in -1e12..1e12_f64, len in 1.0..1e13_f64, from in 0..1_000_000_i64, own in 0..1_000_000_i64) {
            let whole = Span::new(from, from + own);
            let once = Viewport { start_ns: start, len_ns: len }.clamped(whole);
            let twice = once.clamped(whole);
            prop_assert!((once.start_ns - twice.start_ns).abs() < 1e-6 && once.len_ns == twice.len_ns);
            let middle = once.middle_ns();
            let usable_end = if own == 0 { from + 1_000_000 } else { from + own };
            prop_assert!(middle >= from as f64 - 1e-6 && middle <= usable_end as f64 + 1e-6);
        }
    }
}
