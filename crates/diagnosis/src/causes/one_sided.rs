//! Advantages of one sign.

use super::percent;
use crate::{Code, Examined, Finding, Measures, Proof};

/// Responses with an advantage that tell, about a dozen groups' worth; and groups.
const FEWEST: u64 = 20;
/// Groups that all lack it make up for what rounding leaves of the other sign elsewhere.
const FEWEST_GROUPS: u64 = 12;
/// Groups without the other sign that are mentioned where the run has it: a baseline that is the group's median, as some
/// filters, leaves many such.
const MOST: f64 = 0.5;

/// What is asked of a sign.
pub struct Sign {
    /// Responses that are pushed there, and the other way.
    pub responses: [u64; 2],
    /// Groups that lack the other way, of those whose rewards differ.
    pub lacking: [u64; 2],
    /// Which way responses are pushed, and which way none is.
    pub ways: [&'static str; 2],
    /// What to do.
    pub hint: &'static str,
}

/// Finds advantages of one sign.
pub fn finding(code: Code, sign: &Sign, measures: &Measures<'_>) -> Examined {
    let ([there, other], [lacking, groups]) = (sign.responses, sign.lacking);
    let [pushed, missing] = sign.ways;
    let share = lacking as f64 / groups.max(1) as f64;
    // Where no group's rewards differ, rounding makes the signs.
    let has_groups = measures.advantages().groups > 0;
    let in_all_groups = lacking == groups && groups >= FEWEST_GROUPS;
    let is_whole = in_all_groups || there > 0 && other == 0 && (groups > 0 || !has_groups);
    if !is_whole && (groups < FEWEST || share <= MOST) {
        return None;
    }
    let hint = sign.hint;
    let sentence = if is_whole {
        format!(
            "{there} responses are pushed {pushed}, none is pushed {missing} where rewards differ: {hint}"
        )
    } else {
        format!(
            "in {} of {groups} groups with different rewards none is pushed {missing}: {hint}",
            percent(share)
        )
    };
    let why = vec![
        Proof::new(format!("responses pushed {missing}"), other as f64, "about half"),
        Proof::new(format!("responses pushed {pushed}"), there as f64, "about half"),
        Proof::new(format!("groups with different rewards and none pushed {missing}"), share, "0"),
    ];
    let onset = measures.evidence.rewards.steps.iter().find(|(_, step)| step.advantaged > 0);
    let strength = if is_whole { 1.0 } else { share };
    let finding = Finding::likely(code, strength, sentence, why).likely_if(is_whole && there >= FEWEST);
    Some(finding.from_step(onset.map(|(step, _)| *step)))
}
