//! Tokens by how rare the trainer says they are.

/// Surprisals that divide them: a half is in any list of the most likely ones.
pub const RARENESS: [f64; 6] = [0.7, 2.0, 3.0, 4.0, 5.0, 6.5];

/// The place of a token among them.
pub fn rareness(logprob: f32) -> usize {
    let surprisal = -f64::from(logprob);
    RARENESS.partition_point(|edge| *edge <= surprisal)
}
