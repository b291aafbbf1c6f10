//! Responses of two kinds: in some of them nearly all tokens differ between sampler and trainer, in the others none.
//! No setting of the sampler does that, which is the same for all: these responses were scored behind other tokens
//! (packing without a mask, another prompt), or sampled in another way than the others.
//!
//! Statistic: the mean of |ln μ − ln π| of each response, its logarithms cut in two where that leaves the least
//! variance within both.
//! Threshold: the medians of both kinds are apart by a factor of ten, also beside the mean of −ln μ, since a
//! temperature moves responses of many choices more; of the smaller kind, fewer than a twentieth lie in the middle third
//! between them; both kinds are in the same steps. In the usual response of the far kind at least five
//! tokens and a tenth of all carry the difference ((Σ|y|)²/Σy²): a few tokens that are far out are something else.

use super::growth::APART;
use crate::causes::shared::lasting::{Counts, Share};
use stapo_base::stats::quantile::select_quantile;
use stapo_collect::collect::signs::gaps::GapSums;

/// Responses of each kind, and tokens of a response, that are needed.
const FEWEST: usize = 20;
const SHORTEST: f64 = 8.0;
/// Mean differences below this are rounding.
const ROUNDING: f64 = 1e-4;
/// The part of the smaller kind that may lie between the two.
const BETWEEN: f64 = 0.05;
/// Where nearly all responses are of the far kind, there is one kind only.
const ALL_BUT: f64 = 0.95;
/// Tokens that carry the difference of a response, and their part of all.
const CARRIERS: [f64; 2] = [5.0, 0.1];

/// Sampler against trainer in one response.
#[derive(Clone, Copy, Debug)]
pub struct OfResponse {
    /// Tokens.
    pub tokens: f64,
    /// Mean of (ln μ − ln π)².
    pub square: f64,
    /// Mean of |ln μ − ln π|.
    pub distance: f64,
    /// How many tokens carry that: (Σ|y|)²/Σy².
    pub carriers: f64,
    /// Mean of −ln μ.
    pub surprisal: f64,
}

impl OfResponse {
    /// From its sums and its mean −ln π.
    pub fn new(gap: &GapSums, surprisal: f64) -> Self {
        Self {
            tokens: gap.tokens,
            square: gap.yy / gap.tokens,
            distance: gap.absolute / gap.tokens,
            carriers: gap.absolute * gap.absolute / gap.yy.max(f64::MIN_POSITIVE),
            surprisal: surprisal - gap.y / gap.tokens,
        }
    }
}

/// Two kinds of responses.
#[derive(Clone, Debug, PartialEq)]
pub struct TwoKinds {
    /// Those that differ, over the run or on one side of a step.
    pub far: Share,
    /// The mean of |ln μ − ln π| of the usual response of each kind, the near one first.
    pub distances: [f64; 2],
}

impl TwoKinds {
    /// The two kinds among some responses, each with its step; `None` where they are of one.
    pub fn of<'a>(responses: impl Iterator<Item = (i64, &'a OfResponse)>) -> Option<Self> {
        let mut all: Vec<(i64, &OfResponse)> = responses.filter(|(_, r)| r.tokens >= SHORTEST).collect();
        all.sort_by(|a, b| a.1.distance.total_cmp(&b.1.distance));
        let logs: Vec<f64> = all.iter().map(|(_, r)| r.distance.max(ROUNDING).ln()).collect();
        let at = cut(&logs)?;
        let (near, far) = all.split_at(at);
        let usual = |kind: &[(i64, &OfResponse)], of: fn(&OfResponse) -> f64| {
            let mut values: Vec<f64> = kind.iter().map(|(_, response)| of(response)).collect();
            select_quantile(&mut values, 0.5).unwrap_or(0.0)
        };
        let distances = [near, far].map(|kind| usual(kind, |r| r.distance.max(ROUNDING)));
        let relative =
            [near, far].map(|kind| usual(kind, |r| r.distance.max(ROUNDING) / r.surprisal.max(ROUNDING)));
        let [low, high] = distances.map(f64::ln);
        let third = (high - low) / 3.0;
        let between = logs.iter().filter(|d| (low + third..high - third).contains(*d)).count();
        let carriers = [usual(far, |r| r.carriers), usual(far, |r| r.carriers / r.tokens)];
        let mut counts = Counts::default();
        all.iter().enumerate().for_each(|(place, (step, _))| counts.add(*step, place >= at));
        let share = counts.share(0.0)?;
        let is_apart = |[near, far]: [f64; 2]| far > APART * near;
        (is_apart(distances)
            && is_apart(relative)
            && (between as f64) < BETWEEN * near.len().min(far.len()) as f64
            && carriers.iter().zip(CARRIERS).all(|(found, least)| *found >= least)
            && share.value() < ALL_BUT)
            .then_some(Self { far: share, distances })
    }
}

/// Where ascending values are cut in two such that the variance between both is largest.
fn cut(values: &[f64]) -> Option<usize> {
    let (n, sum) = (values.len() as f64, values.iter().sum::<f64>());
    let mut below = 0.0;
    let mut best = (f64::NEG_INFINITY, None);
    for (at, value) in values.iter().enumerate() {
        let k = at as f64;
        if at >= FEWEST && values.len() - at >= FEWEST {
            let apart = below / k - (sum - below) / (n - k);
            let between = k * (n - k) * apart * apart;
            if between > best.0 {
                best = (between, Some(at));
            }
        }
        below += value;
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use stapo_base::stats::random::Random;

    /// Eight steps of fifty responses of 64 tokens.
    fn kinds(of: impl Fn(i64, &mut Random) -> OfResponse) -> Option<TwoKinds> {
        let mut random = Random::new(7, 3);
        let responses: Vec<(i64, OfResponse)> = (0..400).map(|i| (i / 50, of(i / 50, &mut random))).collect();
        TwoKinds::of(responses.iter().map(|(step, response)| (*step, response)))
    }

    fn response(distance: f64, surprisal: f64, carriers: f64) -> OfResponse {
        OfResponse { tokens: 64.0, square: distance * distance, distance, carriers, surprisal }
    }

    #[test]
    fn responses_that_differ_throughout_beside_others_are_another_kind() {
        let found = kinds(|_, random| {
            let far = random.unit() < 0.3;
            response(if far { 1.0 } else { 0.002 } * (0.3 * random.normal()).exp(), 0.8, 40.0)
        });
        assert!(found.is_some_and(|kinds| (kinds.far.value() - 0.3).abs() < 0.07));
    }

    #[test]
    fn one_kind_is_one_however_it_scatters() {
        for spread in [0.0, 0.5, 2.0, 5.0] {
            let one = kinds(|_, random| response(0.05 * (spread * random.normal()).exp(), 0.8, 40.0));
            assert_eq!(one, None, "{spread}");
        }
    }

    /// Few tokens far out; a temperature, which moves responses of many choices more; what began at a step.
    #[test]
    fn other_differences_are_no_kinds() {
        let tokens = kinds(|_, random| {
            let has = random.unit() < 0.3;
            response(if has { 0.2 } else { 0.002 }, 0.8, if has { 2.0 } else { 40.0 })
        });
        assert_eq!(tokens, None);
        let choices = kinds(|_, random| {
            let many = random.unit() < 0.3;
            response(if many { 0.3 } else { 0.003 }, if many { 1.0 } else { 0.01 }, 40.0)
        });
        assert_eq!(choices, None);
        let late = kinds(|step, _| response(if step < 5 { 0.002 } else { 0.3 }, 0.8, 40.0));
        assert_eq!(late, None);
    }
}
