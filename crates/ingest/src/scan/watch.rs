//! How far a scan is, and whether it should stop.

use std::sync::atomic::{AtomicBool, Ordering};

use super::units::Unit;
use stapo_batch::progress::Progress;

/// Lets workers tell how far they are, and tells them to stop early.
pub struct Watch<'a> {
    stopped: AtomicBool,
    progress: &'a dyn Progress,
}

impl<'a> Watch<'a> {
    /// A scan that `progress` is told of.
    pub fn new(progress: &'a dyn Progress) -> Self {
        Self { stopped: AtomicBool::new(false), progress }
    }

    /// Whether the scan ends here, before the end of the log.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Some tokens are done.
    pub fn tokens(&self, tokens: u64) {
        self.progress.advance(tokens, 0);
    }

    /// Some compressed bytes are done.
    pub fn bytes(&self, bytes: u64) {
        self.progress.advance(0, bytes);
    }

    /// Tells all workers to stop.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

/// Tells of the bytes of a unit as its rows are read: the unit may be the whole log.
pub struct BytesRead<'a> {
    watch: &'a Watch<'a>,
    unit: &'a Unit,
    told: u64,
}

impl<'a> BytesRead<'a> {
    /// Of a unit that nothing was read of yet.
    pub fn new(watch: &'a Watch<'a>, unit: &'a Unit) -> Self {
        Self { watch, unit, told: 0 }
    }

    /// All rows of the unit before row `row` of the file were read.
    pub fn up_to(&mut self, row: u64) {
        let Unit { first_row, rows, bytes, .. } = self.unit;
        let read = row.saturating_sub(*first_row).min(*rows);
        let bytes = u128::from(*bytes) * u128::from(read) / u128::from((*rows).max(1));
        // At most the bytes of the unit.
        self.tell(u64::try_from(bytes).unwrap_or(self.told));
    }

    /// The whole unit was read, or what was asked of it.
    pub fn all(mut self) {
        self.tell(self.unit.bytes);
    }

    fn tell(&mut self, bytes: u64) {
        self.watch.bytes(bytes.saturating_sub(self.told));
        self.told = self.told.max(bytes);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    struct Told(Mutex<Vec<u64>>);

    impl Progress for Told {
        fn advance(&self, _: u64, bytes: u64) {
            self.0.lock().unwrap().push(bytes);
        }
    }

    #[test]
    fn a_unit_is_told_of_as_it_is_read_and_adds_up_to_its_bytes() {
        let told = Told(Mutex::default());
        let watch = Watch::new(&told);
        let unit = Unit {
            file: 0,
            row_groups: 0..1,
            first_row: 10,
            rows: 3,
            batch_rows: 1,
            bytes: 100,
            tokens: 3,
            large: false,
        };
        let mut read = BytesRead::new(&watch, &unit);
        [11, 12, 99].into_iter().for_each(|row| read.up_to(row));
        read.all();
        assert_eq!(*told.0.lock().unwrap(), [33, 33, 34, 0]);
        // A reading that was stopped, and a unit that says it has no rows.
        told.0.lock().unwrap().clear();
        let none = Unit { rows: 0, ..unit };
        let mut read = BytesRead::new(&watch, &none);
        read.up_to(12);
        read.all();
        assert_eq!(*told.0.lock().unwrap(), [0, 100]);
    }
}
