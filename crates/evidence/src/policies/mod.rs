//! What the policies that a log holds say of one another, token by token: the trainer's before the step (π_old) and at
//! the loss (π_θ), the sampler's (μ), the reference's.

use crate::Response;
use serde::{Deserialize, Serialize};
use stapo_accumulate::Accumulate;

/// Sums over trained tokens.
#[derive(Clone, Debug, Default, Serialize, Deserialize, Accumulate)]
pub struct Policies {}

impl Policies {
    pub(crate) fn add(&mut self, _response: &Response<'_>) {}
}
