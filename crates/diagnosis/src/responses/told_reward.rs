//! Whether what is logged of responses still says their reward. A scale, a weight or a term that is not logged changes what
//! parts are worth; the reward still follows from the response. A grader that errs gives equal responses this or that.
//!
//! Statistic: the share of the reward within groups (within steps, where there are no siblings) that its parts, length,
//! cuts, entropy and surprisal explain, before a step and from it on. Threshold: above nine tenths before (lower end), below
//! half from there on (upper end, three standard errors each): a term that is not logged and outweighs all others by
//! itself is no small change either.

use super::within_groups::{Feature, MAX_PARTS, OwnedFeature, explained, part};
use stapo_collect::collect::signs::response_facts::{ResponseFact, ResponseFacts};

const NEARLY_ALL: f64 = 0.9;
const HALF: f64 = 0.5;

/// The shares before a step and from it on, where the reward is no longer told from there on.
pub fn lost_from(facts: &ResponseFacts, parts: usize, step: i64) -> Option<[f64; 2]> {
    let owned: Vec<OwnedFeature> = (0..parts.min(MAX_PARTS)).map(part).collect();
    let mut features: Vec<Feature<'_>> = owned.iter().map(AsRef::as_ref).collect();
    features.extend(OF_RESPONSES.iter().map(|of| of as Feature<'_>));
    let of = |late: bool| {
        let units = facts.units().filter(|unit| (unit[0].step >= step) == late);
        explained(units, &|fact| f64::from(fact.reward), &features)
    };
    let (before, after) = (of(false)?, of(true)?);
    (before.lower > NEARLY_ALL && after.upper < HALF).then_some([before.share, after.share])
}

/// What every log has of a response.
pub const OF_RESPONSES: [fn(&ResponseFact) -> f64; 4] = [
    |fact| f64::from(fact.length),
    |fact| f64::from(u8::from(fact.truncated == Some(true))),
    |fact| f64::from(fact.entropy),
    |fact| f64::from(fact.surprisal),
];
