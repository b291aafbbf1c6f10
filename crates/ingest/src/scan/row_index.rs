//! Numbers responses over all files of a run.

use std::collections::HashSet;

/// Gives every response its row in the run.
#[derive(Clone, Debug, Default)]
pub struct RowIndex {
    /// First row of each unit, and whether its first response belongs to the unit before.
    units: Vec<(u64, bool)>,
    /// Responses of the run.
    pub responses: u64,
}

impl RowIndex {
    /// From the responses of each unit, and the units whose first response began before.
    pub fn new(counts: &[u64], continued: &[usize]) -> Self {
        let continued: HashSet<usize> = continued.iter().copied().collect();
        let mut index = Self::default();
        for (unit, count) in counts.iter().enumerate() {
            let goes_on = continued.contains(&unit);
            index.units.push((index.responses, goes_on));
            index.responses += count - u64::from(goes_on && *count > 0);
        }
        index
    }

    /// The row of a response, counted from 0 over all files in the order they were given.
    pub fn row(&self, unit: u32, ordinal: u64) -> u64 {
        let (first, goes_on) = self.units.get(unit as usize).copied().unwrap_or_default();
        first + ordinal.saturating_sub(u64::from(goes_on))
    }
}
