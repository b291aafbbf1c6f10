//! What the user can say about a comparison.

use std::path::PathBuf;

use stapo_levels::Metric;
use stapo_result::settings::AnalyzeSettings;

/// A run as the user named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunInput {
    /// Its name; else that of its file or folder.
    pub name: Option<String>,
    /// Its files, folders or globs.
    pub paths: Vec<PathBuf>,
}

/// A file of what the trainer logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainerInput {
    /// The run that it is of; else the file says, by a column `run` or by where it lies.
    pub run: Option<String>,
    /// Its path.
    pub path: PathBuf,
}

/// Runs that are to be compared as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArmInput {
    /// Its name; `None` where it is a run of its own.
    pub name: Option<String>,
    /// Its runs.
    pub runs: Vec<RunInput>,
}

/// Everything that defines a comparison.
#[derive(Clone, Debug, Default)]
pub struct CompareSettings {
    /// How each run is analysed.
    pub analyze: AnalyzeSettings,
    /// What methods are judged by; `None` is the reward, or what else all runs have.
    pub primary: Option<Metric>,
    /// Seeds of one recipe each, whose scatter bounds the difference of two single runs.
    pub seeds_like: Vec<Vec<RunInput>>,
    /// What the trainer logged.
    pub trainer: Vec<TrainerInput>,
    /// Names of columns in training curves, `name=column`.
    pub curve_maps: Vec<String>,
    /// A folder that keeps what was gathered of files, for later comparisons.
    pub cache: Option<PathBuf>,
}
