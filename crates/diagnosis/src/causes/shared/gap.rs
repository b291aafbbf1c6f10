//! Sampler against trainer: what the four causes of a gap between them share.

pub mod growth;
pub mod kinds;
pub mod phase;

use std::collections::BTreeMap;

use self::growth::{APART, Growth};
use self::kinds::TwoKinds;
use self::phase::{FEWEST, OfGroup, phase, usual_square};
use super::lasting::Side;
use crate::patient::Patient;
use crate::words::measured;
use stapo_base::stats::random::Random;
use stapo_base::stats::ratio_of_sums::ratio_of_sums;
use stapo_collect::collect::signs::gaps::GapSums;
use stapo_collect::collect::signs::response_facts::ResponseFact;

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
/// Standard errors by which the gap of the many must be above what it is held against: up to four groups that
/// alone have one are not.
const ERRORS: f64 = 2.0;
/// A sampler that leaves out the tail raises what it keeps: less of the squares than this lies below 0.
const BELOW: f64 = 0.05;
/// Rounding takes hundredths of a nat off what is raised.
const ROUNDING: f64 = 0.2;
/// A sampler whose mean lies below this keeps all but 0.2 % of the mass.
const MEAN: f64 = 0.002;
/// The mean of ln μ − ln π is a divergence, about half the mean of its squares, wherever μ has all tokens that π has: weights,
/// rounding and temperatures. One that is this many times as large is of a sampler that lacks some.
const RAISED: f64 = 5.0;

/// Squares of tokens that the trainer finds ten times less likely than the sampler did: where they are more than
/// this part of all, the gap is that of a few tokens. No truncation that keeps a tenth of the mass has any, …
const OF_FEW: f64 = 0.9;
/// … and no sampler draws at a temperature above 2 (b below this), which fits a few tokens at will.
const FLATTEST: f64 = -0.5;

/// A temperature explains nearly all of the gap it makes. One that explains less of a gap that grows from nothing
/// step by step is that of a policy which became sharper than the weights the sampler still has.
const NEARLY_ALL: f64 = 0.9;

/// A sampler whose tokens have this probability on average is certain of them, …
const CERTAIN: f64 = 0.98;
/// … and a trainer is not that gives them less than this.
const UNSURE: f64 = 0.9;

/// Sampler against trainer where no staleness is between them.
pub struct Gap {
    /// All sums.
    pub all: GapSums,
    /// b = 1/T − 1 that fits best, and the share of the gap's squares that it explains.
    pub fit: (f64, f64),
    /// The oldest weights that it is of, in steps; `None` where that is not known.
    pub lag: Option<i64>,
    /// The first of the steps it is of.
    pub from_step: Option<i64>,
    /// All steps, or those with the larger gap where it changed at once.
    pub side: Side,
    /// Mean k3 of differences cut at ± ln 10 over groups, with its standard error.
    bounded: (f64, f64),
    /// The same at the first step of the training, where it is in the log.
    at_start: Option<(f64, f64)>,
    /// The way it grows from nothing, where it does.
    growth: Option<Growth>,
    /// Responses that differ throughout beside others that do not, where there are such.
    pub kinds: Option<TwoKinds>,
    clusters: Vec<GapSums>,
}

/// What to log where [`Gap::is_copied`].
pub const COPIED: &str = "logprob as the trainer computes it: what is logged equals logprob_rollout to the last bit \
                          (verl's bypass_mode copies it)";

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
        let mut groups: Vec<OfGroup> = Vec::new();
        for group in patient.groups() {
            let mut own = OfGroup { step: group[0].step, ..OfGroup::default() };
            for fact in group.iter().filter(|fact| fresh(fact)) {
                fact.gap.iter().for_each(|gap| own.add(gap, f64::from(fact.surprisal)));
            }
            if own.sums.tokens > 0.0 {
                groups.push(own);
            }
        }
        let at_start = at_start(&groups);
        let growth =
            Growth::of(groups.chunk_by(|a, b| a.step == b.step).map(|s| (s[0].step, usual_square(s))));
        let (groups, side) = phase(&groups);
        let each = groups.len().div_ceil(CLUSTERS).max(1);
        let total = |of: &[OfGroup]| {
            let mut sums = GapSums::default();
            of.iter().for_each(|group| sums.add(&group.sums));
            sums
        };
        let clusters: Vec<GapSums> = groups.chunks(each).map(total).collect();
        let all = total(groups);
        let from_step = groups.first().map(|group| group.step);
        let bounded = bounded(groups);
        let kinds = TwoKinds::of(groups.iter().flat_map(|g| g.responses.iter().map(|r| (g.step, r))));
        let lag = age.filter(|_| patient.signs.facts.ages_are_steps);
        (all.tokens > 0.0).then(|| Self {
            // Without entropies no temperature can be fitted.
            fit: if patient.plan.stand_in.entropy { (0.0, 0.0) } else { fit(&all) },
            all,
            lag,
            from_step,
            side,
            bounded,
            at_start,
            growth,
            kinds,
            clusters,
        })
    }

    /// Whether the trainer's values are the sampler's to the last bit: they were copied, not computed. Two engines
    /// do not agree so far, even with the same weights.
    pub fn is_copied(&self) -> bool {
        let [unsure, ..] = self.all.slope;
        unsure >= FEWEST && self.all.yy == 0.0
    }

    /// Whose weights trainer and sampler were held against each other with, for messages.
    pub fn weights(&self) -> &'static str {
        match self.lag {
            Some(0) => " with the same weights",
            Some(_) => " with the youngest weights",
            None => "",
        }
    }

    /// Whether one temperature explains the gap, that of a sampler that takes the most likely token among them. What
    /// some responses have and others do not is no setting of the sampler.
    pub fn is_temperature(&self) -> bool {
        let (b, explained) = self.fit;
        let is_told_otherwise = b > 0.0 && self.lacks_a_tail() || b < FLATTEST && self.is_of_few();
        let is_explained = explained >= 0.5 && b.abs() > 0.02 && !is_told_otherwise;
        let is_growth = self.growth.is_some() && explained < NEARLY_ALL;
        self.is_greedy() || is_explained && self.kinds.is_none() && !is_growth
    }

    /// Whether the sampler is all but certain of what it drew wherever the trainer is not: it takes the most
    /// likely token.
    pub fn is_greedy(&self) -> bool {
        let [n, trainer, sampler, ..] = self.all.slope;
        n >= FEWEST && sampler > n * CERTAIN.ln() && trainer < n * UNSURE.ln()
    }

    /// Whether the gap is that of a sampler that leaves out the tail: what it keeps is raised. A sharper
    /// sampler has most of the squares of the gap below 0, where it draws rare tokens.
    pub fn is_truncation(&self) -> bool {
        self.lacks_a_tail() && !self.is_temperature() && self.kinds.is_none()
    }

    fn lacks_a_tail(&self) -> bool {
        let all = &self.all;
        let is_raised = all.y > RAISED * 0.5 * all.yy;
        self.mean() >= MEAN && (self.is_never_below() || is_raised) && !self.is_of_few()
    }

    /// Whether ln μ is below ln π by rounding alone.
    pub fn is_never_below(&self) -> bool {
        let all = &self.all;
        // What is below, larger differences counting more.
        let depth = all.below / (0.5 * (all.absolute - all.y)).max(f64::MIN_POSITIVE);
        self.share_below() <= BELOW && depth <= ROUNDING
    }

    /// Whether it is that of a few tokens, which the trainer finds far less likely than the sampler did.
    pub fn is_of_few(&self) -> bool {
        self.share_far() > OF_FEW
    }

    /// The share of the squares of ln μ − ln π where it is above ln 10.
    pub fn share_far(&self) -> f64 {
        self.all.far[1] / self.all.yy.max(f64::MIN_POSITIVE)
    }

    /// How it grows with the distance that the policy has gone since the sampler last got its weights; not
    /// where the sampler differs in another way.
    pub fn growth(&self) -> Option<&Growth> {
        self.growth.as_ref().filter(|_| !self.is_temperature() && !self.is_truncation())
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

    /// Mean k3 in words: with ratios cut at 10 beside it, where tokens that are far out make it what it is.
    pub fn told_k3(&self) -> String {
        let (k3, bounded) = (self.k3(), self.bounded.0);
        match k3 > APART * bounded {
            true => format!("{} (of ratios cut at 10 {})", measured(k3, 4), measured(bounded, 4)),
            false => measured(k3, 4),
        }
    }

    /// What k3 is at least without the few: ratios are cut at 10, and two standard errors over groups taken off.
    /// A mean of e^d is made by its largest terms, so tokens that are far out make it any size.
    pub fn k3_of_many(&self) -> f64 {
        let (mean, error) = self.bounded;
        (mean - ERRORS * error).max(0.0)
    }

    /// The same at the first step of the training: there no weights are old, whatever is logged of them.
    pub fn k3_at_start(&self) -> Option<f64> {
        self.at_start.map(|(mean, error)| (mean - ERRORS * error).max(0.0))
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

/// Mean k3 of differences cut at ± ln 10 over groups, with its standard error.
fn bounded(groups: &[OfGroup]) -> (f64, f64) {
    ratio_of_sums(groups.iter().map(|group| [group.sums.tokens, group.sums.bounded_k3]))
}

/// The same of the first step, where it is 0 or 1 and has enough tokens.
fn at_start(groups: &[OfGroup]) -> Option<(f64, f64)> {
    let first = groups.first().map(|group| group.step).filter(|step| (0..=1).contains(step))?;
    let of_first = &groups[..groups.partition_point(|group| group.step <= first)];
    (of_first.iter().map(|group| group.sums.tokens).sum::<f64>() >= FEWEST).then(|| bounded(of_first))
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
