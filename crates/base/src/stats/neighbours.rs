//! The noise of a curve from the scatter between its neighbouring rows: what is left of a row beside the rows about it. A
//! trend has no second difference.

/// Blocks of a curve at most.
pub const BLOCKS: usize = 32;
/// Variances below this are rounding.
const LEAST_VARIANCE: f64 = 1e-18;
/// Of white noise, the degrees of freedom of the mean of squared second differences, for each of them.
const FREEDOM: f64 = 36.0 / 70.0;

/// Variances of one row in the long run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Noise {
    /// In each block.
    pub variances: Vec<f64>,
    /// Degrees of freedom of what they are from.
    pub freedom: f64,
}

/// Rows at which `blocks` equal blocks of `rows` begin, and the end.
#[must_use]
pub fn edges(rows: usize, blocks: usize) -> Vec<usize> {
    (0..=blocks).map(|block| block * rows / blocks).collect()
}

/// The mean of each block.
#[must_use]
pub fn block_means(y: &[f64], edges: &[usize]) -> Vec<f64> {
    edges.windows(2).map(|w| mean(&y[w[0]..w[1]])).collect()
}

/// Sums from the first to each, beginning with 0.
#[must_use]
pub fn prefix(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sum = 0.0;
    let sums = values.map(|value| {
        sum += value;
        sum
    });
    std::iter::once(0.0).chain(sums.collect::<Vec<_>>()).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn second_differences(y: &[f64]) -> impl Iterator<Item = f64> {
    y.windows(3).map(|w| (w[2] - 2.0 * w[1] + w[0]).powi(2))
}

/// The variance of a row where rows are independent: a sixth of the mean squared second difference. The mean of squares,
/// not the median: of coarse rewards (each group right or wrong) half of the differences may be 0.
#[must_use]
pub fn variance(y: &[f64]) -> f64 {
    if y.len() < 3 { 0.0 } else { second_differences(y).sum::<f64>() / (y.len() - 2) as f64 / 6.0 }
}

/// The noise in each of the blocks that begin at `edges`: the greatest of what second differences of rows, of blocks and
/// of pairs of blocks say (autocorrelation shows in the longer ones), times how much noisier the neighbourhood is than the
/// whole, never less.
#[must_use]
pub fn noise(y: &[f64], edges_of_blocks: &[usize]) -> Noise {
    let (rows, blocks) = (y.len(), edges_of_blocks.len() - 1);
    let of_rows = variance(y);
    let (mut greatest, mut units) = (of_rows, rows);
    for k in [blocks, blocks / 2] {
        if rows > k && k >= 8 {
            let of_blocks = variance(&block_means(y, &edges(rows, k))) * rows as f64 / k as f64;
            if of_blocks > greatest {
                (greatest, units) = (of_blocks, k);
            }
        }
    }
    let mut variances = vec![greatest; blocks];
    if rows >= 32 {
        let half = (3 * rows / blocks).max(16) / 2;
        let mut local: Vec<f64> =
            second_differences(y).map(|square| (square / 6.0).min(8.0 * of_rows)).collect();
        let usual = mean(&local).max(1e-300);
        local.insert(0, local[0]);
        local.push(local[local.len() - 1]);
        let sums = prefix(local.into_iter());
        for (block, variance) in variances.iter_mut().enumerate() {
            let middle = (edges_of_blocks[block] + edges_of_blocks[block + 1]) / 2;
            let (from, to) = (middle.saturating_sub(half), (middle + half).min(rows));
            let here = (sums[to] - sums[from]) / (to - from) as f64;
            *variance *= (here / usual).max(1.0);
        }
    }
    variances.iter_mut().for_each(|variance| *variance = variance.max(LEAST_VARIANCE));
    Noise { variances, freedom: FREEDOM * units.saturating_sub(2) as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random::Random;

    #[test]
    fn the_noise_of_rows_is_found_beside_a_trend() {
        let mut random = Random::new(7, 0);
        let y: Vec<f64> = (0..400).map(|row| f64::from(row) / 40.0 + 0.5 * random.normal()).collect();
        let found = noise(&y, &edges(400, 32));
        let typical = mean(&found.variances);
        assert!((0.2..0.5).contains(&typical), "{typical}");
    }
}
