//! A response with what is known of it.

use std::cmp::Ordering;

use super::gaps::GapSums;
use super::opening::Opening;
use crate::collect::sample::Sampled;

/// One response.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ResponseFact {
    /// Hash of step and group: groups are kept whole or not at all.
    pub hash: u32,
    /// Step.
    pub step: i64,
    /// The group inside the step; made of the response where it is not logged.
    pub group: u64,
    /// Whether its group is not logged: it has no siblings, not even its exact copy.
    pub alone: bool,
    /// Hash of ids and first values of the response: an order that does not depend on files.
    pub order: u64,
    /// Hash of its own id in the group; 0 where not logged.
    pub sample: u64,
    /// Reward; NaN where not logged.
    pub reward: f32,
    /// Mean advantage of the trained tokens.
    pub advantage: f32,
    /// The largest |A| of a token.
    pub largest: f32,
    /// Whether a token has A > 0, and whether one has A < 0.
    pub signs: [bool; 2],
    /// Trained tokens.
    pub length: u32,
    /// Trained tokens of its longest turn.
    pub longest_turn: u32,
    /// Whether it was cut, where logged.
    pub truncated: Option<bool>,
    /// Mean entropy.
    pub entropy: f32,
    /// Mean of −ln p.
    pub surprisal: f32,
    /// Σ (ln p − ln p_ref) of the trained tokens; NaN where not logged.
    pub distance: f32,
    /// Hash of all its tokens, observations too: equal for equal texts.
    pub text: u64,
    /// How it opens, where ids are logged and it goes on.
    pub opening: Option<Opening>,
    /// Hash of its last tokens: equal for equal endings, where the answer mostly stands.
    pub ending: u64,
    /// The id of its last token, where that one alone is left out of training at its end.
    pub left_out_end: Option<i32>,
    /// Hash of the prompt; 0 where it is not logged with this response.
    pub prompt: u64,
    /// Tokens of the prompt, characters where it is logged as a text; 0 where it is not logged with this response.
    pub prompt_length: u32,
    /// Whether it is right, where the user said what right is.
    pub right: Option<bool>,
    /// Gradient energy.
    pub energy: f64,
    /// How old the sampler's weights are, where logged: see [`ResponseFacts::ages_are_steps`].
    pub lag: Option<i64>,
    /// Parts of the reward in the order of the plan; NaN where not logged.
    pub parts: Box<[f32]>,
    /// Sampler against trainer, where logged.
    pub gap: Option<Box<GapSums>>,
}

impl Sampled for ResponseFact {
    type Leading = (i64, u64, u64);

    fn hash(&self) -> u32 {
        self.hash
    }

    fn leading(&self) -> (i64, u64, u64) {
        (self.step, self.group, self.order)
    }

    fn order(&self, other: &Self) -> Ordering {
        let bits = |v: f32| v.to_bits();
        let first = |r: &Self| {
            (bits(r.reward), bits(r.advantage), bits(r.largest), r.length, r.text, bits(r.surprisal))
        };
        let rest = |r: &Self| {
            let ends = (bits(r.distance), r.ending, r.left_out_end, r.opening.map(|opening| opening.bits()));
            (
                bits(r.entropy),
                r.energy.to_bits(),
                r.signs,
                r.truncated,
                r.lag,
                ends,
                (r.prompt, r.prompt_length, r.longest_turn),
                r.right,
            )
        };
        let parts = |r: &Self| r.parts.iter().map(|part| bits(*part)).collect::<Vec<_>>();
        let gap = |r: &Self| r.gap.as_ref().map(|gap| gap.bits());
        self.leading()
            .cmp(&other.leading())
            .then_with(|| first(self).cmp(&first(other)))
            .then_with(|| rest(self).cmp(&rest(other)))
            .then_with(|| parts(self).cmp(&parts(other)))
            .then_with(|| gap(self).cmp(&gap(other)))
    }
}

/// Whether two responses are of one group.
pub fn are_siblings(a: &ResponseFact, b: &ResponseFact) -> bool {
    (a.step, a.group) == (b.step, b.group) && !a.alone
}
