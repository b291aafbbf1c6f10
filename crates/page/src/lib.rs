//! One document of what was found, three renderers: a page, Markdown, a terminal.
//!
//! A [`Document`](document::Document) is built from a result and says everything once; renderers decide what fits.

pub mod causes;
pub mod chart;
pub mod document;
mod files;
pub mod hostile;
pub mod html;
pub mod markdown;
mod run;
pub mod terminal;
pub mod told;
pub mod words;

pub use files::{Files, write};
pub use run::{run, run_in_part};
