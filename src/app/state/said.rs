//! What the user says of the run: in the window, from a settings file, from a model's `config.json`.

use super::super::again::Said;
use super::super::toast::Message;
use super::{AppState, PathQuestion};
use crate::experiment::{Experiment, Model};
use crate::settings::{self as settings_file, RunSettings};
use crate::view::Workspace;
use std::path::{Path, PathBuf};

impl AppState {
    pub(super) fn describe(&mut self, experiment: Experiment) {
        let Workspace { in_file, .. } = &self.workspace;
        let judging = self.said.take().and_then(|said| said.judging);
        self.say(Said { experiment, in_file: in_file.clone(), judging });
    }

    /// Shows at once what follows at once, and has the rest computed.
    pub(super) fn say(&mut self, said: Said) {
        self.workspace.in_file.clone_from(&said.in_file);
        self.workspace.describe(Some(said.experiment.clone()));
        self.said = Some(said);
        self.joining.outdate();
        self.renew();
    }

    pub(super) fn load_settings(&mut self, path: &Path) {
        match RunSettings::read(path) {
            Ok(settings) => {
                self.say(Said::loaded(&settings, self.base.clone()));
                self.status = Some(Message::done(format!("Loaded {}", path.display())));
            }
            Err(error) => self.refuse(PathQuestion::Settings, path, "The settings were not loaded", &error),
        }
    }

    pub(super) fn save_settings(&mut self, path: &Path) {
        let mut experiment = self.workspace.experiment.clone().unwrap_or_default();
        match settings_file::write(&experiment, path) {
            Ok(()) => {
                experiment.source = Some(path.to_owned());
                let judging = self.said.take().and_then(|said| said.judging);
                self.say(Said { in_file: Some(experiment.clone()), experiment, judging });
                self.status = Some(Message::done(format!("Saved {}", path.display())));
            }
            Err(error) => self.refuse(PathQuestion::SaveSettings, path, "The settings were not saved", &error),
        }
    }

    /// The model becomes that of the file; what else was said of the model is dropped with the old one.
    pub(super) fn load_model(&mut self, path: PathBuf) {
        match settings_file::read_config(&path) {
            Ok(model) => {
                let mut experiment = self.workspace.experiment.clone().unwrap_or_default();
                let from_config = Some(Box::new(model));
                experiment.model = Model { config: Some(path), from_config, ..Model::default() };
                self.describe(experiment);
            }
            Err(error) => self.refuse(PathQuestion::ModelConfig, &path, "The model was not loaded", &error),
        }
    }
}
