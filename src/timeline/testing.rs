//! A small training job made by hand, and a window without a display that takes input.

use super::draw::Frame;
use super::layout::{Lane, Layout};
use super::{Cache, overlay, show};
use crate::analysis::{Params, analyze};
use crate::trace::testing::{Fixture, PID};
use crate::trace::{CopyKind, NameId, OpKind, RangeKind, RawCall, RawRange};
use crate::view::{Command, Item, ViewState, Workspace};
use egui::{Context, Event, Modifiers, PointerButton, Pos2, RawInput, Rect, Vec2, vec2};
use std::sync::Arc;

/// Microseconds to nanoseconds.
const US: i64 = 1000;
/// Thread that runs the forward pass.
pub const MAIN: i64 = 11;
/// Thread that runs the backward pass.
pub const AUTOGRAD: i64 = 12;

/// Six steps of forward, backward with overlapped all-reduce, an exposed one, an optimizer, and a wait for data.
pub fn training() -> Workspace {
    let mut f = Fixture::new();
    for step in 0..6_i64 {
        one_step(&mut f, step, step * 10_000 * US + 500 * US);
    }
    for (tid, name) in [(MAIN, "python"), (AUTOGRAD, "pt_autograd_0")] {
        let name = f.builder.names().intern(name);
        f.builder.thread_name(PID | tid, name, 1);
    }
    crossing_ranges(&mut f);
    workspace_of(&mut f)
}

fn one_step(f: &mut Fixture, step: i64, t: i64) {
    f.range(&format!("step {step}"), MAIN, t, t + 9_000 * US);
    f.range("forward", MAIN, t, t + 2_500 * US);
    f.range("optimizer", MAIN, t + 7_000 * US, t + 8_800 * US);
    f.range("backward", AUTOGRAD, t + 2_600 * US, t + 6_900 * US);
    f.gpu_op(OpKind::Memcpy(CopyKind::HostToDevice), "HtoD", 7, t + 50 * US, t + 180 * US, None, Some(1 << 20));
    let kernels = ["ampere_sgemm_128x64_nn", "flash_fwd_kernel", "layer_norm_kernel", "vectorized_elementwise_kernel"];
    for layer in 0..12 {
        let at = t + 200 * US + layer * 190 * US;
        for (nth, name) in kernels.iter().enumerate() {
            let start = at + nth as i64 * 45 * US;
            f.launched(name, 7, MAIN, start - 180 * US, start, start + (40 - 8 * nth as i64) * US);
        }
        let at = t + 2_700 * US + layer * 330 * US;
        f.launched("ampere_sgemm_64x64_tn", 7, AUTOGRAD, at - 60 * US, at, at + 180 * US);
        f.launched("flash_bwd_kernel", 7, AUTOGRAD, at - 20 * US, at + 185 * US, at + 310 * US);
        if layer % 4 == 3 {
            f.launched("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, AUTOGRAD, at, at + 200 * US, at + 1_000 * US);
        }
    }
    for nth in 0..20 {
        let at = t + 7_700 * US + nth * 40 * US;
        f.launched("multi_tensor_apply_kernel", 7, MAIN, at - 300 * US, at, at + 35 * US);
    }
    f.call("cudaStreamSynchronize_v3020", MAIN, t + 7_000 * US, t + 7_350 * US, None);
}

/// Start/end ranges that cross, one without an end, and a few marks.
fn crossing_ranges(f: &mut Fixture) {
    let add = |f: &mut Fixture, name: &str, kind, start_ns: i64, end_ns: Option<i64>, color| {
        let name = f.builder.names().intern(name);
        let (domain, category) = (NameId::EMPTY, NameId::EMPTY);
        f.builder.range(RawRange {
            start_ns,
            end_ns,
            global_tid: PID | MAIN,
            name,
            kind,
            domain,
            category,
            color,
            ended_elsewhere: false,
            row: 9,
        });
    };
    add(f, "prefetch", RangeKind::StartEnd, 2_000 * US, Some(14_000 * US), 0x00_9e73);
    add(f, "checkpoint", RangeKind::StartEnd, 9_000 * US, Some(31_000 * US), 0xcc_79a7);
    add(f, "never closed", RangeKind::StartEnd, 40_000 * US, None, 0xd5_5e00);
    for at in [5_000, 25_000, 45_000] {
        add(f, "epoch", RangeKind::Mark, at * US, None, crate::trace::NONE);
    }
    let name = f.builder.names().intern("poll");
    for nth in 0..40 {
        let (start_ns, end_ns) = (nth * 1_500 * US, Some(nth * 1_500 * US + 900 * US));
        f.builder.os_call(RawCall { start_ns, end_ns, global_tid: PID | 13, correlation: None, name, row: 7 });
    }
}

/// A workspace of what `fixture` holds.
pub fn workspace_of(fixture: &mut Fixture) -> Workspace {
    let trace = Arc::new(fixture.build());
    let analysis = Arc::new(analyze(&trace, &Params::default()));
    Workspace::new([(trace, analysis)])
}

/// A window without a display.
pub struct Window {
    context: Context,
    time: f64,
    pub workspace: Workspace,
    pub state: ViewState,
    pub cache: Cache,
    size: Vec2,
    /// Height of a panel that opens below while something is selected, and takes clicks.
    pub panel_pt: f32,
    /// Height of a bar above.
    pub bar_pt: f32,
    /// Shapes of the last frame.
    pub shapes: usize,
}

impl Window {
    pub fn new(workspace: Workspace, size: Vec2) -> Self {
        let state = ViewState::open(&workspace);
        let context = Context::default();
        context.all_styles_mut(|style| style.animation_time = 0.0);
        Self {
            context,
            time: 0.0,
            workspace,
            state,
            cache: Cache::default(),
            size,
            panel_pt: 0.0,
            bar_pt: 0.0,
            shapes: 0,
        }
    }

    /// Runs a frame with `events` and applies what it asked for.
    pub fn act(&mut self, events: Vec<Event>) -> Vec<Command> {
        self.time += 0.05;
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, self.size)),
            time: Some(self.time),
            events,
            ..RawInput::default()
        };
        let mut commands = Vec::new();
        let mut output = self.context.run_ui(input, |ui| {
            if self.bar_pt > 0.0 {
                egui::Panel::top("bar").exact_size(self.bar_pt).show(ui, |_| {});
            }
            if self.panel_pt > 0.0 && self.state.selected.is_some() {
                egui::Panel::bottom("details").exact_size(self.panel_pt).show(ui, |ui| {
                    ui.allocate_response(ui.available_size(), egui::Sense::click());
                });
            }
            show(ui, &self.workspace, &self.state, &mut self.cache, &mut commands);
        });
        output.textures_delta.clear();
        self.shapes = output.shapes.len();
        for command in &commands {
            self.state.apply(command, &self.workspace);
        }
        commands
    }
}

impl Window {
    /// Has everything done beside the frame that can be, however few operations there are.
    pub fn work_beside(&mut self) {
        self.cache.work_beside(&super::wake(&self.context), 0);
    }

    /// Lays out as the last frame did.
    pub fn with_frame<T>(&mut self, use_it: impl FnOnce(&Frame<'_>, &Layout, &Cache) -> T) -> T {
        let panel_pt = if self.state.selected.is_some() { self.panel_pt } else { 0.0 };
        let visible_pt = self.size.y - panel_pt - super::RULER_PT;
        let room_pt = self.cache.sight.room_pt(&self.context, visible_pt);
        let layout = Layout::of(&self.workspace, &self.state, &mut self.cache, room_pt);
        let rect = Rect::from_min_size(Pos2::ZERO, self.size - vec2(0.0, panel_pt));
        let frame = super::frame(&self.workspace, &self.state, &layout, rect, 1.0);
        use_it(&frame, &layout, &self.cache)
    }

    /// The lanes as the last frame placed them.
    pub fn layout(&mut self) -> Layout {
        self.with_frame(|_, layout, _| layout.clone())
    }

    /// The middle of where `item` is drawn, on the first lane that shows it.
    pub fn place(&mut self, item: Item) -> Option<Pos2> {
        self.with_frame(|frame, layout, cache| {
            let place = layout.lanes.iter().find_map(|lane| overlay::place(frame, cache, lane, item))?;
            Some(Pos2::new(place.center().x.clamp(frame.left_pt, frame.right_pt), place.center().y))
        })
    }

    /// A point in the gutter beside the first lane for which `is` holds.
    pub fn beside(&mut self, is: impl Fn(&Lane) -> bool) -> Pos2 {
        self.with_frame(|frame, layout, _| {
            let lane = layout.lanes.iter().find(|lane| is(lane)).unwrap();
            Pos2::new(80.0, frame.origin_pt + lane.top_pt + lane.height_pt / 2.0)
        })
    }

    /// Long enough that the next click is not the second of a double click.
    pub fn time_passes(&mut self) {
        self.time += 2.0;
    }

    /// Moves there, presses and releases.
    pub fn click(&mut self, at: Pos2, button: PointerButton) -> Vec<Command> {
        self.act(vec![Event::PointerMoved(at)]);
        let mut commands = self.act(vec![press(at, true, button, Modifiers::NONE)]);
        commands.extend(self.act(vec![press(at, false, button, Modifiers::NONE)]));
        commands
    }

    /// Presses at the first point, moves to the second in two steps, releases.
    pub fn drag(&mut self, from: Pos2, to: Pos2, modifiers: Modifiers) -> Vec<Command> {
        self.drag_with(PointerButton::Primary, from, to, modifiers)
    }

    /// As [`Window::drag`], with this button.
    pub fn drag_with(&mut self, button: PointerButton, from: Pos2, to: Pos2, modifiers: Modifiers) -> Vec<Command> {
        self.act(vec![Event::ModifiersChanged(modifiers), Event::PointerMoved(from)]);
        let mut commands = self.act(vec![press(from, true, button, modifiers)]);
        commands.extend(self.act(vec![Event::PointerMoved(from + (to - from) / 2.0)]));
        commands.extend(self.act(vec![Event::PointerMoved(to)]));
        commands.extend(self.act(vec![press(to, false, button, modifiers)]));
        self.act(vec![Event::ModifiersChanged(Modifiers::NONE)]);
        commands
    }

    /// Turns the wheel at a point, and lets egui's smoothing come to rest.
    pub fn wheel(&mut self, at: Pos2, delta: Vec2, modifiers: Modifiers) -> Vec<Command> {
        self.act(vec![Event::ModifiersChanged(modifiers), Event::PointerMoved(at)]);
        let (unit, phase) = (egui::MouseWheelUnit::Point, egui::TouchPhase::Move);
        let mut commands =
            self.act(vec![Event::MouseWheel { unit, phase, delta, modifiers, source: egui::MouseWheelSource::Wheel }]);
        for _ in 0..20 {
            commands.extend(self.act(Vec::new()));
        }
        self.act(vec![Event::ModifiersChanged(Modifiers::NONE)]);
        commands
    }
}

fn press(pos: Pos2, pressed: bool, button: PointerButton, modifiers: Modifiers) -> Event {
    Event::PointerButton { pos, button, pressed, modifiers }
}

/// The usual window.
pub fn window() -> Window {
    let mut window = Window::new(training(), vec2(1280.0, 640.0));
    // egui knows what is under the pointer from the frame before.
    window.act(Vec::new());
    window
}
