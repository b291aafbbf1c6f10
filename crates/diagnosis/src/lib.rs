//! What a run is for, whether it got there, what made it sick, and what could not be checked.
//!
//! The state is judged by reward and parts alone ([`state`]). Causes are rows of [`causes::CAUSES`], a file each. They
//! read [`Measures`], which are computed from the run's [`Evidence`](stapo_evidence::Evidence) alone, and never see one
//! another; what follows from what is a table ([`Cause::follows`]). [`diagnose`] puts both into the result.

mod cause;
pub mod causes;
mod code;
mod conclude;
mod examine;
mod finding;
pub mod measure;
mod null;
mod numbers;
mod outcome;
mod rank;
pub mod state;
mod warnings;
mod words;

pub use cause::{Cause, Need, Symptom};
pub use code::Code;
pub use conclude::{diagnose, page};
pub use examine::{Diagnosis, examine_all};
pub use finding::{Confidence, Examined, Finding, Proof};
pub use measure::Measures;
pub use null::Null;
pub use outcome::{FallenPart, Outcome, Spurious};
pub use rank::{Ranked, rank};
