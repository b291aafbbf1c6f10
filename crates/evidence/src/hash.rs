//! Places and groups spread evenly over all hashes, so that the smallest are a fair sample.

/// Mixes two numbers: the finalizer of Stafford's variant 13 (splitmix64), over both in turn.
#[inline]
#[must_use]
pub const fn mix(a: u64, b: u64) -> u64 {
    finish(finish(a.wrapping_add(0x9E37_79B9_7F4A_7C15)).wrapping_add(b))
}

const fn finish(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
