//! The control: as many tokens as S2T silences in this mini-batch, drawn by chance.

use serde::{Deserialize, Serialize};

use super::clipped::{Clip, base};
use super::masks::S2tMask;
use super::{MiniBatch, Objective, Weighed};
use stapo_base::stats::random::draw;
use stapo_framework::rules::Rule;
use stapo_framework::s2t::S2tSettings;

/// Tokens that the control draws from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RandomFrom {
    /// All trained tokens.
    #[default]
    All,
    /// Trained tokens with A > 0.
    Positive,
    /// A > 0 and p < τ_p.
    Candidates,
}

/// As many tokens as S2T silences in this mini-batch, drawn by chance.
pub struct RandomMask {
    /// Clipping.
    pub clip: Clip,
    /// Defines how many.
    pub s2t: S2tSettings,
    /// Defines out of which.
    pub from: RandomFrom,
}

impl Objective for RandomMask {
    fn rule(&self) -> Rule {
        Rule::Random
    }

    fn describe(&self) -> String {
        let from = match self.from {
            RandomFrom::All => "trained tokens",
            RandomFrom::Positive => "tokens with A > 0",
            RandomFrom::Candidates => "candidates",
        };
        format!("dapo without as many random {from} as S2T silences")
    }

    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed {
        let mask = S2tMask::of(batch, &self.s2t);
        let mut tokens: Vec<usize> = match self.from {
            RandomFrom::All => batch.trained_tokens().collect(),
            RandomFrom::Positive => batch.trained_tokens().filter(|t| batch.advantage[*t] > 0.0).collect(),
            RandomFrom::Candidates => mask.candidates.clone(),
        };
        let count = mask.silenced.len().min(tokens.len());
        draw(batch.seed, &mut tokens, count);
        let mut weighed = base(batch, self.clip).without(&tokens[..count]);
        weighed.counts = mask.counts(count);
        weighed
    }

    fn is_random(&self) -> bool {
        true
    }
}
