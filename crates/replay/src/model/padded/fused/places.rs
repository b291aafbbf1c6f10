//! Which row a plane works on, and where heads lie in the order of attention.

use cubecl::prelude::*;

/// The row of this plane, where each has one ([`super::launch::by_row`]).
#[cube]
pub fn row_of_plane() -> usize {
    (CUBE_POS_X * CUBE_DIM_Y + UNIT_POS_Y) as usize
}

/// The row of a token's head among packed ones [sequence × key head, token × head, width], of `per_key`
/// heads for each of `keys` key heads in sequences of `length` tokens.
#[cube]
pub fn packed_row(token: usize, head: usize, length: usize, keys: usize, per_key: usize) -> usize {
    let key = token / length * keys + head / per_key;
    (key * length + token % length) * per_key + head % per_key
}
