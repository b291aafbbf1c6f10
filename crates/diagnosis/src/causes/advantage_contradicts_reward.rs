//! The advantage does not rise with the reward.
//! Measured: groups with a negative covariance of reward and advantage, of the groups in which both vary, slice by slice.
//! Null: none: any baseline and any positive scale leave it positive. A level of a tenth, and four groups, for terms in the
//! reward that are not logged.
//! Misses: rewards that are of the wrong sign themselves.
//! Looks alike: a baseline over other groups, whose means are 0 there; a critic.

use crate::measure::advantages::Falling;
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const LEVEL: f64 = 0.1;
const FEWEST: u64 = 4;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::AdvantageContradictsReward,
    null: Null::Identity { rounding: 1e-9 },
    needs: &[Need::Column(Column::Advantage), Need::Column(Column::Reward)],
    symptoms: &[Symptom::NotLearning, Symptom::Damaged],
    follows: &[],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let advantages = measures.advantages();
    if advantages.are_of_tokens || advantages.show_wrong_groups() {
        return None;
    }
    let share = |slice: &Falling| slice.hits as f64 / slice.tries.max(1) as f64;
    let found = advantages.falling.iter().filter(|slice| slice.hits >= FEWEST && share(slice) > LEVEL);
    let worst = found.max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let name = measures.evidence.rewards.slices.get(worst.slice).unwrap_or_default();
    let place = if name.is_empty() { String::new() } else { format!(" of {name}") };
    let why = vec![
        Proof::new("contradicting", share(worst), "0"),
        Proof::new("groups in which reward and advantage vary", worst.tries as f64, "–"),
    ];
    let sentence = format!(
        "in {} of {} groups{place} the better responses have the lower advantage: the update pushes against the reward",
        worst.hits, worst.tries
    );
    let finding = Finding::likely(Code::AdvantageContradictsReward, share(worst), sentence, why);
    let finding = finding.from_step(Some(worst.from));
    Some(if name.is_empty() { finding } else { finding.in_slice(name) })
}
