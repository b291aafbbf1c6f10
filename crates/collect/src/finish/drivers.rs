//! How few tokens carry the energy, which, and what would bound them.

use super::flagged::{FlaggedSource, shown_id};
use super::largest::Largest;
use super::ratios::share;
use super::verdicts::BatchVerdict;
use crate::collect::signs::drivers::Driver;
use crate::collect::signs::energy_tally::EnergyTally;
use crate::collect::signs::{CollectedSigns, FarTokens};
use crate::plan::Plan;
use stapo_batch::batch::MISSING_ID;
use stapo_framework::batch::gradient_source;
use stapo_framework::token::ClipRange;
use stapo_result::{
    ClipCorner, DriverToken, Drivers, EnergyConcentration, TopShares, UnboundedTokens, WhatIfRow,
};

/// Points of the curve, evenly spaced on a log axis.
const CURVE_POINTS: usize = 80;
/// The largest share of the tokens whose energy is told, and the largest number of them.
const TOP: f64 = 1e-2;
const TOP_TOKENS: u64 = 10;

/// (Σ‖g‖²)²/Σ‖g‖⁴ without leaving the range of a double.
pub fn effective_number(energy: f64, squares: f64) -> Option<f64> {
    let root = squares.sqrt();
    (energy > 0.0 && root > 0.0).then(|| (energy / root) * (energy / root))
}

/// How the energy of a step is spread.
pub fn spread(concentration: &EnergyTally, exact: bool) -> EnergyConcentration {
    // The largest share that is asked for.
    let ranks = portion(TOP, concentration.trained).max(TOP_TOKENS) as usize;
    let largest = Largest::of(concentration, std::iter::once(concentration), exact, ranks);
    spread_of(concentration, &largest, exact)
}

fn spread_of(concentration: &EnergyTally, largest: &Largest, exact: bool) -> EnergyConcentration {
    let energy = concentration.energy.value();
    let shares = (energy > 0.0).then(|| {
        let percent = |share: f64| largest.share(portion(share, concentration.trained));
        TopShares {
            top_1: largest.share(1),
            top_10: largest.share(TOP_TOKENS),
            top_0_01_percent: percent(1e-4),
            top_0_1_percent: percent(1e-3),
            top_1_percent: percent(TOP),
            exact,
        }
    });
    EnergyConcentration {
        tokens: concentration.trained,
        effective_number: effective_number(energy, concentration.squares.value()),
        shares,
    }
}

/// A share of the tokens, rounded up.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn portion(share: f64, tokens: u64) -> u64 {
    ((share * tokens as f64).ceil() as u64).max(1)
}

/// The drivers of the run.
pub fn drivers(
    signs: &CollectedSigns,
    plan: &Plan,
    source: &FlaggedSource,
    verdict: &BatchVerdict,
) -> Drivers {
    let mut run = EnergyTally::default();
    let steps = signs.steps.iter().map(|(_, step)| &step.concentration);
    steps.clone().for_each(|step| run.merge_sums(step));
    let largest = Largest::of(&run, steps, signs.kept_all, usize::MAX);
    let (energy, squares) = (run.energy.value(), run.squares.value());
    let mut what_if: Vec<WhatIfRow> = Vec::new();
    let mut row = |rule: String, left: f64, squares: f64| {
        let kept = (left / energy).clamp(0.0, 1.0);
        what_if.push(WhatIfRow {
            rule,
            energy_kept: kept,
            effective_number: effective_number(left, squares),
        });
    };
    if energy > 0.0 && plan.clip.is_some() {
        signs.what_if.left().for_each(|(bound, left, squares)| row(bound.name(), left, squares));
    }
    if energy > 0.0 {
        let silenced = (verdict.silenced_energy.value(), verdict.silenced_squares.value());
        row("s2t".into(), (energy - silenced.0).max(0.0), (squares - silenced.1).max(0.0));
    }
    let mut far = FarTokens::default();
    signs.steps.iter().for_each(|(_, step)| far.merge(&step.far));
    let unbounded = UnboundedTokens { tokens: far.tokens, energy_share: share(far.energy.value(), energy) };
    Drivers {
        concentration: spread_of(&run, &largest, signs.kept_all),
        unbounded: plan.questions.update.then_some(unbounded),
        what_if,
        top: signs.drivers.tokens().iter().map(|d| token(d, energy, plan.clip.as_ref(), source)).collect(),
        curve: curve(&run, &largest),
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn curve(run: &EnergyTally, largest: &Largest) -> Vec<(f64, f64)> {
    let (tokens, all) = (largest.tokens(), run.trained.max(1) as f64);
    if tokens == 0 {
        return Vec::new();
    }
    let place = |i: usize| (tokens as f64).powf(i as f64 / (CURVE_POINTS - 1) as f64).round() as u64;
    let mut places: Vec<u64> = (0..CURVE_POINTS).map(|i| place(i).clamp(1, tokens)).collect();
    places.dedup();
    places.into_iter().map(|k| (k as f64 / all, largest.share(k))).collect()
}

/// Where a token lies against the clip.
fn corner(ratio: f64, advantage: f32, clip: &ClipRange) -> ClipCorner {
    match (ratio > 1.0 + clip.high, ratio < 1.0 - clip.low, advantage > 0.0) {
        (true, _, true) => ClipCorner::HighPositive,
        (true, _, false) => ClipCorner::HighNegative,
        (_, true, true) => ClipCorner::LowPositive,
        (_, true, false) => ClipCorner::LowNegative,
        _ => ClipCorner::Inside,
    }
}

fn token(d: &Driver, energy: f64, clip: Option<&ClipRange>, source: &FlaggedSource) -> DriverToken {
    let logged = |v: f32| v.is_finite().then_some(f64::from(v));
    let ratio = logged(d.others[0]).map(|new| (new - f64::from(d.logprob)).exp());
    let shown = source.texts.all_shown(&d.context, d.texts.as_deref());
    let own = d.texts.as_ref().and_then(|texts| texts.get(d.centre)).map(|text| text.to_string());
    DriverToken {
        energy: d.energy,
        energy_share: if energy > 0.0 { d.energy / energy } else { 0.0 },
        norm_source: gradient_source(d.flags).into(),
        step: d.step,
        update: d.update,
        group_id: shown_id(&d.group),
        sample_id: shown_id(&d.sample),
        row: source.rows.row(d.place.0, d.place.1),
        position: i64::from(d.position),
        token_id: (d.token_id != MISSING_ID).then_some(i64::from(d.token_id)),
        token: source.texts.known(d.token_id).map(str::to_owned).or(own),
        logprob: f64::from(d.logprob),
        entropy: f64::from(d.entropy),
        advantage: f64::from(d.advantage),
        ratio,
        corner: ratio.zip(clip).map(|(ratio, clip)| corner(ratio, d.advantage, clip)),
        logprob_rollout: logged(d.others[1]),
        lag: d.lag,
        turn: d.turn.map(i64::from),
        truncated: d.truncated,
        reward: logged(d.reward),
        before: shown.get(..d.centre).unwrap_or_default().to_vec(),
        after: shown.get(d.centre + 1..).unwrap_or_default().to_vec(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use stapo_base::stats::random::Random;

    fn of(energies: &[f64]) -> EnergyTally {
        let mut concentration = EnergyTally::default();
        for block in energies.chunks(64) {
            let largest = block.iter().fold(0.0, |a: f64, b| a.max(*b));
            concentration.add_block(block, largest, true);
            let squares = block.iter().map(|e| e * e).sum();
            concentration.add_response(block.len(), block.iter().sum(), squares);
        }
        concentration
    }

    /// Sorted and added up, as numpy would.
    fn naive(energies: &[f64], tokens: usize) -> f64 {
        let mut sorted = energies.to_vec();
        sorted.sort_by(|a, b| b.total_cmp(a));
        sorted[..tokens].iter().sum::<f64>() / energies.iter().sum::<f64>()
    }

    #[test]
    fn shares_and_effective_number_are_those_of_sorted_energies() {
        let mut random = Random::new(4, 0);
        let shape: Vec<f64> = (0..30_000).map(|_| (2.5 * random.normal()).exp()).collect();
        for scale in [1e-60, 1e-20, 1.0, 1e20, 1e60] {
            let energies: Vec<f64> = shape.iter().map(|e| e * scale).collect();
            let concentration = of(&energies);
            let sum: f64 = energies.iter().sum();
            let squares: f64 = energies.iter().map(|e| (e / sum) * (e / sum)).sum();
            let naive_shares = [1, 10, 3, 30, 300].map(|k| naive(&energies, k));
            for (exact, tolerance) in [(true, 1e-9), (false, 5e-3)] {
                let found = spread(&concentration, exact);
                assert!((found.effective_number.unwrap() * squares - 1.0).abs() < 1e-9, "{scale}");
                let s = found.shares.unwrap();
                let shares = [s.top_1, s.top_10, s.top_0_01_percent, s.top_0_1_percent, s.top_1_percent];
                for (share, naive) in shares.iter().zip(naive_shares) {
                    assert!((share / naive - 1.0).abs() < tolerance, "{share} {naive} at {scale}");
                }
            }
        }
    }

    #[test]
    fn one_token_or_none() {
        let one = spread(&of(&[7.0]), true);
        assert_eq!((one.effective_number, one.shares.unwrap().top_10), (Some(1.0), 1.0));
        let none = spread(&of(&[0.0, 0.0]), true);
        assert_eq!((none.tokens, none.effective_number, none.shares), (2, None, None));
        let equal = spread(&of(&[2.0; 500]), true);
        assert!((equal.effective_number.unwrap() - 500.0).abs() < 1e-9);
    }

    #[test]
    fn corners() {
        let clip = ClipRange { low: 0.2, high: 0.28 };
        assert_eq!(corner(610.0, -1.0, &clip), ClipCorner::HighNegative);
        assert_eq!(corner(1.3, 1.0, &clip), ClipCorner::HighPositive);
        assert_eq!(corner(0.7, -1.0, &clip), ClipCorner::LowNegative);
        assert_eq!(corner(0.7, 1.0, &clip), ClipCorner::LowPositive);
        assert_eq!(corner(1.1, 1.0, &clip), ClipCorner::Inside);
    }
}
