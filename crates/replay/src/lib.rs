//! Replay training: logged batches through a real policy, once per objective from the same start.
//!
//! The log is surveyed once, then read a few steps at a time (`log`). Every arm (an [`objective`]
//! with a seed) trains the same starting policy ([`model`]) on the same batches; only its rule
//! differs. Arms come one after another (`arms`), with a checkpoint now and then (`state`).
//! [`replay`] returns a value; [`Replayed::write`] writes it.

mod arm;
mod arms;
mod assembled;
mod crossed;
pub mod device;
mod differences;
mod drift;
mod estimate;
mod explain;
mod fingerprint;
mod holdout;
mod log;
pub mod model;
pub mod objective;
mod outcome;
mod own_files;
mod preflight;
mod progress;
mod provenance;
mod rows;
mod run;
mod sequences;
mod settings;
mod stage;
mod state;
mod step_clock;
mod stop;
mod summary;
mod surrogate;
mod token_log;
mod update;
mod verdict;
mod warnings;

pub use model::AdapterSettings;
pub use outcome::Replayed;
pub use progress::{NoProgress, ReplayProgress};
pub use run::{Workspace, replay};
pub use settings::{OptimizerSettings, ReplaySettings};
pub use stapo_result::replay::{ArmTiming, FEWEST_SEEDS, OldPolicy, ReplayResult, UpdateSpeed};
