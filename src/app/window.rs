//! The application as eframe sees it: events in, one frame out, commands applied at the frame's end.

use super::dialogs::{Answer, Dialogs};
use super::fetch::Fetcher;
use super::frame::{self, Caches};
use super::load::{Opener, What};
use super::panels::PanelCaches;
use super::picture::{self, PictureOptions};
use super::replaced::{EVERY, Lookout};
use super::settings::Settings;
use super::state::{AppState, Effect, PathQuestion, file_name};
use super::store::{Remembered, Store};
use super::toast::{self, Message};
use super::{keys, theme};
use crate::format;
use crate::report::{Capture, Form, Report, SaveError, check_target};
use crate::task::Wake;
use crate::timeline::{self, color::Palette};
use crate::view::{Command, LaneCommand, Theme, Workspace};
use egui::{Context, Popup, Ui, ViewportCommand};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// How often the progress of loading is redrawn.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// How often what is to be remembered is written down, if it has changed.
const REMEMBER_EVERY: Duration = Duration::from_secs(5);

/// The window.
#[derive(Debug)]
pub struct Window {
    state: AppState,
    caches: Caches,
    dialogs: Dialogs,
    saves: (SyncSender<Saved>, Receiver<Saved>),
    wake: Wake,
    looks: Option<(Theme, u16)>,
    titled: u64,
    store: Store,
    /// What Escape closed or left in this frame, as the last one ended.
    escape: Escape,
    lookout: Lookout,
    focused: bool,
    remembered: Instant,
}

/// What came of a save.
type Saved = Result<Message, Failed>;

/// A save that failed.
#[derive(Debug)]
struct Failed {
    question: PathQuestion,
    path: PathBuf,
    title: &'static str,
    why: String,
}

/// What has Escape to itself, before it clears the selection.
#[derive(Debug, Clone, Copy, Default)]
struct Escape {
    /// A menu or list is open: the toolkit closes it.
    popup: bool,
    /// A text field has the focus: the toolkit leaves it.
    typing: bool,
}

impl Window {
    /// A window with nothing open.
    pub fn new(ctx: &Context, opener: Arc<dyn Opener>, settings: Settings) -> Self {
        let wake = timeline::wake(ctx);
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        let mut caches = Caches::default();
        caches.details.fetcher = Fetcher::threaded(wake.clone());
        caches.panels.work_beside(ctx);
        let mut window = Self {
            state: AppState::new(opener, wake.clone(), settings),
            caches,
            dialogs: Dialogs::new(wake.clone()),
            saves: sync_channel(4),
            wake,
            looks: None,
            titled: 0,
            store: Store::default(),
            escape: Escape::default(),
            lookout: Lookout::default(),
            focused: false,
            remembered: Instant::now(),
        };
        window.follow_looks(ctx);
        window
    }

    /// The same window, with what was `remembered` from `store`, where it is kept again.
    #[must_use]
    pub fn remembering(mut self, store: Store, remembered: Remembered) -> Self {
        self.state.bookmarks = store.bookmarks();
        self.store = store;
        self.state.settings = remembered.settings;
        self.state.last_views = remembered.views;
        self.state.tell_set_aside(&remembered.set_aside);
        self
    }

    /// The same window for a picture: what it shows is fetched and looked for within the frame.
    pub(super) fn still(mut self) -> Self {
        self.caches.details.fetcher = Fetcher::immediate();
        self.caches.panels = PanelCaches::default();
        self
    }

    /// Applies a command, but asks for no file and writes none.
    pub(super) fn show(&mut self, command: Command) {
        // What only a window with a user can do is left undone.
        let _ = self.state.apply(command);
    }

    /// True while other threads work on what is to be shown.
    pub(super) fn is_waiting(&self) -> bool {
        let AppState { jobs, view, .. } = &self.state;
        jobs.is_busy()
            || self.state.is_gathering()
            || self.state.workspace.job.moving
            || self.state.is_renewing()
            || view.search_request().is_some() && view.hits().is_none()
    }

    /// Writes down what is to be remembered, as it is done from time to time and at the end.
    pub fn remember(&mut self) {
        self.remembered = Instant::now();
        self.state.note_views();
        self.store.write(&self.state.settings, &self.state.last_views);
    }

    /// What is open and shown.
    pub fn state(&self) -> &AppState {
        &self.state
    }

    /// Opens these first.
    pub fn start(&mut self, all: Vec<What>) {
        self.state.start(all);
    }

    /// Applies a command as if the user had asked for it.
    pub fn apply(&mut self, ctx: &Context, command: Command) {
        let beside = !self.state.workspace.docs.is_empty();
        match self.state.apply(command) {
            None => {}
            Some(Effect::AskForFiles) => self.dialogs.ask(PathQuestion::Open, beside),
            Some(Effect::AskForCaptures) => self.dialogs.ask(PathQuestion::Captures, beside),
            Some(Effect::AskForPicture) => self.dialogs.ask(PathQuestion::Picture, beside),
            Some(Effect::AskForFolder(report)) => self.dialogs.ask(PathQuestion::Folder(report), beside),
            Some(Effect::AskForSettings) => self.dialogs.ask(PathQuestion::Settings, beside),
            Some(Effect::AskWhereToSaveSettings) => self.dialogs.ask(PathQuestion::SaveSettings, beside),
            Some(Effect::AskForModelConfig) => self.dialogs.ask(PathQuestion::ModelConfig, beside),
            Some(Effect::AskForReport) => self.dialogs.ask(PathQuestion::Report, beside),
            Some(Effect::Copy(text)) => ctx.copy_text(text),
            Some(Effect::KeepBookmarks) => self.store.keep_bookmarks(&self.state.bookmarks, &self.state.workspace),
            Some(Effect::WritePicture(path)) => self.write_picture(ctx, path),
            Some(Effect::WriteReport(path)) => self.write_report(path),
            Some(Effect::AskWhereToSaveSession) => self.dialogs.ask(PathQuestion::Session, beside),
            Some(Effect::Quit) => ctx.send_viewport_cmd(ViewportCommand::Close),
        }
    }

    /// Draws one frame and applies what it asks for.
    pub fn frame(&mut self, ui: &mut Ui) {
        self.follow_looks(ui.ctx());
        let mut commands = Vec::new();
        frame::show(ui, &self.state, &mut self.caches, &mut commands);
        let dropped: Vec<PathBuf> =
            ui.input(|input| input.raw.dropped_files.iter().map(|file| file.path().to_owned()).collect());
        if !dropped.is_empty() {
            commands.push(Command::Open(dropped));
        }
        self.keys(ui.ctx(), &mut commands);
        self.follow_title(ui.ctx());
        for command in commands {
            self.apply(ui.ctx(), command);
        }
        if let Some(copied) = toast::take_copied(ui.ctx()) {
            self.state.status = Some(copied);
            ui.ctx().request_repaint();
        }
        self.follow_looks(ui.ctx());
        self.follow_size(ui.ctx());
        self.escape = Escape { popup: Popup::is_any_open(ui.ctx()), typing: ui.ctx().text_edit_focused() };
    }

    /// Takes over what other threads have finished.
    pub fn poll(&mut self, ctx: &Context) {
        self.state.poll();
        while let Some(answer) = self.dialogs.poll() {
            match answer {
                Answer::Chosen(command) => self.apply(ctx, command),
                Answer::Nothing => {}
                Answer::NoDialog(question) => self.state.ask(question, String::new()),
            }
        }
        while let Ok(saved) = self.saves.1.try_recv() {
            match saved {
                Ok(message) => self.state.status = Some(message),
                Err(failed) => self.state.refuse(failed.question, &failed.path, failed.title, &failed.why),
            }
        }
        self.look_at_files(ctx);
        // A display that vanishes ends the program without another word.
        if self.remembered.elapsed() >= REMEMBER_EVERY {
            self.remember();
        }
        if self.state.jobs.is_busy() || self.state.is_gathering() {
            ctx.request_repaint_after(PROGRESS_EVERY);
        }
    }

    /// Finds out whether open files were replaced: at once when the window gets the focus, then every few seconds.
    fn look_at_files(&mut self, ctx: &Context) {
        let focused = ctx.input(|input| input.focused);
        let gained = focused && !std::mem::replace(&mut self.focused, focused);
        self.state.tell_replaced(self.lookout.poll());
        if focused && !self.state.stamps().is_empty() {
            self.lookout.look(self.state.stamps(), gained, &self.wake);
            ctx.request_repaint_after(EVERY);
        }
    }

    fn keys(&self, ctx: &Context, commands: &mut Vec<Command>) {
        let covered = self.state.overlay.is_some() || !self.state.notices.is_empty();
        let busy = self.state.jobs.is_busy() || self.state.is_gathering();
        let loading = self.state.workspace.docs.is_empty() && busy;
        for command in keys::pressed(ctx, &self.state.view, &self.state.workspace) {
            match command {
                // Escape closes what lies on top before it clears the selection.
                Command::Select(None) | Command::SelectSpan(None) if self.escape.popup => {}
                Command::Select(None) if covered => commands.push(Command::Dismiss),
                Command::Select(None) | Command::SelectSpan(None) if self.caches.timeline.took_escape() => {}
                // The key that ended a note: the field has let go of it by now.
                Command::Select(None) | Command::SelectSpan(None) if self.state.view.noted.is_some() => {}
                Command::Select(None) if loading => commands.push(Command::CancelLoad),
                Command::SelectSpan(None) if covered => {}
                Command::Select(None) | Command::SelectSpan(None) if self.escape.typing => {}
                // With nothing selected it closes the search.
                Command::Select(None) if self.state.view.search.open && !self.state.view.has_selection() => {
                    commands.push(Command::CloseSearch);
                }
                Command::ToggleHelp | Command::TogglePalette | Command::Quit => commands.push(command),
                _ if covered => {}
                // The key that closes the list of lanes is no text for the field in it, which has the focus.
                command @ Command::Lane(LaneCommand::ToggleList) if self.state.view.lanes.list => {
                    commands.retain(|typed| !matches!(typed, Command::Lane(LaneCommand::Filter(_))));
                    commands.push(command);
                }
                // Keys zoom at the pointer, as the wheel does, while it is over the lanes.
                Command::ZoomAt { at_ns, factor } => {
                    let at_ns = self.caches.timeline.pointer_ns().unwrap_or(at_ns);
                    commands.push(Command::ZoomAt { at_ns, factor });
                }
                command => commands.push(command),
            }
        }
    }

    fn follow_looks(&mut self, ctx: &Context) {
        let wanted = (self.state.view.theme, self.state.settings.scale_percent);
        if self.looks != Some(wanted) {
            self.looks = Some(wanted);
            theme::apply(ctx, wanted.0);
            ctx.set_zoom_factor(f32::from(wanted.1) / 100.0);
            ctx.request_repaint();
        }
    }

    /// Remembers the size of the window while it is neither maximized nor covers the screen.
    fn follow_size(&mut self, ctx: &Context) {
        let size = ctx.input(|input| {
            let viewport = input.viewport();
            let whole = viewport.maximized == Some(true) || viewport.fullscreen == Some(true);
            viewport.inner_rect.map(|rect| rect.size()).filter(|_| !whole && viewport.minimized != Some(true))
        });
        if let Some(size) = size {
            let size = size * ctx.zoom_factor();
            self.state.settings.resized(size.x, size.y);
        }
    }

    /// Names the open files in the window's title.
    fn follow_title(&mut self, ctx: &Context) {
        if self.titled == self.state.revision {
            return;
        }
        self.titled = self.state.revision;
        let files: Vec<String> =
            self.state.workspace.docs.iter().map(|doc| file_name(&doc.trace.source.path)).collect();
        let title = if files.is_empty() { "stepscope".to_owned() } else { format!("stepscope: {}", files.join(", ")) };
        ctx.send_viewport_cmd(ViewportCommand::Title(format::one_line(&title, 120)));
    }

    fn write_picture(&mut self, ctx: &Context, path: PathBuf) {
        let (size, scale) = (ctx.content_rect().size(), ctx.pixels_per_point());
        let options = PictureOptions {
            width_px: (size.x * scale).round() as u32,
            height_px: (size.y * scale).round() as u32,
            scale,
            theme: self.state.view.theme,
            side: self.state.settings.side.then_some(self.state.settings.dock),
        };
        let (workspace, view) = (self.state.workspace.clone(), self.state.view.clone());
        self.in_background("Picture", move || match picture::save(&workspace, &view, &options, &path) {
            Ok(()) => Ok(Message::done(format!("Saved {}", path.display()))),
            Err(error) => {
                let (title, why) = ("The picture was not saved", error.to_string());
                Err(Failed { question: PathQuestion::Picture, path, title, why })
            }
        });
    }

    fn write_report(&mut self, path: PathBuf) {
        let workspace = self.state.workspace.clone();
        self.in_background("Report", move || {
            let why = match save_report(&workspace, &path) {
                Ok(()) => return Ok(Message::done(format!("Saved {}", path.display()))),
                Err(error) => error.to_string(),
            };
            Err(Failed { question: PathQuestion::Report, path, title: "The report was not saved", why })
        });
    }

    /// Saves something on a thread of its own and shows what came of it.
    fn in_background(&mut self, what: &'static str, save: impl FnOnce() -> Saved + Send + 'static) {
        let (sender, wake) = (self.saves.0.clone(), self.wake.clone());
        let work = move || {
            // The receiver is gone when the window closed meanwhile.
            let _ = sender.send(save());
            wake.call();
        };
        if std::thread::Builder::new().name(what.to_lowercase()).spawn(work).is_err() {
            self.state.status = Some(Message::refused(format!("{what} not saved: no thread could be started")));
        }
    }
}

/// Writes the report in the form that the file's ending tells.
fn save_report(workspace: &Workspace, path: &Path) -> Result<(), SaveError> {
    let form = Form::of_path(path)?;
    check_target(path)?;
    let captures: Vec<Capture<'_>> =
        workspace.docs.iter().map(|doc| Capture { trace: &doc.trace, analysis: &doc.analysis }).collect();
    let pictures = if form == Form::Html { picture::for_report(workspace) } else { Vec::new() };
    let report = Report::of_job(&captures, workspace.experiment.as_ref(), &workspace.job);
    form.save(&form.write_report(&report, &pictures)?, path)
}

impl eframe::App for Window {
    fn logic(&mut self, ctx: &Context, _frame: &mut eframe::Frame) {
        self.poll(ctx);
    }

    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        self.frame(ui);
    }

    fn save(&mut self, _storage: &mut dyn eframe::Storage) {
        self.remember();
    }

    fn persist_egui_memory(&self) -> bool {
        false
    }

    fn clear_color(&self, _visuals: &egui::Visuals) -> [f32; 4] {
        Palette::of(self.state.view.theme).background.to_normalized_gamma_f32()
    }
}
