//! The report from made-up analyses: budget, determinism, hostile texts.
#![allow(clippy::unwrap_used)]

mod report_support;

use report_support::{Spec, synthetic};
use stapo_analyze::report::write_report;

#[test]
fn look() {
    let folder = std::env::var("LOOK").unwrap_or("/tmp/look".into());
    let analysis = synthetic(Spec::default());
    let started = std::time::Instant::now();
    let files = write_report(&analysis, folder.as_ref()).unwrap();
    eprintln!("{:?} {:?}", started.elapsed(), files.missing);
}
