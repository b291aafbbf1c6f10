//! The files of a run: found, opened, understood, and held against each other.

pub mod agreement;
pub mod discover;
pub mod identity;
pub mod mask_meaning;
pub mod one_run;
pub mod opened;
pub mod path_facts;
pub mod placeholders;
pub mod run;
