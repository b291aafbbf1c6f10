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
/// Steps are judged apart where the squares of the gap differ by this factor: a fault that begins in
/// the middle of a run lifts them from what rounding leaves to what is worth naming.
const APART: f64 = 10.0;
/// A sampler that leaves out the tail raises what it keeps: less of the squares than this lies below 0.
const BELOW: f64 = 0.05;
/// A sampler whose mean lies below this keeps all but 0.2 % of the mass.
const MEAN: f64 = 0.002;

/// Sampler against trainer where no staleness is between them.
pub struct Gap {
    /// All sums.
    pub all: GapSums,
    /// b = 1/T − 1 that fits best, and the share of the gap's squares that it explains.
    pub fit: (f64, f64),
    /// The oldest weights that it is of, in steps; `None` where that is not known.
    pub lag: Option<i64>,
    /// The first of the steps it is of: all, or those with the larger gap where it changed at once.
    pub from_step: Option<i64>,
    clusters: Vec<GapSums>,
}

/// The smallest age up to which there are enough tokens, the largest where there are never enough; `None`
/// where ages are not logged.
fn youngest(patient: &Patient<'_>) -> Option<i64> {
    let mut ages: BTreeMap<i64, f64> = BTreeMap::new();
    for fact in &patient.signs.facts.responses {
        if let (Some(age), Some(gap)) = (fact.lag, &fact.gap) {
            *ages.entry(age).or_default() += gap.tokens;
        }
    }
    let oldest = ages.last_key_value().map(|(age, _)| *age);
    let mut tokens = 0.0;
    let mut has_enough = |more: f64| {
        tokens += more;
        tokens >= FEWEST
    };
    ages.into_iter().find(|(_, more)| has_enough(*more)).map(|(age, _)| age).or(oldest)
}

impl Gap {
    /// The gap of the youngest weights, or of all responses where ages are not logged; `None` where there
    /// is none.
    pub fn fresh(patient: &Patient<'_>) -> Option<Self> {
        let age = youngest(patient);
        let fresh = |fact: &ResponseFact| age.is_none_or(|age| fact.lag.is_some_and(|lag| lag <= age));
        let mut groups: Vec<(i64, GapSums)> = Vec::new();
        for group in patient.groups() {
            let mut sums = GapSums::default();
            group.iter().filter(|fact| fresh(fact)).filter_map(|f| f.gap.as_ref()).for_each(|g| sums.add(g));
            if sums.tokens > 0.0 {
                groups.push((group[0].step, sums));
            }
        }
        let groups = phase(&groups);
        let each = groups.len().div_ceil(CLUSTERS).max(1);
        let total = |of: &[(i64, GapSums)]| {
            let mut sums = GapSums::default();
            of.iter().for_each(|(_, more)| sums.add(more));
            sums
        };
        let clusters: Vec<GapSums> = groups.chunks(each).map(total).collect();
        let all = total(groups);
        let from_step = groups.first().map(|(step, _)| *step);
        let lag = age.filter(|_| patient.signs.facts.ages_are_steps);
        (all.tokens > 0.0).then(|| Self { fit: fit(&all), all, lag, from_step, clusters })
    }

    /// Whose weights trainer and sampler were held against each other with, for messages.
    pub fn weights(&self) -> &'static str {
        match self.lag {
            Some(0) => " with the same weights",
            Some(_) => " with the youngest weights",
            None => "",
        }
    }

    /// Whether one temperature explains the gap.
    pub fn is_temperature(&self) -> bool {
        let (b, explained) = self.fit;
        explained >= 0.5 && b.abs() > 0.02 && !(b > 0.0 && self.is_never_below())
    }

    /// Whether the gap is that of a sampler that leaves out the tail: what it keeps is raised. A sharper
    /// sampler has most of the squares of the gap below 0, where it draws rare tokens.
    pub fn is_truncation(&self) -> bool {
        self.is_never_below() && !self.is_temperature()
    }

    fn is_never_below(&self) -> bool {
        self.mean() >= MEAN && self.share_below() <= BELOW
    }

    /// Mean of ln μ − ln π.
    pub fn mean(&self) -> f64 {
        self.all.y / self.all.tokens
    }

    /// The share of the squares of ln μ − ln π where it is below 0.
    pub fn share_below(&self) -> f64 {
        self.all.below / self.all.yy.max(f64::MIN_POSITIVE)
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

/// The steps whose gap is judged: all, or one side of the step at which its squares change most (by the
/// likelihood of two variances), where they differ by a factor of ten; the side with the larger ones.
fn phase(groups: &[(i64, GapSums)]) -> &[(i64, GapSums)] {
    let sum = |side: &[(i64, GapSums)]| {
        side.iter().fold((0.0, 0.0), |all, (_, sums)| (all.0 + sums.tokens, all.1 + sums.yy))
    };
    let (tokens, squares) = sum(groups);
    let (mut best, mut split) = (0.0, None);
    let (mut n, mut yy) = (0.0, 0.0);
    let cost = |n: f64, yy: f64| n * (yy / n).max(f64::MIN_POSITIVE).ln();
    for (at, pair) in groups.windows(2).enumerate() {
        n += pair[0].1.tokens;
        yy += pair[0].1.yy;
        if pair[0].0 == pair[1].0 || n < FEWEST || tokens - n < FEWEST {
            continue;
        }
        let rest = (squares - yy).max(0.0);
        let gain = cost(tokens, squares) - cost(n, yy) - cost(tokens - n, rest);
        if gain > best {
            best = gain;
            split = Some((at + 1, [yy / n, rest / (tokens - n)]));
        }
    }
    match split {
        Some((at, [before, after])) if after > APART * before => &groups[at..],
        Some((at, [before, after])) if before > APART * after => &groups[..at],
        _ => groups,
    }
}
