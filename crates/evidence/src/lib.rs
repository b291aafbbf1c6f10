//! What the diagnosis is judged by: sums that every response adds to, that merge over shards in any order, and whose
//! size does not grow with the log.

mod hash;
mod logged;
pub mod policies;
mod response;
pub mod rewards;
pub mod series;

pub use hash::mix;
pub use logged::{Column, Logged};
pub use policies::Policies;
pub use response::Response;
pub use rewards::Rewards;

use serde::{Deserialize, Serialize};
use stapo_accumulate::{Accumulate, Max};

/// All that the diagnosis knows of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, Accumulate)]
pub struct Evidence {
    /// Names of the reward's parts; the same in every piece of a log.
    parts: Max<Vec<String>>,
    /// Which columns hold values.
    pub logged: Logged,
    /// What the policies (trainer, sampler, reference) say of one another.
    pub policies: Policies,
    /// What was asked of the run, and what was trained on.
    pub rewards: Rewards,
}

impl Evidence {
    /// Of a log whose reward has these parts.
    #[must_use]
    pub fn new(parts: Vec<String>) -> Self {
        Self { parts: Max(Some(parts)), ..Self::default() }
    }

    /// Names of the reward's parts, in the order of [`Response::parts`].
    #[must_use]
    pub fn parts(&self) -> &[String] {
        self.parts.0.as_deref().unwrap_or_default()
    }

    /// Adds one response.
    pub fn add(&mut self, response: &Response<'_>) {
        self.logged.add(response);
        if !response.held_out {
            self.policies.add(response);
        }
        self.rewards.add(response);
    }
}
