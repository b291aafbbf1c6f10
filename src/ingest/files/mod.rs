//! The files of a run: found, opened, understood, and held against each other.

pub mod agreement;
pub mod annotated;
mod complete;
pub mod container;
pub mod discover;
pub mod identity;
#[cfg(feature = "cloud")]
pub mod listing;
pub mod mask_meaning;
pub mod one_run;
pub mod opened;
pub mod path_facts;
pub mod placeholders;
pub mod planned;
pub mod ranges;
#[cfg(feature = "cloud")]
mod remote;
pub mod run;
pub mod settings;
pub mod stored;
#[cfg(feature = "cloud")]
mod stretches;
pub mod tree;
