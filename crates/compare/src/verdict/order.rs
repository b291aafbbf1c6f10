//! The order in which metrics are spoken of.

use crate::metric_names::{ENTROPY, LENGTH, PASS_RATE, REWARD, SILENCED_RATIO, SPURIOUS_ENERGY_SHARE};
use crate::result::{Family, MetricRow};

/// Metrics that a reader asks for first; of others only those that differ are named.
const FIRST: [&str; 6] = [REWARD, PASS_RATE, ENTROPY, LENGTH, SILENCED_RATIO, SPURIOUS_ENERGY_SHARE];

/// Where a metric stands among those that are asked for first.
pub fn place(row: &MetricRow) -> usize {
    FIRST.iter().position(|name| *name == row.name).unwrap_or(FIRST.len())
}

/// The same, family by family.
pub fn place_in_families(row: &MetricRow) -> (Option<usize>, usize) {
    (Family::ALL.iter().position(|family| *family == row.family), place(row))
}
