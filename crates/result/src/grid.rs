//! How dense grids are written: as JSON that needs no knowledge of ours.

use ndarray::Array2;
use serde::{Serialize, Serializer};

/// One list, row after row.
pub fn as_list<T: Serialize, S: Serializer>(grid: &Array2<T>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(grid.iter())
}
