//! Steps whose gradient energy stands far above the run's, and the tokens that caused it.

use crate::numbers::{evidence, median, values_at};
use stapo_base::stats::sustained::FEWEST_STEPS;
use stapo_collect::collect::Collected;
use stapo_collect::collect::peaks::{PEAKS, PeakToken};
use stapo_result::{StepRow, Warning, WarningCode};

/// A spike is this many times the median, …
const TIMES_MEDIAN: f64 = 4.0;
/// … and this many median deviations away, on a log scale.
const DEVIATIONS: f64 = 6.0;
/// Spikes that are reported.
const MOST: usize = 5;

/// Spikes of energy a token among the steps that teach something.
pub fn energy(collected: &Collected, steps: &[StepRow], text: &dyn Fn(i32) -> String) -> Vec<Warning> {
    let energy = values_at(steps, |row| {
        let per_token = row.gradient_energy / row.tokens.max(1) as f64;
        (per_token > 0.0 && row.teaches()).then_some(per_token)
    });
    if energy.len() < FEWEST_STEPS {
        return Vec::new();
    }
    let middle = median(&energy);
    let deviations: Vec<(i64, f64)> =
        energy.iter().map(|(step, e)| (*step, (e / middle).ln().abs())).collect();
    let deviation = median(&deviations);
    // A run starts high and calms down as it learns: a spike rises over the step before it.
    let rises = energy.windows(2).map(|pair| (pair[0].1, pair[1]));
    let mut spikes: Vec<(i64, f64)> = rises
        .filter(|(before, (_, e))| *e > TIMES_MEDIAN.sqrt() * before)
        .map(|(_, spike)| spike)
        .filter(|(_, e)| *e > TIMES_MEDIAN * middle && (e / middle).ln() > DEVIATIONS * deviation)
        .collect();
    spikes.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut warnings: Vec<Warning> =
        spikes.into_iter().take(MOST).map(|(step, e)| spike(collected, step, e / middle, text)).collect();
    warnings.sort_by_key(|warning| warning.evidence.first().and_then(|e| e.step));
    warnings
}

fn spike(collected: &Collected, step: i64, times: f64, text: &dyn Fn(i32) -> String) -> Warning {
    let batches = collected.batches.iter().filter(|(key, _)| key.step == step);
    let mut peaks: Vec<&PeakToken> = batches.flat_map(|(_, tally)| tally.peaks.tokens()).collect();
    peaks.sort_by(|a, b| b.energy.total_cmp(&a.energy).then(a.token_id.cmp(&b.token_id)));
    let name = |peak: &PeakToken| match &peak.text {
        Some(text) => text.to_string(),
        None => text(peak.token_id),
    };
    let causes: Vec<_> = peaks
        .iter()
        .take(PEAKS)
        .flat_map(|p| {
            let of = |what: &str, value: f64| evidence(Some(step), &format!("{what} {:?}", name(p)), value);
            let p_and_a = [of("p of", f64::from(p.logprob).exp()), of("A of", f64::from(p.advantage))];
            std::iter::once(of("token", p.energy)).chain(p_and_a)
        })
        .collect();
    let named: Vec<String> = peaks
        .iter()
        .take(3)
        .map(|p| format!("{:?} (p {:.2e}, A {:.2})", name(p), f64::from(p.logprob).exp(), p.advantage))
        .collect();
    let mut all = vec![evidence(Some(step), "energy a token over the median", times)];
    all.extend(causes);
    Warning {
        code: WarningCode::EnergySpike,
        message: format!(
            "step {step} has {} times the usual gradient energy a token; largest: {}",
            if times < 1e6 { format!("{times:.1}") } else { format!("{times:.1e}") },
            named.join(", ")
        ),
        hint: format!(
            "look at the tokens of step {step} in the tables; if they are artefacts, silence or clip them"
        ),
        evidence: all,
    }
}
