//! Rewards far beyond all others (`collect::signs::outliers`), named so that they can be looked at.

use crate::evidence::evidence;
use crate::patient::Patient;
use crate::words::{measured, percent, short};
use stapo_base::format::counted;
use stapo_collect::collect::signs::outliers::Outlier;
use stapo_result::{SignalName, Warning, WarningCode};

/// Those that are named.
const NAMED: usize = 3;
/// The share above which they are told as one, too.
const FEW: f64 = 0.01;

/// What to say of them, the reward first.
pub fn warning(patient: &Patient<'_>) -> Option<Warning> {
    let all = &patient.signs.facts.outliers;
    let part = all.first()?.part;
    let far: Vec<&Outlier> = all.iter().filter(|outlier| outlier.part == part).collect();
    let signal = part.map_or(SignalName::Reward, |part| SignalName::part(&patient.plan.reward_parts[part]));
    let hashes: Vec<u64> = far.iter().take(NAMED).map(|outlier| outlier.group).collect();
    let names = patient.names_of(&hashes);
    let named = |outlier: &&Outlier| {
        let group = names.get(&outlier.group).map(|name| format!(", group {}", short(name)));
        let [value, counts_as] = [outlier.value, outlier.counts_as].map(|value| measured(value.into(), 2));
        format!("{value} at step {}{} (counts as {counts_as})", outlier.step, group.unwrap_or_default())
    };
    // A few are counted, many are a share.
    let of_all = far.len() as f64 / patient.signs.facts.responses.len().max(1) as f64;
    let share = if of_all > FEW { format!(" ({})", percent(of_all)) } else { String::new() };
    let told: Vec<String> = far.iter().take(NAMED).map(named).collect();
    Some(Warning {
        code: WarningCode::FarRewards,
        message: format!(
            "{}{share} of {signal} far beyond all others, bounded in what is judged so that the others count: {}",
            counted(far.len() as u64, "value", "values"),
            told.join(", ")
        ),
        hint: "see what the reward function gave there: an error code, a sum that was not divided, or a bonus without a \
               bound; advantages and the means of steps have it as it was logged"
            .into(),
        evidence: far
            .iter()
            .take(NAMED)
            .map(|outlier| evidence(Some(outlier.step), signal.as_str(), outlier.value.into()))
            .collect(),
    })
}
