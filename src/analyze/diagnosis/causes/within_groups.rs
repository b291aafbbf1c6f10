//! How much of one quantity others explain within groups: least squares on deviations from the
//! group's mean.

use crate::analyze::collect::signs::facts::ResponseFact;

/// Squares below this part of the values' own are what rounding leaves.
const ROUNDING: f64 = 1e-10;

/// A quantity of a response.
pub type Feature<'a> = &'a dyn Fn(&ResponseFact) -> f64;

/// What features explain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Explained {
    /// Share of the variance within groups, corrected for the number of features.
    pub share: f64,
    /// The ends of that share (three standard errors).
    pub lower: f64,
    /// The upper one.
    pub upper: f64,
    /// Responses in groups in which the target differs.
    pub responses: f64,
}

/// The share of the variance of `target` within groups that `features` explain; `None` where too few
/// responses differ.
pub fn explained<'a>(
    groups: impl Iterator<Item = &'a [ResponseFact]>,
    target: Feature<'_>,
    features: &[Feature<'_>],
) -> Option<Explained> {
    let k = features.len();
    let mut normal = vec![vec![0.0; k]; k];
    let mut with_target = vec![0.0; k];
    let (mut total, mut n, mut used) = (0.0, 0.0, 0.0);
    for group in groups {
        let rows: Vec<Vec<f64>> = group
            .iter()
            .map(|fact| std::iter::once(target).chain(features.iter().copied()).map(|of| of(fact)).collect())
            .filter(|row: &Vec<f64>| row.iter().all(|v| v.is_finite()))
            .collect();
        let size = rows.len() as f64;
        let mean = |c: usize| rows.iter().map(|row| row[c]).sum::<f64>() / size;
        let means: Vec<f64> = (0..=k).map(mean).collect();
        let spread: f64 = rows.iter().map(|row| (row[0] - means[0]).powi(2)).sum();
        let size_sq: f64 = rows.iter().map(|row| row[0] * row[0]).sum();
        if rows.len() < 2 || spread <= ROUNDING * size_sq {
            continue;
        }
        n += size;
        used += size - 1.0;
        for row in &rows {
            let y = row[0] - means[0];
            total += y * y;
            for i in 0..k {
                let x = row[i + 1] - means[i + 1];
                with_target[i] += x * y;
                for j in 0..k {
                    normal[i][j] += x * (row[j + 1] - means[j + 1]);
                }
            }
        }
    }
    let freedom = used - k as f64;
    if total <= 0.0 || freedom < 20.0 {
        return None;
    }
    let share = (projected(&mut normal, &mut with_target) / total).clamp(0.0, 1.0);
    let adjusted = (1.0 - (1.0 - share) * used / freedom).max(0.0);
    let error = ((4.0 * adjusted * (1.0 - adjusted).powi(2)) / used + 2.0 * k as f64 / (used * used)).sqrt();
    let [lower, upper] = [adjusted - 3.0 * error, adjusted + 3.0 * error].map(|end| end.clamp(0.0, 1.0));
    Some(Explained { share: adjusted, lower, upper, responses: n })
}

/// bᵀ N⁻¹ b by elimination; directions that do not vary are left out.
fn projected(normal: &mut [Vec<f64>], b: &mut [f64]) -> f64 {
    let k = b.len();
    let scale: Vec<f64> = (0..k).map(|i| normal[i][i]).collect();
    let mut sum = 0.0;
    for i in 0..k {
        let pivot = normal[i][i];
        if pivot <= 1e-9 * scale[i] || pivot <= 0.0 {
            continue;
        }
        sum += b[i] * b[i] / pivot;
        let (above, below) = normal.split_at_mut(i + 1);
        for (row, target) in below.iter_mut().zip(i + 1..) {
            let factor = row[i] / pivot;
            b[target] -= factor * b[i];
            row.iter_mut().zip(&above[i]).for_each(|(value, pivot_row)| *value -= factor * pivot_row);
        }
    }
    sum
}
