//! Sampler against trainer: what the four causes of a gap between them share.

use std::collections::BTreeMap;

use crate::analyze::collect::signs::facts::ResponseFact;
use crate::analyze::collect::signs::gaps::GapSums;
use crate::analyze::diagnosis::patient::Patient;
use crate::stats::random::Random;

/// Tokens that a lag needs.
pub const FEWEST: f64 = 500.0;
/// Clusters of groups that are drawn.
const CLUSTERS: usize = 400;
/// Draws of the bootstrap; the interval spans all but the extreme one at each end (99 %).
const DRAWS: u64 = 200;
/// Inverse temperatures minus one between which the best is sought: T from 5 down to 0.2.
const RANGE: [f64; 2] = [-0.8, 4.0];
/// A gap is worth naming from this k3 on: ten times what a bfloat16 sampler leaves.
pub const NOTICEABLE: f64 = 1e-3;
/// A gap beyond which importance weights are asked for.
pub const LARGE: f64 = 1e-2;

/// Sampler against trainer where no staleness is between them.
pub struct Gap {
    /// All sums.
    pub all: GapSums,
    /// b = 1/T − 1 that fits best, and the share of the gap's squares that it explains.
    pub fit: (f64, f64),
    /// The lag it is of: some trainers count versions from 1, so that the smallest is not 0.
    pub lag: i64,
    clusters: Vec<GapSums>,
}

/// The smallest lag that has enough tokens.
fn smallest_lag(patient: &Patient<'_>) -> Option<i64> {
    let mut lags: BTreeMap<i64, f64> = BTreeMap::new();
    for fact in &patient.signs.facts.responses {
        if let (Some(lag), Some(gap)) = (fact.lag, &fact.gap) {
            *lags.entry(lag).or_default() += gap.tokens;
        }
    }
    lags.into_iter().find(|(_, tokens)| *tokens >= FEWEST).map(|(lag, _)| lag)
}

impl Gap {
    /// The gap at the smallest lag, or of all responses where lags are not logged; `None` where there
    /// is none.
    pub fn fresh(patient: &Patient<'_>) -> Option<Self> {
        let lag = smallest_lag(patient);
        let fresh = |fact: &ResponseFact| fact.lag.is_none() || fact.lag == lag;
        let mut clusters: Vec<GapSums> = Vec::new();
        let groups = patient.groups().count();
        let each = groups.div_ceil(CLUSTERS).max(1);
        for (number, group) in patient.groups().enumerate() {
            if number % each == 0 {
                clusters.push(GapSums::default());
            }
            let Some(cluster) = clusters.last_mut() else { continue };
            group.iter().filter(|fact| fresh(fact)).for_each(|fact| {
                if let Some(gap) = &fact.gap {
                    cluster.add(gap);
                }
            });
        }
        let mut all = GapSums::default();
        clusters.iter().for_each(|cluster| all.add(cluster));
        (all.tokens > 0.0).then(|| Self { fit: fit(&all), all, lag: lag.unwrap_or(0), clusters })
    }

    /// Mean k3.
    pub fn k3(&self) -> f64 {
        self.all.k3 / self.all.tokens
    }

    /// The interval of b by drawing groups.
    pub fn interval(&self) -> [f64; 2] {
        let mut found: Vec<f64> = (0..DRAWS)
            .map(|draw| {
                let mut random = Random::new(0x7e39, draw);
                let mut sums = GapSums::default();
                for _ in 0..self.clusters.len() {
                    sums.add(&self.clusters[random.below(self.clusters.len())]);
                }
                fit(&sums).0
            })
            .collect();
        found.sort_by(f64::total_cmp);
        match found.as_slice() {
            [_, low, .., high, _] => [*low, *high],
            _ => [f64::NEG_INFINITY, f64::INFINITY],
        }
    }

    /// The slope of ln μ on ln π over tokens with π < 0.95.
    pub fn slope(&self) -> Option<f64> {
        let [n, x, y, xx, xy] = self.all.slope;
        let spread = xx - x * x / n;
        (n > 2.0 && spread > 1e-9).then(|| (xy - x * y / n) / spread)
    }
}

/// The b that leaves the least of Σ(y − bx + b²z)², and the share of Σy² it explains.
fn fit(sums: &GapSums) -> (f64, f64) {
    if sums.yy <= 0.0 {
        return (0.0, 0.0);
    }
    let [xy, zy, xx, xz, zz] = sums.moments;
    let left =
        |b: f64| sums.yy - 2.0 * b * xy + b * b * (2.0 * zy + xx) - 2.0 * b.powi(3) * xz + b.powi(4) * zz;
    const STEPS: usize = 480;
    let step = (RANGE[1] - RANGE[0]) / STEPS as f64;
    let places = (0..=STEPS).map(|i| RANGE[0] + step * i as f64);
    let best = places.min_by(|a, b| left(*a).total_cmp(&left(*b))).unwrap_or(0.0);
    // A parabola through the best and its neighbours.
    let (low, mid, high) = (left(best - step), left(best), left(best + step));
    let bend = low - 2.0 * mid + high;
    let b = if bend > 0.0 { best + 0.5 * step * (low - high) / bend } else { best };
    (b, (1.0 - left(b) / sums.yy).max(0.0))
}

/// Whether the gap is explained by one temperature.
pub fn is_temperature(gap: &Gap) -> bool {
    gap.fit.1 >= 0.5 && gap.fit.0.abs() > 0.02
}
