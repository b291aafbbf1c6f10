//! The same adjusted p-values as statsmodels', intervals that cover.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use stapo_base::stats::bootstrap::{drawn_means, interval};
use stapo_base::stats::holm;
use stapo_base::stats::random::Random;

fn cases() -> Vec<Value> {
    serde_json::from_str(include_str!("data/holm.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn assert_close(found: f64, expected: f64, case: &Value) {
    assert!((found - expected).abs() <= 1e-9 * expected.max(1e-6), "{found}, statsmodels {expected}: {case}");
}

/// Values of benches/holm_cases.py.
#[test]
fn adjusted_p_values_are_those_of_statsmodels() {
    for case in cases() {
        let (found, expected) = (holm::adjusted(&numbers(&case[0])), numbers(&case[1]));
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.into_iter().zip(expected) {
            assert_close(found, expected, &case);
        }
    }
}

/// Of `runs` simulated runs, the share of 90 % intervals of the mean that hold the true one.
fn coverage(steps: usize, groups: usize, runs: u64) -> f64 {
    let mut random = Random::new(11, steps as u64);
    let held = (0..runs).filter(|run| {
        let level = |step| 2.0 - f64::from(step) / steps as f64;
        let of_step = |step| (0..groups).map(|_| level(step) + random.normal()).collect::<Vec<f64>>();
        let values: Vec<Vec<f64>> = (0..u32::try_from(steps).unwrap()).map(of_step).collect();
        let truth = 2.0 - (steps as f64 - 1.0) / (2.0 * steps as f64);
        let [low, high] = interval(&drawn_means(&values, 400, *run), 0.9, steps * groups).unwrap();
        (low..=high).contains(&truth)
    });
    held.count() as f64 / runs as f64
}

#[test]
fn drawn_intervals_cover_what_they_promise() {
    for (steps, groups) in [(1, 30), (3, 20), (11, 16)] {
        let covered = coverage(steps, groups, 1_500);
        assert!((0.87..=0.93).contains(&covered), "{covered} of {steps} steps × {groups} groups");
    }
}

#[test]
fn draws_do_not_depend_on_threads() {
    let mut random = Random::new(1, 0);
    let steps: Vec<Vec<f64>> = (0..9).map(|_| (0..5).map(|_| random.normal()).collect()).collect();
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| drawn_means(&steps, 200, 9))
    };
    assert_eq!(on(1), on(5));
    assert!(on(1) != drawn_means(&steps, 200, 10));
}
