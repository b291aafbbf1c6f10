//! Entropy against token quantile, early, middle and late in the run.

use super::quantiles::BinnedEntropies;
use super::steps::step_ranges;
use crate::analyze::collect::Collected;
use crate::analyze::collect::energy::Sign;
use crate::analyze::result::{EntropyProfile, Period};

const PERIODS: [Period; 3] = [Period::Early, Period::Middle, Period::Late];

/// The thirds of the run; fewer where it has fewer than three steps.
pub fn entropy_profiles(collected: &Collected) -> Vec<EntropyProfile> {
    let steps = step_ranges(&collected.batches);
    let periods: &[Period] = match steps.len() {
        0 => &[],
        1 => &PERIODS[..1],
        2 => &[Period::Early, Period::Late],
        _ => &PERIODS,
    };
    let orders: Vec<f64> = (0..=100).map(|i| f64::from(i) / 100.0).collect();
    let profile = |(number, period): (usize, &Period)| {
        let from = number * steps.len() / periods.len();
        let to = (number + 1) * steps.len() / periods.len();
        let batches = &collected.batches[steps[from].start..steps[to - 1].end];
        let entropies = BinnedEntropies::of(batches.iter().map(|(_, t)| &t.histogram), &Sign::ALL);
        Some(EntropyProfile {
            period: *period,
            first_step: batches[0].0.step,
            last_step: batches[batches.len() - 1].0.step,
            tokens: entropies.total(),
            entropy: entropies.quantiles(&orders)?,
        })
    };
    periods.iter().enumerate().filter_map(profile).collect()
}
