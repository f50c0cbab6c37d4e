//! Fields of a job by name, for flags and files.

use super::SimError;
use super::config::JobConfig;
use toml::{Table, Value};

impl JobConfig {
    /// Sets one field, as `comm_gbps=25`, `comm-gbps = 25`, `dtype=fp16` or `drift_ppm=[0, 20]`.
    ///
    /// # Errors
    /// When there is no such field, or the value does not fit it. What other fields say is left to [`Self::check`].
    pub fn set(&mut self, setting: &str) -> Result<(), SimError> {
        let fail = |why: String| SimError::Setting { setting: setting.to_owned(), why };
        let (key, text) =
            setting.split_once('=').ok_or_else(|| fail("write it as NAME=VALUE, such as steps=20".to_owned()))?;
        let (typed, text) = (key.trim(), text.trim());
        let key = typed.replace('-', "_");
        let mut table = Table::try_from(&*self).map_err(|error| fail(error.to_string()))?;
        if !table.contains_key(&key) {
            return Err(fail(format!("unknown setting `{typed}`")));
        }
        // A whole number is fine where a fraction may be; anything that is no TOML value is a word.
        let value = match format!("value = {text}").parse::<Table>().ok().and_then(|mut t| t.remove("value")) {
            Some(Value::Integer(number)) if matches!(table.get(&key), Some(Value::Float(_))) => {
                Value::Float(number as f64)
            }
            Some(Value::Float(_)) if table.get(&key).is_some_and(Value::is_str) => Value::String(text.to_owned()),
            Some(value) => value,
            None => Value::String(text.to_owned()),
        };
        table.insert(key, value);
        *self = table.try_into().map_err(|error: toml::de::Error| fail(error.message().to_owned()))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::sim::{CudaGraphs, Dtype, JobConfig, SchemaVersion};

    fn with(settings: &[&str]) -> JobConfig {
        let mut cfg = JobConfig::default();
        settings.iter().for_each(|setting| cfg.set(setting).unwrap());
        cfg
    }

    #[test]
    fn every_kind_of_field_can_be_set_by_name() {
        let cfg = with(&[
            "comm-gbps=25",
            "dtype = fp16",
            "stragglers=[1]",
            "drift_ppm=[0, 20]",
            "one_file=true",
            "schema=2023.4",
        ]);
        assert_eq!((cfg.comm_gbps, cfg.dtype, cfg.stragglers, cfg.one_file), (25.0, Dtype::Fp16, vec![1], true));
        assert_eq!((cfg.drift_ppm, cfg.schema), (vec![0.0, 20.0], SchemaVersion::V2023_4));
        assert_eq!(with(&["cuda-graphs=nodes"]).cuda_graphs, CudaGraphs::Nodes);
        assert_eq!(with(&["slow-loader-steps=[]"]).slow_loader_steps, Vec::<u32>::new());
    }

    #[test]
    fn a_wrong_setting_says_what_is_wrong() {
        let error = |setting: &str| JobConfig::default().set(setting).unwrap_err().to_string();
        assert!(error("steps").contains("NAME=VALUE"), "{}", error("steps"));
        assert!(error("stepz=3").contains("unknown setting `stepz`"), "{}", error("stepz=3"));
        assert!(error("stepz-9=3").contains("unknown setting `stepz-9`"), "as it was typed");
        assert!(error("steps=many").contains("steps=many"), "{}", error("steps=many"));
        assert!(error("steps=-1").contains("-1"), "{}", error("steps=-1"));
        assert!(error("dtype=int3").contains("bf16"), "{}", error("dtype=int3"));
    }
}
