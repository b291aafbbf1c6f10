//! The numbers that files and scan units of an earlier run have in the present one.

use crate::ingest::scan::unit_table::UnitTable;

/// Old numbers to new ones; the order stays the same.
#[derive(Clone, Debug, Default)]
pub struct Renumber {
    /// First old unit, units, first new unit, new file: of each old file.
    files: Vec<(u32, u32, u32, u32)>,
}

impl Renumber {
    /// From the new number of each old file and the units that it has.
    pub fn new(files: impl IntoIterator<Item = usize>, units: &UnitTable) -> Self {
        let mut old = 0;
        let of_file = |file: usize| {
            let now = units.of_file(file);
            let entry = (old, now.len() as u32, now.start as u32, file as u32);
            old += now.len() as u32;
            entry
        };
        Self { files: files.into_iter().map(of_file).collect() }
    }

    /// Whether nothing changes.
    pub fn is_identity(&self) -> bool {
        self.files.iter().enumerate().all(|(i, (old, _, new, file))| old == new && *file as usize == i)
    }

    /// The new number of a file.
    pub fn file(&self, old: u32) -> u32 {
        self.files.get(old as usize).map_or(old, |entry| entry.3)
    }

    /// The new number of a unit.
    pub fn unit(&self, old: u32) -> u32 {
        let at = self.files.partition_point(|(first, ..)| *first <= old).saturating_sub(1);
        // Files without units share their first number with the next.
        self.files.get(at).map_or(old, |(first, _, new, _)| new + (old - first))
    }
}
