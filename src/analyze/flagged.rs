//! Every flagged token, however many: they stay in temporary files and are read one by one.

use std::path::Path;

use super::finish::flagged::FlaggedSource;
use super::result::FlaggedToken;
use crate::error::Result;
use crate::tables::parquet::Writer;
use crate::tables::{Columns, DataFrame, FOLDER};

/// Rows that are encoded at once.
const CHUNK: usize = 8192;

/// All flagged tokens of a run, beside its [`RunAnalysis`](super::RunAnalysis), which holds the
/// first of them.
///
/// ```
/// use stapo_analyze::analyze::{AnalyzeSettings, analyze_with_flagged};
/// use stapo_analyze::ingest::{IngestSettings, Run, Silent};
///
/// let log = concat!(env!("CARGO_MANIFEST_DIR"), "/notebooks-data/grpo.parquet");
/// let run = Run::open(&[log.into()], &IngestSettings::default())?;
/// let (analysis, mut flagged) = analyze_with_flagged(&run, &AnalyzeSettings::default(), &Silent)?;
/// let mut count = 0;
/// flagged.for_each(|_| {
///     count += 1;
///     Ok(())
/// })?;
/// assert_eq!(count, analysis.s2t.candidates);
/// # Ok::<(), stapo_analyze::Error>(())
/// ```
#[derive(Debug)]
pub struct FlaggedTokens {
    source: FlaggedSource,
    /// Whether ids of groups and of responses are texts, not numbers.
    text_ids: [bool; 2],
    /// What goes between the texts of two tokens.
    separator: &'static str,
}

impl FlaggedTokens {
    pub(super) fn new(source: FlaggedSource, text_ids: [bool; 2]) -> Self {
        let separator = source.texts.separator();
        Self { source, text_ids, separator }
    }

    /// Calls `visit` with every flagged token: by step, group, response and position.
    pub fn for_each(&mut self, visit: impl FnMut(FlaggedToken) -> Result<()>) -> Result<()> {
        self.source.for_each_row(visit)
    }

    /// Writes `tables/flagged.parquet` into `folder`.
    pub fn write(&mut self, folder: &Path) -> Result<()> {
        let path = folder.join(FOLDER).join("flagged.parquet");
        let (text_ids, separator) = (self.text_ids, self.separator);
        let frame = |rows: &[FlaggedToken]| frame(rows, text_ids, separator);
        let mut writer = Writer::create(&frame(&[]), &path)?;
        let mut rows: Vec<FlaggedToken> = Vec::with_capacity(CHUNK);
        self.for_each(|row| {
            rows.push(row);
            if rows.len() < CHUNK {
                return Ok(());
            }
            writer.push(&frame(&rows))?;
            rows.clear();
            Ok(())
        })?;
        writer.push(&frame(&rows))?;
        writer.close()
    }
}

fn frame(rows: &[FlaggedToken], [text_groups, text_samples]: [bool; 2], separator: &str) -> DataFrame {
    let columns =
        Columns::of(rows).text("kind", |r| r.kind.name()).int("step", |r| r.step).int("update", |r| r.update);
    let columns = ids(columns, "group_id", text_groups, |r| r.group_id.as_deref());
    ids(columns, "sample_id", text_samples, |r| r.sample_id.as_deref())
        .count("row", |r| r.row)
        .int("position", |r| r.position)
        .int("token_id", |r| r.token_id)
        .text("token", |r| &r.token)
        .float("logprob", |r| r.logprob)
        .float("entropy", |r| r.entropy)
        .float("advantage", |r| r.advantage)
        .float("grad_norm", |r| r.grad_norm)
        .float("grad_norm_low", |r| r.grad_norm_low)
        .float("grad_norm_high", |r| r.grad_norm_high)
        .text("norm_source", |r| r.norm_source.name())
        .float("tau_h", |r| r.tau_h)
        .float("risk", |r| r.risk)
        .float("change_low", |r| r.change_low)
        .float("change_high", |r| r.change_high)
        .float("measured_change", |r| r.measured_change)
        .float("reward", |r| r.reward)
        .int("group_passes", |r| r.group_passes.map(i64::from))
        .int("group_size", |r| r.group_size.map(i64::from))
        .text("before", |r| r.before.join(separator))
        .text("after", |r| r.after.join(separator))
        .frame()
}

/// Ids keep the type they were logged with.
fn ids<'a>(
    columns: Columns<'a, FlaggedToken>,
    name: &str,
    text: bool,
    id: impl Fn(&'a FlaggedToken) -> Option<&'a str>,
) -> Columns<'a, FlaggedToken> {
    if text {
        columns.text(name, id)
    } else {
        columns.int(name, |r| id(r).and_then(|id| id.parse::<i64>().ok()))
    }
}
