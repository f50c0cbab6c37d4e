//! How many floating-point operations a training step takes, by named conventions that disagree on purpose.
//!
//! Every convention gives operations per token, forward and backward together, in three parts: the layers' matrix
//! products, the attention core (scores and values), and the output layer. Recomputation adds to what the hardware
//! executes, never to what the model needs. Symbols in the comments: L layers, h hidden, a heads, g heads of keys and
//! values, d head size, q = a·d, f width of the feed-forward part, V vocabulary, s sequence, N parameters.

use super::shape::{ModelShape, Parameters};
use serde::{Deserialize, Serialize};

/// What counts as a model's operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Convention {
    /// 6·N per token.
    #[serde(alias = "bloom", alias = "6nt")]
    Rough,
    /// PaLM, appendix B.
    Palm,
    /// nanoGPT's `estimate_mfu`.
    #[serde(rename = "nanogpt")]
    NanoGpt,
    /// Megatron-LM, 2021 (arXiv 2104.04473).
    #[serde(rename = "megatron-2021")]
    Megatron2021,
    /// Korthikanti et al., 2022 (arXiv 2205.05198).
    Korthikanti,
    /// Megatron-LM today: causal.
    Megatron,
    /// Megatron-LM before it counted attention as causal.
    MegatronFull,
    /// torchtitan, dense and mixture of experts.
    Torchtitan,
    /// llm-foundry.
    LlmFoundry,
    /// Nanotron.
    Nanotron,
}

/// What the backward pass computes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recompute {
    /// Nothing.
    #[default]
    None,
    /// The attention core.
    Selective,
    /// The forward pass of every layer.
    Full,
}

impl Recompute {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::None, Self::Selective, Self::Full];

    /// Its word in settings files and tables.
    pub const fn text(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Selective => "selective",
            Self::Full => "full",
        }
    }
}

/// What is known of a model when its operations are counted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Counted {
    /// Parameters in all, typed or computed.
    pub parameters: Option<f64>,
    /// Parameters that a token passes through, typed or computed.
    pub active: Option<f64>,
    /// The shape.
    pub shape: Option<ModelShape>,
}

/// Operations per token, forward and backward.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlopCount {
    /// Matrix products of the layers.
    pub layers: f64,
    /// The attention core.
    pub attention: f64,
    /// Embedding and output layer, which no recomputation repeats.
    pub logits: f64,
    /// Operations of the attention core per layer, pair of tokens and unit of q: 12 when every token attends to every
    /// other, 6 when only to those before it, 0 when attention is not counted.
    pub attention_factor: u8,
}

impl FlopCount {
    /// What the model needs, per token.
    pub fn model(&self) -> f64 {
        self.layers + self.attention + self.logits
    }

    /// What the hardware executes, per token.
    ///
    /// Selective recomputation counts the attention term once more, as Korthikanti et al. do; full recomputation adds
    /// one forward pass of the layers, a third of what forward and backward take.
    pub fn hardware(&self, recompute: Recompute) -> f64 {
        match recompute {
            Recompute::None => self.model(),
            Recompute::Selective => self.model() + self.attention,
            Recompute::Full => self.model() + (self.layers + self.attention) / 3.0,
        }
    }
}

impl Convention {
    /// All conventions, in the order of lists.
    pub const ALL: [Self; 10] = [
        Self::Rough,
        Self::Palm,
        Self::NanoGpt,
        Self::Megatron2021,
        Self::Korthikanti,
        Self::Megatron,
        Self::MegatronFull,
        Self::Torchtitan,
        Self::LlmFoundry,
        Self::Nanotron,
    ];

    /// Its word in settings files.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Rough => "rough",
            Self::Palm => "palm",
            Self::NanoGpt => "nanogpt",
            Self::Megatron2021 => "megatron-2021",
            Self::Korthikanti => "korthikanti",
            Self::Megatron => "megatron",
            Self::MegatronFull => "megatron-full",
            Self::Torchtitan => "torchtitan",
            Self::LlmFoundry => "llm-foundry",
            Self::Nanotron => "nanotron",
        }
    }

    /// Its name for people.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Rough => "6 N T (rough)",
            Self::Palm => "PaLM",
            Self::NanoGpt => "nanoGPT",
            Self::Megatron2021 => "Megatron-LM 2021",
            Self::Korthikanti => "Korthikanti 2022",
            Self::Megatron => "Megatron-LM (causal)",
            Self::MegatronFull => "Megatron-LM (full)",
            Self::Torchtitan => "torchtitan",
            Self::LlmFoundry => "llm-foundry",
            Self::Nanotron => "Nanotron",
        }
    }

    /// What it counts, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Rough => {
                "Six operations per active parameter and token, without attention; also BLOOM's rule, which makes it \
                 eight with full recomputation."
            }
            Self::Palm => {
                "Six per active parameter, embeddings included, and full attention: 6 N + 12 L q s per token."
            }
            Self::NanoGpt => {
                "As PaLM, without the table of positions; nanoGPT itself always divides by the 312 TFLOPS of an A100."
            }
            Self::Megatron2021 => {
                "Layers of width 4 h, full attention and logits, with a whole forward pass recomputed: what was published \
                 as share of peak is its HFU."
            }
            Self::Korthikanti => {
                "Layers of width 4 h, full attention and logits, apart from recomputation, which only HFU contains."
            }
            Self::Megatron => {
                "Every matrix product by its real shape, attention over earlier tokens only (half), logits once per \
                 prediction head; norms, biases and routers are left out."
            }
            Self::MegatronFull => "As Megatron-LM today, with attention over all tokens: twice as much for the core.",
            Self::Torchtitan => {
                "Six per active parameter without the input embedding (kept when tied to the output), and full attention."
            }
            Self::LlmFoundry => {
                "Six per parameter and full attention; with recomputation everything, logits too, counts four thirds."
            }
            Self::Nanotron => "Matrix products of a gated model and full attention, with logits.",
        }
    }

    /// Operations per token in sequences of `tokens`.
    ///
    /// # Errors
    /// The settings that it needs and that are not given.
    pub fn count(self, model: &Counted, tokens: f64) -> Result<FlopCount, Vec<&'static str>> {
        match self {
            Self::Rough => {
                let n = model.active.ok_or_else(|| missing_parameters(model))?;
                Ok(FlopCount { layers: 6.0 * n, attention: 0.0, logits: 0.0, attention_factor: 0 })
            }
            Self::Palm => by_parameters(model, tokens, |_| 0.0),
            Self::NanoGpt => by_parameters(model, tokens, |tables| tables.positions),
            Self::Torchtitan => {
                if model.shape.is_some_and(|shape| shape.vocab.is_none()) {
                    return Err(vec!["model.vocab"]);
                }
                by_parameters(model, tokens, |t| if t.head > 0.0 { t.embedding + t.positions } else { 0.0 })
            }
            Self::LlmFoundry => {
                let (n, shape) = (model.parameters.ok_or_else(|| missing_parameters(model))?, shape(model)?);
                let attention = 12.0 * (shape.layers * shape.hidden) as f64 * tokens;
                Ok(FlopCount { layers: 6.0 * n, attention, logits: 0.0, attention_factor: 12 })
            }
            Self::Megatron2021 | Self::Korthikanti => {
                let shape = shape(model)?;
                let (layers, h) = (shape.layers as f64, shape.hidden as f64);
                Ok(FlopCount {
                    layers: 72.0 * layers * h * h,
                    attention: 12.0 * layers * tokens * h,
                    logits: 6.0 * h * vocab(shape)?,
                    attention_factor: 12,
                })
            }
            Self::Megatron | Self::MegatronFull => by_products(shape(model)?, tokens, self == Self::Megatron),
            Self::Nanotron => by_products(&ModelShape { gated: true, mtp_layers: 0, ..*shape(model)? }, tokens, false),
        }
    }

    /// The recomputation that is counted when the user says `said`: one convention has it built in.
    pub const fn recompute(self, said: Recompute) -> Recompute {
        match self {
            Self::Megatron2021 => Recompute::Full,
            _ => said,
        }
    }

    /// What the convention takes for granted and `shape` does not keep.
    pub fn doubt(self, shape: &ModelShape) -> Option<&'static str> {
        let plain = shape.kv_heads == shape.heads && shape.mla.is_none() && shape.moe.is_none();
        let square = shape.heads * shape.head_dim == shape.hidden;
        match self {
            Self::Megatron2021 | Self::Korthikanti
                if !(plain && square && !shape.gated && shape.ffn == Some(4 * shape.hidden)) =>
            {
                Some(
                    "It takes plain attention and an ungated feed-forward part of width 4 h for granted; this model \
                      differs. The convention megatron follows the real shape.",
                )
            }
            Self::LlmFoundry if shape.moe.is_some() || !square => Some(
                "It takes dense layers and heads that fill the hidden size for granted; this model differs. The \
                      convention torchtitan follows the real shape.",
            ),
            Self::Nanotron if !shape.gated || shape.moe.is_some() => Some(
                "It takes a gated dense feed-forward part for granted; this model differs. The convention \
                      megatron-full follows the real shape.",
            ),
            _ => None,
        }
    }
}

fn shape(model: &Counted) -> Result<&ModelShape, Vec<&'static str>> {
    model.shape.as_ref().ok_or_else(|| vec!["model.layers", "model.hidden", "model.heads"])
}

fn vocab(shape: &ModelShape) -> Result<f64, Vec<&'static str>> {
    shape.vocab.map(|vocab| vocab as f64).ok_or_else(|| vec!["model.vocab"])
}

/// What is missing to know the number of parameters.
fn missing_parameters(model: &Counted) -> Vec<&'static str> {
    let Some(shape) = &model.shape else { return vec!["model.parameters"] };
    let fields = [("model.vocab", shape.vocab), ("model.ffn", shape.ffn)];
    fields.into_iter().filter(|(_, value)| value.is_none()).map(|(key, _)| key).collect()
}

/// 6·(N - what `left_out` says) + 6·Σ keys·a·(query + value size): full attention, capped by sliding windows.
fn by_parameters(
    model: &Counted,
    tokens: f64,
    left_out: impl Fn(&Parameters) -> f64,
) -> Result<FlopCount, Vec<&'static str>> {
    let shape = shape(model)?;
    let n = model.active.ok_or_else(|| missing_parameters(model))?;
    let nothing = Parameters { total: n, active: n, embedding: 0.0, positions: 0.0, head: 0.0 };
    let tables = shape.parameters().unwrap_or(nothing);
    let left_out = left_out(&tables);
    let logits = 6.0 * (tables.embedding + tables.positions + tables.head - left_out);
    Ok(FlopCount {
        layers: 6.0 * (n - left_out) - logits,
        attention: attention(shape, tokens, false),
        logits,
        attention_factor: 12,
    })
}

/// Every matrix product by its shape.
fn by_products(shape: &ModelShape, tokens: f64, causal: bool) -> Result<FlopCount, Vec<&'static str>> {
    let ffn = shape.active_ffn_weights().ok_or_else(|| vec!["model.ffn"])?;
    Ok(FlopCount {
        layers: 6.0 * (shape.layers as f64 * shape.attention_weights() + ffn),
        attention: attention(shape, tokens, causal),
        logits: 6.0 * shape.hidden as f64 * vocab(shape)? * (1.0 + shape.mtp_layers as f64),
        attention_factor: if causal { 6 } else { 12 },
    })
}

/// Scores and values, each two operations forward and four backward per pair of tokens.
fn attention(shape: &ModelShape, tokens: f64, causal: bool) -> f64 {
    let width = shape.heads as f64 * (shape.query_dim() + shape.value_dim()) as f64;
    6.0 * shape.attended(tokens, causal) * width
}

#[cfg(test)]
mod tests {
    use super::super::Model;
    use super::*;

    fn counted(model: Model) -> Counted {
        super::super::counted(&model).unwrap()
    }

    fn preset(name: &str) -> Counted {
        counted(Model { preset: Some(name.to_owned()), ..Model::default() })
    }

    /// GFLOP per token.
    fn giga(convention: Convention, model: &Counted, tokens: f64) -> f64 {
        convention.count(model, tokens).unwrap().model() / 1e9
    }

    #[test]
    fn conventions_agree_with_the_published_vectors() {
        use Convention::{Megatron, MegatronFull, Palm, Rough, Torchtitan};
        let order = [Rough, Palm, Torchtitan, Megatron, MegatronFull];
        let cases = [
            ("llama-3-8b", 8192.0, [48.18, 61.07, 57.91, 51.47, 57.91]),
            ("llama-3-8b", 131_072.0, [48.18, 254.34, 251.19, 148.11, 251.19]),
            ("llama-3-70b", 8192.0, [423.32, 487.75, 481.44, 449.22, 481.43]),
            ("llama-3-405b", 8192.0, [2435.12, 2638.06, 2625.45, 2523.96, 2625.42]),
            ("llama-3-405b", 131_072.0, [2435.12, 5682.12, 5669.51, 4045.99, 5669.48]),
            ("mixtral-8x7b", 4096.0, [77.28, 83.72, 82.94, 79.71, 82.93]),
        ];
        for (name, tokens, expected) in cases {
            for (convention, expected) in order.into_iter().zip(expected) {
                let got = giga(convention, &preset(name), tokens);
                assert!((got / expected - 1.0).abs() < 1e-3, "{name} {tokens} {convention:?}: {got}, not {expected}");
            }
        }
    }

    #[test]
    fn experts_count_as_far_as_a_token_passes_through_them() {
        let got = giga(Convention::Torchtitan, &preset("qwen3-30b-a3b"), 8192.0);
        assert!((got - 37.58).abs() < 0.005, "{got}");
        let dense = 6.0 * preset("qwen3-30b-a3b").parameters.unwrap() / 1e9;
        assert!(dense > 4.0 * got, "all experts would count {dense}");
    }

    #[test]
    fn recomputation_adds_to_the_hardware_only() {
        let model = preset("gpt3-175b");
        let count = Convention::Korthikanti.count(&model, 2048.0).unwrap();
        let (h, l, s, v) = (12_288.0_f64, 96.0, 2048.0, 50_257.0);
        let unit = l * h * h;
        let near = |got: f64, expected: f64| assert!((got / expected - 1.0).abs() < 1e-12, "{got} {expected}");
        near(count.model(), 72.0 * unit * (1.0 + s / (6.0 * h) + v / (12.0 * h * l)));
        near(count.hardware(Recompute::Selective), 72.0 * unit * (1.0 + s / (3.0 * h) + v / (12.0 * h * l)));
        near(count.hardware(Recompute::Full), 96.0 * unit * (1.0 + s / (6.0 * h) + v / (16.0 * h * l)));
        let rough = Convention::Rough.count(&model, s).unwrap();
        near(rough.hardware(Recompute::Full), 8.0 * model.parameters.unwrap());
        assert_eq!(Convention::Megatron2021.recompute(Recompute::None), Recompute::Full);
    }

    #[test]
    fn a_convention_says_what_it_needs() {
        let nothing = Counted::default();
        assert_eq!(Convention::Rough.count(&nothing, 1.0), Err(vec!["model.parameters"]));
        assert!(Convention::Palm.count(&nothing, 1.0).is_err());
        let bare = counted(Model { layers: Some(2), hidden: Some(64), heads: Some(4), ..Model::default() });
        assert_eq!(Convention::Palm.count(&bare, 1.0), Err(vec!["model.vocab", "model.ffn"]));
        assert_eq!(Convention::Megatron.count(&bare, 1.0), Err(vec!["model.ffn"]));
        assert_eq!(Convention::Korthikanti.count(&bare, 1.0), Err(vec!["model.vocab"]));
    }

    #[test]
    fn nanogpt_leaves_out_the_positions_and_tied_tables_count_once() {
        let model = preset("gpt2-124m");
        let palm = Convention::Palm.count(&model, 1024.0).unwrap();
        let nano = Convention::NanoGpt.count(&model, 1024.0).unwrap();
        assert!((palm.model() - nano.model() - 6.0 * 1024.0 * 768.0).abs() < 1.0);
        assert_eq!((palm.layers, palm.attention), (nano.layers, nano.attention));
    }

    #[test]
    fn latent_attention_counts_queries_and_values_by_their_own_size() {
        let model = preset("deepseek-v3");
        let core = |convention: Convention| convention.count(&model, 4096.0).unwrap().attention;
        assert_eq!(core(Convention::Megatron), 3.0 * 61.0 * 128.0 * (192.0 + 128.0) * 4096.0);
        assert_eq!(core(Convention::MegatronFull), 2.0 * core(Convention::Megatron));
    }

    #[test]
    fn formulas_for_other_models_are_doubted() {
        let shape = |name: &str| preset(name).shape.unwrap();
        assert!(Convention::Korthikanti.doubt(&shape("llama-3-8b")).is_some());
        assert!(Convention::LlmFoundry.doubt(&shape("mixtral-8x7b")).is_some());
        assert!(Convention::Nanotron.doubt(&shape("mpt-7b")).is_some());
        for convention in Convention::ALL {
            assert!(convention == Convention::Nanotron || convention.doubt(&shape("mpt-7b")).is_none());
        }
    }
}
