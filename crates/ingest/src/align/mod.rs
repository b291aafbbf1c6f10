//! Where the response lies in a row whose lists have different lengths.

pub mod plan;
pub mod row_alignment;
