//! Arrow arrays as plain values, whatever type a logger chose.

pub mod arrays;
pub mod boundaries;
pub mod lists;
pub mod texts;
