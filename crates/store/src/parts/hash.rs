//! A fingerprint of bytes: the same on every machine.

/// A fingerprint of 128 bits; not for secrets.
#[derive(Clone, Copy, Debug)]
pub struct Fingerprint([u64; 2]);

impl Default for Fingerprint {
    fn default() -> Self {
        Self([0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344])
    }
}

impl Fingerprint {
    /// Of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut fingerprint = Self::default();
        fingerprint.add(bytes);
        fingerprint
    }

    /// Adds bytes: how they are cut matters.
    pub fn add(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    /// Adds a word (the finalisers of splitmix64 and of murmur).
    pub fn word(&mut self, word: u64) {
        let [a, b] = self.0;
        let mut x = (a ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let mut y = b.rotate_left(23) ^ word.wrapping_mul(0xff51_afd7_ed55_8ccd);
        y = (y ^ (y >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        self.0 = [x ^ (x >> 31), y ^ (y >> 29)];
    }

    /// Its first half.
    #[must_use]
    pub fn short(&self) -> u64 {
        self.0[0]
    }
}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}{:016x}", self.0[0], self.0[1])
    }
}
