//! The main job: every quantity of the framework over a whole run, in one streaming pass.

pub mod result;

pub use result::RunAnalysis;

/// Tokens of context kept on either side of a flagged token.
pub const CONTEXT_TOKENS: usize = 12;
