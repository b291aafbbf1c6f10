//! Entropy against token quantile, early, middle and late in the run.

use super::quantiles::BinnedEntropies;
use super::steps::step_ranges;
use crate::analyze::collect::Collected;
use crate::analyze::collect::energy::Sign;
use crate::analyze::result::EntropyProfile;

const PERIODS: [&str; 3] = ["early", "middle", "late"];

/// The thirds of the run; fewer where it has fewer than three steps.
pub fn entropy_profiles(collected: &Collected) -> Vec<EntropyProfile> {
    let steps = step_ranges(&collected.batches);
    let periods: &[&str] = match steps.len() {
        0 => &[],
        1 => &PERIODS[..1],
        2 => &["early", "late"],
        _ => &PERIODS,
    };
    let orders: Vec<f64> = (0..=100).map(|i| f64::from(i) / 100.0).collect();
    let profile = |(number, period): (usize, &&str)| {
        let from = number * steps.len() / periods.len();
        let to = (number + 1) * steps.len() / periods.len();
        let batches = &collected.batches[steps[from].start..steps[to - 1].end];
        let entropies = BinnedEntropies::of(batches.iter().map(|(_, t)| &t.histogram), &Sign::ALL);
        Some(EntropyProfile {
            period: (*period).into(),
            first_step: batches[0].0.step,
            last_step: batches[batches.len() - 1].0.step,
            tokens: entropies.total(),
            entropy: entropies.quantiles(&orders)?,
        })
    };
    periods.iter().enumerate().filter_map(profile).collect()
}
