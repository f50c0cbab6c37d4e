//! Pictures of the timeline: real exports in both themes at several zooms. They are written to the folder named by
//! `STEPSCOPE_PICTURES`, to be looked at; without it only what can be asserted is.

#![cfg(feature = "gui")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use egui::{Context, Event, Pos2, RawInput, Rect, Vec2, pos2, vec2};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stepscope::analysis::{Params, analyze};
use stepscope::nsys::{LoadOptions, Progress, open};
use stepscope::raster::{Image, Renderer, png};
use stepscope::timeline::{self, Cache};
use stepscope::view::{Command, Item, LaneKey, RankId, Theme, ViewState, Workspace};

const RANK: RankId = RankId { doc: 0, rank: 0 };

fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data")).join(name);
    if !path.exists() {
        println!("skipped: {name} is not there");
        return None;
    }
    Some(path)
}

fn workspace(path: &Path) -> Workspace {
    let trace = Arc::new(open(path, &LoadOptions::default(), &Progress::default()).unwrap());
    let analysis = Arc::new(analyze(&trace, &Params::default()));
    Workspace::new([(trace, analysis)])
}

fn picture(
    workspace: &Workspace,
    state: &ViewState,
    size: Vec2,
    scale: f32,
    pointer: Option<Pos2>,
    name: &str,
) -> Image {
    let (context, mut renderer, mut cache) = (Context::default(), Renderer::new(), Cache::default());
    let mut shapes = Vec::new();
    for frame in 0..3 {
        let mut input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size)),
            time: Some(f64::from(frame)),
            events: pointer.map(Event::PointerMoved).into_iter().collect(),
            ..RawInput::default()
        };
        input.viewports.entry(input.viewport_id).or_default().native_pixels_per_point = Some(scale);
        let mut output = context.run_ui(input, |ui| timeline::show(ui, workspace, state, &mut cache, &mut Vec::new()));
        renderer.update(&mut output.textures_delta);
        shapes = output.shapes;
    }
    let size_px = [(size.x * scale) as usize, (size.y * scale) as usize];
    let image = renderer.draw(&context, shapes, size_px, scale, timeline::background(state.theme));
    if let Some(folder) = std::env::var_os("STEPSCOPE_PICTURES") {
        png::write(&image, &Path::new(&folder).join(format!("{name}.png"))).unwrap();
    }
    image
}

fn drawn_share(image: &Image, theme: Theme) -> f64 {
    let background = timeline::background(theme).to_array();
    image.pixels.iter().filter(|pixel| **pixel != background).count() as f64 / image.pixels.len() as f64
}

#[test]
fn a_real_training_step_fills_the_picture_at_every_zoom() {
    let Some(path) = shared("a100_ddp_rank0_2023.4.sqlite") else { return };
    let workspace = workspace(&path);
    for (theme, word) in [(Theme::Dark, "dark"), (Theme::Light, "light")] {
        let mut state = ViewState { theme, ..ViewState::open(&workspace) };
        let check = |state: &ViewState, zoom: &str, pointer: Option<Pos2>| {
            let image = picture(&workspace, state, vec2(1600.0, 620.0), 1.0, pointer, &format!("a100-{zoom}-{word}"));
            assert!(drawn_share(&image, theme) > 0.2, "{zoom} {word}");
        };
        check(&state, "whole", None);
        state.apply(&Command::ShowStep(RANK, 3), &workspace);
        check(&state, "step", Some(pos2(900.0, 200.0)));
        let (_, rank) = workspace.rank(RANK).unwrap();
        let middle = (rank.ops.len() / 2) as u32;
        state.apply(&Command::Select(Some(Item::Op(RANK, middle))), &workspace);
        state.apply(&Command::ShowSelection, &workspace);
        for _ in 0..3 {
            let at_ns = state.viewport.middle_ns();
            state.apply(&Command::ZoomAt { at_ns, factor: 2.0 }, &workspace);
        }
        check(&state, "kernel", None);
        // Far enough out that the launch is in view too.
        if let Some(launch) = rank.ops.launch_of(middle as usize) {
            let (call, op) = (Item::Call(0, rank.process, launch), Item::Op(RANK, middle));
            let both = call.span(&workspace).unwrap().hull(op.span(&workspace).unwrap());
            state.apply(&Command::Show(both), &workspace);
            let at_ns = state.viewport.middle_ns();
            state.apply(&Command::ZoomAt { at_ns, factor: 1.2 }, &workspace);
            check(&state, "launch", None);
        }
        for lane in
            [LaneKey::Compute(RANK), LaneKey::Communication(RANK), LaneKey::Copies(RANK), LaneKey::Launches(0, 0)]
        {
            state.apply(&Command::ToggleLane(lane), &workspace);
        }
        check(&state, "expanded", Some(pos2(900.0, 240.0)));
    }
}

#[test]
fn windows_of_any_size_are_filled() {
    let Some(path) = shared("a100_ddp_rank0_2023.4.sqlite") else { return };
    let workspace = workspace(&path);
    for (theme, word) in [(Theme::Dark, "dark"), (Theme::Light, "light")] {
        let mut state = ViewState { theme, ..ViewState::open(&workspace) };
        state.apply(&Command::ShowStep(RANK, 3), &workspace);
        for (width, height, scale) in [(700.0, 450.0, 1.0), (640.0, 400.0, 2.0), (1920.0, 1080.0, 2.0)] {
            let image = picture(&workspace, &state, vec2(width, height), scale, None, &format!("size-{width}-{word}"));
            assert!(drawn_share(&image, theme) > 0.2, "{width} {word}");
        }
        let scrolled = ViewState { scroll_y_pt: 90.0, ..state.clone() };
        let pointer = Some(pos2(60.0, 120.0));
        picture(&workspace, &scrolled, vec2(900.0, 320.0), 1.0, pointer, &format!("scrolled-{word}"));
        state.apply(&Command::Select(Some(Item::Idle(RANK, 40))), &workspace);
        state.apply(&Command::ShowSelection, &workspace);
        let pointer = Some(pos2(800.0, 150.0));
        picture(&workspace, &state, vec2(900.0, 320.0), 1.0, pointer, &format!("selected-{word}"));
    }
}

#[test]
fn every_shared_export_draws() {
    let Some(folder) = shared(".") else { return };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "sqlite"));
    files.sort();
    assert!(!files.is_empty());
    for path in files {
        let workspace = workspace(&path);
        let state = ViewState::open(&workspace);
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let image = picture(&workspace, &state, vec2(1280.0, 720.0), 1.0, None, &format!("all-{name}"));
        assert!(drawn_share(&image, Theme::Dark) > 0.15, "{name}");
    }
}

#[test]
fn the_timeline_is_found_by_its_words() {
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    let (workspace, mut cache) = (Workspace::default(), Cache::default());
    let state = ViewState::open(&workspace);
    let mut harness = Harness::builder()
        .with_size(vec2(640.0, 360.0))
        .build_ui(|ui| timeline::show(ui, &workspace, &state, &mut cache, &mut Vec::new()));
    harness.run();
    harness.get_by_label_contains("Timeline of 0 ranks, showing");
}
