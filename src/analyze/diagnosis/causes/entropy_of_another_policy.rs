//! p and H are not of one distribution.
//!
//! Statistic: the share of tokens whose p and H no distribution has, and the correlation of surprisal
//! with entropy.
//! Threshold: 1 % beyond the tolerance for rounding (0.02 nats), or a correlation below 0.1 that is not
//! due to an H that hardly varies: the mean surprisal of a state is its H, so in a right log surprisal
//! rises with H one to one, however little H varies. Half of that must be out of reach (three standard
//! errors). Columns that are merely shifted are another cause.

use super::super::patient::{Finding, Patient, found, number, percent};
use super::misaligned_log::{self, correlation, moments};
use crate::analyze::collect::signs::probe::Moments;
use crate::analyze::result::{CauseCode, Confidence};

const INFEASIBLE: f64 = 0.01;
const UNRELATED: f64 = 0.1;
const HALF: f64 = 0.5;
const ERRORS: f64 = 3.0;

/// Whether surprisal does not follow entropy.
fn is_unrelated(sums @ [n, x, y, xx, yy, xy]: Moments) -> bool {
    let (vx, vy, vxy) = (xx - x * x / n, yy - y * y / n, xy - x * y / n);
    let slope = vxy / vx;
    let error = ((vy - slope * vxy) / (vx * n)).sqrt();
    correlation(sums).is_some_and(|r| r < UNRELATED) && slope + ERRORS * error < HALF
}

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    let totals = &patient.analysis.totals;
    let share = totals.infeasible as f64 / (totals.tokens - totals.missing).max(1) as f64;
    let [_, same, _] = moments(&patient.signs.probes, |probe| &probe.entropy_shift);
    let unrelated = is_unrelated(same);
    let shifted = matches!(misaligned_log::examine(patient), Finding::Found(_));
    if shifted || !(share > INFEASIBLE || unrelated) {
        return Finding::Absent;
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
