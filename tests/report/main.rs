//! Pages and charts, also in a browser.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../shared/folders/mod.rs"]
mod folders;
#[path = "../shared/report_support/mod.rs"]
mod report_support;
#[path = "../shared/support/mod.rs"]
mod support;

mod browser;
mod pages;
