//! Utilisation as published, recomputed: every table row that names its model, batch, time and hardware.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use stepscope::analysis::Mfu;
use stepscope::experiment::{Batch, Convention, Experiment, Model, PeakChoice, Recompute, Run};

/// A run with a typed step time.
fn run(convention: Convention, recompute: Recompute, gpus: u64, seconds: f64, peak: f64) -> Experiment {
    Experiment {
        run: Run {
            convention: Some(convention),
            recompute: Some(recompute),
            gpus: Some(gpus),
            step_time_ms: Some(seconds * 1e3),
            ..Run::default()
        },
        peak: PeakChoice { tflops: Some(peak), ..PeakChoice::default() },
        ..Experiment::default()
    }
}

/// A GPT of Megatron's papers.
fn gpt(layers: u64, hidden: u64, heads: u64) -> Model {
    Model {
        layers: Some(layers),
        hidden: Some(hidden),
        heads: Some(heads),
        head_dim: Some(hidden / heads),
        ffn: Some(4 * hidden),
        vocab: Some(51_200),
        ..Model::default()
    }
}

fn batch(sequences: u64, length: u64) -> Batch {
    Batch { sequences: Some(sequences), sequence_length: Some(length), ..Batch::default() }
}

fn preset(name: &str) -> Model {
    Model { preset: Some(name.to_owned()), ..Model::default() }
}

fn rounds_to(value: Option<f64>, printed: f64, decimals: i32, what: &str) {
    let value = value.unwrap();
    let half = 0.5 * 10_f64.powi(-decimals) + 1e-9;
    assert!((value - printed).abs() <= half, "{what}: {value}, printed as {printed}");
}

fn percent(share: Option<f64>) -> Option<f64> {
    share.map(|share| share * 100.0)
}

/// arXiv 2104.04473, table 1: A100, sequences of 2048, full recomputation, so that the share of peak is HFU.
#[test]
fn megatron_2021() {
    let rows = [
        (24, 2304, 24, 32, 512, 3.53, 137.0, 44.0, 33.5),
        (30, 3072, 32, 64, 512, 3.70, 138.0, 44.0, 33.5),
        (36, 4096, 32, 128, 512, 3.70, 142.0, 46.0, 34.4),
        (40, 6144, 48, 256, 1024, 9.40, 135.0, 43.0, 32.6),
        (48, 8192, 64, 512, 1536, 14.45, 138.0, 44.0, 33.3),
        (60, 10_240, 80, 1024, 1792, 16.06, 140.0, 45.0, 33.7),
        (80, 12_288, 96, 1536, 2304, 24.82, 148.0, 47.0, 35.6),
        (96, 16_384, 128, 1920, 2160, 37.61, 155.0, 50.0, 37.3),
        (105, 20_480, 128, 2520, 2520, 54.08, 163.0, 52.0, 39.2),
        (128, 25_600, 160, 3072, 3072, 102.63, 163.0, 52.0, 39.2),
    ];
    for (layers, hidden, heads, gpus, sequences, seconds, tflops, hfu, mfu) in rows {
        let mut said = run(Convention::Megatron2021, Recompute::None, gpus, 1.0, 312.0);
        (said.model, said.batch) = (gpt(layers, hidden, heads), batch(sequences, 2048));
        // The rate is published, the time follows.
        let time = Mfu::of(&[], Some(&said)).hardware_tflops_per_gpu.unwrap() / tflops;
        said.run.step_time_ms = Some(time * 1e3);
        let got = Mfu::of(&[], Some(&said));
        let what = format!("h {hidden}");
        rounds_to(Some(time), seconds, 2, &what);
        rounds_to(percent(got.hfu), hfu, 0, &what);
        rounds_to(percent(got.mfu), mfu, 1, &what);
    }
}

/// arXiv 2205.05198, table 5: A100, sequences of 2048; step times with full and with selective recomputation.
#[test]
fn korthikanti_2022() {
    let rows = [
        (48, 6144, 64, 8, 4, 1.42, 1.10, [41.65, 43.81], [32.3, 42.9]),
        (96, 12_288, 96, 64, 64, 18.13, 13.75, [51.39, 52.77], [39.0, 51.9]),
        (105, 20_480, 128, 280, 280, 49.05, 37.83, [56.05, 56.96], [43.2, 57.6]),
        (128, 25_600, 160, 512, 512, 94.42, 71.49, [56.27, 57.01], [42.6, 56.8]),
    ];
    for (layers, hidden, heads, gpus, sequences, full_s, selective_s, selective, full) in rows {
        for (recompute, seconds, [mfu, hfu], decimals) in
            [(Recompute::Selective, selective_s, selective, 2), (Recompute::Full, full_s, full, 1)]
        {
            let mut said = run(Convention::Korthikanti, recompute, gpus, seconds, 312.0);
            (said.model, said.batch) = (gpt(layers, hidden, heads), batch(sequences, 2048));
            let got = Mfu::of(&[], Some(&said));
            let what = format!("h {hidden} {recompute:?}");
            rounds_to(percent(got.mfu), mfu, decimals, &what);
            rounds_to(percent(got.hfu), hfu, decimals, &what);
        }
    }
}

/// PaLM 540B on 6144 TPU v4: 238 300 tokens per second, with and without attention.
#[test]
fn palm_540b() {
    for (convention, published) in [(Convention::Palm, 46.23), (Convention::Rough, 45.73)] {
        let mut said = run(convention, Recompute::None, 6144, 2048.0 * 2048.0 / 238_300.0, 275.0);
        (said.model, said.batch) = (preset("palm-540b"), batch(2048, 2048));
        said.model.parameters = Some(540.35e9);
        rounds_to(percent(Mfu::of(&[], Some(&said)).mfu), published, 2, "PaLM");
    }
}

/// Llama 3 405B on H100, table 4: from TFLOP/s per GPU to share of 989, and the step times that follow by either count.
/// The second row is published as 41 %; 400 of 989 are 40.4 %.
#[test]
fn llama_3_405b() {
    let rows = [
        (8192, 64 * 32, 8192, 430.0, 43.5, 12.02, 12.50),
        (16_384, 128 * 16, 8192, 400.0, 40.4, 6.46, 6.72),
        (16_384, 8 * 16, 131_072, 380.0, 38.4, 10.90, 15.28),
    ];
    for (gpus, sequences, length, tflops, percent_of_peak, causal_s, full_s) in rows {
        for (convention, seconds) in [(Convention::Megatron, causal_s), (Convention::MegatronFull, full_s)] {
            let mut said = run(convention, Recompute::None, gpus, seconds, 989.0);
            (said.model, said.batch) = (preset("llama-3-405b"), batch(sequences, length));
            let got = Mfu::of(&[], Some(&said));
            // Step times have two decimals, which leaves 0.1 % of the rate open.
            assert!((got.achieved_tflops_per_gpu.unwrap() / tflops - 1.0).abs() < 1e-3, "{gpus} {convention:?}");
            assert!((percent(got.mfu).unwrap() - percent_of_peak).abs() < 0.1, "{gpus} {convention:?}");
        }
    }
}

/// llm-foundry's table: MFU and HFU from tokens per second.
#[test]
fn llm_foundry() {
    let rows = [
        ("mpt-70b", 2048, 512, 989.5, true, 515_636.0, 41.25, 55.00),
        ("mpt-70b", 2048, 128, 989.5, true, 135_490.0, 43.35, 57.81),
        ("mpt-30b", 2048, 128, 989.5, true, 281_491.0, 41.85, 55.80),
        ("mpt-13b", 2048, 128, 989.5, true, 650_264.0, 42.18, 56.24),
        ("mpt-7b", 2048, 128, 989.5, false, 1_340_830.0, 45.71, 45.71),
        ("mpt-7b", 2048, 8, 989.5, false, 85_144.0, 46.44, 46.44),
        ("mpt-7b", 65_536, 8, 989.5, true, 15_654.0, 28.59, 38.12),
        ("mpt-1b", 2048, 8, 989.5, false, 363_645.0, 41.82, 41.82),
        ("mpt-3b", 2048, 16, 989.5, false, 386_285.0, 43.73, 43.73),
        ("mpt-7b", 2048, 8, 312.0, true, 29_436.0, 50.92, 67.89),
        ("mpt-30b", 2048, 128, 312.0, true, 110_803.0, 52.25, 69.66),
        ("mpt-125m", 2048, 8, 312.0, false, 1_142_641.0, 44.79, 44.79),
        ("mpt-350m", 4096, 8, 312.0, false, 396_442.0, 53.31, 53.31),
        ("mpt-1b", 2048, 8, 312.0, false, 154_171.0, 56.23, 56.23),
    ];
    for (name, length, gpus, peak, checkpointing, tokens_per_s, mfu, hfu) in rows {
        let recompute = if checkpointing { Recompute::Full } else { Recompute::None };
        let seconds = (1024 * length) as f64 / tokens_per_s;
        let mut said = run(Convention::LlmFoundry, recompute, gpus, seconds, peak);
        // The table of positions is as long as the sequences.
        said.model = Model { positions: Some(length), ..preset(name) };
        said.batch = batch(1024, length);
        let got = Mfu::of(&[], Some(&said));
        let what = format!("{name} {length} on {gpus}");
        rounds_to(percent(got.mfu), mfu, 2, &what);
        rounds_to(percent(got.hfu), hfu, 2, &what);
    }
}

/// BLOOM's rule: 52 B parameters, 1024 sequences of 2048 on 64 GPUs in 127 s, checkpointing: 107.3 TFLOP/s per GPU.
#[test]
fn bloom() {
    let mut said = run(Convention::Rough, Recompute::Full, 64, 127.0, 312.0);
    said.model.parameters = Some(52e9);
    said.batch = batch(1024, 2048);
    rounds_to(Mfu::of(&[], Some(&said)).hardware_tflops_per_gpu, 107.3, 1, "BLOOM");
}
