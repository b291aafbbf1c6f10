//! Replay training: logged batches through a real policy, once per objective from the same start.
//!
//! The log is surveyed once, then read a few steps at a time (`log`). Every arm (an [`objective`]
//! with a seed) trains the same starting policy ([`model`]) on the same batches; only its rule
//! differs. Arms come one after another (`arm`), with a checkpoint now and then (`state`).

mod arm;
mod assembled;
pub mod device;
mod drift;
mod exact_json;
mod explain;
mod facts;
mod holdout;
mod log;
pub mod model;
pub mod objective;
mod random;
pub mod result;
mod run;
mod settings;
mod stage;
mod state;
mod summary;
mod surrogate;
mod token_log;
mod told;
mod update;
mod verdict;
mod warnings;

pub use result::ReplayResult;
pub use run::{ArmTiming, Replayed, replay};
pub use settings::{OldPolicy, OptimizerSettings, ReplaySettings};
pub use update::UpdateSpeed;

/// Told how far a replay is.
pub trait ReplayProgress {
    /// So many tokens are ahead, over all arms.
    fn ahead(&self, tokens: u64);
    /// An arm begins.
    fn arm(&self, name: &str);
    /// Some tokens were trained on.
    fn trained(&self, tokens: u64);
    /// Some tokens were trained on by an earlier start.
    fn skipped(&self, tokens: u64);
    /// Something worth a line.
    fn say(&self, text: &str);
}

/// No one looks.
pub struct NoProgress;

impl ReplayProgress for NoProgress {
    fn ahead(&self, _: u64) {}
    fn arm(&self, _: &str) {}
    fn trained(&self, _: u64) {}
    fn skipped(&self, _: u64) {}
    fn say(&self, _: &str) {}
}
