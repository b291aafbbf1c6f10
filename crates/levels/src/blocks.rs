//! Neighbouring steps taken together where one alone has too few groups.

/// Which block each step is in, and what part of the steps a block is.
pub struct Blocks {
    /// The block of each step, in the order of steps.
    pub of_step: Vec<usize>,
    /// w_b: steps in the block / steps.
    pub weights: Vec<f64>,
}

impl Blocks {
    /// Merges steps until every column has `least` groups; `counts` holds a row a step. Steps that are left at the end
    /// go to the last block.
    pub fn of(counts: &[Vec<usize>], least: usize) -> Self {
        let mut of_step = Vec::with_capacity(counts.len());
        let mut block = 0;
        let mut gathered = vec![0; counts.first().map_or(0, Vec::len)];
        for row in counts {
            of_step.push(block);
            gathered.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
            if gathered.iter().all(|sum| *sum >= least) {
                gathered.fill(0);
                block += 1;
            }
        }
        let blocks = block.max(1);
        let mut weights = vec![0.0; blocks];
        for block in &mut of_step {
            *block = (*block).min(blocks - 1);
            weights[*block] += 1.0 / counts.len() as f64;
        }
        Self { of_step, weights }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_merge_until_both_have_enough() {
        let of = |counts: &[[usize; 2]]| {
            Blocks::of(&counts.iter().map(|row| row.to_vec()).collect::<Vec<_>>(), 2).of_step
        };
        assert_eq!(of(&[[2, 2], [3, 5], [2, 9]]), [0, 1, 2]);
        assert_eq!(of(&[[1, 2], [1, 2], [2, 2], [1, 1]]), [0, 0, 1, 1]);
        assert_eq!(of(&[[1, 0], [0, 0]]), [0, 0]);
    }

    #[test]
    fn weights_are_shares_of_steps() {
        let blocks = Blocks::of(&[vec![2], vec![1], vec![1], vec![2]], 2);
        assert_eq!((blocks.of_step, blocks.weights), (vec![0, 1, 1, 2], vec![0.25, 0.5, 0.25]));
    }
}
