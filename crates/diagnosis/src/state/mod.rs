//! What a run is for, and whether it got there: the state of a run by its reward and the parts of it.
//!
//! A series is the mean a step of groups, stratified by slice (task, data source) with the run's own weights, so that a
//! mix of tasks that moves is not taken for a gain or a loss. [`judge`] looks for losses that chance does not explain
//! ([`Outcome::Damaged`], [`Outcome::Collapsed`]), then for gains; [`Verdict::state`] adds what the causes know.

mod fall;
mod gain;
mod judge;
mod of_run;
mod range;
mod redefined;
mod rules;
mod strata;
mod sums;
mod verdict;

pub use gain::Gain;
pub use judge::judge;
pub use of_run::{Circumstances, State};
pub use rules::{ALPHA, Rules};
pub use verdict::{Course, Hit, Outcome, Redefined, Verdict};
