//! Hashes that are the same on every machine and in every run.

/// Mixes a word into a hash (the finaliser of splitmix64).
#[inline]
pub fn with(hash: u64, word: u64) -> u64 {
    let x = hash.wrapping_add(word).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Hash of a text.
pub fn of_text(text: &str) -> u64 {
    text.as_bytes().chunks(8).fold(with(0, text.len() as u64), |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        with(hash, u64::from_le_bytes(word))
    })
}

/// Hash of token ids, two at a time.
#[inline]
pub fn of_tokens(tokens: &[i32]) -> u64 {
    let word = |id: i32| u64::from(id.cast_unsigned());
    let (pairs, rest) = tokens.as_chunks::<2>();
    let hash =
        pairs.iter().fold(with(0, tokens.len() as u64), |hash, [a, b]| with(hash, word(*a) | word(*b) << 32));
    rest.iter().fold(hash, |hash, id| with(hash, word(*id)))
}
