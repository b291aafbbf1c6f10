//! Ranks with ties averaged.

/// Twice the rank of every value (so that ranks of ties are whole), and the sizes of all ties.
#[must_use]
pub fn doubled_ranks(values: &[f64]) -> (Vec<u64>, Vec<u64>) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0; values.len()];
    let mut ties = Vec::new();
    let mut below = 0;
    for tied in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let size = tied.len() as u64;
        tied.iter().for_each(|i| ranks[*i] = 2 * below + size + 1);
        below += size;
        if size > 1 {
            ties.push(size);
        }
    }
    (ranks, ties)
}

/// Σ (t³ − t) over the sizes of ties.
#[must_use]
pub fn tie_term(ties: &[u64]) -> f64 {
    ties.iter().map(|t| *t as f64).map(|t| t * t * t - t).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_rank() {
        let (ranks, ties) = doubled_ranks(&[3.0, 1.0, 3.0, 2.0, 3.0]);
        assert_eq!(ranks, [8, 2, 8, 4, 8]);
        assert_eq!(ties, [3]);
        assert_eq!(tie_term(&ties), 24.0);
    }
}
