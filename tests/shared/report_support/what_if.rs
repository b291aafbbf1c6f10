//! Other thresholds and rules.

use ndarray::Array2;
use stapo_analyze::analyze::result::*;
use stapo_analyze::framework::rules::Rule;

use super::candidates;

pub fn sweep(points: &[CandidatePoint], tokens: u64) -> Sweep {
    let (tau_p, quantile) = (vec![0.0005, 0.001, 0.002, 0.005, 0.01], vec![0.25, 0.5, 0.75, 0.9, 1.0]);
    let cells = Array2::from_shape_fn((tau_p.len(), quantile.len()), |(row, column)| {
        let outcome = candidates::mask(points, tau_p[row], quantile[column]);
        let silenced = outcome.values().map(|o| o.1).sum::<u64>() as f64;
        with!(SweepCell {
            tau_p: tau_p[row],
            quantile: quantile[column],
            candidates: outcome.values().map(|o| o.0).sum::<u64>() as f64,
            silenced,
            fraction: silenced / tokens as f64,
            energy_share: Some(silenced * 1e-5),
            positive_energy_share: Some(silenced * 3e-5),
            overlap: Some(0.5),
            exact: true,
        })
    });
    with!(Sweep { tau_p, quantile, cells, exact: true, sampling_rate: 1.0 })
}

pub fn rules() -> Vec<RuleRow> {
    let row = |(i, rule): (usize, Rule)| {
        with!(RuleRow {
            rule,
            description: "What it does.".into(),
            silenced: 168.0 * i as f64,
            damped: 10.0,
            silenced_share: 0.0003 * i as f64,
            energy_kept: Some(1.0 - 0.05 * i as f64),
            positive_energy_kept: Some(0.98),
            negative_energy_kept: Some(1.0),
            exact: true,
            note: (i == 8).then(|| "no ratio is logged".into()),
        })
    };
    Rule::TABLE.into_iter().enumerate().map(row).collect()
}
