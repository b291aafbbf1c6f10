//! What several causes need.

/// Entropies.
pub const ENTROPY: &str = "entropy (of the policy at each token)";
/// Advantages.
pub const ADVANTAGE: &str = "advantage (of each token or response)";
/// What the sampler says of its tokens.
pub const SAMPLER: &str = "logprob_rollout (the sampler's own log-probabilities)";
