//! What the settings are called in the window. Files and the command line use the keys.

use regex::{Captures, Regex};
use std::sync::LazyLock;

/// A setting as a field of the window's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Labelled {
    /// Heading that the field stands under.
    pub group: &'static str,
    /// The field's label.
    pub label: &'static str,
}

/// Headings of the form, and under each the keys with the labels of their fields.
const GROUPS: [(&str, &[(&str, &str)]); 6] = [
    (
        "Model",
        &[
            ("model.preset", "Preset"),
            ("model.parameters", "Parameters"),
            ("model.layers", "Layers"),
            ("model.hidden", "Hidden size"),
            ("model.heads", "Heads"),
            ("model.kv_heads", "KV heads"),
            ("model.head_dim", "Head size"),
            ("model.ffn", "FFN width"),
            ("model.vocab", "Vocabulary"),
            ("model.gated", "Gated FFN"),
            ("model.tied", "Tied tables"),
        ],
    ),
    (
        "Batch",
        &[
            ("batch.sequences", "Sequences"),
            ("batch.sequence_length", "Length"),
            ("batch.micro_batch", "Micro-batch"),
            ("batch.micro_batches", "Micro-batches"),
        ],
    ),
    (
        "Run",
        &[
            ("experiment.dtype", "Number format"),
            ("experiment.convention", "Convention"),
            ("experiment.recompute", "Recompute"),
            ("experiment.gpus", "GPUs"),
            ("experiment.step_time_ms", "Step time in ms"),
            ("experiment.name", "Name"),
            ("experiment.notes", "Notes"),
        ],
    ),
    (
        "Parallel layout",
        &[
            ("parallel.dp", "Data"),
            ("parallel.tp", "Tensor"),
            ("parallel.pp", "Pipeline"),
            ("parallel.cp", "Context"),
            ("parallel.ep", "Expert"),
            ("parallel.interleave", "Interleave"),
        ],
    ),
    ("Peak", &[("peak.gpu", "GPU"), ("peak.tflops", "TFLOPS"), ("peak.sparse", "Sparse peak")]),
    (
        "Experts and details of the model",
        &[
            ("model.active_parameters", "Active param."),
            ("model.experts", "Experts"),
            ("model.active_experts", "Active experts"),
            ("model.expert_ffn", "Expert width"),
            ("model.shared_ffn", "Shared width"),
            ("model.dense_layers", "Dense layers"),
            ("model.window", "Window"),
            ("model.window_layers", "Window layers"),
            ("model.positions", "Positions"),
            ("model.q_rank", "Query rank"),
            ("model.kv_rank", "KV rank"),
            ("model.nope_dim", "Plain size"),
            ("model.rope_dim", "Rotary size"),
            ("model.value_dim", "Value size"),
            ("model.mtp_layers", "MTP heads"),
            ("model.layer_norms", "Layer norms"),
            ("model.bias", "Biases"),
            ("model.qkv_bias", "QKV biases"),
            ("model.norm_bias", "Norm biases"),
            ("model.qk_norm", "QK norms"),
        ],
    ),
];

/// The key that has a button in place of a field.
const CONFIG: (&str, &str) = ("model.config", "Load config.json\u{2026}");

static KEY: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\b[a-z]+\.[a-z_]+\b").ok());

/// The field of `key`, such as `batch.sequences`; `None` when it has none.
pub fn labelled(key: &str) -> Option<Labelled> {
    let all = GROUPS.iter().flat_map(|(group, fields)| fields.iter().map(move |field| (*group, field)));
    let mut found = all.filter(|(_, (known, _))| *known == key);
    found.next().map(|(group, (_, label))| Labelled { group, label })
}

/// `text` with fields in place of keys, for the window: `Batch \u{203a} Sequences` for `batch.sequences`.
pub fn with_labels(text: &str) -> String {
    let Some(pattern) = &*KEY else { return text.to_owned() };
    let named = |found: &Captures<'_>| match (&found[0], labelled(&found[0])) {
        (_, Some(Labelled { group, label })) => format!("{group} \u{203a} {label}"),
        (key, None) if key == CONFIG.0 => CONFIG.1.to_owned(),
        (word, None) => word.to_owned(),
    };
    pattern.replace_all(text, named).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_fields_and_other_words_stay() {
        assert_eq!(
            with_labels("give batch.micro_batch and batch.micro_batches (a config.json), see a.b"),
            "give Batch \u{203a} Micro-batch and Batch \u{203a} Micro-batches (a config.json), see a.b"
        );
        assert_eq!(with_labels("model.config"), "Load config.json\u{2026}");
        assert_eq!(labelled("model.nonsense"), None);
    }
}
