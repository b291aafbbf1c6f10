//! Columns that hold placeholders only.

use crate::ingest::batch::BATCH_TOKENS;
use crate::ingest::files::opened::{Opened, Source};
use crate::ingest::json::JsonBatches;
use crate::ingest::schema::columns::Column;
use crate::ingest::schema::mapping::Mapping;
use crate::ingest::values::arrays::{Lists, to_f64};

/// A log-probability column that is zero everywhere was not computed.
pub fn forget_placeholders(mapping: &mut Mapping, files: &[&Opened]) {
    let logprobs: Vec<Column> = mapping.columns.iter().map(|m| m.column).filter(|c| c.is_logprob()).collect();
    for column in logprobs {
        let Some(source) = mapping.get(column).and_then(|m| m.sources.first()).cloned() else { continue };
        let zero = |o: &Opened| match &o.source {
            Source::Parquet(head) => head.is_all_zero(&source.name),
            Source::Json => json_is_all_zero(o, &source.name),
            Source::Elsewhere { .. } => false,
        };
        if files.iter().all(|file| zero(file)) {
            mapping.forget(column, &format!("(`{}`) is zero everywhere", source.name));
        }
    }
    mapping.fall_back_to_other_logprob();
}

/// Looks at the first rows only: a framework that skips a column skips it in the whole run.
fn json_is_all_zero(file: &Opened, name: &str) -> bool {
    let Ok(mut rows) = JsonBatches::open(&file.log.stored, BATCH_TOKENS, file.limits) else { return false };
    let Some(Ok(first)) = rows.next() else { return false };
    let Some(array) = first.batch.column_by_name(name) else { return false };
    let Ok(lists) = Lists::of(array) else { return false };
    let Ok(values) = to_f64(&lists.values) else { return false };
    values.len() >= 8 && values.iter().all(|v| *v == 0.0 || v.is_nan())
}
