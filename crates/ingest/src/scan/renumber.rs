//! The numbers that files and scan units of an earlier run have in the present one.

use crate::scan::unit_table::UnitTable;

/// Old numbers to new ones; the order stays the same.
#[derive(Clone, Debug, Default)]
pub struct Renumber {
    files: Vec<Moved>,
}

/// A file: its number and its first unit, before and now.
#[derive(Clone, Copy, Debug)]
struct Moved {
    file: [u32; 2],
    unit: [u32; 2],
}

impl Renumber {
    /// From the old number and first unit of each file, in their order, and its new number.
    pub fn new(files: impl IntoIterator<Item = ((u32, u32), usize)>, units: &UnitTable) -> Self {
        let of_file = |((old, unit), new): ((u32, u32), usize)| Moved {
            file: [old, new as u32],
            unit: [unit, units.of_file(new).start as u32],
        };
        Self { files: files.into_iter().map(of_file).collect() }
    }

    /// Whether every file and unit keeps its number.
    pub fn is_identity(&self) -> bool {
        self.files.iter().all(|Moved { file, unit }| file[0] == file[1] && unit[0] == unit[1])
    }

    /// The new number of a file.
    pub fn file(&self, old: u32) -> u32 {
        let found = self.files.binary_search_by_key(&old, |moved| moved.file[0]);
        found.map_or(old, |at| self.files[at].file[1])
    }

    /// The new number of a unit.
    pub fn unit(&self, old: u32) -> u32 {
        // Files without units share their first number with the next.
        let at = self.files.partition_point(|moved| moved.unit[0] <= old).checked_sub(1);
        let moved = at.and_then(|at| self.files.get(at));
        moved.map_or(old, |moved| moved.unit[1].wrapping_add(old - moved.unit[0]))
    }
}
