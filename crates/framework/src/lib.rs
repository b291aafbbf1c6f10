//! The token-level mathematics of the analyzer, after arXiv 2602.15620.
//!
//! Everything here works on scalars and slices and knows nothing of files. Notation, for the
//! sampled token k of a position: p = π(k), q = 1 − p, H the entropy of π in nats, A the
//! advantage, w = ρA the policy-gradient weight, C = Σ π², C' and H' the collision probability
//! and the entropy of the other tokens given that k was not drawn.

pub mod batch;
pub mod collision;
pub mod collision_table;
pub mod corrections;
pub mod entropy_change;
pub mod fast_math;
pub mod feasible;
pub mod norm;
pub mod risk;
pub mod rounding;
pub mod rules;
pub mod s2t;
pub mod taxonomy;
pub mod token;
pub mod vocab;

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
mod test_distributions;
