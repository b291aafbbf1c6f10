//! p and H are not of one distribution.
//!
//! Statistic: the share of tokens whose p and H no distribution has, and the correlation of surprisal
//! with entropy.
//! Threshold: 1 % beyond the tolerance for rounding (0.02 nats), or a correlation below 0.1 that is not
//! due to an H that hardly varies: the mean surprisal of a state is its H, so in a right log surprisal
//! rises with H one to one, however little H varies. Half of that must be out of reach (three standard
//! errors). Columns that are merely shifted are another cause.
//! Bits: tokens of a policy are on average as surprising as its entropy, in states of any entropy; where H is
//! in bits they are ln 2 = 0.69 times so, in states of few choices as in those of many. A sampler at another
//! temperature gives 0.1 in the former and 0.9 in the latter. Likely where the ratio is ln 2 within a tenth
//! and four standard errors, over the run and at every H that has a tenth of the entropy, of which there must be
//! two; not where sampler and trainer differ by more than a tenth of a nat (root of the mean square).
//! Too small or too large: tokens surprise a tenth more or less than H says (five standard errors) although sampler
//! and trainer agree, in states of many choices as in those of few (`agreement`).

use super::misaligned_log;
use super::shared::agreement;
use super::shared::agreement::Surprise;
use super::shared::gap::Gap;
use super::shared::shifts::{correlation, moments};
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::words::percent;
use stapo_base::stats::ratio_of_sums::{ratio_of_sums, sum_of_pairs};
use stapo_collect::collect::signs::probe::{Moments, Probe};
use stapo_result::{CauseCode, Confidence};

const INFEASIBLE: f64 = 0.01;
const UNRELATED: f64 = 0.1;
const HALF: f64 = 0.5;
const ERRORS: f64 = 3.0;
/// How far from ln 2 an entropy in bits may be, and in standard errors beside it.
const NEAR_BITS: f64 = 0.06;
const ERRORS_OF_BITS: f64 = 4.0;
/// Halfway between bits and nats.
const BITS_OR_NATS: f64 = 0.85;
/// States with this share of the entropy are looked at by themselves.
const ENOUGH: f64 = 0.1;
/// Mean square of ln μ − ln π from which on tokens are not the policy's own.
const ANOTHER_SAMPLER: f64 = 0.01;

/// Whether surprisal does not follow entropy.
fn is_unrelated(sums @ [n, x, y, xx, yy, xy]: Moments) -> bool {
    let (vx, vy, vxy) = (xx - x * x / n, yy - y * y / n, xy - x * y / n);
    let slope = vxy / vx;
    let error = ((vy - slope * vxy) / (vx * n)).sqrt();
    correlation(sums).is_some_and(|r| r < UNRELATED) && slope + ERRORS * error < HALF
}

/// ΣH and Σ −ln p of a response.
type Pair = [f64; 2];

/// How surprising tokens are, 1 as their entropy says, with its standard error over responses.
fn surprise(pairs: &[Pair]) -> (f64, f64) {
    ratio_of_sums(pairs.iter().copied())
}

/// How surprising tokens are, where that says that H is in bits.
fn in_bits(probes: &[Probe]) -> Option<f64> {
    let [n, _, _, xx, yy, xy] = moments(probes, |probe| &probe.logprob_shift)[1];
    if n > 0.0 && xx + yy - 2.0 * xy > ANOTHER_SAMPLER * n {
        return None;
    }
    let is_bits = |(ratio, error): (f64, f64)| {
        (ratio - std::f64::consts::LN_2).abs() <= NEAR_BITS + ERRORS_OF_BITS * error
            && ratio + ERRORS_OF_BITS * error < BITS_OR_NATS
    };
    let bins = probes.first()?.by_entropy.len();
    let of = |bin: usize| probes.iter().map(|probe| probe.by_entropy[bin]).collect::<Vec<Pair>>();
    let all: Vec<Pair> = probes.iter().map(|probe| sum_of_pairs(probe.by_entropy.iter().copied())).collect();
    let entropy = |pairs: &[Pair]| sum_of_pairs(pairs.iter().copied())[0];
    let total = entropy(&all);
    let counts = |pairs: &Vec<Pair>| entropy(pairs) > ENOUGH * total;
    let large: Vec<Vec<Pair>> = (0..bins).map(of).filter(counts).collect();
    let everywhere = large.len() > 1 && large.iter().all(|pairs| is_bits(surprise(pairs)));
    Some(surprise(&all)).filter(|run| everywhere && is_bits(*run)).map(|(ratio, _)| ratio)
}

/// Looks for it.
pub fn examine(patient: &Patient<'_>, gap: Option<&Gap>) -> Finding {
    let totals = &patient.analysis.totals;
    let share = totals.infeasible as f64 / (totals.tokens - totals.missing).max(1) as f64;
    let [_, same, _] = moments(&patient.signs.probes, |probe| &probe.entropy_shift);
    let unrelated = is_unrelated(same);
    let shifted = matches!(misaligned_log::examine(patient), Finding::Found(_));
    if let Some(ratio) = in_bits(&patient.signs.probes).filter(|_| !shifted) {
        return found(
            CauseCode::EntropyOfAnotherPolicy,
            Confidence::Likely,
            patient.analysis.steps.first().map(|row| row.step),
            format!(
                "tokens are {ratio:.2} times as surprising as their entropy says, in states of few choices as in \
                 those of many: the entropy is in bits, not in nats (ln 2 = 0.69)"
            ),
            "read it with --entropy-unit bits, or log nats: every number that holds p against H is wrong until then",
            vec![number("mean surprisal, 1 as the entropy says", ratio), number("share of tokens", share)],
        );
    }
    if shifted {
        return Finding::Absent;
    }
    if !(share > INFEASIBLE || unrelated) {
        return of_another_size(patient, gap).unwrap_or(Finding::Absent);
    }
    let mut evidence = vec![number("share of tokens", share)];
    evidence.extend(correlation(same).map(|r| number("correlation of surprisal and entropy", r)));
    let message = if share > INFEASIBLE {
        format!("{} of the tokens have a p and an H that no distribution has", percent(share))
    } else {
        "entropy tells nothing of how surprising a token is: it is of another policy, or of other tokens"
            .into()
    };
    found(
        CauseCode::EntropyOfAnotherPolicy,
        Confidence::Likely,
        patient.analysis.steps.first().map(|row| row.step),
        message,
        "log both from the same policy, temperature and precision; entropies in bits need --entropy-unit bits",
        evidence,
    )
}

/// Entropies that are too small or too large for the tokens that were drawn.
fn of_another_size(patient: &Patient<'_>, gap: Option<&Gap>) -> Option<Finding> {
    let is_of_another_size = |s: &Surprise| s.is_short_entropy() || s.is_long_entropy();
    let surprise = agreement::surprise(&patient.signs.probes).filter(is_of_another_size)?;
    // Responses that the trainer scores behind other tokens surprise it, whatever its entropy is.
    if gap.is_some_and(|gap| gap.kinds.is_some()) {
        return None;
    }
    let size = match surprise.is_short_entropy() {
        true => "too small (of another temperature, or of the most likely tokens only)",
        false => "too large (of another temperature, or of another policy)",
    };
    Some(found(
        CauseCode::EntropyOfAnotherPolicy,
        Confidence::Likely,
        patient.analysis.steps.first().map(|row| row.step),
        format!(
            "tokens are {:.2} times as surprising as their entropy says although trainer and sampler agree, in states of \
             many choices as in those of few: the entropy is {size}",
            surprise.ratio
        ),
        "log the entropy over all tokens, of the same policy and temperature as the log-probability",
        vec![number("mean surprisal, 1 as the entropy says", surprise.ratio)],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Surprisals around H with a spread of one nat, for H around 1.5 with this spread; `follows` is how
    /// much of H they follow.
    fn log(spread: f64, follows: f64) -> Moments {
        let mut sums = [0.0; 6];
        for i in 0..40_000 {
            let h = 1.5 + spread * (2.0 * f64::from(i % 101) / 100.0 - 1.0);
            let s = 1.5 + follows * (h - 1.5) + f64::from(i % 7) / 3.0 - 1.0;
            sums.iter_mut().zip([1.0, h, s, h * h, s * s, h * s]).for_each(|(sum, term)| *sum += term);
        }
        sums
    }

    #[test]
    fn an_entropy_that_hardly_varies_is_not_of_another_policy() {
        assert!(correlation(log(0.02, 1.0)).is_some_and(|r| r < UNRELATED));
        assert!(!is_unrelated(log(0.02, 1.0)));
        assert!(!is_unrelated(log(1.0, 1.0)));
        assert!(is_unrelated(log(1.0, 0.0)));
        assert!(is_unrelated(log(0.5, -0.5)));
    }
}
