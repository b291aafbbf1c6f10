//! Small statistics that do not depend on the order of their input.

pub mod correlation;
pub mod exact_sum;
pub mod histogram;
pub mod quantile;
pub mod random;
