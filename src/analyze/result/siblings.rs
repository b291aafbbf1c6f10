//! What siblings, the responses to one prompt at one step, tell together.

use schemars::JsonSchema;
use serde::Serialize;

/// Pushes of siblings on the same token against each other: w(1 − p) summed by group and token id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Cancellation {
    /// Σ |w|(1 − p).
    pub gross: f64,
    /// Σ over groups and ids of |Σ w(1 − p)|.
    pub net: f64,
    /// 1 − net/gross; absent where nothing pushes.
    pub cancelled_share: Option<f64>,
    /// The same of the ids that are spurious somewhere in the group; null where none is.
    pub spurious_cancelled_share: Option<f64>,
    /// Groups that were looked at.
    pub groups: u64,
    /// Whether these are all; else sums are scaled up from a random part of the groups.
    pub exact: bool,
    /// The ids with the largest net push over the groups.
    pub top: Vec<PushedToken>,
}

/// A token id and how it is pushed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct PushedToken {
    /// Token id.
    pub token_id: i64,
    /// Its text, where known.
    pub token: Option<String>,
    /// Occurrences with w ≠ 0.
    pub tokens: u64,
    /// Groups in which it has one.
    pub groups: u64,
    /// Σ w(1 − p), with its sign.
    pub push: f64,
    /// Σ |w|(1 − p).
    pub gross: f64,
    /// Σ over groups of |Σ w(1 − p)|.
    pub net: f64,
}

/// Places where siblings that agreed so far go on differently.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Forks {
    /// Prefixes that two or more siblings share and that have two or more next ids.
    pub forks: u64,
    /// Of these, with at least two responses in every branch.
    pub all_branches_twice: u64,
    /// Groups that were looked at.
    pub groups: u64,
    /// Whether these are all; else counts are scaled up from a random part of the groups.
    pub exact: bool,
    /// Mean entropy at forks.
    pub entropy_at_forks: Option<f64>,
    /// Mean entropy of all other tokens of these groups.
    pub entropy_elsewhere: Option<f64>,
    /// Spurious tokens that begin a branch; absent where entropy is not logged.
    pub spurious: Option<SpuriousForks>,
    /// The forks whose branches differ most in reward.
    pub top: Vec<Fork>,
}

/// Branches that begin with a spurious token against the other branches of their forks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SpuriousForks {
    /// Forks with such a branch and with rewards on both sides.
    pub forks: u64,
    /// Mean over forks of the branch's mean reward minus that of the other responses.
    pub reward_difference: Option<f64>,
    /// Its 95 % interval by Student's t over forks; absent with fewer than 5.
    pub interval: Option<[f64; 2]>,
}

/// One fork.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Fork {
    /// Step.
    pub step: i64,
    /// Group.
    pub group_id: String,
    /// Tokens that the siblings share before it.
    pub position: u64,
    /// Mean entropy there.
    pub entropy: Option<f64>,
    /// Its branches, the best reward first.
    pub branches: Vec<Branch>,
    /// Best minus worst mean reward.
    pub reward_difference: Option<f64>,
    /// Welch's 95 % interval of it, where every branch has two responses.
    pub interval: Option<[f64; 2]>,
}

/// One branch of a fork.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Branch {
    /// The id it begins with.
    pub token_id: i64,
    /// Its text, where known.
    pub token: Option<String>,
    /// Responses.
    pub responses: u64,
    /// Their mean reward.
    pub mean_reward: Option<f64>,
    /// Whether the token is spurious in one of them; absent where entropy is not logged.
    pub spurious: Option<bool>,
}
