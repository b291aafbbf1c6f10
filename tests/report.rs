//! The report from made-up analyses: budget, determinism, hostile texts.
#![allow(clippy::unwrap_used)]

mod report_support;

use report_support::{Spec, synthetic};
use stapo_analyze::report::write_report;

#[test]
fn look() {
    let folder = std::path::PathBuf::from(std::env::var("LOOK").unwrap_or("/tmp/look".into()));
    let big =
        Spec { steps: 200, rare_per_step: 500, candidate_share: 0.5, responses: (24, 4096), hostile: false };
    for (name, analysis) in [
        ("made", synthetic(Spec::default())),
        ("hostile", synthetic(Spec { hostile: true, ..Spec::default() })),
        ("big", synthetic(big)),
        (
            "sample",
            report_support::sample("grpo.parquet", &stapo_analyze::analyze::AnalyzeSettings::default()),
        ),
    ] {
        let started = std::time::Instant::now();
        let files = write_report(&analysis, &folder.join(name)).unwrap();
        let size = std::fs::metadata(&files.html).unwrap().len();
        eprintln!("{name} {:?} {size} {:?}", started.elapsed(), files.missing);
    }
}
