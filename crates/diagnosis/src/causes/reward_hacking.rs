//! The reward rises while a part of it falls.
//! Measured: parts that fell for good (the test of the state), and z of the reward's gain.
//! Null: chance, 1e-3 over all parts, slices and windows; and a gain of three standard errors, below which it is possible.
//! Misses: logs without the parts of the reward.
//! Looks alike: a part that falls with the reward, which is damage; a price that is paid for being right.

use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const ERRORS: f64 = 3.0;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::RewardHacking,
    null: Null::Chance { alpha: 1e-3, looks: 1 },
    needs: &[Need::Column(Column::Reward), Need::Column(Column::Parts)],
    symptoms: &[Symptom::PartsFall, Symptom::Damaged],
    follows: &[Code::UninformativeReward],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    // Whose gain is not beyond its scatter yet, rises all the same while a part of it is lost.
    let gain = measures.outcome.reward_gain_z.filter(|z| *z > 0.0)?;
    let part = measures.outcome.fallen_parts.first()?;
    let lost = (part.before - part.after) / part.before.abs().max(1e-9);
    let why = vec![
        Proof::new(format!("{} before", part.name), part.before, "no fall"),
        Proof::new(format!("{} from then on", part.name), part.after, "no fall"),
        Proof::new("gain of the reward, standard errors", gain, "–"),
    ];
    let sentence = format!(
        "the reward rises while {} falls from {:.3} to {:.3}: the policy gave it up for another part",
        part.name, part.before, part.after
    );
    let finding = Finding::likely(Code::RewardHacking, lost, sentence, why).likely_if(gain > ERRORS);
    Some(finding.from_step(Some(part.step)))
}
