//! How far trainer and sampler are apart at tokens that the sampler drew. Where observations are trained, frameworks fill
//! the sampler's values with zeros: the gap of all tokens is that of the fills then, and no gap of two engines.

use std::collections::BTreeMap;

use stapo_collect::collect::signs::response_facts::ResponseFacts;

/// Tokens and Σ k3 (ratios cut at 10) by step.
pub struct DrawnGap(BTreeMap<i64, [f64; 2]>);

impl DrawnGap {
    /// Of the kept responses, fills left out.
    pub fn of(facts: &ResponseFacts) -> Self {
        let mut steps: BTreeMap<i64, [f64; 2]> = BTreeMap::new();
        for (step, gap) in facts.responses.iter().filter_map(|fact| Some((fact.step, fact.gap.as_ref()?))) {
            let [tokens, k3] = steps.entry(step).or_default();
            *tokens += gap.tokens;
            *k3 += gap.bounded_k3;
        }
        Self(steps)
    }

    /// Whether the gap of a step is known to be within a bound.
    pub fn is_within(&self, step: i64, bound: f64) -> bool {
        self.0.get(&step).is_some_and(|[tokens, k3]| *tokens > 0.0 && k3 / tokens <= bound)
    }
}
