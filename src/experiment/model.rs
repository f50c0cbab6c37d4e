//! The model as a user describes it: a preset, a Hugging Face `config.json`, or fields; what is typed overrides both.

use super::presets;
use super::shape::{Mla, ModelShape, Moe};
use super::{Invalid, bounded};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Declares the fields once, for the struct and for [`Model::over`].
macro_rules! model {
    ($($(#[$about:meta])* $name:ident: $kind:ty,)*) => {
        /// What is said of the model; every field may be left out.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Model {
            $($(#[$about])* #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<$kind>,)*
            /// What the file named by `config` says, once it was read.
            #[serde(skip)]
            pub from_config: Option<Box<Model>>,
        }

        impl Model {
            /// These fields, and those of `base` where these say nothing.
            fn over(&self, base: &Self) -> Self {
                Self {
                    $($name: self.$name.clone().or_else(|| base.$name.clone()),)*
                    from_config: self.from_config.clone(),
                }
            }
        }
    };
}

model! {
    /// Name of a preset.
    preset: String,
    /// A Hugging Face `config.json`, relative to the settings file.
    config: PathBuf,
    /// Parameters in all; computed from the shape when left out.
    parameters: f64,
    /// Parameters that a token passes through; computed from the shape when left out.
    active_parameters: f64,
    /// Transformer layers.
    layers: u64,
    /// Hidden size.
    hidden: u64,
    /// Attention heads.
    heads: u64,
    /// Heads of keys and values; as many as `heads` when left out.
    kv_heads: u64,
    /// Size of a head; hidden / heads when left out.
    head_dim: u64,
    /// Width of the feed-forward part.
    ffn: u64,
    /// A gated feed-forward part (SwiGLU, GeGLU): three matrices instead of two.
    gated: bool,
    /// Vocabulary as trained, padding included.
    vocab: u64,
    /// One table for input embedding and output layer.
    tied: bool,
    /// Rows of a learned position table; none with rotary positions.
    positions: u64,
    /// Sliding attention window in tokens.
    window: u64,
    /// Layers that have the window; all of them when left out.
    window_layers: u64,
    /// Experts of a layer; none in a dense model.
    experts: u64,
    /// Experts that a token passes through, without shared ones.
    active_experts: u64,
    /// Width of an expert; `ffn` when left out.
    expert_ffn: u64,
    /// Width of all shared experts of a layer together.
    shared_ffn: u64,
    /// Layers without experts.
    dense_layers: u64,
    /// Rank of the queries in latent attention; not factored when left out.
    q_rank: u64,
    /// Rank of keys and values in latent attention; its presence makes the attention latent.
    kv_rank: u64,
    /// Part of a latent query's size without positions.
    nope_dim: u64,
    /// Part of a latent query's size with rotary positions.
    rope_dim: u64,
    /// Size of a latent value.
    value_dim: u64,
    /// Extra prediction heads, each with its own logits; their layers count in `layers`.
    mtp_layers: u64,
    /// Biases on all linear layers.
    bias: bool,
    /// Biases on queries, keys and values only.
    qkv_bias: bool,
    /// Norms with a bias.
    norm_bias: bool,
    /// Norms on queries and keys.
    qk_norm: bool,
    /// Norms in a layer; 2 when left out.
    layer_norms: u64,
}

impl Model {
    /// With what the preset and the `config.json` say.
    ///
    /// # Errors
    /// When there is no such preset.
    pub fn merged(&self) -> Result<Self, Invalid> {
        let mut merged = self.clone();
        if let Some(config) = &self.from_config {
            merged = merged.over(config);
        }
        if let Some(name) = &self.preset {
            let known = presets::all();
            let Some(found) = known.iter().find(|preset| preset.name.eq_ignore_ascii_case(name)) else {
                let names: Vec<&str> = known.iter().map(|preset| preset.name).collect();
                return Err(Invalid::new("model.preset", format!("there is no {name:?}; choose {}", names.join(", "))));
            };
            merged = merged.over(&found.model);
        }
        Ok(merged)
    }

    /// The shape, when one is given; `None` when only parameters are, or nothing.
    ///
    /// # Errors
    /// When a field is out of its range, is missing, or contradicts another.
    pub fn shape(&self) -> Result<Option<ModelShape>, Invalid> {
        let model = self.merged()?;
        model.check_counts()?;
        if [model.layers, model.hidden, model.heads, model.ffn, model.vocab].iter().all(Option::is_none) {
            return Ok(None);
        }
        let need = |key: &'static str, value: Option<u64>| {
            value.ok_or_else(|| Invalid::new(key, "is missing: a shape needs layers, hidden and heads".to_owned()))
        };
        let (layers, hidden) = (need("model.layers", model.layers)?, need("model.hidden", model.hidden)?);
        let heads = need("model.heads", model.heads)?;
        let kv_heads = model.kv_heads.unwrap_or(heads);
        if !heads.is_multiple_of(kv_heads) {
            return Err(Invalid::new("model.kv_heads", format!("{kv_heads} does not divide the {heads} heads")));
        }
        let mla = model.mla()?;
        let head_dim = match model.head_dim {
            Some(size) => size,
            None if hidden.is_multiple_of(heads) || mla.is_some() => hidden / heads,
            None => {
                let why = format!("is missing: {heads} heads do not divide the hidden size {hidden}");
                return Err(Invalid::new("model.head_dim", why));
            }
        };
        Ok(Some(ModelShape {
            layers,
            hidden,
            heads,
            kv_heads,
            head_dim,
            mla,
            ffn: model.ffn,
            gated: model.gated.unwrap_or(false),
            moe: model.moe(layers)?,
            vocab: model.vocab,
            tied: model.tied.unwrap_or(false),
            positions: model.positions.unwrap_or(0),
            window: model.attention_window(layers)?,
            mtp_layers: model.mtp_layers.unwrap_or(0),
            bias: model.bias.unwrap_or(false),
            qkv_bias: model.qkv_bias.unwrap_or(false),
            norm_bias: model.norm_bias.unwrap_or(false),
            qk_norm: model.qk_norm.unwrap_or(false),
            layer_norms: model.layer_norms.unwrap_or(2),
        }))
    }

    fn check_counts(&self) -> Result<(), Invalid> {
        for (key, value) in [("model.parameters", self.parameters), ("model.active_parameters", self.active_parameters)]
        {
            if value.is_some_and(|n| !(n.is_finite() && (1.0..1e18).contains(&n))) {
                return Err(Invalid::new(key, "must be a number of parameters, such as 125e6".to_owned()));
            }
        }
        if let (Some(active), Some(all)) = (self.active_parameters, self.parameters)
            && active > all
        {
            return Err(Invalid::new("model.active_parameters", "cannot exceed model.parameters".to_owned()));
        }
        for (key, value, most) in [
            ("model.layers", self.layers, 10_000),
            ("model.hidden", self.hidden, 1 << 20),
            ("model.heads", self.heads, 1 << 16),
            ("model.kv_heads", self.kv_heads, 1 << 16),
            ("model.head_dim", self.head_dim, 1 << 16),
            ("model.ffn", self.ffn, 1 << 24),
            ("model.vocab", self.vocab, 1 << 28),
            ("model.window", self.window, 1 << 32),
            ("model.experts", self.experts, 1 << 16),
            ("model.active_experts", self.active_experts, 1 << 16),
            ("model.expert_ffn", self.expert_ffn, 1 << 24),
            ("model.q_rank", self.q_rank, 1 << 20),
            ("model.kv_rank", self.kv_rank, 1 << 20),
            ("model.nope_dim", self.nope_dim, 1 << 16),
            ("model.value_dim", self.value_dim, 1 << 16),
        ] {
            bounded(key, value, 1, most)?;
        }
        for (key, value, most) in [
            ("model.positions", self.positions, 1 << 32),
            ("model.window_layers", self.window_layers, 10_000),
            ("model.shared_ffn", self.shared_ffn, 1 << 24),
            ("model.dense_layers", self.dense_layers, 10_000),
            ("model.rope_dim", self.rope_dim, 1 << 16),
            ("model.mtp_layers", self.mtp_layers, 100),
            ("model.layer_norms", self.layer_norms, 16),
        ] {
            bounded(key, value, 0, most)?;
        }
        Ok(())
    }

    fn mla(&self) -> Result<Option<Mla>, Invalid> {
        let Some(kv_rank) = self.kv_rank else { return Ok(None) };
        let need = |key: &'static str, value: Option<u64>| {
            value.ok_or_else(|| Invalid::new(key, "is missing: latent attention (model.kv_rank) needs it".to_owned()))
        };
        Ok(Some(Mla {
            q_rank: self.q_rank,
            kv_rank,
            nope_dim: need("model.nope_dim", self.nope_dim)?,
            rope_dim: need("model.rope_dim", self.rope_dim)?,
            value_dim: need("model.value_dim", self.value_dim)?,
        }))
    }

    fn moe(&self, layers: u64) -> Result<Option<Moe>, Invalid> {
        let Some(experts) = self.experts else {
            let orphan = [("model.active_experts", self.active_experts), ("model.expert_ffn", self.expert_ffn)];
            return match orphan.into_iter().find(|(_, value)| value.is_some()) {
                Some((key, _)) => Err(Invalid::new(key, "means nothing without model.experts".to_owned())),
                None => Ok(None),
            };
        };
        let need = |key: &'static str, value: Option<u64>| {
            value.ok_or_else(|| Invalid::new(key, "is missing: a model with experts needs it".to_owned()))
        };
        let active = need("model.active_experts", self.active_experts)?;
        if active > experts {
            return Err(Invalid::new(
                "model.active_experts",
                format!("{active} of {experts} experts cannot be active"),
            ));
        }
        let dense_layers = self.dense_layers.unwrap_or(0);
        if dense_layers >= layers {
            let why = format!("must leave layers with experts: {dense_layers} of {layers} are dense");
            return Err(Invalid::new("model.dense_layers", why));
        }
        let ffn = need("model.expert_ffn", self.expert_ffn.or(self.ffn))?;
        Ok(Some(Moe { experts, active, ffn, shared_ffn: self.shared_ffn.unwrap_or(0), layers: layers - dense_layers }))
    }

    fn attention_window(&self, layers: u64) -> Result<Option<(u64, u64)>, Invalid> {
        let Some(window) = self.window else { return Ok(None) };
        let windowed = self.window_layers.unwrap_or(layers);
        if windowed > layers {
            return Err(Invalid::new("model.window_layers", format!("{windowed} exceeds the {layers} layers")));
        }
        Ok(Some((window, windowed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(model: &Model) -> String {
        model.shape().unwrap_err().to_string()
    }

    #[test]
    fn typed_fields_come_before_the_preset() {
        let model = Model { preset: Some("llama-3-8B".to_owned()), layers: Some(4), ..Model::default() };
        let shape = model.shape().unwrap().unwrap();
        assert_eq!((shape.layers, shape.hidden, shape.kv_heads), (4, 4096, 8));
    }

    #[test]
    fn nothing_said_is_no_shape_and_parameters_alone_are_fine() {
        assert_eq!(Model::default().shape(), Ok(None));
        assert_eq!(Model { parameters: Some(125e6), ..Model::default() }.shape(), Ok(None));
    }

    #[test]
    fn contradictions_name_the_field() {
        let base = Model { layers: Some(2), hidden: Some(64), heads: Some(4), ..Model::default() };
        assert!(error(&Model { heads: None, ..base.clone() }).contains("model.heads is missing"));
        assert!(error(&Model { heads: Some(3), ..base.clone() }).contains("model.head_dim"));
        assert!(error(&Model { kv_heads: Some(3), ..base.clone() }).contains("model.kv_heads 3 does not divide"));
        assert!(error(&Model { experts: Some(4), ..base.clone() }).contains("model.active_experts is missing"));
        assert!(error(&Model { active_experts: Some(2), ..base.clone() }).contains("without model.experts"));
        assert!(error(&Model { layers: Some(0), ..base.clone() }).contains("model.layers must be 1 to 10000, not 0"));
        assert!(error(&Model { kv_rank: Some(8), ..base.clone() }).contains("model.nope_dim"));
        assert!(error(&Model { parameters: Some(f64::NAN), ..base.clone() }).contains("model.parameters"));
        assert!(error(&Model { preset: Some("gpt9".to_owned()), ..base }).contains("llama-3-8b"));
    }
}
