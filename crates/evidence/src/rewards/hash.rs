//! Hashes of texts and of tokens, the same on every machine and in every run.

use crate::mix;

/// Hash of a text.
pub fn of_text(text: &str) -> u64 {
    text.as_bytes().chunks(8).fold(mix(0, text.len() as u64), |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix(hash, u64::from_le_bytes(word))
    })
}

/// Hash of token ids, two at a time: a multiplication each (as FxHash), mixed at the end. Four hashes go side by side,
/// since each waits for its own last multiplication.
#[inline]
pub fn of_tokens(tokens: &[i32]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let word = |id: i32| u64::from(id.cast_unsigned());
    let step = |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(ODD);
    let (eights, rest) = tokens.as_chunks::<8>();
    let mut lanes = [ODD, ODD.rotate_left(16), ODD.rotate_left(32), ODD.rotate_left(48)];
    for ids in eights {
        for (lane, hash) in lanes.iter_mut().enumerate() {
            *hash = step(*hash, word(ids[2 * lane]) | word(ids[2 * lane + 1]) << 32);
        }
    }
    let hash = lanes.into_iter().fold(ODD, step);
    mix(rest.iter().fold(hash, |hash, id| step(hash, word(*id))), tokens.len() as u64)
}
