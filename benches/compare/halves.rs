//! How often two halves of one real run are said to differ, at δ = 0: 800 splits of each run. The level of all eight tests
//! together is 5 %; pooled it was 3.9 %, in the worst run 6.0 %. Fails above 5 % pooled or 8 %
//! in a run.
//!
//!     cargo bench -p stapo-levels --bench halves
//!     cargo bench -p stapo-levels --bench halves -- 200      # splits of each
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

#[path = "../../crates/levels/tests/support/mod.rs"]
mod support;

use support::{false_differences, real_runs};

fn main() {
    let splits = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(800);
    let runs = real_runs();
    println!("| run | false of {splits} |\n|---|---|");
    let mut all = 0;
    let mut worst = 0;
    for (name, run) in &runs {
        let count = false_differences(run, splits);
        println!("| {name} | {:.1} % |", 100.0 * count as f64 / splits as f64);
        (all, worst) = (all + count, worst.max(count));
    }
    let share = |count: u64, of: u64| 100.0 * count as f64 / of as f64;
    println!(
        "pooled {:.2} %, worst run {:.1} %",
        share(all, splits * runs.len() as u64),
        share(worst, splits)
    );
    // Shares of fewer splits are noise.
    if splits >= 800 {
        assert!(all * 20 <= splits * runs.len() as u64, "more than 5 % pooled");
        assert!(worst * 100 <= 8 * splits, "more than 8 % in a run");
    }
}
