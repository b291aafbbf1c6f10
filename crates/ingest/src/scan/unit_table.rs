//! Scan units are numbered over all files of a run, in the order of the files.

use std::ops::Range;

use crate::files::opened::Source;
use crate::files::run::Run;
use crate::scan::units::{Unit, units_of};

/// Every unit of any run.
pub const ALL_UNITS: &[Range<usize>] = std::slice::from_ref(&(0..usize::MAX));

/// Where the units of each file begin.
#[derive(Clone, Debug, Default)]
pub struct UnitTable {
    /// The first unit of each file, and the number of all units.
    first: Vec<usize>,
}

impl UnitTable {
    /// The table of a run, and its units within `wanted` with their numbers.
    pub fn new(run: &Run, wanted: &[Range<usize>]) -> (Self, Vec<(usize, Unit)>) {
        let mut first = vec![0];
        let mut units = Vec::new();
        let mut next = 0;
        for (index, file) in run.files.iter().enumerate() {
            match &file.source {
                Source::Elsewhere { units } => next += units,
                _ => {
                    let of_file = units_of(run, index);
                    let numbers = next..next + of_file.len();
                    next = numbers.end;
                    let inside = |n: usize| wanted.iter().any(|range| range.contains(&n));
                    units.extend(numbers.zip(of_file).filter(|(n, _)| inside(*n)));
                }
            }
            first.push(next);
        }
        (Self { first }, units)
    }

    /// The number of all units.
    pub fn count(&self) -> usize {
        self.first.last().copied().unwrap_or(0)
    }

    /// The units of a file.
    pub fn of_file(&self, file: usize) -> Range<usize> {
        let at = |i: usize| self.first.get(i).copied().unwrap_or_else(|| self.count());
        at(file)..at(file + 1)
    }

    /// The file of a unit.
    pub fn file_of(&self, unit: usize) -> usize {
        self.first.partition_point(|first| *first <= unit).saturating_sub(1)
    }

    /// Whether two units are of one file.
    pub fn same_file(&self, a: usize, b: usize) -> bool {
        a.max(b) < self.count() && self.file_of(a) == self.file_of(b)
    }
}
