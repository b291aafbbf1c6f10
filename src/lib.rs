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

pub mod analyze;
#[cfg(feature = "cli")]
pub mod cli;
pub mod compare;
#[doc(hidden)]
#[cfg(feature = "replay")]
pub mod fuzzing;
pub mod schemas;

pub use stapo_base::{Error, Result, error, format, output, stats, tables};
pub use stapo_framework as framework;
pub use stapo_store as store;

/// Whatever an RL run logged per token, as one checked, typed, streaming token stream.
///
/// ```
/// use stapo_analyze::ingest::{Column, IngestSettings, Run};
///
/// let log = concat!(env!("CARGO_MANIFEST_DIR"), "/notebooks-data/grpo.parquet");
/// let run = Run::open(&[log.into()], &IngestSettings::default())?;
/// assert!(run.has(Column::Logprob) && !run.has(Column::TokenText));
/// # Ok::<(), stapo_analyze::Error>(())
/// ```
pub mod ingest {
    pub use stapo_base::guard::quieten_guarded_panics;
    pub use stapo_batch::{
        BATCH_TOKENS, Column, FAIL_SHARE, HeldOut, Id, Kind, Level, Limits, MISSING_FLAG, MISSING_ID,
        OpenStart, Origin, OtherColumns, OtherValue, PerColumn, Progress, ResponseColumns, Silent, Sink,
        TokenBatch, TokenColumns, WARN_SHARE,
    };
    pub use stapo_ingest::{
        ColumnQuality, Dialect, FileIdentity, IngestSettings, Layout, ListAlignment, Mapped, Mapping,
        Quality, RawSource, Reason, RowIndex, Run, RunFile, Scanned, Skipped, StepRange, Transform, UserMap,
        ValuePlace, Wanted, read_all, scan, scan_in_order, source_names,
    };
}

/// Logged batches through a policy, once per objective.
///
/// ```
/// use stapo_analyze::framework::rules::Rule;
/// use stapo_analyze::ingest::{IngestSettings, Run};
/// use stapo_analyze::replay::{NoProgress, ReplaySettings, replay};
///
/// let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("notebooks-data");
/// let run = Run::open(&[data.join("grpo.parquet")], &IngestSettings::default())?;
/// let settings = ReplaySettings {
///     objectives: vec![Rule::Dapo, Rule::Stapo],
///     model: Some(data.join("model")),
///     responses: Some(64),
///     steps: Some(1),
///     ..ReplaySettings::default()
/// };
/// let replayed = replay(&run, &settings, None, &NoProgress)?;
/// assert_eq!(replayed.result.arms.len(), 2);
/// assert!(replayed.result.updates_frame().height() > 0);
/// let out = tempfile::tempdir()?;
/// replayed.write(out.path())?;
/// assert!(out.path().join("replay.json").exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "replay")]
pub mod replay {
    pub use stapo_replay::*;
    pub use stapo_result::replay as result;
}

/// Whether a log can be trusted.
///
/// ```
/// use stapo_analyze::check::check;
/// use stapo_analyze::ingest::{IngestSettings, Run, Silent};
///
/// let log = concat!(env!("CARGO_MANIFEST_DIR"), "/notebooks-data/grpo.parquet");
/// let run = Run::open(&[log.into()], &IngestSettings::default())?;
/// let report = check(&run, None, &Silent)?;
/// assert_eq!((report.tokens, report.responses), (612_395, 5_632));
/// # Ok::<(), stapo_analyze::Error>(())
/// ```
pub mod check {
    pub use stapo_ingest::check::*;
}

/// Any log as canonical Parquet.
///
/// ```
/// use stapo_analyze::convert::convert;
/// use stapo_analyze::ingest::{IngestSettings, Layout, Run, Silent};
///
/// let log = concat!(env!("CARGO_MANIFEST_DIR"), "/notebooks-data/grpo.parquet");
/// let run = Run::open(&[log.into()], &IngestSettings::default())?;
/// let folder = tempfile::tempdir().map_err(|e| stapo_analyze::Error::write(".".as_ref(), e))?;
/// let converted = convert(&run, &folder.path().join("long.parquet"), Layout::Long, &Silent)?;
/// assert_eq!(converted.tokens, 612_395);
/// # Ok::<(), stapo_analyze::Error>(())
/// ```
pub mod convert {
    pub use stapo_ingest::convert::*;
}

/// Single responses.
///
/// ```
/// use stapo_analyze::ingest::{IngestSettings, Run, Silent};
/// use stapo_analyze::show::{Selection, show};
///
/// let log = concat!(env!("CARGO_MANIFEST_DIR"), "/notebooks-data/grpo.parquet");
/// let run = Run::open(&[log.into()], &IngestSettings::default())?;
/// let selection = Selection { step: Some(12), limit: 2, ..Selection::default() };
/// let shown = show(&run, &selection, None, &Silent)?;
/// assert_eq!((shown.matched, shown.responses.len()), (512, 2));
/// # Ok::<(), stapo_analyze::Error>(())
/// ```
pub mod show {
    pub use stapo_ingest::show::*;
}

/// Pages, Markdown and charts.
///
/// ```
/// use stapo_analyze::analyze::{AnalyzeSettings, analyze};
/// use stapo_analyze::ingest::{IngestSettings, Run, Silent};
/// use stapo_analyze::report::write_report;
///
/// let log = concat!(env!("CARGO_MANIFEST_DIR"), "/notebooks-data/grpo.parquet");
/// let run = Run::open(&[log.into()], &IngestSettings::default())?;
/// let analysis = analyze(&run, &AnalyzeSettings::default(), &Silent)?;
/// let folder = tempfile::tempdir().map_err(|e| stapo_analyze::Error::write(".".as_ref(), e))?;
/// let files = write_report(&analysis, folder.path())?;
/// assert!(files.html.is_file() && files.markdown.is_file() && !files.charts.is_empty());
/// # Ok::<(), stapo_analyze::Error>(())
/// ```
#[cfg(feature = "report")]
pub mod report {
    pub use stapo_page::*;
}
