//! What made a run sick: causes with the one number that shows them, ranked, and what could not be checked.
//!
//! Causes are rows of [`causes::CAUSES`], a file each. They read [`Measures`], which are computed from the run's
//! [`Evidence`](stapo_evidence::Evidence) alone, and never see one another; what follows from what is a table
//! ([`Cause::follows`]).

mod cause;
pub mod causes;
mod code;
mod examine;
mod finding;
pub mod measure;
mod null;
mod outcome;
mod rank;

pub use cause::{Cause, Need, Symptom};
pub use code::Code;
pub use examine::{Diagnosis, examine_all};
pub use finding::{Confidence, Examined, Finding, Proof};
pub use measure::Measures;
pub use null::Null;
pub use outcome::{FallenPart, Outcome, Spurious};
pub use rank::{Ranked, rank};

pub mod state;
