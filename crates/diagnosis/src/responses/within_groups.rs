//! How much of one quantity others explain within groups: least squares on deviations from the
//! group's mean.

use stapo_collect::collect::signs::response_facts::ResponseFact;

/// Squares below this part of the values' own are what rounding leaves.
const ROUNDING: f64 = 1e-10;
/// A feature of which only this part of its squares is its own follows from others.
const FOLLOWS: f64 = 1e-9;

/// A quantity of a response.
pub type Feature<'a> = &'a dyn Fn(&ResponseFact) -> f64;

/// A quantity of a response that owns what it needs.
pub type OwnedFeature = Box<dyn Fn(&ResponseFact) -> f64>;

/// Parts of the reward that are looked at.
pub const MAX_PARTS: usize = 16;

/// The value of a part of the reward.
pub fn part(index: usize) -> OwnedFeature {
    Box::new(move |fact: &ResponseFact| f64::from(fact.parts[index]))
}

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

/// Sums over groups of the squares and products of deviations from the group's means.
struct Moments {
    normal: Vec<Vec<f64>>,
    with_target: Vec<f64>,
    total: f64,
    responses: f64,
    /// Responses less one of each group.
    used: f64,
}

impl Moments {
    /// `None` where too few responses differ.
    fn of<'a>(
        groups: impl Iterator<Item = &'a [ResponseFact]>,
        target: Feature<'_>,
        features: &[Feature<'_>],
    ) -> Option<Self> {
        let k = features.len();
        let mut all = Self {
            normal: vec![vec![0.0; k]; k],
            with_target: vec![0.0; k],
            total: 0.0,
            responses: 0.0,
            used: 0.0,
        };
        // One after another, and reused: there may be a hundred thousand responses.
        let (mut values, mut means) = (Vec::new(), Vec::new());
        for group in groups {
            values.clear();
            for fact in group {
                let before = values.len();
                values.push(target(fact));
                values.extend(features.iter().map(|of| of(fact)));
                if !values[before..].iter().all(|v| v.is_finite()) {
                    values.truncate(before);
                }
            }
            let rows = values.chunks_exact(k + 1);
            let size = rows.len() as f64;
            let mean = |c: usize| rows.clone().map(|row| row[c]).sum::<f64>() / size;
            means.clear();
            means.extend((0..=k).map(mean));
            let spread: f64 = rows.clone().map(|row| (row[0] - means[0]).powi(2)).sum();
            let size_sq: f64 = rows.clone().map(|row| row[0] * row[0]).sum();
            if rows.len() < 2 || spread <= ROUNDING * size_sq {
                continue;
            }
            all.responses += size;
            all.used += size - 1.0;
            for row in rows {
                let y = row[0] - means[0];
                all.total += y * y;
                for i in 0..k {
                    let x = row[i + 1] - means[i + 1];
                    all.with_target[i] += x * y;
                    for j in 0..k {
                        all.normal[i][j] += x * (row[j + 1] - means[j + 1]);
                    }
                }
            }
        }
        Some(all).filter(|all| all.total > 0.0 && all.freedom() >= 20.0)
    }

    fn freedom(&self) -> f64 {
        self.used - self.with_target.len() as f64
    }
}

/// The share of the variance of `target` within groups that `features` explain; `None` where too few
/// responses differ.
pub fn explained<'a>(
    groups: impl Iterator<Item = &'a [ResponseFact]>,
    target: Feature<'_>,
    features: &[Feature<'_>],
) -> Option<Explained> {
    let mut all = Moments::of(groups, target, features)?;
    let (k, used) = (features.len() as f64, all.used);
    let share = (projected(&mut all.normal, &mut all.with_target) / all.total).clamp(0.0, 1.0);
    let adjusted = (1.0 - (1.0 - share) * used / all.freedom()).max(0.0);
    let error = ((4.0 * adjusted * (1.0 - adjusted).powi(2)) / used + 2.0 * k / (used * used)).sqrt();
    let [lower, upper] = [adjusted - 3.0 * error, adjusted + 3.0 * error].map(|end| end.clamp(0.0, 1.0));
    Some(Explained { share: adjusted, lower, upper, responses: all.responses })
}

/// What one more of a feature adds to a target within groups, the other features as they are.
#[derive(Clone, Debug)]
pub struct Slopes {
    /// `None` where a feature does not differ, or follows from those before it.
    values: Vec<Option<f64>>,
    covariance: Vec<Vec<f64>>,
}

impl Slopes {
    /// The slopes of `target`; `None` where too few responses differ.
    pub fn of<'a>(
        groups: impl Iterator<Item = &'a [ResponseFact]>,
        target: Feature<'_>,
        features: &[Feature<'_>],
    ) -> Option<Self> {
        let Moments { normal, with_target, total, used, .. } = Moments::of(groups, target, features)?;
        let (inverse, varies) = inverted(&normal);
        let known: Vec<usize> = (0..features.len()).filter(|i| varies[*i]).collect();
        let slope = |i: usize| known.iter().map(|j| inverse[i][*j] * with_target[*j]).sum::<f64>();
        let values: Vec<Option<f64>> = (0..features.len()).map(|i| varies[i].then(|| slope(i))).collect();
        let explained: f64 = values.iter().zip(&with_target).map(|(value, b)| value.unwrap_or(0.0) * b).sum();
        let noise = (total - explained).max(0.0) / (used - known.len() as f64);
        let covariance =
            inverse.into_iter().map(|row| row.into_iter().map(|c| noise * c).collect()).collect();
        Some(Self { values, covariance })
    }

    /// A sum of slopes, each times its weight, with its standard error; `None` where one of them is not known.
    pub fn sum(&self, weights: &[(usize, f64)]) -> Option<[f64; 2]> {
        let (mut value, mut variance) = (0.0, 0.0);
        for (i, w) in weights {
            value += w * self.values[*i]?;
            variance += weights.iter().map(|(j, v)| w * v * self.covariance[*i][*j]).sum::<f64>();
        }
        Some([value, variance.max(0.0).sqrt()])
    }
}

/// The inverse by elimination in place, over the directions that vary; which do.
fn inverted(normal: &[Vec<f64>]) -> (Vec<Vec<f64>>, Vec<bool>) {
    let k = normal.len();
    let (mut rows, mut varies) = (normal.to_vec(), vec![false; k]);
    for i in 0..k {
        let pivot = rows[i][i];
        if pivot <= FOLLOWS * normal[i][i] || pivot <= 0.0 {
            continue;
        }
        varies[i] = true;
        rows[i][i] = 1.0;
        rows[i].iter_mut().for_each(|value| *value /= pivot);
        let pivot_row = rows[i].clone();
        for row in rows.iter_mut().enumerate().filter(|(j, _)| *j != i).map(|(_, row)| row) {
            let factor = std::mem::take(&mut row[i]);
            row.iter_mut().zip(&pivot_row).for_each(|(value, of)| *value -= factor * of);
        }
    }
    (rows, varies)
}

/// bᵀ N⁻¹ b by elimination; directions that do not vary are left out.
fn projected(normal: &mut [Vec<f64>], b: &mut [f64]) -> f64 {
    let k = b.len();
    let scale: Vec<f64> = (0..k).map(|i| normal[i][i]).collect();
    let mut sum = 0.0;
    for i in 0..k {
        let pivot = normal[i][i];
        if pivot <= FOLLOWS * scale[i] || pivot <= 0.0 {
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use stapo_base::stats::random::Random;

    /// Groups of eight with two parts, the second of which follows the first half of the way.
    fn groups(reward: impl Fn(f64, f64, f64) -> f64) -> Vec<Vec<ResponseFact>> {
        let mut random = Random::new(5, 6);
        let mut response = |group: u64| {
            let first = random.normal();
            let second = 0.5 * first + random.normal();
            let reward = reward(first, second, random.normal()) + group as f64;
            let parts = [first, second].map(|part| part as f32);
            ResponseFact { group, parts: parts.into(), reward: reward as f32, ..ResponseFact::default() }
        };
        (0..400).map(|group| (0..8).map(|_| response(group)).collect()).collect()
    }

    fn slopes(reward: impl Fn(f64, f64, f64) -> f64) -> Option<Slopes> {
        let groups = groups(reward);
        let part = |index: usize| move |fact: &ResponseFact| f64::from(fact.parts[index]);
        let of: [Feature<'_>; 2] = [&part(0), &part(1)];
        Slopes::of(groups.iter().map(Vec::as_slice), &|fact| f64::from(fact.reward), &of)
    }

    #[test]
    fn slopes_are_those_of_each_part_alone() {
        let exact = slopes(|first, second, _| first - 3.0 * second).unwrap();
        let [first, second] = [0, 1].map(|part| exact.sum(&[(part, 1.0)]).unwrap()[0]);
        assert!((first - 1.0).abs() < 1e-4 && (second + 3.0).abs() < 1e-4, "{exact:?}");
        let noisy = slopes(|first, _, noise| first + noise).unwrap();
        let [second, error] = noisy.sum(&[(1, 1.0)]).unwrap();
        // 2,800 responses that differ: 1/√2800 = 0.019 for parts of variance 1.
        assert!((0.015..0.025).contains(&error) && second.abs() < 3.0 * error, "{noisy:?}");
        let [both, error] = noisy.sum(&[(0, 1.0), (1, 1.0)]).unwrap();
        assert!((both - 1.0).abs() < 3.0 * error, "{noisy:?}");
    }

    #[test]
    fn what_follows_from_another_has_no_slope() {
        let groups = groups(|first, _, _| first);
        let part = |fact: &ResponseFact| f64::from(fact.parts[0]);
        let twice = |fact: &ResponseFact| 2.0 * f64::from(fact.parts[0]);
        let other = |fact: &ResponseFact| f64::from(fact.parts[1]);
        let of: [Feature<'_>; 3] = [&part, &twice, &other];
        let found =
            Slopes::of(groups.iter().map(Vec::as_slice), &|fact| f64::from(fact.reward), &of).unwrap();
        assert!(found.sum(&[(1, 1.0)]).is_none(), "{found:?}");
        let [first, _] = found.sum(&[(0, 1.0)]).unwrap();
        assert!((first - 1.0).abs() < 1e-4, "{found:?}");
    }
}
