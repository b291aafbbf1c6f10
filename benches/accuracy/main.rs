//! How often the diagnosis is right: verdicts on labelled runs, false alarms on cuts of healthy ones, rates on simulated
//! runs, what each rule changes when it is switched off. Writes `docs/accuracy.md`, numbers and all.
//!
//!     cargo bench --bench accuracy                                # the logs of this repository
//!     STAPO_DATA=FOLDER cargo bench --bench accuracy              # and those of a folder laid out as notebooks-data
//!     cargo bench --bench accuracy -- 40                          # runs of each simulated family, for a quick look
//!
//! Seeds are fixed and everything is sorted: the same logs give the same page. A quick look is printed, not written.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs
)]

mod ablation;
mod baseline;
mod cuts;
mod labels;
#[allow(dead_code)]
#[path = "../../crates/diagnosis/tests/made/mod.rs"]
mod made;
mod page;
mod pieces;
mod policies;
mod reading;
#[allow(dead_code)]
#[path = "../../crates/diagnosis/tests/simulated/mod.rs"]
mod simulated;
mod simulated_runs;
mod tables;
mod verdicts;

use std::path::{Path, PathBuf};
use std::time::Instant;

/// Runs of each simulated family that the page rests on.
const RUNS: u64 = 400;

fn main() {
    let asked: Option<u64> = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let runs = asked.unwrap_or(RUNS);
    let data = std::env::var_os("STAPO_DATA").map(PathBuf::from);
    let timed = |what: &str, begun: Instant| eprintln!("{what}: {:.0} s", begun.elapsed().as_secs_f64());

    let begun = Instant::now();
    let labelled = verdicts::read(data.as_deref());
    timed("labelled runs", begun);
    let begun = Instant::now();
    let cuts = cuts::read(&labelled);
    timed("cuts of healthy runs", begun);
    let begun = Instant::now();
    let simulated = simulated_runs::draw(runs);
    timed("simulated rewards", begun);
    let begun = Instant::now();
    let policies = policies::draw(runs);
    timed("simulated policies", begun);

    let page = page::page(&page::Measured { labelled, cuts, simulated, policies, runs });
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/accuracy.md");
    match asked {
        Some(_) => println!("{page}"),
        None => std::fs::write(path, page).unwrap(),
    }
}
