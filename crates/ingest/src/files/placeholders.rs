//! Columns that hold placeholders only.

use crate::files::opened::{Opened, Source};
use crate::schema::mapping::Mapping;
use crate::values::arrays::to_f64;
use crate::values::lists::Lists;
use stapo_batch::columns::Column;

/// Fewer tokens than this may really all have probability one.
const FEWEST: u64 = 8;

/// A log-probability column that is zero everywhere was not computed.
pub fn forget_placeholders(mapping: &mut Mapping, files: &[&Opened]) {
    let logprobs: Vec<Column> = mapping.columns.iter().map(|m| m.column).filter(|c| c.is_logprob()).collect();
    for column in logprobs {
        let Some(source) = mapping.get(column).and_then(|m| m.sources.first()).cloned() else { continue };
        let zeros = |o: &Opened| match &o.source {
            Source::Parquet(head) => head.zeros(&source.name),
            Source::Json => json_zeros(o, &source.name),
            Source::Elsewhere { .. } => None,
        };
        if files.iter().all(|file| zeros(file).is_some_and(|count| count >= FEWEST)) {
            mapping.forget(column, &format!("(`{}`) is zero everywhere", source.name));
        }
    }
    mapping.fall_back_to_other_logprob();
}

/// How many values a column has in the first rows, where all of them are zero. A framework that skips a column skips it in the whole run.
fn json_zeros(file: &Opened, name: &str) -> Option<u64> {
    let first = file.first_rows()?;
    let lists = Lists::of(first.column_by_name(name)?).ok()?;
    let values = to_f64(&lists.values).ok()?;
    let known = values.iter().filter(|v| !v.is_nan());
    known.clone().all(|v| *v == 0.0).then(|| known.count() as u64)
}
