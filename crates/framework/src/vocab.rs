//! The vocabulary size where a log does not state it.
//!
//! The lower bound of the gradient norm does not depend on V and the upper one hardly, but the
//! upper one is only rigorous if V is not too small. So the largest id seen is rounded up to a
//! common vocabulary rather than taken as it is.

/// Sizes of widely used vocabularies, ascending.
pub const KNOWN_VOCABULARIES: [u32; 6] = [32_000, 128_256, 151_936, 152_064, 201_088, 262_144];

/// The smallest known vocabulary that contains `largest_id`, else `largest_id` + 1.
#[must_use]
pub fn vocabulary_containing(largest_id: u32) -> u32 {
    KNOWN_VOCABULARIES
        .into_iter()
        .find(|&size| largest_id < size)
        .unwrap_or_else(|| largest_id.saturating_add(1))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn rounds_up_to_the_next_known_size() {
        assert_eq!(vocabulary_containing(0), 32_000);
        assert_eq!(vocabulary_containing(31_999), 32_000);
        assert_eq!(vocabulary_containing(32_000), 128_256);
        assert_eq!(vocabulary_containing(151_645), 151_936);
        assert_eq!(vocabulary_containing(300_000), 300_001);
        assert_eq!(vocabulary_containing(u32::MAX), u32::MAX);
    }
}
