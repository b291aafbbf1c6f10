//! Prompts in the training mask: all responses of a group open with the same tokens, which nobody drew twice.
//!
//! Statistic: groups whose responses, equal ones counted once, all open with the same eight trained tokens. Those groups are
//! looked at in which chance, by the probabilities of these tokens (the trainer's or the sampler's, whichever are
//! larger), would do so in 1 of 1,000,000: a policy that always begins with the same words is certain of them.
//! Threshold: nine tenths of these groups, half of them at the lower end (99.9 %), over the run or on one side of a step.
//! Likely where the tokens surprise the policy by half a nat beyond its entropy (five standard errors): it did not
//! write them. Else possible: it may have begun an answer that all siblings go on with, or a prompt may be as likely
//! as what it writes itself.

use std::collections::BTreeSet;

use super::excess::Excess;
use crate::causes::shared::lasting::Counts;
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::words::percent;
use stapo_collect::collect::signs::opening::{OPENING, Opening};
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence};

/// Groups in which chance does it.
const BY_CHANCE: f64 = 1e-6;
const NEARLY_ALL: f64 = 0.9;
const HALF: f64 = 0.5;

const HINT: &str = "take the prompt out of the training mask, and the beginning of an answer that was written for the policy";

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Option<Finding> {
    let mut same = Counts::default();
    patient.groups().for_each(|group| {
        if let Some(openings) = told_apart(group) {
            same.add(group[0].step, are_one(&openings));
        }
    });
    let share = same.share(HALF).filter(|share| share.value() >= NEARLY_ALL && share.lower() > HALF)?;
    let shared = share.side.units(patient).filter_map(told_apart).filter(|openings| are_one(openings));
    let each: Vec<[f64; 2]> = shared.flatten().map(|opening| [1.0, f64::from(opening.excess)]).collect();
    let excess = Excess::of(each.into_iter(), 0.0);
    let is_foreign = excess.is_large && !patient.plan.stand_in.entropy;
    let surprise = match is_foreign {
        true => format!(
            "; they surprise the policy by {:.1} nats beyond its entropy: it did not write them",
            excess.mean
        ),
        false => String::new(),
    };
    let mut evidence =
        share.evidence("share of groups that open with the same tokens", "in which chance would not do it");
    evidence.push(number("surprisal of these tokens beyond entropy, nats", excess.mean));
    Some(
        found(
            CauseCode::ObservationTrained,
            if is_foreign { Confidence::Likely } else { Confidence::Possible },
            Some(share.from_step),
            format!(
                "{}all responses of a group open with the same {OPENING} trained tokens in {} of the groups ({} of {}), which \
                 chance, by the probabilities of these tokens, gives in 1 of 1,000,000{surprise}",
                share.side.opens(),
                percent(share.value()),
                share.hits,
                share.tries
            ),
            HINT,
            evidence,
        )
        .before(share.side.end()),
    )
}

/// The openings of different responses of a group, where chance would not make them one.
fn told_apart(group: &[ResponseFact]) -> Option<Vec<Opening>> {
    let mut texts = BTreeSet::new();
    let others = group.iter().filter(|fact| texts.insert(fact.text));
    let openings: Vec<Opening> = others.filter_map(|fact| fact.opening).collect();
    let likeliest =
        openings.iter().map(|opening| f64::from(opening.logprob)).fold(f64::NEG_INFINITY, f64::max);
    let siblings = openings.len().checked_sub(1)? as f64;
    (siblings * likeliest < BY_CHANCE.ln()).then_some(openings)
}

fn are_one(openings: &[Opening]) -> bool {
    openings.iter().all(|opening| opening.ids == openings[0].ids)
}
