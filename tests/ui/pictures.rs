//! Pictures without a display.

use crate::job;
use egui_kittest::{SnapshotOptions, image_snapshot_options};
use stepscope::app::picture::{PictureOptions, render};
use stepscope::raster::{Image, png};
use stepscope::view::{Coloring, Command, LaneCommand, LaneKey, RankId, Theme, ViewState, Workspace};

fn workspace(ranks: usize) -> Workspace {
    Workspace::new((0..ranks).map(|rank| job::opened(rank, 12)))
}

pub fn cut(image: &Image, left: usize, top: usize, width: usize, height: usize) -> image::RgbaImage {
    image::RgbaImage::from_fn(width as u32, height as u32, |x, y| {
        image::Rgba(image.pixel(left + x as usize, top + y as usize).unwrap())
    })
}

pub fn compare(image: &image::RgbaImage, name: &str) {
    let options = SnapshotOptions::new().threshold(0.0).output_path("tests/ui/snapshots");
    image_snapshot_options(image, name, &options);
}

#[test]
fn a_picture_of_one_step_looks_as_designed_in_both_themes() {
    let workspace = workspace(1);
    let mut state = ViewState::open(&workspace);
    state.apply(&Command::ShowStep(RankId { doc: 0, rank: 0 }, 4), &workspace);
    for (theme, name) in [(Theme::Dark, "step_dark"), (Theme::Light, "step_light")] {
        let options = PictureOptions { width_px: 500, height_px: 300, theme, ..PictureOptions::default() };
        let image = render(&workspace, &state, &options);
        compare(&cut(&image, 0, 0, 500, 300), name);
    }
}

#[test]
fn colours_by_name_look_as_designed() {
    let workspace = workspace(1);
    let mut state = ViewState::open(&workspace);
    state.apply(&Command::ShowStep(RankId { doc: 0, rank: 0 }, 4), &workspace);
    state.apply(&Command::SetColoring(Coloring::Name), &workspace);
    let options = PictureOptions { width_px: 900, height_px: 420, theme: Theme::Dark, ..PictureOptions::default() };
    compare(&cut(&render(&workspace, &state, &options), 0, 0, 560, 420), "colour_by_name_dark");
}

#[test]
fn counters_and_a_pinned_lane_look_as_designed() {
    let workspace = workspace(2);
    let rank = RankId { doc: 0, rank: 0 };
    let mut state = ViewState::open(&workspace);
    state.apply(&Command::ToggleLane(LaneKey::Counters(rank)), &workspace);
    state.apply(&Command::Lane(LaneCommand::Pin(Some(LaneKey::Communication(RankId { doc: 1, rank: 0 })))), &workspace);
    state.scroll_y_pt = 120.0;
    let options = PictureOptions { width_px: 1000, height_px: 560, theme: Theme::Light, ..PictureOptions::default() };
    compare(&cut(&render(&workspace, &state, &options), 0, 60, 560, 440), "counters_light");
}

#[test]
fn the_overview_looks_as_designed_in_both_themes() {
    let workspace = workspace(1);
    let state = ViewState::open(&workspace);
    for (theme, name) in [(Theme::Dark, "overview_dark"), (Theme::Light, "overview_light")] {
        let options = PictureOptions { width_px: 1000, height_px: 600, theme, ..PictureOptions::default() };
        let image = render(&workspace, &state, &options);
        compare(&cut(&image, 568, 30, 432, 300), name);
    }
}

#[test]
fn the_same_view_gives_the_same_bytes() {
    let workspace = workspace(2);
    let state = ViewState::open(&workspace);
    let draw = || png::encode(&render(&workspace, &state, &PictureOptions::default())).unwrap();
    assert_eq!(draw(), draw());
}

#[test]
fn twice_the_scale_is_the_same_layout_twice_as_fine() {
    let workspace = workspace(1);
    let mut state = ViewState::open(&workspace);
    // One step: its operations are drawn one by one. Of the whole, twice the pixels would show more than half the size.
    let rank = state.rank.unwrap();
    assert!(state.apply(&Command::ShowStep(rank, 1), &workspace));
    let once = PictureOptions { width_px: 600, height_px: 400, theme: Theme::Light, ..PictureOptions::default() };
    let twice = PictureOptions { width_px: 1200, height_px: 800, scale: 2.0, ..once };
    let (small, large) = (render(&workspace, &state, &once), render(&workspace, &state, &twice));
    let mut different = 0;
    for y in 0..400 {
        for x in 0..600 {
            let (a, b) = (small.pixel(x, y).unwrap(), large.pixel(2 * x, 2 * y).unwrap());
            different += usize::from(a.iter().zip(b).any(|(a, b)| a.abs_diff(b) > 96));
        }
    }
    assert!(different < 600 * 400 / 25, "{different} pixels differ: the layout is another one");
}

#[test]
fn the_icon_in_assets_is_the_one_the_window_shows() {
    let icon = stepscope::app::icon::image(256);
    let image = image::RgbaImage::from_raw(256, 256, icon.bytes().to_vec()).unwrap();
    let options = SnapshotOptions::new().threshold(0.0).output_path("assets");
    image_snapshot_options(&image, "icon", &options);
}

#[test]
fn an_empty_workspace_makes_a_picture_too() {
    let workspace = Workspace::default();
    let image = render(&workspace, &ViewState::open(&workspace), &PictureOptions::default());
    assert_eq!((image.width_px, image.height_px), (1600, 900));
}
