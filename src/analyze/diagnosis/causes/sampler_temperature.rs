//! The sampler is sharper or flatter than the trainer.
//!
//! Statistic: the temperature T that fits ln μ from ln π best, through the normaliser's logarithm
//! (0 and −H at T = 1, ln Σπ² at T = ½), at the smallest lag, and the share of the gap that it explains.
//! Threshold: T beyond 5 % from 1 with the 99 % interval by drawing groups, explaining at least half
//! of the gap: a stale or an imprecise sampler differs in other ways than by one temperature.
//! Without the sampler's log-probabilities: tokens drawn from π have the mean surprisal H, exactly; a
//! mean that lies a tenth of H below by five standard errors is of a sharper sampler, one that lies as much
//! above of a flatter or an older one, or of tokens that the policy did not write.

use super::super::patient::{Finding, Patient, found, measured, number, percent};
use super::gap::Gap;
use crate::analyze::result::{CauseCode, Confidence};

const OFF: f64 = 0.05;
const SURPRISE_OFF: f64 = 0.1;
const ERRORS: f64 = 5.0;

const HINT: &str = "score with the temperature that was sampled with (divide the trainer's logits by it), or \
                    sample at 1; then ln μ and ln π_old agree";

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    let Some(gap) = Gap::fresh(patient) else {
        return by_surprise(patient);
    };
    let (b, explained) = gap.fit;
    let [low, high] = gap.interval();
    let clear = low > OFF || high < -OFF;
    if !(clear && gap.is_temperature()) {
        return Finding::Absent;
    }
    let t = 1.0 / (1.0 + b);
    let kind = if b > 0.0 { "sharper" } else { "flatter" };
    let mut evidence = vec![
        number("estimated temperature", t),
        number("share of the gap it explains", explained),
        number("engine k3", gap.k3()),
    ];
    evidence.extend(gap.slope().map(|slope| number("slope of ln μ on ln π_old, π_old < 0.95", slope)));
    found(
        CauseCode::SamplerTemperature,
        Confidence::Likely,
        gap.from_step,
        format!(
            "the sampler is {kind} than the trainer{}{}: a temperature of {t:.2} (estimated) explains {} of \
             the gap, engine k3 {}",
            gap.weights(),
            gap.side.told(),
            percent(explained),
            measured(gap.k3(), 4)
        ),
        HINT,
        evidence,
    )
}

fn by_surprise(patient: &Patient<'_>) -> Finding {
    let needs = "logprob_rollout (the sampler's own log-probabilities)";
    let steps: Vec<f64> = patient
        .groups()
        .map(|group| {
            let tokens: f64 = group.iter().map(|f| f64::from(f.length)).sum();
            let off = |f: &crate::analyze::collect::signs::facts::ResponseFact| {
                f64::from(f.length) * f64::from(f.surprisal - f.entropy)
            };
            group.iter().filter(|f| f.length > 0).map(off).sum::<f64>() / tokens.max(1.0)
        })
        .collect();
    let n = steps.len() as f64;
    let mean = steps.iter().sum::<f64>() / n.max(1.0);
    let variance = steps.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0).max(1.0);
    let entropy = patient.analysis.totals.mean_entropy.unwrap_or(0.0);
    let clear =
        n > 20.0 && mean.abs() > SURPRISE_OFF * entropy && mean.abs() > ERRORS * (variance / n).sqrt();
    if !clear {
        return Finding::NotChecked(needs);
    }
    let (than, because, hint) = match mean < 0.0 {
        true => ("less", "they were sampled at a lower temperature, or with top-p or top-k", HINT),
        false => (
            "more",
            "they were sampled at a higher temperature or with older weights, or the policy did not write them \
             (the environment's tokens in the mask), or the entropies are of its most likely tokens only",
            "log logprob_rollout, which tells these apart; take the environment's tokens out of the mask",
        ),
    };
    found(
        CauseCode::SamplerTemperature,
        Confidence::Possible,
        patient.analysis.steps.first().map(|row| row.step),
        format!(
            "tokens surprise the trainer {than} than its own entropy says ({:.3} against {entropy:.3} nats): {because}",
            entropy + mean
        ),
        hint,
        vec![number("mean surprisal minus mean entropy", mean), number("mean entropy", entropy)],
    )
}
