//! A Hugging Face `config.json` as a [`Model`], for the families whose fields are known.

use super::{Invalid, Model};
use serde_json::{Map, Value};

/// Families, by `model_type`.
const KNOWN: [&str; 16] = [
    "llama",
    "mistral",
    "mixtral",
    "qwen2",
    "qwen2_moe",
    "qwen3",
    "qwen3_moe",
    "gemma",
    "gemma2",
    "phi",
    "phi3",
    "gpt2",
    "gpt_neox",
    "mpt",
    "deepseek_v2",
    "deepseek_v3",
];

/// The model that a `config.json` describes.
///
/// # Errors
/// When the text is no such file, its `model_type` is not known, or a field is missing or has another type.
pub fn model(text: &str) -> Result<Model, Invalid> {
    let json: Value = serde_json::from_str(text).map_err(|error| bad(format!("is no JSON: {error}")))?;
    let Value::Object(fields) = json else { return Err(bad("is no JSON object".to_owned())) };
    let Some(kind) = fields.get("model_type").and_then(Value::as_str) else {
        return Err(bad("has no model_type: is it a config.json of the Hugging Face libraries?".to_owned()));
    };
    let config = Config { kind: kind.to_owned(), fields: &fields };
    match kind {
        "gpt2" => config.gpt2(),
        "mpt" => config.mpt(),
        "gpt_neox" | "phi" => config.with_biases(),
        "mixtral" => config.mixtral(),
        "qwen2_moe" | "qwen3_moe" => config.qwen_moe(),
        "deepseek_v2" | "deepseek_v3" => config.deepseek(),
        "llama" | "mistral" | "qwen2" | "qwen3" | "gemma" | "gemma2" | "phi3" => config.gated(),
        _ if fields.contains_key("text_config") => Err(bad(format!(
            "is of the multimodal type {kind:?}: save its text_config as a file of its own and name that"
        ))),
        _ => Err(bad(format!(
            "has the model_type {kind:?}, which is not known (known are {}): type layers, hidden, heads, ffn and vocab \
             under [model] instead",
            KNOWN.join(", ")
        ))),
    }
}

fn bad(why: String) -> Invalid {
    Invalid::new("model.config", why)
}

struct Config<'a> {
    kind: String,
    fields: &'a Map<String, Value>,
}

impl Config<'_> {
    /// A whole number; `None` when the field is absent or null.
    fn count(&self, name: &str) -> Result<Option<u64>, Invalid> {
        match self.fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64() {
                Some(n) => Ok(Some(n)),
                None => Err(bad(format!("has {name} = {value}, which is no whole number"))),
            },
        }
    }

    fn need(&self, name: &str) -> Result<Option<u64>, Invalid> {
        match self.count(name)? {
            None => Err(bad(format!("of type {} lacks {name}", self.kind))),
            known => Ok(known),
        }
    }

    fn flag(&self, name: &str, absent: bool) -> bool {
        self.fields.get(name).and_then(Value::as_bool).unwrap_or(absent)
    }

    /// Fields that most families share.
    fn common(&self) -> Result<Model, Invalid> {
        Ok(Model {
            layers: self.need("num_hidden_layers")?,
            hidden: self.need("hidden_size")?,
            heads: self.need("num_attention_heads")?,
            kv_heads: self.count("num_key_value_heads")?,
            head_dim: self.count("head_dim")?,
            ffn: self.need("intermediate_size")?,
            vocab: self.need("vocab_size")?,
            tied: Some(self.flag("tie_word_embeddings", self.kind.starts_with("gemma"))),
            ..Model::default()
        })
    }

    /// Llama and those that grew from it.
    fn gated(&self) -> Result<Model, Invalid> {
        let mut model = Model { gated: Some(true), ..self.common()? };
        let attention = self.flag("attention_bias", self.kind.starts_with("qwen2"));
        model.bias = (attention && self.flag("mlp_bias", false)).then_some(true);
        model.qkv_bias = (attention && model.bias.is_none()).then_some(true);
        model.qk_norm = self.kind.starts_with("qwen3").then_some(true);
        model.layer_norms = (self.kind == "gemma2").then_some(4);
        self.window(&mut model)?;
        Ok(model)
    }

    /// A sliding window, where the family has one and the file switches it on.
    fn window(&self, model: &mut Model) -> Result<(), Invalid> {
        let switched_off = self.kind.starts_with("qwen") && !self.flag("use_sliding_window", false);
        if self.kind == "llama" || switched_off {
            return Ok(());
        }
        model.window = self.count("sliding_window")?;
        let Some(layers) = model.layers.filter(|_| model.window.is_some()) else { return Ok(()) };
        let kinds = self.fields.get("layer_types").and_then(Value::as_array);
        model.window_layers = match (kinds, self.kind.as_str()) {
            (Some(kinds), _) => Some(kinds.iter().filter(|kind| **kind == "sliding_attention").count() as u64),
            (None, "gemma2") => Some(layers.div_ceil(2)),
            (None, "qwen2" | "qwen3" | "qwen2_moe" | "qwen3_moe") => {
                Some(layers.saturating_sub(self.count("max_window_layers")?.unwrap_or(0)))
            }
            _ => None,
        };
        Ok(())
    }

    fn mixtral(&self) -> Result<Model, Invalid> {
        let experts = self.need("num_local_experts")?;
        Ok(Model { experts, active_experts: self.need("num_experts_per_tok")?, ..self.gated()? })
    }

    fn qwen_moe(&self) -> Result<Model, Invalid> {
        let mut model = self.gated()?;
        let every = self.count("decoder_sparse_step")?.unwrap_or(1).max(1);
        let plain = self.fields.get("mlp_only_layers").and_then(Value::as_array);
        let is_plain = |layer: u64| plain.is_some_and(|layers| layers.iter().any(|l| l.as_u64() == Some(layer)));
        let layers = model.layers.unwrap_or(0).min(10_000);
        let dense = (0..layers).filter(|layer| !(layer + 1).is_multiple_of(every) || is_plain(*layer)).count() as u64;
        model.dense_layers = Some(dense).filter(|dense| *dense > 0);
        model.experts = self.need("num_experts")?;
        model.active_experts = self.need("num_experts_per_tok")?;
        model.expert_ffn = self.need("moe_intermediate_size")?;
        model.shared_ffn = self.count("shared_expert_intermediate_size")?;
        Ok(model)
    }

    fn deepseek(&self) -> Result<Model, Invalid> {
        let mut model = Model { gated: Some(true), kv_heads: None, head_dim: None, ..self.common()? };
        model.q_rank = self.count("q_lora_rank")?;
        model.kv_rank = self.need("kv_lora_rank")?;
        model.nope_dim = self.need("qk_nope_head_dim")?;
        model.rope_dim = self.need("qk_rope_head_dim")?;
        model.value_dim = self.need("v_head_dim")?;
        model.experts = self.count("n_routed_experts")?;
        if model.experts.is_none() {
            return Ok(model);
        }
        if self.count("moe_layer_freq")?.is_some_and(|every| every != 1) {
            return Err(bad("has experts in some layers only (moe_layer_freq): type the fields instead".to_owned()));
        }
        model.active_experts = self.need("num_experts_per_tok")?;
        model.expert_ffn = self.need("moe_intermediate_size")?;
        model.dense_layers = self.count("first_k_dense_replace")?;
        let shared = self.count("n_shared_experts")?.unwrap_or(0);
        model.shared_ffn = model.expert_ffn.map(|width| width.saturating_mul(shared)).filter(|width| *width > 0);
        Ok(model)
    }

    /// GPT-NeoX and Phi: an ungated feed-forward part, and biases everywhere.
    fn with_biases(&self) -> Result<Model, Invalid> {
        let layer_norms = (self.kind == "phi").then_some(1);
        Ok(Model { bias: Some(true), norm_bias: Some(true), layer_norms, ..self.common()? })
    }

    fn gpt2(&self) -> Result<Model, Invalid> {
        let hidden = self.need("n_embd")?;
        Ok(Model {
            layers: self.need("n_layer")?,
            hidden,
            heads: self.need("n_head")?,
            ffn: self.count("n_inner")?.or(hidden.map(|h| h.saturating_mul(4))),
            vocab: self.need("vocab_size")?,
            positions: self.need("n_positions")?,
            tied: Some(self.flag("tie_word_embeddings", true)),
            bias: Some(true),
            norm_bias: Some(true),
            ..Model::default()
        })
    }

    fn mpt(&self) -> Result<Model, Invalid> {
        let hidden = self.need("d_model")?;
        let ratio = self.count("expansion_ratio")?.unwrap_or(4);
        let biases = !self.flag("no_bias", true);
        let attention = self.fields.get("attn_config");
        let rotary = ["alibi", "rope"]
            .iter()
            .any(|name| attention.and_then(|config| config.get(*name)).and_then(Value::as_bool).unwrap_or(false));
        let learned = self.flag("learned_pos_emb", true) && !rotary;
        Ok(Model {
            layers: self.need("n_layers")?,
            hidden,
            heads: self.need("n_heads")?,
            kv_heads: attention.and_then(|config| config.get("kv_n_heads")).and_then(Value::as_u64),
            ffn: hidden.map(|h| h.saturating_mul(ratio)),
            vocab: self.need("vocab_size")?,
            positions: if learned { self.count("max_seq_len")? } else { None },
            tied: Some(self.flag("tie_word_embeddings", true)),
            bias: Some(biases),
            norm_bias: Some(biases),
            ..Model::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::presets;
    use super::*;

    fn shape(text: &str) -> crate::experiment::ModelShape {
        model(text).unwrap().shape().unwrap().unwrap()
    }

    fn preset(name: &str) -> crate::experiment::ModelShape {
        presets::all().into_iter().find(|p| p.name == name).unwrap().model.shape().unwrap().unwrap()
    }

    const LLAMA: &str = r#"{"model_type":"llama","hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,
        "num_key_value_heads":8,"intermediate_size":14336,"vocab_size":128256,"tie_word_embeddings":false,
        "attention_bias":false,"torch_dtype":"bfloat16"}"#;

    #[test]
    fn configs_of_known_families_give_the_presets() {
        assert_eq!(shape(LLAMA), preset("llama-3-8b"));
        let cases = [
            (
                "mixtral-8x7b",
                r#"{"model_type":"mixtral","hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,
                "num_key_value_heads":8,"intermediate_size":14336,"vocab_size":32000,"num_local_experts":8,
                "num_experts_per_tok":2,"sliding_window":null}"#,
            ),
            (
                "mistral-7b",
                r#"{"model_type":"mistral","hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,
                "num_key_value_heads":8,"intermediate_size":14336,"vocab_size":32000,"sliding_window":4096}"#,
            ),
            (
                "qwen3-30b-a3b",
                r#"{"model_type":"qwen3_moe","hidden_size":2048,"num_hidden_layers":48,"num_attention_heads":32,
                "num_key_value_heads":4,"head_dim":128,"intermediate_size":6144,"moe_intermediate_size":768,
                "num_experts":128,"num_experts_per_tok":8,"vocab_size":151936,"decoder_sparse_step":1,
                "mlp_only_layers":[],"use_sliding_window":false,"sliding_window":4096}"#,
            ),
            (
                "gpt2-124m",
                r#"{"model_type":"gpt2","n_embd":768,"n_layer":12,"n_head":12,"n_positions":1024,"vocab_size":50257}"#,
            ),
            (
                "gemma-2-9b",
                r#"{"model_type":"gemma2","hidden_size":3584,"num_hidden_layers":42,"num_attention_heads":16,
                "num_key_value_heads":8,"head_dim":256,"intermediate_size":14336,"vocab_size":256000,
                "sliding_window":4096}"#,
            ),
            (
                "deepseek-v3",
                r#"{"model_type":"deepseek_v3","hidden_size":7168,"num_hidden_layers":61,"num_attention_heads":128,
                "num_key_value_heads":128,"intermediate_size":18432,"moe_intermediate_size":2048,"n_routed_experts":256,
                "n_shared_experts":1,"num_experts_per_tok":8,"first_k_dense_replace":3,"moe_layer_freq":1,
                "q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,
                "vocab_size":129280}"#,
            ),
            (
                "mpt-7b",
                r#"{"model_type":"mpt","d_model":4096,"n_layers":32,"n_heads":32,"expansion_ratio":4,"no_bias":false,
                "max_seq_len":2048,"vocab_size":50368,"attn_config":{"alibi":false}}"#,
            ),
        ];
        for (name, text) in cases {
            let (got, expected) = (shape(text), preset(name));
            assert_eq!(got.parameters(), expected.parameters(), "{name}");
            assert_eq!((got.window, got.moe.map(|m| m.ffn)), (expected.window, expected.moe.map(|m| m.ffn)), "{name}");
        }
    }

    #[test]
    fn published_parameter_counts_of_other_families() {
        let phi = r#"{"model_type":"phi","hidden_size":2560,"num_hidden_layers":32,"num_attention_heads":32,
            "intermediate_size":10240,"vocab_size":51200,"tie_word_embeddings":false}"#;
        let neox = r#"{"model_type":"gpt_neox","hidden_size":6144,"num_hidden_layers":44,"num_attention_heads":64,
            "intermediate_size":24576,"vocab_size":50432,"tie_word_embeddings":false}"#;
        // Phi-2 also has a bias on its output layer (51 200 of 2.78 billion).
        assert_eq!(shape(phi).parameters().unwrap().total, 2_779_683_840.0 - 51_200.0);
        assert_eq!(shape(neox).parameters().unwrap().total, 20_554_567_680.0);
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let error = |text: &str| model(text).unwrap_err().to_string();
        assert!(error("{").contains("is no JSON"));
        assert!(error("[]").contains("no JSON object"));
        assert!(error("{}").contains("model_type"));
        let unknown = error(r#"{"model_type":"mamba2"}"#);
        assert!(
            unknown.contains("mamba2") && unknown.contains("qwen3_moe") && unknown.contains("[model]"),
            "{unknown}"
        );
        assert!(error(r#"{"model_type":"gemma3","text_config":{}}"#).contains("text_config"));
        assert!(error(r#"{"model_type":"llama","hidden_size":64}"#).contains("of type llama lacks num_hidden_layers"));
        assert!(error(&LLAMA.replace("4096", "\"big\"")).contains("hidden_size = \"big\""));
    }
}
