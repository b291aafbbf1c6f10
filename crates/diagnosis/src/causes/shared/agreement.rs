//! How surprising tokens are against their entropy, where trainer and sampler agree.
//!
//! Tokens that are drawn from π have the mean surprisal H. Where they are drawn from μ, it is off by at most the
//! deviation of ln π times the root of the mean square of μ/π − 1 (Cauchy and Schwarz), which is about that of
//! ln μ − ln π. What is off by more was not drawn from what is logged, or H is not of it.

use super::shifts::moments;
use stapo_base::stats::ratio_of_sums::{ratio_of_sums, sum_of_pairs};
use stapo_collect::collect::signs::probe::Probe;

/// How far off counts, and in standard errors beside it.
const OFF: f64 = 0.1;
const ERRORS: f64 = 5.0;
/// States with this share of the entropy are looked at by themselves.
const ENOUGH: f64 = 0.1;

/// Mean surprisal over mean entropy, 1 as the entropy says, of the tokens that the sampler gave a probability for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surprise {
    /// Of these tokens.
    pub ratio: f64,
    /// Its standard error over responses.
    error: f64,
    /// The same of all tokens: those without a probability may be the environment's, which surprise more, or the
    /// rare ones, which an engine does not list. Either way one of the two is 1.
    with_others: (f64, f64),
    /// What the gap between trainer and sampler may add to or take from it.
    by_gap: f64,
    /// In states of the fewest and of the most choices, each with its standard error.
    by_entropy: Option<[(f64, f64); 2]>,
}

impl Surprise {
    /// Whether it is off by a tenth, beyond chance and beyond what the gap of the two explains.
    pub fn is_off(&self) -> bool {
        let sign = (self.ratio - 1.0).signum();
        let is_clear = |(ratio, error): (f64, f64)| sign * (ratio - 1.0) > OFF + ERRORS * error;
        is_clear((self.ratio, self.error))
            && is_clear(self.with_others)
            && (self.ratio - 1.0).abs() > self.by_gap
    }

    /// Whether the entropy is too small: tokens surprise more than it says, and in states of many choices not less so
    /// than in those of few. One that is too small by a factor is so everywhere, one of the most likely tokens alone
    /// lacks most where choices are many. A hot sampler, and tokens that the policy did not write, surprise most
    /// where it is sure.
    pub fn is_short_entropy(&self) -> bool {
        self.ratio > 1.0 && self.is_off() && self.fades() == Some(false)
    }

    /// Whether the entropy is too large: tokens surprise less than it says, wherever they stand.
    pub fn is_long_entropy(&self) -> bool {
        self.ratio < 1.0 && self.is_off() && self.fades() == Some(false)
    }

    /// Whether tokens were drawn from a sharper distribution than what is logged of it: they surprise less than
    /// the entropy says, most where choices are few, since there a sharper sampler all but leaves out the others.
    pub fn is_sharper(&self) -> bool {
        self.ratio < 1.0 && self.is_off() && self.fades() == Some(true)
    }

    /// Whether what is off is so where choices are few, rather than where they are many; `None` where all states are
    /// alike.
    fn fades(&self) -> Option<bool> {
        let sign = (self.ratio - 1.0).signum();
        self.by_entropy.map(|[(few, few_error), (many, many_error)]| {
            let [few, many] = [few, many].map(|ratio| sign * (ratio - 1.0));
            few - many > ERRORS * few_error.hypot(many_error)
                || many < OFF + ERRORS * many_error
                || few > 2.0 * many
        })
    }
}

/// How surprising tokens are; `None` where the sampler's log-probabilities are not logged.
pub fn surprise(probes: &[Probe]) -> Option<Surprise> {
    let [n, _, y, xx, yy, xy] = moments(probes, |probe| &probe.logprob_shift)[1];
    let sampled = || probes.iter().filter(|probe| probe.logprob_shift[1][0] > 0.0);
    let bins = probes.first()?.by_entropy.len();
    let known = |probe: &Probe, bin: usize| {
        let (all, without) = (probe.by_entropy[bin], probe.unsampled_by_entropy[bin]);
        [all[0] - without[0], all[1] - without[1]]
    };
    let of = |bin: usize| sampled().map(|probe| known(probe, bin)).collect::<Vec<[f64; 2]>>();
    let each: Vec<[f64; 2]> =
        sampled().map(|probe| sum_of_pairs((0..bins).map(|bin| known(probe, bin)))).collect();
    let [entropy, _] = sum_of_pairs(each.iter().copied());
    if n <= 0.0 || entropy <= 0.0 {
        return None;
    }
    let gap = ((xx + yy - 2.0 * xy) / n).max(0.0);
    let variance = (yy / n - (y / n).powi(2)).max(0.0);
    let (ratio, error) = ratio_of_sums(each.iter().copied());
    let with_others = ratio_of_sums(sampled().map(|probe| sum_of_pairs(probe.by_entropy.iter().copied())));
    let counts = |pairs: &Vec<[f64; 2]>| sum_of_pairs(pairs.iter().copied())[0] > ENOUGH * entropy;
    let large: Vec<Vec<[f64; 2]>> = (0..bins).map(of).filter(counts).collect();
    let by_entropy = match large.as_slice() {
        [few, .., many] => Some([few, many].map(|pairs| ratio_of_sums(pairs.iter().copied()))),
        _ => None,
    };
    Some(Surprise { ratio, error, with_others, by_gap: (gap * variance).sqrt() * n / entropy, by_entropy })
}
