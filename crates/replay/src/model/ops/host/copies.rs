//! Between rows of tokens, [tokens, heads × width], and the order that attention multiplies in:
//! [key head, token × query head of it, width] per block of tokens.

/// Copies `tokens` rows, starting at a row, into the order of attention.
pub fn pack(rows: &[f32], first: usize, tokens: usize, kv_heads: usize, chunk: usize) -> Vec<f32> {
    let width = kv_heads * chunk;
    let mut out = Vec::with_capacity(tokens * width);
    for kv in 0..kv_heads {
        for token in first..first + tokens {
            let start = token * width + kv * chunk;
            out.extend_from_slice(&rows[start..start + chunk]);
        }
    }
    out
}

/// The way back.
pub fn unpack(block: &[f32], rows: &mut [f32], first: usize, kv_heads: usize, chunk: usize) {
    let tokens = block.len() / (kv_heads * chunk);
    let width = kv_heads * chunk;
    for (index, part) in block.chunks_exact(chunk).enumerate() {
        let (kv, token) = (index / tokens, index % tokens);
        let start = (first + token) * width + kv * chunk;
        rows[start..start + chunk].copy_from_slice(part);
    }
}

/// Adds [kv, n, width] to the first n rows of every head of [kv, length, width].
pub fn add_prefix(sum: &mut [f32], part: &[f32], kv_heads: usize) {
    let (length, short) = (sum.len() / kv_heads, part.len() / kv_heads);
    for (sum, part) in sum.chunks_exact_mut(length).zip(part.chunks_exact(short)) {
        for (s, p) in sum.iter_mut().zip(part) {
            *s += p;
        }
    }
}
