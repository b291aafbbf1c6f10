//! Offline, token-level analysis of RL training runs of language models.
//!
//! The way data takes: [`ingest`] (any log → one token stream) → [`framework`] (the math of the
//! STAPO paper) → [`analyze`] (one pass over the run → one result) → [`report`] (page, Markdown,
//! charts). Beside it: [`compare`] (runs against each other), [`replay`] (logged batches through a
//! policy, once per objective), [`check`] (can a log be trusted), [`convert`] (any log → canonical
//! Parquet), [`show`] (single responses), [`schemas`] (of the JSON results), [`tables`] (frames),
//! [`stats`], and [`cli`].
//!
//! From a log to frames:
//!
//! ```
//! use stapo_analyze::analyze::{AnalyzeSettings, analyze};
//! use stapo_analyze::ingest::{IngestSettings, Run, Silent};
//!
//! let log = concat!(env!("CARGO_MANIFEST_DIR"), "/notebooks-data/grpo.parquet");
//! let run = Run::open(&[log.into()], &IngestSettings::default())?;
//! let analysis = analyze(&run, &AnalyzeSettings::default(), &Silent)?;
//! println!("{}", analysis.verdict.health);
//! for (name, frame) in analysis.frames() {
//!     println!("{name}: {} rows, {} columns", frame.height(), frame.width());
//! }
//! assert_eq!(analysis.s2t.silenced, 168);
//! # Ok::<(), stapo_analyze::Error>(())
//! ```

#[macro_use]
mod named;

pub mod analyze;
pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
pub mod compare;
mod comparing;
pub mod convert;
pub mod error;
pub mod format;
pub mod framework;
#[doc(hidden)]
#[cfg(feature = "replay")]
pub mod fuzzing;
pub mod ingest;
pub mod output;
mod parts;
#[cfg(feature = "replay")]
pub mod replay;
#[cfg(feature = "report")]
pub mod report;
pub mod schemas;
pub mod show;
mod simd;
pub mod stats;
pub mod store;
pub mod tables;

pub use error::{Error, Result};
