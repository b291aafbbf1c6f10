//! Least squares with few regressors, from sums; errors clustered by group.

use stapo_evidence::policies::REGRESSORS as N;

/// A row of numbers, one a regressor.
pub type Row = [f64; N];

/// Coefficients and their standard errors; a regressor that does not vary has neither.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    pub slopes: Row,
    pub errors: Row,
}

/// Below this part of its mean square a regressor does not vary.
const VARIES: f64 = 1e-12;

/// Fits Σ over groups of (Z′Z, Z′y), the first regressor being the constant.
pub fn fit(groups: &[([Row; N], Row)]) -> Option<Fit> {
    let (mut products, mut with_y) = ([[0.0; N]; N], [0.0; N]);
    for (zz, zy) in groups {
        products.as_flattened_mut().iter_mut().zip(zz.as_flattened()).for_each(|(sum, term)| *sum += term);
        with_y.iter_mut().zip(zy).for_each(|(sum, term)| *sum += term);
    }
    let n = products[0][0];
    let varies = |i: usize| {
        let mean = products[0][i] / n;
        i == 0 || products[i][i] / n - mean * mean > VARIES * products[i][i].max(n) / n
    };
    let used: [bool; N] = std::array::from_fn(varies);
    if n <= 0.0 || !used[1..].contains(&true) {
        return None;
    }
    let inverse = inverse(products, used)?;
    let slopes = times(&inverse, &with_y);
    // The sandwich: Σ s s′ over groups, s = Z′y − Z′Z β.
    let mut scores = [[0.0; N]; N];
    for (zz, zy) in groups {
        let fitted = times(zz, &slopes);
        let score: Row = std::array::from_fn(|i| if used[i] { zy[i] - fitted[i] } else { 0.0 });
        for (row, left) in scores.iter_mut().zip(score) {
            row.iter_mut().zip(score).for_each(|(sum, right)| *sum += left * right);
        }
    }
    let errors = std::array::from_fn(|i| {
        let spread = times(&scores, &inverse[i]);
        if used[i] {
            inverse[i].iter().zip(spread).map(|(a, b)| a * b).sum::<f64>().max(0.0).sqrt()
        } else {
            f64::NAN
        }
    });
    let slopes = std::array::from_fn(|i| if used[i] { slopes[i] } else { f64::NAN });
    Some(Fit { slopes, errors })
}

fn times(matrix: &[Row; N], vector: &Row) -> Row {
    matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
}

/// The inverse over the regressors that are used, 0 elsewhere: Gauss–Jordan with pivots, in units of the diagonal.
fn inverse(matrix: [Row; N], used: [bool; N]) -> Option<[Row; N]> {
    let scale: Row = std::array::from_fn(|i| if used[i] { matrix[i][i].sqrt() } else { 1.0 });
    let mut left: [Row; N] = std::array::from_fn(|i| {
        std::array::from_fn(|j| match (used[i] && used[j], i == j) {
            (true, _) => matrix[i][j] / (scale[i] * scale[j]),
            (false, same) => f64::from(u8::from(same)),
        })
    });
    let mut right: [Row; N] = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    for column in 0..N {
        let pivot = (column..N).max_by(|a, b| left[*a][column].abs().total_cmp(&left[*b][column].abs()))?;
        if left[pivot][column].abs() < 1e-10 {
            return None;
        }
        left.swap(column, pivot);
        right.swap(column, pivot);
        let by = left[column][column];
        left[column].iter_mut().chain(&mut right[column]).for_each(|x| *x /= by);
        let (left_pivot, right_pivot) = (left[column], right[column]);
        for row in (0..N).filter(|row| *row != column) {
            let by = left[row][column];
            left[row].iter_mut().zip(left_pivot).for_each(|(x, p)| *x -= by * p);
            right[row].iter_mut().zip(right_pivot).for_each(|(x, p)| *x -= by * p);
        }
    }
    Some(std::array::from_fn(|i| {
        std::array::from_fn(|j| if used[i] && used[j] { right[i][j] / (scale[i] * scale[j]) } else { 0.0 })
    }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn group(rows: &[(Row, f64)]) -> ([Row; N], Row) {
        let mut sums = ([[0.0; N]; N], [0.0; N]);
        for (z, y) in rows {
            for i in 0..N {
                sums.1[i] += z[i] * y;
                for j in 0..N {
                    sums.0[i][j] += z[i] * z[j];
                }
            }
        }
        sums
    }

    #[test]
    fn slopes_of_an_exact_plane_come_back() {
        let rows: Vec<(Row, f64)> = (0..40)
            .map(|i| {
                let x = f64::from(i);
                let z = [1.0, (x * 0.7).sin(), (x * 1.3).cos(), x / 10.0];
                (z, 0.5 + 2.0 * z[1] - z[2] + 0.25 * z[3])
            })
            .collect();
        let groups: Vec<_> = rows.chunks(4).map(group).collect();
        let fit = fit(&groups).unwrap();
        for (slope, truth) in fit.slopes.iter().zip([0.5, 2.0, -1.0, 0.25]) {
            assert!((slope - truth).abs() < 1e-9);
        }
    }

    #[test]
    fn a_regressor_that_is_not_logged_is_left_out() {
        let rows: Vec<(Row, f64)> = (0..30)
            .map(|i| ([1.0, f64::from(i % 5), 0.0, f64::from(i % 3)], f64::from(i % 5) * 3.0))
            .collect();
        let fit = fit(&[group(&rows[..15]), group(&rows[15..])]).unwrap();
        assert!((fit.slopes[1] - 3.0).abs() < 1e-9 && fit.slopes[2].is_nan() && fit.slopes[3].abs() < 1e-9);
    }
}
