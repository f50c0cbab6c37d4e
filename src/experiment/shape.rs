//! A transformer's shape, and how many parameters follow from it.
//!
//! Counts are kept as `f64`: exact up to 2^53, and models are far smaller than the rest of its range.

/// Multi-head latent attention, as DeepSeek uses it: queries, keys and values pass through low ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mla {
    /// Rank of the queries; `None` when they are not factored.
    pub q_rank: Option<u64>,
    /// Rank of keys and values.
    pub kv_rank: u64,
    /// Part of a query's size without positions.
    pub nope_dim: u64,
    /// Part of a query's size with rotary positions.
    pub rope_dim: u64,
    /// Size of a value.
    pub value_dim: u64,
}

/// A mixture of experts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moe {
    /// Experts of a layer.
    pub experts: u64,
    /// Experts that a token passes through.
    pub active: u64,
    /// Width of an expert.
    pub ffn: u64,
    /// Width of all shared experts of a layer together; 0 when there are none.
    pub shared_ffn: u64,
    /// Layers with experts; the others are dense.
    pub layers: u64,
}

/// A transformer decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelShape {
    /// Layers.
    pub layers: u64,
    /// Hidden size.
    pub hidden: u64,
    /// Attention heads.
    pub heads: u64,
    /// Heads of keys and values.
    pub kv_heads: u64,
    /// Size of a head.
    pub head_dim: u64,
    /// Latent attention, instead of the four plain projections.
    pub mla: Option<Mla>,
    /// Width of the dense feed-forward part.
    pub ffn: Option<u64>,
    /// Three matrices in the feed-forward part instead of two.
    pub gated: bool,
    /// Experts.
    pub moe: Option<Moe>,
    /// Vocabulary.
    pub vocab: Option<u64>,
    /// One table for input embedding and output layer.
    pub tied: bool,
    /// Rows of a learned position table.
    pub positions: u64,
    /// Sliding window in tokens, and the layers that have it.
    pub window: Option<(u64, u64)>,
    /// Extra prediction heads.
    pub mtp_layers: u64,
    /// Biases on all linear layers.
    pub bias: bool,
    /// Biases on queries, keys and values only.
    pub qkv_bias: bool,
    /// Norms with a bias.
    pub norm_bias: bool,
    /// Norms on queries and keys.
    pub qk_norm: bool,
    /// Norms in a layer.
    pub layer_norms: u64,
}

/// How many parameters a model has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// All.
    pub total: f64,
    /// Those that a token passes through: of the experts only the active ones.
    pub active: f64,
    /// The input embedding.
    pub embedding: f64,
    /// The table of positions.
    pub positions: f64,
    /// The output layer, when it is not the input embedding.
    pub head: f64,
}

impl ModelShape {
    /// Size of a query of one head: what a score costs per pair of tokens.
    pub fn query_dim(&self) -> u64 {
        self.mla.map_or(self.head_dim, |mla| mla.nope_dim.saturating_add(mla.rope_dim))
    }

    /// Size of a value of one head.
    pub fn value_dim(&self) -> u64 {
        self.mla.map_or(self.head_dim, |mla| mla.value_dim)
    }

    /// Matrices of a feed-forward part.
    pub const fn ffn_matrices(&self) -> f64 {
        if self.gated { 3.0 } else { 2.0 }
    }

    /// Layers without experts.
    pub fn dense_layers(&self) -> u64 {
        self.layers - self.moe.map_or(0, |moe| moe.layers.min(self.layers))
    }

    /// Weights of the attention projections of one layer.
    pub fn attention_weights(&self) -> f64 {
        let (h, a) = (self.hidden as f64, self.heads as f64);
        match self.mla {
            None => {
                let (q, kv) = (a * self.head_dim as f64, 2.0 * (self.kv_heads * self.head_dim) as f64);
                h * q + h * kv + q * h
            }
            Some(mla) => {
                let (q, kv) = (a * self.query_dim() as f64, a * (mla.nope_dim + mla.value_dim) as f64);
                let queries = mla.q_rank.map_or(h * q, |rank| rank as f64 * (h + q));
                queries
                    + h * (mla.kv_rank + mla.rope_dim) as f64
                    + mla.kv_rank as f64 * kv
                    + a * mla.value_dim as f64 * h
            }
        }
    }

    /// Weights of the feed-forward parts of all layers that a token passes through, without routers; `None` when a
    /// dense layer's width is not known.
    pub fn active_ffn_weights(&self) -> Option<f64> {
        let per_width = self.ffn_matrices() * self.hidden as f64;
        let dense = match self.dense_layers() {
            0 => 0.0,
            layers => layers as f64 * per_width * self.ffn? as f64,
        };
        let experts = self.moe.map_or(0.0, |moe| {
            moe.layers as f64 * per_width * (moe.ffn as f64 * moe.active as f64 + moe.shared_ffn as f64)
        });
        Some(dense + experts)
    }

    /// Weights of experts that a token does not pass through.
    pub fn idle_expert_weights(&self) -> f64 {
        self.moe.map_or(0.0, |moe| {
            let idle = (moe.experts - moe.active.min(moe.experts)) as f64;
            moe.layers as f64 * self.ffn_matrices() * self.hidden as f64 * moe.ffn as f64 * idle
        })
    }

    /// Parameters that follow from the shape; `None` when the vocabulary or a width is not known.
    pub fn parameters(&self) -> Option<Parameters> {
        let h = self.hidden as f64;
        let embedding = self.vocab? as f64 * h;
        let positions = self.positions as f64 * h;
        let head = if self.tied { 0.0 } else { embedding };
        let routers = self.moe.map_or(0.0, |moe| moe.layers as f64 * moe.experts as f64 * h);
        let layers = self.layers as f64;
        let active = embedding
            + positions
            + head
            + routers
            + layers * self.attention_weights()
            + self.active_ffn_weights()?
            + layers * self.layer_vectors()
            + self.norm(h);
        Some(Parameters { total: active + self.idle_expert_weights(), active, embedding, positions, head })
    }

    /// Norms and biases of one layer.
    fn layer_vectors(&self) -> f64 {
        let (h, q) = (self.hidden as f64, (self.heads * self.head_dim) as f64);
        let kv = 2.0 * (self.kv_heads * self.head_dim) as f64;
        let mut vectors = self.layer_norms as f64 * self.norm(h);
        if self.qk_norm {
            vectors += 2.0 * self.head_dim as f64;
        }
        if let Some(mla) = self.mla {
            vectors += mla.kv_rank as f64 + mla.q_rank.unwrap_or(0) as f64;
        }
        if self.bias || self.qkv_bias {
            vectors += q + kv;
        }
        if self.bias {
            vectors += h + (self.ffn_matrices() - 1.0) * self.ffn.unwrap_or(0) as f64 + h;
        }
        vectors
    }

    /// Parameters of one norm over `size` numbers.
    fn norm(&self, size: f64) -> f64 {
        if self.norm_bias { 2.0 * size } else { size }
    }

    /// Sum over the layers of the tokens that a token attends to on average, in a sequence of `tokens`: all of them,
    /// or with `causal` those before it. A sliding window caps both.
    pub fn attended(&self, tokens: f64, causal: bool) -> f64 {
        let keys = |window: f64| {
            let reach = window.min(tokens);
            // The first tokens of a sequence see less than the window; a triangle is missing.
            if causal { reach * (1.0 - reach / (2.0 * tokens)) } else { reach }
        };
        let (window, windowed) = self.window.unwrap_or((0, 0));
        let windowed = windowed.min(self.layers);
        let rest = (self.layers - windowed) as f64 * keys(f64::INFINITY);
        if windowed == 0 { rest } else { rest + windowed as f64 * keys(window as f64) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::presets;
    use super::*;

    fn preset(name: &str) -> ModelShape {
        presets::all().into_iter().find(|p| p.name == name).unwrap().model.shape().unwrap().unwrap()
    }

    /// Counts that the models' publishers state.
    #[test]
    fn parameters_are_those_of_the_published_models() {
        let cases = [
            ("gpt2-124m", 124_439_808.0),
            ("gpt2-xl", 1_557_611_200.0),
            ("llama-2-7b", 6_738_415_616.0),
            ("llama-2-70b", 68_976_648_192.0),
            ("llama-3-8b", 8_030_261_248.0),
            ("llama-3-70b", 70_553_706_496.0),
            ("llama-3-405b", 405_853_388_800.0),
            ("llama-3.2-1b", 1_235_814_400.0),
            ("mistral-7b", 7_241_732_096.0),
            ("mixtral-8x7b", 46_702_792_704.0),
            ("qwen2.5-7b", 7_615_616_512.0),
            ("qwen3-30b-a3b", 30_532_122_624.0),
            ("gemma-2-9b", 9_241_705_984.0),
            ("mpt-125m", 125_311_488.0),
            ("mpt-7b", 6_658_859_008.0),
            ("mpt-13b", 12_853_954_560.0),
            ("mpt-30b", 29_975_214_080.0),
            ("mpt-70b", 64_862_437_376.0),
        ];
        for (name, total) in cases {
            assert_eq!(preset(name).parameters().unwrap().total, total, "{name}");
        }
        let near = |name: &str, total: f64, active: f64| {
            let of = preset(name).parameters().unwrap();
            assert!((of.total / total - 1.0).abs() < 2e-3 && (of.active / active - 1.0).abs() < 2e-3, "{name} {of:?}");
        };
        near("mixtral-8x7b", 46.703e9, 12.880e9);
        near("deepseek-v3", 671.03e9, 37.55e9);
        near("palm-540b", 540.35e9, 540.35e9);
    }

    #[test]
    fn a_window_caps_what_a_token_attends_to() {
        let full = ModelShape { window: None, ..preset("mistral-7b") };
        assert_eq!(full.attended(8192.0, false), 32.0 * 8192.0);
        assert_eq!(full.attended(8192.0, true), 32.0 * 4096.0);
        let windowed = preset("mistral-7b");
        assert_eq!(windowed.attended(8192.0, false), 32.0 * 4096.0);
        assert_eq!(windowed.attended(8192.0, true), 32.0 * 4096.0 * 0.75);
        assert_eq!(windowed.attended(1024.0, true), 32.0 * 512.0);
    }
}
