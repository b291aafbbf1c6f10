//! A hash of what identifies a response, the same on every machine and in every run.

use super::batch::Id;

/// Mixes words into one (the finaliser of splitmix64 after each).
#[derive(Clone, Copy)]
pub struct Mixer(u64);

impl Mixer {
    /// Starts with a word.
    #[inline]
    pub fn new(word: u64) -> Self {
        Self(0x9e37_79b9_7f4a_7c15).with(word)
    }

    /// Mixes in a word.
    #[inline]
    #[must_use]
    pub fn with(self, word: u64) -> Self {
        let mut x = self.0.wrapping_add(word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(x ^ (x >> 31))
    }

    /// Mixes in an id.
    #[inline]
    #[must_use]
    pub fn with_id(self, id: Option<&Id>) -> Self {
        match id {
            None | Some(Id::Missing) => self.with(0),
            Some(Id::Int(value)) => self.with(1).with(value.cast_unsigned()),
            Some(Id::Text(text)) => {
                text.as_bytes().chunks(8).fold(self.with(2 + text.len() as u64), |mixer, chunk| {
                    let mut word = [0; 8];
                    word[..chunk.len()].copy_from_slice(chunk);
                    mixer.with(u64::from_le_bytes(word))
                })
            }
        }
    }

    /// All bits of the hash.
    pub fn word(self) -> u64 {
        self.0
    }

    /// The upper half of the bits, where a shorter hash will do.
    #[allow(clippy::cast_possible_truncation)]
    pub fn finish(self) -> u32 {
        (self.0 >> 32) as u32
    }
}
