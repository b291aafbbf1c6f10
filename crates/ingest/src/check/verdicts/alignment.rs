//! Whether columns belong to the same tokens: their correlation, beside that with the neighbouring token.

use super::outcome::{check, skipped};
use crate::check::noise::Noisy;
use crate::check::report::{Check, CheckOutcome};
use crate::check::tally::{SHIFTS, Tally};
use stapo_base::format;
use stapo_base::format::grouped;
use stapo_base::stats::correlation::PearsonSums;

/// Entropy and surprisal of one policy correlate; 0.5 and more is usual.
const CORRELATION_WARN: f64 = 0.3;
const CORRELATION_FAIL: f64 = 0.1;

/// Whether entropies are high where tokens are surprising.
pub fn entropy_correlation(tally: &Tally) -> Check {
    let Some(seen) = Noisy::of(&tally.entropy_shift[1]) else {
        return skipped("entropy_correlation", "log-probability and entropy that vary");
    };
    let (r, tokens) = (seen.r, grouped(tally.entropy_shift[1].count()));
    let verdict = match r {
        _ if seen.is_below(CORRELATION_FAIL) => CheckOutcome::Fail,
        _ if seen.is_below(CORRELATION_WARN) => CheckOutcome::Warn,
        r if r < CORRELATION_WARN => {
            let needs = format!("more tokens: a correlation of {r:.3} on {tokens} may be chance");
            return skipped("entropy_correlation", &needs);
        }
        _ => CheckOutcome::Pass,
    };
    let message = format!("correlation of entropy with −log-probability is {}", format::fixed(r, 3));
    check(
        "entropy_correlation",
        verdict,
        message,
        "near zero, the entropies belong to other tokens or other responses",
    )
}

/// The shift at which two columns fit best, and the correlation at each.
fn best_shift(sums: &[PearsonSums; 3]) -> Option<(usize, [Noisy; 3])> {
    let [before, same, after] = sums;
    let seen = [Noisy::of(before)?, Noisy::of(same)?, Noisy::of(after)?];
    let best = (0..3).max_by(|a, b| seen[*a].r.total_cmp(&seen[*b].r))?;
    Some((best, seen))
}

fn aligned(
    code: &'static str,
    what: &str,
    sums: &[PearsonSums; 3],
    needs: &str,
    hint: &'static str,
) -> Check {
    let Some((best, seen)) = best_shift(sums) else { return skipped(code, needs) };
    let [before, same, after] = seen.map(|s| s.r);
    let [before, same, after] = [before, same, after].map(|r| format::fixed(r, 3));
    let found = format!("correlation {before} at −1, {same} at 0, {after} at +1");
    let is_best = SHIFTS[best] == 0 || seen[best].is_above(&seen[1]);
    if !seen[best].is_something() || !is_best {
        let needs = format!("more tokens: {found} on {} may be chance", grouped(sums[1].count()));
        return skipped(code, &needs);
    }
    let verdict = if SHIFTS[best] == 0 { CheckOutcome::Pass } else { CheckOutcome::Fail };
    let shift = match SHIFTS[best] {
        0 => "0".to_owned(),
        shift => format!("{}{}", if shift < 0 { '−' } else { '+' }, shift.unsigned_abs()),
    };
    check(code, verdict, format!("{what} fit best at shift {shift} ({found})"), hint)
}

/// Whether entropies belong to the tokens that they stand beside.
pub fn entropy_alignment(tally: &Tally) -> Check {
    let needs = "log-probability and entropy that vary";
    let hint = "off by one: the entropies belong to the neighbouring token; try --align shifted";
    aligned("entropy_alignment", "entropy and log-probability", &tally.entropy_shift, needs, hint)
}

/// Whether the two log-probabilities belong to the same tokens.
pub fn logprob_alignment(tally: &Tally) -> Check {
    let hint = "off by one: the two log-probabilities belong to different tokens; try --align shifted";
    let needs = "two log-probabilities (trainer's and sampler's)";
    aligned("logprob_alignment", "trainer's and sampler's log-probability", &tally.logprob_shift, needs, hint)
}
