//! Halves of one run do not differ: how often the test of two runs says otherwise, at δ = 0. Beyond δ even a broken error
//! would pass.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use stapo_base::stats::random::Random;
use stapo_levels::{Metric, Settings, Verdict, Window, compare_runs};
use support::{false_differences, real_runs};

/// Splits of each run. The long form, `cargo bench -p stapo-levels`, makes 800.
const SPLITS: u64 = 40;

#[test]
fn halves_of_one_run_seldom_differ() {
    let runs = real_runs();
    let counts: Vec<u64> = runs.values().map(|run| false_differences(run, SPLITS)).collect();
    let (all, pooled) = (runs.len() as u64 * SPLITS, counts.iter().sum::<u64>());
    assert!(pooled * 20 <= all, "{pooled} of {all}");
    // Seeds are fixed, so any other count is another estimator.
    assert_eq!((all, pooled, counts.iter().max()), (1_040, 39, Some(&5)), "{counts:?}");
}

/// 0.73 against 0.11 is found at both windows, and still with eight of 32 groups a step; then its interval is wider.
#[test]
fn a_collapse_is_found() {
    let runs = real_runs();
    let [healthy, collapsed] = ["healthy", "sampler_4bit_diverges"].map(|name| &runs[name]);
    let reward = |level: &stapo_levels::RunsLevel, window| {
        level.rows.iter().find(|row| (row.metric, row.window) == (Metric::Reward, window)).cloned().unwrap()
    };
    let all = compare_runs(healthy, collapsed, &Settings::default());
    let thinned = [healthy, collapsed].map(|run| support::thinned(run, 8, &mut Random::new(1, 0)));
    let few = compare_runs(&thinned[0], &thinned[1], &Settings::default());
    for level in [&all, &few] {
        for window in Window::ALL {
            assert_eq!(reward(level, window).verdict, Verdict::Differs, "{window}");
        }
    }
    let half = |level| reward(level, Window::Level).half.unwrap();
    assert!((half(&all) - 0.035).abs() < 0.002, "{}", half(&all));
    assert!(half(&few) > 1.5 * half(&all) && half(&few) < 3.0 * half(&all), "{}", half(&few));
}
