//! `tables/flagged.parquet`: every flagged token, however many.

use std::path::Path;

use arrow_schema::ArrowError;
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;

use super::table::{Table, properties};
use crate::analyze::result::{Cases, FlaggedToken};
use crate::error::{Error, Result};
use crate::output::AtomicFile;

/// Rows that are encoded at once.
const CHUNK: usize = 8192;

/// Writes all flagged tokens.
pub fn write(cases: &Cases, path: &Path) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    let arrow = |e: ArrowError| Error::write(path, e);
    let parquet = |e: ParquetError| Error::write(path, e);
    let schema = table(&[], cases).batch().map_err(arrow)?.schema();
    let mut writer = ArrowWriter::try_new(&mut file, schema, Some(properties())).map_err(parquet)?;
    let mut rows: Vec<FlaggedToken> = Vec::with_capacity(CHUNK);
    let mut flush = |rows: &mut Vec<FlaggedToken>| -> Result<()> {
        writer.write(&table(rows, cases).batch().map_err(arrow)?).map_err(parquet)?;
        rows.clear();
        Ok(())
    };
    if let Some(source) = &cases.source {
        source.for_each_row(|row| {
            rows.push(row);
            if rows.len() == CHUNK { flush(&mut rows) } else { Ok(()) }
        })?;
    }
    flush(&mut rows)?;
    writer.close().map_err(parquet)?;
    file.commit()
}

fn table(rows: &[FlaggedToken], cases: &Cases) -> Table {
    let float = |of: fn(&FlaggedToken) -> f64| rows.iter().map(move |r| Some(of(r)));
    let joined = |texts: &[String]| Some(texts.join(cases.separator));
    let [text_groups, text_samples] = cases.text_ids;
    let mut table = Table::default()
        .texts("kind", rows.iter().map(|r| Some(r.kind.name().into())))
        .ints("step", rows.iter().map(|r| Some(r.step)))
        .ints("update", rows.iter().map(|r| r.update));
    table = ids(table, "group_id", rows.iter().map(|r| r.group_id.as_deref()), text_groups);
    table = ids(table, "sample_id", rows.iter().map(|r| r.sample_id.as_deref()), text_samples);
    table
        .counts("row", rows.iter().map(|r| r.row))
        .ints("position", rows.iter().map(|r| Some(r.position)))
        .ints("token_id", rows.iter().map(|r| r.token_id))
        .texts("token", rows.iter().map(|r| r.token.clone()))
        .floats("logprob", float(|r| r.logprob))
        .floats("entropy", float(|r| r.entropy))
        .floats("advantage", float(|r| r.advantage))
        .floats("grad_norm", float(|r| r.grad_norm))
        .floats("grad_norm_low", float(|r| r.grad_norm_low))
        .floats("grad_norm_high", float(|r| r.grad_norm_high))
        .texts("norm_source", rows.iter().map(|r| Some(r.norm_source.into())))
        .floats("tau_h", float(|r| r.tau_h))
        .floats("risk", float(|r| r.risk))
        .floats("change_low", float(|r| r.change_low))
        .floats("change_high", float(|r| r.change_high))
        .floats("measured_change", rows.iter().map(|r| r.measured_change))
        .floats("reward", rows.iter().map(|r| r.reward))
        .ints("group_passes", rows.iter().map(|r| r.group_passes.map(i64::from)))
        .ints("group_size", rows.iter().map(|r| r.group_size.map(i64::from)))
        .texts("before", rows.iter().map(|r| joined(&r.before)))
        .texts("after", rows.iter().map(|r| joined(&r.after)))
}

/// Ids keep the type they were logged with.
fn ids<'a>(table: Table, name: &str, ids: impl Iterator<Item = Option<&'a str>>, text: bool) -> Table {
    if text {
        table.texts(name, ids.map(|id| id.map(str::to_owned)))
    } else {
        table.ints(name, ids.map(|id| id.and_then(|id| id.parse().ok())))
    }
}
