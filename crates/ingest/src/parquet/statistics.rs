//! What the statistics in a footer say of a column.

use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::statistics::Statistics;

fn chunk<'a>(group: &'a RowGroupMetaData, name: &str) -> Option<&'a ColumnChunkMetaData> {
    let is_it = |c: &&ColumnChunkMetaData| c.column_path().parts().first().is_some_and(|root| root == name);
    group.columns().iter().find(is_it)
}

/// How many values a column has, where all of them are zero for sure.
pub fn zeros(footer: &ParquetMetaData, name: &str) -> Option<u64> {
    range(footer, name).filter(|range| *range == (0.0, 0.0))?;
    let known = |chunk: &ColumnChunkMetaData| {
        let nulls = chunk.statistics().and_then(Statistics::null_count_opt).unwrap_or(0);
        u64::try_from(chunk.num_values()).unwrap_or(0).saturating_sub(nulls)
    };
    Some(footer.row_groups().iter().filter_map(|group| chunk(group, name)).map(known).sum())
}

/// The least and the largest number of a column.
#[allow(clippy::cast_precision_loss)] // masks and log-probabilities are small
pub fn range(footer: &ParquetMetaData, name: &str) -> Option<(f64, f64)> {
    let of_group = |group: &RowGroupMetaData| {
        Some(match chunk(group, name)?.statistics()? {
            Statistics::Int32(s) => (f64::from(*s.min_opt()?), f64::from(*s.max_opt()?)),
            Statistics::Int64(s) => (*s.min_opt()? as f64, *s.max_opt()? as f64),
            Statistics::Float(s) => (f64::from(*s.min_opt()?), f64::from(*s.max_opt()?)),
            Statistics::Double(s) => (*s.min_opt()?, *s.max_opt()?),
            _ => return None,
        })
    };
    let ranges: Option<Vec<(f64, f64)>> = footer.row_groups().iter().map(of_group).collect();
    ranges?.into_iter().reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
}
