//! Rows of any layout as batches of whole responses in canonical columns, every value checked.

pub mod ends;
pub mod long;
pub mod nested;
pub mod quality;
pub mod responses;
pub mod sanitize;
pub mod token_rewards;
pub mod tokens;
