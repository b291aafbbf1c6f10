//! Every flagged token, however many: they stay in temporary files and are read one by one.

use std::path::Path;
use std::sync::mpsc::sync_channel;

use super::finish::flagged::{FlaggedSource, TableRow, shown_id};
use stapo_base::error::{Error, Result};
use stapo_base::tables::parquet::Writer;
use stapo_base::tables::{BatchColumns, DataFrame, FOLDER};
use stapo_batch::batch::Id;
use stapo_result::FlaggedToken;

/// Rows that are encoded at once.
const CHUNK: usize = 8192;

/// All flagged tokens of a run, beside its [`RunAnalysis`](stapo_result::RunAnalysis), which holds the
/// first of them.
#[derive(Debug)]
pub struct FlaggedTokens {
    source: FlaggedSource,
    /// Whether ids of groups and of responses are texts, not numbers.
    text_ids: [bool; 2],
}

impl FlaggedTokens {
    pub fn new(source: FlaggedSource, text_ids: [bool; 2]) -> Self {
        Self { source, text_ids }
    }

    /// Calls `visit` with every flagged token: by step, group, response and position.
    pub fn for_each(&mut self, visit: impl FnMut(FlaggedToken) -> Result<()>) -> Result<()> {
        self.source.for_each_row(visit)
    }

    /// Calls `visit` with frames of some thousand flagged tokens each, in the same order and with the columns of
    /// `tables/flagged.parquet`: all of a long run would not be a small frame.
    pub fn for_each_frame(&mut self, mut visit: impl FnMut(DataFrame) -> Result<()>) -> Result<()> {
        let text_ids = self.text_ids;
        let mut rows: Vec<TableRow> = Vec::with_capacity(CHUNK);
        self.source.for_each_table_row(|row| {
            rows.push(row);
            if rows.len() < CHUNK {
                return Ok(());
            }
            visit(columns(&std::mem::take(&mut rows), text_ids).frame())
        })?;
        if rows.is_empty() { Ok(()) } else { visit(columns(&rows, text_ids).frame()) }
    }

    /// Writes `tables/flagged.parquet` into `folder`.
    pub fn write(&mut self, folder: &Path) -> Result<()> {
        let path = folder.join(FOLDER).join("flagged.parquet");
        let text_ids = self.text_ids;
        let batch = |rows: &[TableRow]| columns(rows, text_ids).batch().map_err(|e| Error::write(&path, e));
        let mut writer = Writer::with(batch(&[])?.schema(), &path)?;
        let stopped = || Error::Internal { message: "the writer of flagged tokens stopped".into() };
        std::thread::scope(|scope| {
            // The next rows are read while these are encoded.
            let (send, receive) = sync_channel::<Vec<TableRow>>(2);
            let encoder = scope.spawn(move || {
                receive.into_iter().try_for_each(|rows| writer.push_batch(&batch(&rows)?)).map(|()| writer)
            });
            let mut rows: Vec<TableRow> = Vec::with_capacity(CHUNK);
            let mut read = self.source.for_each_table_row(|row| {
                rows.push(row);
                if rows.len() < CHUNK {
                    return Ok(());
                }
                let full = std::mem::replace(&mut rows, Vec::with_capacity(CHUNK));
                send.send(full).map_err(|_| stopped())
            });
            read = read.and_then(|()| send.send(rows).map_err(|_| stopped()));
            drop(send);
            // Why the encoder ended says more than that it did.
            let writer = encoder.join().map_err(|_| stopped())??;
            read?;
            writer.close()
        })
    }
}

fn columns(rows: &[TableRow], [text_groups, text_samples]: [bool; 2]) -> BatchColumns<'_, TableRow> {
    let columns = BatchColumns::of(rows)
        .text("kind", |r| r.token.kind.name())
        .int("step", |r| r.token.step)
        .int("update", |r| r.token.update);
    let columns = ids(columns, "group_id", text_groups, |r| &r.group);
    ids(columns, "sample_id", text_samples, |r| &r.sample)
        .count("row", |r| r.token.row)
        .int("position", |r| r.token.position)
        .int("token_id", |r| r.token.token_id)
        .text("token", |r| &r.token.token)
        .float("logprob", |r| r.token.logprob)
        .float("entropy", |r| r.token.entropy)
        .float("advantage", |r| r.token.advantage)
        .float("grad_norm", |r| r.token.grad_norm)
        .float("grad_norm_low", |r| r.token.grad_norm_low)
        .float("grad_norm_high", |r| r.token.grad_norm_high)
        .text("norm_source", |r| r.token.norm_source.name())
        .float("tau_h", |r| r.token.tau_h)
        .float("risk", |r| r.token.risk)
        .float("change_low", |r| r.token.change_low)
        .float("change_high", |r| r.token.change_high)
        .float("measured_change", |r| r.token.measured_change)
        .float("reward", |r| r.token.reward)
        .int("group_passes", |r| r.token.group_passes.map(i64::from))
        .int("group_size", |r| r.token.group_size.map(i64::from))
        .text("before", |r| r.before.as_str())
        .text("after", |r| r.after.as_str())
}

/// Ids keep the type they were logged with.
fn ids<'a>(
    columns: BatchColumns<'a, TableRow>,
    name: &str,
    text: bool,
    id: impl Fn(&'a TableRow) -> &'a Id,
) -> BatchColumns<'a, TableRow> {
    if text {
        columns.text(name, |r| shown_id(id(r)))
    } else {
        columns.int(name, |r| if let Id::Int(id) = id(r) { Some(*id) } else { None })
    }
}
