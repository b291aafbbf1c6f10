//! Few tokens with a huge ratio and A < 0 carry the energy.
//! Measured: the share of the gradient energy of tokens with A < 0 and π_θ/π_old above 10, the corner that the clip
//! leaves open, beyond every dual clip in use (3 to 10).
//! Null: a level, a half: a majority needs no tuning. In two steps or more it is likely: the first update of a fresh
//! optimizer moves one rare token a thousandfold in healthy runs, too.
//! Misses: weights that the objective bounds in another way.
//! Looks alike: large updates, where the ratios of all tokens are large.

use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const MAJORITY: f64 = 0.5;
/// Below this share of the run's energy they are not worth a line.
const MENTIONED: f64 = 0.1;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::UnboundedRatio,
    null: Null::Level { bound: MAJORITY, why: "they outweigh all other tokens of a step" },
    needs: &[Need::Column(Column::New), Need::Column(Column::Advantage)],
    symptoms: &[Symptom::Damaged, Symptom::NotFinite],
    follows: &[Code::TrainerDisagreesWithItself, Code::AdvantageBlowup, Code::LargeUpdates],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let energies: Vec<(i64, f64, f64)> = measures
        .steps()
        .map(|(step, sums)| (step, sums.far_energy.value(), sums.energy.value()))
        .filter(|(_, _, all)| *all > 0.0)
        .collect();
    let dominated: Vec<i64> =
        energies.iter().filter(|(_, far, all)| *far > MAJORITY * all).map(|(step, _, _)| *step).collect();
    let (far, all) = energies.iter().fold((0.0, 0.0), |(far, all), step| (far + step.1, all + step.2));
    let share = if all > 0.0 { far / all } else { 0.0 };
    if share < MENTIONED && dominated.is_empty() {
        return None;
    }
    let is_likely = dominated.len() > 1 && share > MAJORITY && !measures.agreement().is_broken();
    let why = vec![
        Proof::new("share of the energy, A < 0 and ratio above 10", share, "below 0.1"),
        Proof::new("steps that they dominate", dominated.len() as f64, "at most the first"),
    ];
    let sentence = format!(
        "tokens with A < 0 and a ratio above 10, which the clip leaves open, carry {:.0} % of the gradient energy and \
         outweigh all others in {} of {} steps",
        100.0 * share,
        dominated.len(),
        energies.len()
    );
    let first = || energies.iter().find(|(_, far, _)| *far > 0.0).map(|(step, _, _)| *step);
    Some(
        Finding::likely(Code::UnboundedRatio, share, sentence, why)
            .likely_if(is_likely)
            .from_step(dominated.first().copied().or_else(first)),
    )
}
