//! Which columns of the log hold values: what a cause needs and does not find is not checked.

use crate::Response;
use serde::{Deserialize, Serialize};
use stapo_accumulate::{Accumulate, Max, Min};

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident = $text:literal: $present:expr;)*) => {
        /// A column of the log, or what stands for one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Column { $($(#[$doc])* $name,)* }

        impl Column {
            const PRESENT: &'static [(Self, fn(&Response<'_>) -> bool)] = &[$((Self::$name, $present),)*];

            /// Its name in a log.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

fn any_finite(values: Option<&[f32]>) -> bool {
    values.is_some_and(|values| values.iter().any(|value| value.is_finite()))
}

columns! {
    /// ln π_old.
    Logprob = "logprob": |r| any_finite(Some(r.logprob));
    /// H of π_old.
    Entropy = "entropy": |r| any_finite(r.entropy);
    /// ln μ.
    Rollout = "logprob_rollout": |r| any_finite(r.rollout);
    /// ln π_θ.
    New = "logprob_new": |r| any_finite(r.new);
    /// ln π_ref.
    Reference = "logprob_ref": |r| any_finite(r.reference);
    /// The advantage, of tokens or of responses.
    Advantage = "advantage": |r| any_finite(r.advantages) || r.advantage.is_some_and(f32::is_finite);
    /// Advantages of tokens.
    TokenAdvantage = "advantage, one a token": |r| any_finite(r.advantages);
    /// Importance weights.
    IsWeight = "is_weight": |r| any_finite(r.is_weight);
    /// Gradient norms.
    GradNorm = "grad_norm": |r| any_finite(r.grad_norm);
    /// Ids of the tokens.
    Tokens = "token_ids": |r| r.tokens.is_some_and(|ids| ids.iter().any(|id| *id != i32::MIN));
    /// What is trained on.
    Mask = "mask": |r| r.mask.is_some();
    /// Turns.
    Turns = "turn": |r| r.turns.is_some();
    /// The final reward.
    Reward = "reward": |r| r.reward.is_finite();
    /// Parts of the reward.
    Parts = "reward/…": |r| r.parts.iter().any(|part| part.is_finite());
    /// The mini-batch of the step.
    Update = "update": |r| r.update.is_some();
    /// The version of the sampler's weights.
    Version = "policy_version": |r| r.version.is_some();
    /// The prompt.
    Prompt = "prompt_ids": |r| r.prompt.is_some();
    /// Length of the prompt.
    PromptLength = "prompt_ids or prompt_length": |r| r.prompt_len.is_some();
    /// Why generation ended.
    Finish = "finish_reason": |r| r.finish.is_some();
    /// Whether the response was cut.
    Truncated = "truncated": |r| r.truncated.is_some();
    /// Rows of an evaluation.
    HeldOut = "split": |r| r.held_out;
}

/// What was seen of the log as a whole.
#[derive(Clone, Debug, Default, Serialize, Deserialize, Accumulate)]
pub struct Logged {
    responses: u64,
    columns: [bool; Column::PRESENT.len()],
    first_step: Min<i64>,
    last_step: Max<i64>,
    updates: Max<i64>,
}

impl Logged {
    pub(crate) fn add(&mut self, response: &Response<'_>) {
        self.responses += 1;
        for (seen, (_, present)) in self.columns.iter_mut().zip(Column::PRESENT) {
            *seen = *seen || present(response);
        }
        self.first_step.add(response.step);
        self.last_step.add(response.step);
        response.update.into_iter().for_each(|update| self.updates.add(update));
    }

    /// Whether any response has a value there.
    #[must_use]
    pub fn has(&self, column: Column) -> bool {
        self.columns[column as usize]
    }

    /// Number of responses.
    #[must_use]
    pub fn responses(&self) -> u64 {
        self.responses
    }

    /// First and last step.
    #[must_use]
    pub fn steps(&self) -> Option<(i64, i64)> {
        self.first_step.0.zip(self.last_step.0)
    }

    /// The last mini-batch of a step; 0 where a step is one.
    #[must_use]
    pub fn last_update(&self) -> i64 {
        self.updates.0.unwrap_or(0)
    }
}
