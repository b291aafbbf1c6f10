//! Nothing that is logged of a response explains its reward.
//! Measured: the share of the reward's squares within groups that its parts remove, slice by slice (measure::asked); and
//! equal siblings whose rewards differ (measure::copies).
//! Null: a level: below 0.05 where another slice has above 0.95, or in the whole run, where one of the parts is named as a
//! goal and 20 groups tell; for equal siblings five of twenty or more, a twentieth of them.
//! Misses: a reward that errs for some responses only; logs without parts and without equal siblings.
//! Looks alike: parts that are logged beside the reward and are none of it; a slice whose parts are not logged; failures that are
//! rewarded with 0.

use super::percent;
use crate::measure::asked::Explained;
use crate::measure::right::is_goal;
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const NOTHING: f64 = 0.05;
const ALL: f64 = 0.95;
/// Groups whose rewards differ, for a statement on the whole run.
const GROUPS: u64 = 20;
/// Of these, those in which a part differs.
const TOLD: u64 = 4;
const EQUAL: u64 = 20;
const UNEQUAL: u64 = 5;
const SHARE: f64 = 0.05;
/// z of a reward that rises: one-sided 0.1 %.
const RISES: f64 = 3.1;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::UninformativeReward,
    null: Null::Level { bound: NOTHING, why: "a coin has 0.002 to 0.005, what its parts make above 0.95" },
    needs: &[Need::Column(Column::Reward)],
    symptoms: &[Symptom::NotLearning, Symptom::Damaged],
    follows: &[Code::FailuresTrained],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    of_slice(measures).or_else(|| of_run(measures)).or_else(|| of_equals(measures))
}

fn best(explained: &[Explained]) -> f64 {
    explained.iter().map(|slice| slice.share).fold(0.0, f64::max)
}

fn of_slice(measures: &Measures<'_>) -> Examined {
    let explained = measures.explained();
    let least =
        explained.iter().filter(|slice| slice.told >= TOLD).min_by(|a, b| a.share.total_cmp(&b.share))?;
    if least.share >= NOTHING || best(explained) <= ALL {
        return None;
    }
    let name = measures.evidence.rewards.slices.get(least.slice).unwrap_or_default();
    let why = vec![
        Proof::new("R² of the reward on its parts", least.share, "above 0.95"),
        Proof::new("the same in another slice", best(explained), "above 0.95"),
        Proof::new("groups whose rewards differ", least.groups as f64, "–"),
    ];
    let sentence = format!(
        "the reward of {name} does not follow its parts (R² {:.3} within {} groups; {:.2} elsewhere): it is chance",
        least.share,
        least.groups,
        best(explained)
    );
    let groups: u64 = explained.iter().map(|slice| slice.groups).sum();
    let strength = least.groups as f64 / groups.max(1) as f64;
    let finding = Finding::likely(Code::UninformativeReward, strength, sentence, why);
    Some(finding.from_step(Some(least.from)).in_slice(name))
}

fn of_run(measures: &Measures<'_>) -> Examined {
    let explained = measures.explained();
    let groups: u64 = explained.iter().map(|slice| slice.groups).sum();
    let has_goal = measures.evidence.parts().iter().any(|name| is_goal(name));
    let told: u64 = explained.iter().map(|slice| slice.told).sum();
    // What is learned is no chance, whatever it is made of.
    let rises = measures.outcome.reward_gain_z.is_none_or(|z| z > RISES);
    let by_others = explained.iter().map(|slice| slice.by_others).fold(0.0, f64::max);
    let share = if rises { best(explained) } else { by_others };
    if groups < GROUPS || told < TOLD || !has_goal || share >= NOTHING {
        return None;
    }
    let why = vec![
        Proof::new("R² of the reward on its parts", share, "above 0.95"),
        Proof::new("groups whose rewards differ", groups as f64, "–"),
    ];
    let sentence = format!(
        "the reward does not follow any of its parts (R² {:.3} within {groups} groups): read some responses with their \
         rewards",
        share
    );
    let from = explained.iter().map(|slice| slice.from).min();
    Some(Finding::likely(Code::UninformativeReward, 1.0, sentence, why).from_step(from))
}

fn of_equals(measures: &Measures<'_>) -> Examined {
    let equal = measures.equal_responses();
    let share = equal.unequal as f64 / equal.all.max(1) as f64;
    if !measures.knows_siblings() || equal.all < EQUAL || equal.unequal < UNEQUAL || share <= SHARE {
        return None;
    }
    let why = vec![
        Proof::new("equal responses with unequal rewards", share, "0"),
        Proof::new("responses that stand twice in their group", equal.all as f64, "–"),
    ];
    let sentence = format!(
        "{} of {} responses that stand twice in their group, token by token, are rewarded differently ({}): the reward is of \
         something else than the response",
        equal.unequal,
        equal.all,
        percent(share)
    );
    Some(Finding::likely(Code::UninformativeReward, share, sentence, why).from_step(equal.from))
}
