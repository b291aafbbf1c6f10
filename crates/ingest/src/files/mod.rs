//! The files of a run: found, opened, understood, and held against each other.

pub mod agreement;
pub mod annotated;
mod complete;
pub mod container;
pub mod discover;
#[cfg(feature = "cloud")]
pub mod listing;
mod map_columns;
pub mod mask_meaning;
pub mod one_run;
mod open_all;
pub mod opened;
pub mod path_facts;
pub mod placeholders;
pub mod run;
pub mod settings;
pub mod tree;
