//! Responses of a step with the same parts of the reward.

use stapo_collect::collect::signs::response_facts::ResponseFact;

/// A step, and the parts of a response there.
pub type Alike = (i64, Vec<u32>);

/// Step and parts of a response whose reward and parts are known.
pub fn alike(fact: &ResponseFact, parts: usize) -> Option<Alike> {
    let values = fact.parts.get(..parts)?;
    let is_known = fact.reward.is_finite() && values.iter().all(|value| value.is_finite());
    // No sign before nothing.
    is_known.then(|| (fact.step, values.iter().map(|value| (value + 0.0).to_bits()).collect()))
}
