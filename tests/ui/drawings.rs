//! Pictures as shapes and text.

use crate::job;
use std::sync::Arc;
use stepscope::analysis::{Params, analyze};
use stepscope::app::picture::{PictureOptions, render_svg};
use stepscope::view::{Command, Panel, Theme, ViewState, Workspace};

/// Checks that `text` is well-formed as far as this program writes XML: tags nest, attributes are quoted, and no sign
/// that has a meaning stands in a text. The result is the names of the elements in order.
fn elements(text: &str) -> Vec<String> {
    let (mut open, mut all) = (Vec::new(), Vec::new());
    let mut rest = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").unwrap();
    while let Some((content, after)) = rest.split_once('<') {
        checked(content);
        let mut quoted = false;
        let end = after.find(|c| {
            quoted ^= c == '"';
            c == '>' && !quoted
        });
        let (tag, next) = after.split_at(end.unwrap());
        rest = &next[1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        tag.split('"').skip(1).step_by(2).for_each(checked);
        let name = tag.split([' ', '/']).next().unwrap().to_owned();
        all.push(name.clone());
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?}");
    all
}

fn checked(content: &str) {
    let references = ["&amp;", "&lt;", "&gt;", "&quot;"];
    assert!(!content.contains('<') && content.chars().all(|c| c == '\n' || c >= ' '), "{content:?}");
    let known: usize = references.iter().map(|name| content.matches(name).count()).sum();
    assert_eq!(content.matches('&').count(), known, "{content}");
}

fn workspace(name: &str) -> Workspace {
    let mut trace = job::trace(0, 12);
    trace.source.path = name.into();
    let analysis = analyze(&trace, &Params::default());
    Workspace::new([(Arc::new(trace), Arc::new(analysis))])
}

#[test]
fn every_panel_is_drawn_as_shapes_and_text_in_both_themes() {
    let workspace = workspace("rank0.sqlite");
    for theme in [Theme::Dark, Theme::Light] {
        for (panel, name) in stepscope::app::panel_names() {
            let mut state = ViewState::open(&workspace);
            state.apply(&Command::ShowPanel(panel), &workspace);
            let options = PictureOptions { width_px: 1280, height_px: 720, theme, ..PictureOptions::default() };
            let svg = render_svg(&workspace, &state, &options);
            let elements = elements(&svg);
            let count = |what: &str| elements.iter().filter(|element| *element == what).count();
            assert!(count("text") > 20 && count("path") > 20, "{name}");
            assert_eq!(count("image"), 0, "nothing is drawn as pixels");
            assert!(svg.len() < 1 << 20, "{name}: {} bytes", svg.len());
            assert!(svg.contains(">Compute</text>") && svg.contains(">Communication</text>"), "{name}");
        }
    }
}

#[test]
fn names_that_mean_something_in_xml_are_escaped() {
    let workspace = workspace("a<b>&\"c\".sqlite");
    let options = PictureOptions { width_px: 1280, height_px: 720, ..PictureOptions::default() };
    let svg = render_svg(&workspace, &ViewState::open(&workspace), &options);
    elements(&svg);
    assert!(svg.contains("a&lt;b&gt;&amp;&quot;c&quot;.sqlite"));
}

#[test]
fn the_same_view_gives_the_same_drawing_and_every_scale_the_same_layout() {
    let workspace = workspace("rank0.sqlite");
    let state = ViewState { panel: Panel::Kernels, ..ViewState::open(&workspace) };
    let drawn = |width_px, height_px, scale| {
        render_svg(
            &workspace,
            &state,
            &PictureOptions { width_px, height_px, scale, theme: Theme::Light, ..PictureOptions::default() },
        )
    };
    let once = drawn(1280, 720, 1.0);
    assert_eq!(once, drawn(1280, 720, 1.0));
    let twice = drawn(2560, 1440, 2.0);
    assert!(twice.contains("width=\"2560\" height=\"1440\" viewBox=\"0 0 1280 720\""));
    assert_eq!(once.matches("<text").count(), twice.matches("<text").count());
}
