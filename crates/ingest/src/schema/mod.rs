//! What the columns of a log mean: canonical columns, dialects of frameworks, and the mapping of one onto the other.

pub mod alignment;
pub mod conventions;
pub mod dialect;
pub mod mapping;
pub mod matching;
pub mod misfits;
pub mod raw_field;
pub mod resolve;
pub mod user_map;
