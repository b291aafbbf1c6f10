//! Statistics: sums that do not depend on the order of their input, and the tests,
//! effect sizes and intervals of comparisons.

pub mod bootstrap;
pub mod correlation;
pub mod effect;
pub mod fixed_point;
pub mod holm;
pub mod log_sum;
pub mod neighbours;
pub mod quantile;
pub mod random;
pub mod ratio_of_sums;
pub mod sustained;
pub mod welch;
pub mod wide_sum;

pub use stapo_accumulate::exact_sum;
