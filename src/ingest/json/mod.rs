//! JSON lines of any framework as Arrow batches in nested layout, one row a response.

mod adapters;
mod annotations;
mod arrays;
mod batches;
mod field;
mod lines;
mod non_finite;
mod parse;
mod rows;

pub use annotations::Annotations;
pub use batches::{JsonBatches, LateField};
pub use non_finite::to_null as non_finite_to_null;
