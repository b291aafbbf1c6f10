//! How many threads a kernel is launched with.

use cubecl::prelude::{CubeCount, CubeDim};

/// Threads of a plane, which sums without shared memory.
pub const LANES: usize = 32;
/// Planes of a block; each has a row of its own.
pub const PLANES: usize = 8;

/// A plane for each row.
pub fn by_row(rows: usize) -> (CubeCount, CubeDim) {
    (CubeCount::Static(rows.div_ceil(PLANES) as u32, 1, 1), CubeDim::new_2d(LANES as u32, PLANES as u32))
}

/// A thread for each column, for each strip of rows.
pub fn by_column(strips: usize, columns: usize) -> (CubeCount, CubeDim) {
    let threads = 128;
    (CubeCount::Static(columns.div_ceil(threads) as u32, strips as u32, 1), CubeDim::new_1d(threads as u32))
}
