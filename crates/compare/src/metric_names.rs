//! Names of metrics that are read somewhere; all are in `compare.json`.

/// The mean reward.
pub const REWARD: &str = "reward";
/// What the names of its parts begin with.
pub const REWARD_PART: &str = "reward/";
/// The share of right answers.
pub const PASS_RATE: &str = "pass_rate";
/// The mean entropy.
pub const ENTROPY: &str = "entropy";
/// The mean length of responses.
pub const LENGTH: &str = "length";
/// k3 to the reference.
pub const KL_REFERENCE_K3: &str = "kl_reference_k3";
/// The share of silenced tokens.
pub const SILENCED_RATIO: &str = "silenced_ratio";
/// Their share of the gradient energy.
pub const SPURIOUS_ENERGY_SHARE: &str = "spurious_energy_share";
