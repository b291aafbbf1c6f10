//! Numbers of real runs against a reference that was written apart (`expect.py`).
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use serde::Deserialize;
use stapo_levels::{
    Arm, Metric, Role, RunGroups, SeedsNeeded, Settings, Verdict, Window, compare_by_bank, compare_methods,
    compare_runs,
};
use support::{arm, real_runs};

#[derive(Deserialize)]
struct Expected {
    pairs: Vec<ExpectedRow>,
    methods: ExpectedMethods,
}

#[derive(Deserialize)]
struct ExpectedRow {
    runs: [String; 2],
    metric: Metric,
    window: Window,
    values: [f64; 2],
    half: f64,
    freedom: f64,
    least: f64,
    verdict: Verdict,
}

#[derive(Deserialize)]
struct ExpectedMethods {
    contrasts: Vec<ExpectedContrast>,
    needed: Vec<SeedsNeeded>,
}

#[derive(Deserialize)]
struct ExpectedContrast {
    metric: Metric,
    window: Window,
    arm: String,
    against: String,
    values: [Vec<f64>; 2],
    interval: [f64; 2],
    p_value: f64,
    freedom: f64,
}

fn expected() -> Expected {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/expected.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn assert_close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{what}: {found} is not {expected}");
}

#[test]
fn two_runs_have_the_numbers_of_the_reference() {
    let runs = real_runs();
    let expected = expected().pairs;
    assert_eq!(expected.len(), 12 * 4 * 2);
    for pair in expected {
        let [a, b] = &pair.runs;
        let level = compare_runs(&runs[a], &runs[b], &Settings::default());
        assert_eq!((level.tests, level.rows.len()), (8, 8));
        let row =
            level.rows.iter().find(|row| (row.metric, row.window) == (pair.metric, pair.window)).unwrap();
        let what = format!("{a} {b} {} {}", pair.metric, pair.window);
        for (found, expected) in row.values.iter().zip(pair.values) {
            assert_close(found.unwrap(), expected, &what);
        }
        assert_close(row.difference.unwrap(), pair.values[0] - pair.values[1], &what);
        assert_close(row.half.unwrap(), pair.half, &what);
        assert_close(row.freedom.unwrap(), pair.freedom, &what);
        assert_close(row.least.unwrap(), pair.least, &what);
        assert_eq!(row.verdict, pair.verdict, "{what}");
    }
}

#[test]
fn methods_have_the_numbers_of_the_reference() {
    let runs = real_runs();
    let [stapo, grpo, random] = ["stapo", "grpo", "random"].map(|name| arm(&runs, name));
    let arms = [
        Arm { name: "grpo", role: Role::Baseline, runs: &grpo },
        Arm { name: "stapo", role: Role::Method, runs: &stapo },
        Arm { name: "random", role: Role::Random, runs: &random },
    ];
    let level = compare_methods(&arms, Metric::Reward);
    let expected = expected().methods;
    assert_eq!((level.contrasts.len(), expected.contrasts.len()), (24, 24));
    for wanted in &expected.contrasts {
        let is_it = |c: &&stapo_levels::Contrast| {
            (c.metric, c.window) == (wanted.metric, wanted.window)
                && (&c.arm, &c.against) == (&wanted.arm, &wanted.against)
        };
        let found = level.contrasts.iter().find(is_it).unwrap();
        let what = format!("{} {} {} {}", wanted.arm, wanted.against, wanted.metric, wanted.window);
        for (found, wanted) in found.values.iter().flatten().zip(wanted.values.iter().flatten()) {
            assert_close(*found, *wanted, &what);
        }
        for (found, wanted) in found.interval.unwrap().into_iter().zip(wanted.interval) {
            assert_close(found, wanted, &what);
        }
        assert_close(found.freedom.unwrap(), wanted.freedom, &what);
        // Pairs of three seeds leave too little freedom.
        assert!(!found.paired && !found.significant);
        let is_tested =
            wanted.arm == "stapo" && found.metric == Metric::Reward && found.window == Window::Level;
        assert_eq!((found.p_value.is_some(), found.adjusted.is_some()), (is_tested, is_tested), "{what}");
        if let Some(p) = found.p_value {
            assert_close(p, wanted.p_value, &what);
        }
    }
    // Holm over two: the smaller p-value doubled, and no other below it.
    let tested: Vec<_> = level.contrasts.iter().filter_map(|c| c.p_value.zip(c.adjusted)).collect();
    let smaller = tested.iter().map(|(p, _)| *p).fold(f64::INFINITY, f64::min);
    assert!(tested.iter().all(|(p, adjusted)| (adjusted - p.max(2.0 * smaller)).abs() < 1e-12), "{tested:?}");
    assert_eq!(level.needed, expected.needed);
    // Seeds a side for 0.05 and 0.10, and what the scatter of nine runs leaves open.
    let seeds: Vec<_> = level.needed.iter().map(|n| (n.seeds, n.interval)).collect();
    assert_eq!(seeds[..2], [(13, [6, 58]), (5, [3, 16])]);
    assert_eq!((seeds[2].0, seeds[3].0), (8, 4));
}

/// Two seeds of one method differ as runs in nine of nine pairs, in reward in four: no single run reveals what a seed adds.
#[test]
fn seeds_of_one_method_differ_as_runs() {
    let runs = real_runs();
    let mut differing = [0, 0];
    for name in ["stapo", "grpo", "random"] {
        for [a, b] in [[1, 2], [1, 3], [2, 3]] {
            let level = compare_runs(
                &runs[&format!("{name}_{a}")],
                &runs[&format!("{name}_{b}")],
                &Settings::default(),
            );
            let differs = |of_reward: bool| {
                let is_it = |row: &&stapo_levels::RunsRow| !of_reward || row.metric == Metric::Reward;
                level.rows.iter().filter(is_it).any(|row| row.verdict == Verdict::Differs)
            };
            differing = [differing[0] + u32::from(differs(false)), differing[1] + u32::from(differs(true))];
        }
    }
    assert_eq!(differing, [9, 4]);
}

/// The scatter of two recipes' seeds holds for the seeds of the third: 24 of 27 differences are within.
#[test]
fn a_bank_of_seeds_holds_for_runs_that_it_has_not_seen() {
    let runs = real_runs();
    let names = ["stapo", "grpo", "random"];
    let arms = names.map(|name| arm(&runs, name));
    let mut within = 0;
    for left_out in 0..3 {
        let bank: Vec<Vec<RunGroups>> =
            (0..3).filter(|arm| *arm != left_out).map(|arm| arms[arm].clone()).collect();
        for [a, b] in [[0, 1], [0, 2], [1, 2]] {
            let level = compare_by_bank(&arms[left_out][a], &arms[left_out][b], &bank);
            assert_eq!((level.seeds, level.tasks.len()), (6, 3));
            for metric in [Metric::Reward, Metric::Length, Metric::Entropy] {
                let is_it =
                    |row: &&stapo_levels::BankRow| (row.metric, row.window) == (metric, Window::Level);
                within += u32::from(level.rows.iter().find(is_it).unwrap().verdict == Verdict::Open);
            }
        }
    }
    assert_eq!(within, 24);
    let level = compare_by_bank(&runs["healthy"], &runs["sampler_top_k"], &[]);
    assert!(level.rows.iter().all(|row| row.half.is_none() && row.reason.is_some()));
}
