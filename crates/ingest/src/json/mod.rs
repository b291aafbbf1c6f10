//! JSON lines of any framework as Arrow batches in nested layout, one row a response.

mod adapters;
mod annotation_files;
mod annotations;
mod arrays;
mod batches;
mod columns;
mod field;
mod lines;
mod list_builder;
mod parse;
mod rows;

pub use annotation_files::read_annotations;
pub use annotations::Annotations;
pub use batches::JsonBatches;
pub use columns::LateField;
