//! The settings file that goes with a simulated job, so that its MFU is known when it is opened.

use super::config::{Dtype, JobConfig};

/// Name of the file, beside the exports.
pub(super) const FILE_NAME: &str = "stepscope.toml";

impl JobConfig {
    /// What a user would say of this job in the settings file.
    pub fn run_settings(&self) -> String {
        let dtype = match self.dtype {
            Dtype::Bf16 => "bf16",
            Dtype::Fp16 => "fp16",
            Dtype::Fp32 => "fp32",
        };
        // Cards differ least in what they do without tensor cores, and no table lists it.
        let peak = match self.dtype {
            Dtype::Fp32 => format!("\n[peak]\ntflops = {:.1}\n", self.gpu.spec().peak_single / 1e12),
            Dtype::Bf16 | Dtype::Fp16 => String::new(),
        };
        format!(
            "[experiment]\n\
             name = \"simulated GPT\"\n\
             dtype = \"{dtype}\"\n\
             gpus = {gpus}\n\
             \n\
             [model]\n\
             layers = {layers}\n\
             hidden = {hidden}\n\
             heads = {heads}\n\
             ffn = {ffn}\n\
             vocab = {vocab}\n\
             tied = {tied}\n\
             bias = true\n\
             norm_bias = true\n\
             \n\
             [batch]\n\
             micro_batch = {batch}\n\
             micro_batches = {micro_batches}\n\
             sequence_length = {seq}\n\
             \n\
             [parallel]\n\
             dp = {dp}\n\
             pp = {pp}\n\
             {peak}",
            gpus = self.ranks,
            layers = self.layers,
            hidden = self.hidden,
            heads = self.heads,
            ffn = self.hidden.saturating_mul(4),
            vocab = self.vocab,
            tied = self.pp == 1,
            batch = self.batch,
            micro_batches = self.micro_batches,
            seq = self.seq,
            dp = self.dp(),
            pp = self.pp,
        )
    }
}
