//! Groups without a difference, or without a right answer, have advantages.
//! Measured: groups whose rewards are equal and whose advantages differ between siblings, of those with an advantage, where
//! equal rewards elsewhere have equal advantages (measure::right); and groups without a right answer, of those whose rewards
//! differ.
//! Null: none for equal rewards; a level of a twentieth for a term that is not logged, and half of the usual |A|. Groups
//! without a right answer are only possible: partial credit is often meant.
//! Misses: a term of the reward that is not logged and small.
//! Looks alike: a critic, or prices of tokens, which tell equal rewards apart in all groups.

use super::percent;
use crate::measure::right::Rests;
use crate::{Cause, Code, Confidence, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const LEVEL: f64 = 0.05;
/// Groups that tell, and pairs of equal rewards.
const GROUPS: u64 = 20;
const PAIRS: u64 = 20;
const NEARLY_ALL: f64 = 0.95;
const HALF: f64 = 0.5;
/// Where at most one group in ten teaches what is right.
const MOST: f64 = 0.9;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::PhantomAdvantage,
    null: Null::Level { bound: LEVEL, why: "equal rewards give equal advantages, whatever the baseline" },
    needs: &[Need::Column(Column::Advantage), Need::Column(Column::Reward)],
    symptoms: &[Symptom::NotLearning],
    follows: &[Code::UninformativeReward, Code::WrongGroups, Code::FailuresTrained],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    if measures.advantages().are_of_tokens {
        return None;
    }
    let rests = measures.rests();
    without_difference(rests).or_else(|| without_right_answer(rests))
}

fn without_difference(rests: &Rests) -> Examined {
    let share = rests.on_nothing as f64 / rests.advantaged.max(1) as f64;
    let [pairs, equal] = rests.equal_pairs;
    let is_told = pairs >= PAIRS && equal as f64 >= NEARLY_ALL * pairs as f64;
    if !is_told || rests.advantaged < GROUPS || share <= LEVEL {
        return None;
    }
    let why = vec![
        Proof::new("groups with equal rewards and different advantages", share, "0"),
        Proof::new("mean |A| there, over that elsewhere", rests.size, "0"),
    ];
    let sentence = format!(
        "in {} of the groups with an advantage all rewards are equal, yet siblings are told apart: look at how advantages are \
         made where a deviation is 0",
        percent(share)
    );
    Some(
        Finding::likely(Code::PhantomAdvantage, share, sentence, why)
            .likely_if(rests.size > HALF)
            .from_step(rests.on_nothing_from),
    )
}

fn without_right_answer(rests: &Rests) -> Examined {
    let [all, without] = rests.answered;
    let share = without as f64 / all.max(1) as f64;
    if all < GROUPS || share <= MOST {
        return None;
    }
    let why = vec![Proof::new("groups with an advantage and no right answer", share, "below 0.9")];
    let sentence = format!(
        "{} of the groups with an advantage have no right answer: the policy is taught by the other parts of the reward alone",
        percent(share)
    );
    let finding = Finding::likely(Code::PhantomAdvantage, share, sentence, why);
    Some(finding.with(Confidence::Possible).from_step(rests.unanswered_from))
}
