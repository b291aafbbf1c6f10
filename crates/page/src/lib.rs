//! One document of what was found, three renderers: a page, Markdown, a terminal.

pub mod chart;
pub mod hostile;
