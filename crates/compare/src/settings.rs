//! What the user can say about a comparison.

use stapo_base::named;
use std::path::PathBuf;

use stapo_result::settings::AnalyzeSettings;

named! {
    /// How steps of two runs are held against each other.
    #[derive(Default)]
    pub enum StepAlignment {
        /// Steps of the same number.
        #[default]
        Exact = "exact",
        /// The nearest step, within half of the coarser grid's spacing.
        Nearest = "nearest",
        /// Steps at the same part of each run.
        Progress = "progress",
    }
}

/// A run as the user named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunInput {
    /// Its name; else that of its file or folder.
    pub name: Option<String>,
    /// Its files, folders or globs.
    pub paths: Vec<PathBuf>,
}

/// A file of trainer scalars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainerInput {
    /// The run that it is of; else the file says, by a column `run` or by where it lies.
    pub run: Option<String>,
    /// CSV or `trainer_state.json`.
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
#[derive(Clone, Debug)]
pub struct CompareSettings {
    /// How each run is analysed.
    pub analyze: AnalyzeSettings,
    /// How steps are aligned; `None` chooses the strictest that aligns half of them.
    pub alignment: Option<StepAlignment>,
    /// Draws of the bootstrap.
    pub draws: usize,
    /// Level of intervals; what is called different has an adjusted p of at most 1 minus it.
    pub confidence: f64,
    /// Seed of all draws.
    pub seed: u64,
    /// Trainer scalars to join.
    pub trainer: Vec<TrainerInput>,
    /// A folder that keeps what was gathered of files, for later comparisons.
    pub cache: Option<PathBuf>,
}

impl Default for CompareSettings {
    fn default() -> Self {
        Self {
            analyze: AnalyzeSettings::default(),
            alignment: None,
            draws: 1_000,
            confidence: 0.95,
            seed: 0,
            trainer: Vec::new(),
            cache: None,
        }
    }
}
