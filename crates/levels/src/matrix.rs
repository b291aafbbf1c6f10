//! Symmetric matrices of a few rows, by hand: the same bits on every machine.

/// A square matrix, row by row.
pub type Matrix = Vec<Vec<f64>>;

/// Eigenvalues below this share of the largest are taken as 0: tasks that never vary within a step.
const RANK_CUT: f64 = 1e-9;
const SWEEPS: usize = 50;

/// The pseudo-inverse of a symmetric matrix, by its eigenvectors.
pub fn pseudo_inverse(matrix: &Matrix) -> Matrix {
    let size = matrix.len();
    let (values, vectors) = eigen(matrix);
    let largest = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let kept: Vec<usize> = (0..size).filter(|k| values[*k].abs() > RANK_CUT * largest).collect();
    let entry = |i: usize, j: usize| kept.iter().map(|&k| vectors[i][k] * vectors[j][k] / values[k]).sum();
    (0..size).map(|i| (0..size).map(|j| entry(i, j)).collect()).collect()
}

/// A matrix times a vector.
pub fn times(matrix: &Matrix, vector: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| dot(row, vector)).collect()
}

/// The sum of products.
pub fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

/// Eigenvalues, and eigenvectors as columns, by Jacobi's rotations (Golub and Van Loan, Matrix Computations, 8.5).
fn eigen(matrix: &Matrix) -> (Vec<f64>, Matrix) {
    let size = matrix.len();
    let mut a = matrix.clone();
    let mut vectors: Matrix =
        (0..size).map(|i| (0..size).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..SWEEPS {
        let mut rotated = false;
        for p in 0..size {
            for q in p + 1..size {
                let negligible = f64::EPSILON * (a[p][p] * a[q][q]).abs().sqrt();
                if a[p][q].abs() <= negligible {
                    continue;
                }
                rotated = true;
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let cosine = 1.0 / tangent.hypot(1.0);
                let sine = tangent * cosine;
                for row in a.iter_mut().chain(&mut vectors) {
                    (row[p], row[q]) = (cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]);
                }
                let (above, below) = a.split_at_mut(q);
                for (upper, lower) in above[p].iter_mut().zip(&mut below[0]) {
                    (*upper, *lower) = (cosine * *upper - sine * *lower, sine * *upper + cosine * *lower);
                }
            }
        }
        if !rotated {
            break;
        }
    }
    ((0..size).map(|i| a[i][i]).collect(), vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(left: &Matrix, right: &Matrix) -> Matrix {
        let column = |j: usize| right.iter().map(|row| row[j]).collect::<Vec<_>>();
        left.iter().map(|row| (0..right.len()).map(|j| dot(row, &column(j))).collect()).collect()
    }

    fn assert_close(left: &Matrix, right: &Matrix) {
        for (a, b) in left.iter().flatten().zip(right.iter().flatten()) {
            assert!((a - b).abs() < 1e-10, "{left:?} {right:?}");
        }
    }

    #[test]
    fn a_regular_matrix_is_inverted() {
        let matrix = vec![vec![4.0, 1.0, 0.5], vec![1.0, 3.0, -1.0], vec![0.5, -1.0, 2.0]];
        let one = vec![vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0]];
        assert_close(&product(&matrix, &pseudo_inverse(&matrix)), &one);
        assert!(pseudo_inverse(&Vec::new()).is_empty());
    }

    /// A P A = A and P A P = P, with a row that is twice another and one of zeros.
    #[test]
    fn a_singular_matrix_has_its_pseudo_inverse() {
        let matrix = vec![vec![1.0, 2.0, 0.0], vec![2.0, 4.0, 0.0], vec![0.0, 0.0, 0.0]];
        let inverse = pseudo_inverse(&matrix);
        assert_close(&product(&product(&matrix, &inverse), &matrix), &matrix);
        assert_close(&product(&product(&inverse, &matrix), &inverse), &inverse);
    }
}
