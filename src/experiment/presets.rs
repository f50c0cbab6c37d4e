//! Models that many people train, by name.

use super::model::Model;

/// A named model.
#[derive(Debug, Clone)]
pub struct Preset {
    /// Name in settings files and lists.
    pub name: &'static str,
    /// The model.
    pub model: Model,
}

/// Layers, hidden size and heads, which every preset has.
fn base(layers: u64, hidden: u64, heads: u64) -> Model {
    Model { layers: Some(layers), hidden: Some(hidden), heads: Some(heads), ..Model::default() }
}

/// GPT-2 and its kin: biases, learned positions, one table for input and output.
fn gpt2(layers: u64, hidden: u64, heads: u64, vocab: u64, positions: u64) -> Model {
    Model {
        ffn: Some(4 * hidden),
        vocab: Some(vocab),
        positions: Some(positions),
        tied: Some(true),
        bias: Some(true),
        norm_bias: Some(true),
        ..base(layers, hidden, heads)
    }
}

/// Llama and its kin: gated feed-forward part, grouped keys and values, rotary positions, no biases.
fn llama(layers: u64, hidden: u64, heads: u64, kv_heads: u64, ffn: u64, vocab: u64) -> Model {
    Model {
        kv_heads: Some(kv_heads),
        ffn: Some(ffn),
        gated: Some(true),
        vocab: Some(vocab),
        ..base(layers, hidden, heads)
    }
}

/// A Llama whose feed-forward parts are experts.
fn experts(model: Model, experts: u64, active: u64) -> Model {
    Model { experts: Some(experts), active_experts: Some(active), ..model }
}

fn deepseek_v3() -> Model {
    Model {
        ffn: Some(18_432),
        gated: Some(true),
        vocab: Some(129_280),
        experts: Some(256),
        active_experts: Some(8),
        expert_ffn: Some(2048),
        shared_ffn: Some(2048),
        dense_layers: Some(3),
        q_rank: Some(1536),
        kv_rank: Some(512),
        nope_dim: Some(128),
        rope_dim: Some(64),
        value_dim: Some(128),
        ..base(61, 7168, 128)
    }
}

fn gemma_2_9b() -> Model {
    Model {
        head_dim: Some(256),
        tied: Some(true),
        layer_norms: Some(4),
        window: Some(4096),
        window_layers: Some(21),
        ..llama(42, 3584, 16, 8, 14_336, 256_000)
    }
}

fn palm_540b() -> Model {
    Model { head_dim: Some(256), tied: Some(true), layer_norms: Some(1), ..llama(118, 18_432, 48, 1, 73_728, 256_000) }
}

/// All presets, small to large within a family.
pub fn all() -> Vec<Preset> {
    let of = |name, model| Preset { name, model };
    let mpt = |layers, hidden, heads| gpt2(layers, hidden, heads, 50_368, 2048);
    let tied = |model| Model { tied: Some(true), ..model };
    vec![
        of("gpt2-124m", gpt2(12, 768, 12, 50_257, 1024)),
        of("gpt2-medium", gpt2(24, 1024, 16, 50_257, 1024)),
        of("gpt2-large", gpt2(36, 1280, 20, 50_257, 1024)),
        of("gpt2-xl", gpt2(48, 1600, 25, 50_257, 1024)),
        of("nanogpt-124m", Model { bias: None, norm_bias: None, ..gpt2(12, 768, 12, 50_304, 1024) }),
        of("gpt3-175b", gpt2(96, 12_288, 96, 50_257, 2048)),
        of("llama-2-7b", llama(32, 4096, 32, 32, 11_008, 32_000)),
        of("llama-2-13b", llama(40, 5120, 40, 40, 13_824, 32_000)),
        of("llama-2-70b", llama(80, 8192, 64, 8, 28_672, 32_000)),
        of("llama-3.2-1b", tied(llama(16, 2048, 32, 8, 8192, 128_256))),
        of("llama-3.2-3b", tied(llama(28, 3072, 24, 8, 8192, 128_256))),
        of("llama-3-8b", llama(32, 4096, 32, 8, 14_336, 128_256)),
        of("llama-3-70b", llama(80, 8192, 64, 8, 28_672, 128_256)),
        of("llama-3-405b", llama(126, 16_384, 128, 8, 53_248, 128_256)),
        of("mistral-7b", Model { window: Some(4096), ..llama(32, 4096, 32, 8, 14_336, 32_000) }),
        of("mixtral-8x7b", experts(llama(32, 4096, 32, 8, 14_336, 32_000), 8, 2)),
        of("mixtral-8x22b", experts(llama(56, 6144, 48, 8, 16_384, 32_768), 8, 2)),
        of("qwen2.5-7b", Model { qkv_bias: Some(true), ..llama(28, 3584, 28, 4, 18_944, 152_064) }),
        of("qwen3-8b", Model { qk_norm: Some(true), ..llama(36, 4096, 32, 8, 12_288, 151_936) }),
        of(
            "qwen3-30b-a3b",
            Model { qk_norm: Some(true), head_dim: Some(128), ..experts(llama(48, 2048, 32, 4, 768, 151_936), 128, 8) },
        ),
        of("gemma-2-9b", gemma_2_9b()),
        of("deepseek-v3", deepseek_v3()),
        of("palm-540b", palm_540b()),
        of("mpt-125m", mpt(12, 768, 12)),
        of("mpt-350m", mpt(24, 1024, 16)),
        of("mpt-760m", mpt(24, 1536, 12)),
        of("mpt-1b", mpt(24, 2048, 16)),
        of("mpt-3b", mpt(32, 2560, 20)),
        of("mpt-7b", mpt(32, 4096, 32)),
        of("mpt-13b", mpt(40, 5120, 40)),
        of("mpt-30b", mpt(48, 7168, 56)),
        of("mpt-70b", mpt(80, 8192, 64)),
    ]
}
