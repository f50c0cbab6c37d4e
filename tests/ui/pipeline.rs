//! The panel of the pipeline.

use crate::harness::Driven;
use std::sync::{Arc, LazyLock};
use stepscope::analysis::{Params, Pass, analyze};
use stepscope::app::load::Opened;
use stepscope::format;
use stepscope::job::{StageLane, Stages};
use stepscope::nsys::{LoadOptions, Progress, open};
use stepscope::report::compare::{STAGE_COLUMNS, bubble_text, change_texts, imbalance_text, stage_rows};
use stepscope::sim::{JobConfig, preset, simulate_to_dir};
use stepscope::view::{Command, Panel, Theme};

/// Two stages, the second slower; three steps of four micro-batches.
static STAGES: LazyLock<Vec<Opened>> = LazyLock::new(|| {
    let small = JobConfig { ranks: 2, pp: 2, micro_batches: 4, steps: 3, layers: 4, ..preset("pipeline-8").unwrap() };
    let config = JobConfig { stragglers: vec![1], compute_factor: 1.3, ..small };
    let folder = tempfile::tempdir().unwrap();
    let job = simulate_to_dir(&config, folder.path(), false, &mut |_| {}).unwrap();
    let load = |(rank, file): (usize, &std::path::PathBuf)| {
        let mut trace = open(file, &LoadOptions::default(), &Progress::new()).unwrap();
        trace.source.path = format!("stage{rank}.sqlite").into();
        let analysis = analyze(&trace, &Params::default());
        (Arc::new(trace), Arc::new(analysis))
    };
    job.files.iter().enumerate().map(load).collect()
});

/// The file of a stage.
pub fn opened(stage: usize) -> Opened {
    STAGES[stage].clone()
}

fn driven(width_pt: f32, height_pt: f32) -> Driven {
    let mut driven = Driven::empty(width_pt, height_pt);
    driven.send(Command::Open(vec!["/x/stage0.sqlite".into(), "/x/stage1.sqlite".into()]));
    driven.wait(|window| window.state().workspace.docs.len() == 2);
    driven.send(Command::ShowPanel(Panel::Pipeline));
    // The second step: the first begins with a long wait for data.
    let window = &driven.window().state().workspace;
    let step = window.job.pipeline.as_ref().unwrap().steps(&window.job).swap_remove(1);
    let axis = step.span.shifted(window.origin_ns);
    driven.send(Command::Show(axis));
    driven
}

fn stages(driven: &Driven) -> Stages {
    driven.window().state().workspace.job.pipeline.clone().unwrap()
}

/// What the second stage did in its second step.
fn lane(driven: &Driven) -> StageLane {
    let (stages, job) = (stages(driven), &driven.window().state().workspace.job);
    stages.lane(job, &stages.steps(job)[1], 1).unwrap()
}

#[test]
fn sentences_and_table_are_those_of_the_comparison() {
    let driven = driven(1400.0, 1400.0);
    let stages = stages(&driven);
    let job = &driven.window().state().workspace.job;
    let mut texts = vec![bubble_text(&stages), imbalance_text(&stages).unwrap()];
    assert!(texts[1].starts_with("Stage 1 is the slowest"), "{texts:?}");
    texts.extend(change_texts(&stages));
    texts.extend(stage_rows(job, &stages).into_iter().flatten().take(4).map(|(text, _)| text));
    texts.push(STAGE_COLUMNS[1].0.to_owned());
    assert!(texts.len() > 10);
    for text in texts {
        assert!(driven.shows(&text), "{text}");
    }
}

#[test]
fn a_click_on_a_block_goes_to_it_on_its_rank() {
    let mut driven = driven(1400.0, 1400.0);
    let block = *lane(&driven).blocks.iter().find(|block| block.pass == Pass::Backward).unwrap();
    let length = format::duration(block.span.len_ns());
    driven.click(&format!("Backward of micro-batch {} on stage 1, {length}", block.micro_batch));
    let state = driven.window().state();
    let axis = block.span.shifted(state.workspace.origin_ns);
    let visible = state.view.viewport.span();
    assert_eq!((state.view.rank.unwrap().doc, state.view.selected_span), (1, Some(axis)));
    assert!(visible.holds(axis) && visible.len_ns() <= 4 * axis.len_ns(), "{visible:?} {axis:?}");
    assert_eq!(state.view.panel, Panel::Pipeline);
}

#[test]
fn the_step_in_view_is_shown_until_another_is_chosen() {
    let mut driven = driven(1400.0, 1400.0);
    let all = stages(&driven).steps(&driven.window().state().workspace.job);
    let told = |at: usize| format!("{} over all stages", format::duration(all[at].span.len_ns()));
    assert!(driven.shows(&told(1)) && !driven.shows(&told(2)), "the one in the middle");
    driven.send(Command::Show(all[2].span.shifted(driven.window().state().workspace.origin_ns)));
    assert!(driven.shows(&told(2)));
    driven.click("Previous step of the pipeline");
    driven.click("Previous step of the pipeline");
    assert!(driven.shows(&told(0)), "chosen here, whatever is in view");
    driven.click("Next step of the pipeline");
    assert!(driven.shows(&told(1)));
    driven.click("Step in view");
    assert!(driven.shows(&told(2)));
}

#[test]
fn lanes_tell_the_bubble_of_their_phases() {
    let driven = driven(1400.0, 1400.0);
    let lane = lane(&driven);
    let mut text = format!("Stage 1: bubble {} of the step", format::percent(lane.whole.bubble_share()));
    for ((_, _, time), name) in lane.phases.iter().zip(["warm-up", "steady state", "cool-down"]) {
        text.push_str(&format!(", {name} {}", format::percent(lane.share_of_step(time))));
    }
    assert_eq!(lane.phases.len(), 3);
    assert!(driven.shows(&text), "{text}");
}

#[test]
fn without_a_pipeline_it_is_told_what_to_declare() {
    let mut driven = Driven::open();
    driven.send(Command::ShowPanel(Panel::Pipeline));
    for text in ["No pipeline is known", "pp under [parallel]", "pipeline stage 1 of 4"] {
        assert!(driven.shows(text), "{text}");
    }
}

#[test]
fn the_panel_as_a_picture() {
    let mut driven = driven(860.0, 620.0);
    driven.harness.snapshot("pipeline_dark");
    driven.send(Command::SetTheme(Theme::Light));
    driven.harness.snapshot("pipeline_light");
}
