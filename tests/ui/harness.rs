//! A window without a display, and an opener that is told what to answer.

use crate::job;
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotOptions, TestRenderer};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use stepscope::analysis::{Params, analyze};
use stepscope::app::Window;
use stepscope::app::load::{OpenError, Opened, Opener, Watch, What};
use stepscope::app::settings::Settings;
use stepscope::app::store::{Remembered, Store};
use stepscope::nsys::{LoadOptions, open};
use stepscope::raster::Renderer;
use stepscope::view::Command;

/// The CPU renderer for tests.
#[derive(Default)]
pub struct Cpu(Renderer);

impl TestRenderer for Cpu {
    fn handle_delta(&mut self, delta: &mut egui::TexturesDelta) {
        self.0.update(delta);
    }

    fn render(&mut self, ctx: &egui::Context, output: &egui::FullOutput) -> Result<image::RgbaImage, String> {
        let scale = output.pixels_per_point;
        let size = ctx.content_rect().size() * scale;
        let (width, height) = (size.x.round() as u32, size.y.round() as u32);
        let size_px = [width, height].map(|px| px as usize);
        let image = self.0.draw(ctx, output.shapes.clone(), size_px, scale, egui::Color32::BLACK);
        image::RgbaImage::from_raw(width, height, image.bytes().to_vec()).ok_or_else(|| "size".to_owned())
    }
}

/// Answers by the name of the file: `rank0`, `rank1`, ... are ranks of the job, `bad` and `worse` fail, `rep` is a capture,
/// `stage0` and `stage1` are a pipeline, `same1` is rank 1 in a file of another name, `hang` waits until it is cancelled or released, `panic` panics; a file that
/// is there is read.
#[derive(Default)]
pub struct Fake {
    released: Mutex<bool>,
    changed: Condvar,
    pub waiting: AtomicBool,
}

impl Fake {
    /// Lets `hang` go on.
    pub fn release(&self) {
        *self.released.lock().unwrap() = true;
        self.changed.notify_all();
    }

    fn hang(&self, watch: &Watch) -> Result<(), OpenError> {
        watch.reader.set_table("kernels");
        watch.reader.set_total(400_000);
        watch.reader.add_rows(100_000);
        watch.file_bytes(3 << 20);
        self.waiting.store(true, Ordering::SeqCst);
        let mut released = self.released.lock().unwrap();
        while !*released {
            if watch.reader.is_cancelled() {
                return Err(OpenError::Cancelled);
            }
            (released, _) = self.changed.wait_timeout(released, Duration::from_millis(2)).unwrap();
        }
        Ok(())
    }

    fn file(&self, path: &Path, watch: &Watch) -> Result<Vec<Opened>, OpenError> {
        let name = path.file_stem().unwrap().to_str().unwrap();
        match name {
            "bad" => Err(OpenError::Failed { message: "bad.sqlite is a text file. Export it again.".to_owned() }),
            "worse" => Err(OpenError::Failed { message: "worse.sqlite is empty.".to_owned() }),
            "rep" => Err(OpenError::NeedsConversion { report: path.to_owned(), message: "A capture.".to_owned() }),
            "panic" => panic!("on purpose"),
            "stage0" => Ok(vec![crate::pipeline::opened(0)]),
            "stage1" => Ok(vec![crate::pipeline::opened(1)]),
            "hang" => self.hang(watch).map(|()| vec![job::opened(0, 12)]),
            "same1" => Ok(vec![job::opened_as(1, 12, "same1.sqlite")]),
            _ if std::fs::metadata(path).is_ok_and(|file| file.len() > 10_000) => {
                let trace = open(path, &LoadOptions::default(), &watch.reader).unwrap();
                let analysis = analyze(&trace, &Params::default());
                Ok(vec![(Arc::new(trace), Arc::new(analysis))])
            }
            rank => {
                Ok(vec![job::opened(rank.trim_start_matches("gpt_").trim_start_matches("rank").parse().unwrap(), 12)])
            }
        }
    }
}

impl Opener for Fake {
    fn can_find(&self, path: &Path) -> bool {
        !path.to_string_lossy().contains("missing")
    }

    fn open(&self, what: &What, watch: &Watch) -> Result<Vec<Opened>, OpenError> {
        match what {
            What::Demo => Ok(vec![job::opened(0, 12), job::opened(1, 12)]),
            What::File(path) => self.file(path, watch),
            What::Convert { .. } => Ok(vec![job::opened(0, 12)]),
        }
    }
}

/// A window under test.
pub struct Driven {
    pub harness: Harness<'static, Option<Window>>,
    pub fake: Arc<Fake>,
}

impl Driven {
    /// A window with nothing open.
    pub fn empty(width_pt: f32, height_pt: f32) -> Self {
        Self::with_settings(width_pt, height_pt, Settings::default())
    }

    /// A window with nothing open and these settings.
    pub fn with_settings(width_pt: f32, height_pt: f32, settings: Settings) -> Self {
        let folder = Store::default();
        Self::with_store(width_pt, height_pt, folder, Remembered { settings, ..Remembered::default() })
    }

    /// A window with nothing open that keeps its settings in `store`, from which came what is `remembered`.
    pub fn with_store(width_pt: f32, height_pt: f32, store: Store, remembered: Remembered) -> Self {
        let fake = Arc::new(Fake::default());
        let opener = Arc::clone(&fake);
        let draw = move |ui: &mut egui::Ui, window: &mut Option<Window>| {
            let new = || {
                let settings = remembered.settings.clone();
                Window::new(ui.ctx(), Arc::clone(&opener) as Arc<dyn Opener>, settings)
                    .remembering(store.clone(), remembered.clone())
            };
            let window = window.get_or_insert_with(new);
            window.poll(ui.ctx());
            window.frame(ui);
        };
        let harness = Harness::builder()
            .with_size([width_pt, height_pt])
            .with_max_steps(30)
            .with_render_cursor(false)
            .with_options(SnapshotOptions::new().threshold(0.0).output_path("tests/ui/snapshots"))
            .renderer(Cpu::default())
            .build_ui_state(draw, None);
        let mut driven = Self { harness, fake };
        driven.settle();
        driven
    }

    /// A window of 1280x720 points with two ranks open.
    pub fn open() -> Self {
        let mut driven = Self::empty(1280.0, 720.0);
        driven.send(Command::OpenDemo);
        driven.wait(|window| !window.state().workspace.docs.is_empty());
        driven
    }

    pub fn window(&self) -> &Window {
        self.harness.state().as_ref().unwrap()
    }

    /// Applies a command and draws.
    pub fn send(&mut self, command: Command) {
        let ctx = self.harness.ctx.clone();
        self.harness.state_mut().as_mut().unwrap().apply(&ctx, command);
        self.settle();
    }

    /// Draws some frames.
    pub fn settle(&mut self) {
        self.harness.run_steps(4);
    }

    /// Draws until `holds`.
    pub fn wait(&mut self, holds: impl Fn(&Window) -> bool) {
        for _ in 0..2000 {
            self.harness.run_steps(1);
            if holds(self.window()) {
                self.settle();
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        panic!("waited in vain");
    }

    /// Clicks the button or tab of this name.
    pub fn click(&mut self, name: &str) {
        self.harness.get_by_label(name).click();
        self.settle();
    }

    /// The text that comes on the clipboard by what `act` asks for, in the next frame or the one after it.
    pub fn copied(&mut self, act: impl FnOnce(&Self)) -> String {
        act(self);
        for _ in 0..4 {
            self.harness.step();
            let commands = &self.harness.output().platform_output.commands;
            let text = commands.iter().find_map(|command| match command {
                egui::OutputCommand::CopyText(text) => Some(text.clone()),
                _ => None,
            });
            if let Some(text) = text {
                return text;
            }
        }
        panic!("nothing was copied")
    }

    pub fn press(&mut self, key: egui::Key) {
        self.harness.key_press(key);
        self.settle();
    }

    /// True when something on screen is called or reads `text`.
    pub fn shows(&self, text: &str) -> bool {
        self.harness.query_all_by_label_contains(text).next().is_some()
    }
}
