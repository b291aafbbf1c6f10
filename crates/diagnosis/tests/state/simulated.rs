//! Rates of verdicts on runs whose truth is known: false alarms on healthy ones, finds on damaged ones. The families
//! are those that the rules were mended on; each count is of a dozen runs of fixed seeds.

use crate::runs::{Edit, Kind, MadeUp, Part, PartKind, Stream, levels};
use stapo_diagnosis::state::{Outcome, Rules, judge};

const RUNS: u64 = 12;

fn alarms(made_up: impl Fn(u64) -> MadeUp) -> usize {
    (0..RUNS)
        .filter(|seed| judge(&made_up(*seed).observed(), false, &Rules::default()).outcome.is_damage())
        .count()
}

fn not_learning(made_up: impl Fn(u64) -> MadeUp) -> usize {
    let of = |seed: &u64| judge(&made_up(*seed).observed(), false, &Rules::default()).outcome;
    (0..RUNS).filter(|seed| of(seed) == Outcome::NotLearning).count()
}

/// Steps differ by a process of the given standard deviation and correlation.
fn scattered(run: MadeUp, sd: f64, correlation: f64) -> MadeUp {
    let stream = Stream::new(run.seed, 90);
    let mut x = 0.0;
    let noise = (0..run.level.len()).map(|step| {
        x = correlation * x + (1.0 - correlation * correlation).sqrt() * 3_f64.sqrt() * stream.bell(step);
        sd * x
    });
    MadeUp { noise: noise.collect(), ..run }
}

fn part(name: &str, kind: PartKind, level: Option<Vec<f64>>, weight: f64) -> Part {
    Part { name: name.to_string(), kind, level, weight }
}

const LEARNS: [(f64, f64); 3] = [(0.0, 0.1), (0.7, 0.8), (1.0, 0.85)];

fn learns(seed: u64, steps: usize) -> MadeUp {
    MadeUp::new(seed, &levels(steps, &LEARNS))
}

fn flat(seed: u64, steps: usize, level: f64) -> MadeUp {
    MadeUp { first: 10, ..MadeUp::new(seed, &vec![level; steps]) }
}

fn falls_to(seed: u64, steps: usize, low: f64) -> MadeUp {
    let points = [(0.0, 0.1), (0.5, 0.8), (0.7, 0.8), (0.8, low), (1.0, low)];
    MadeUp { groups: 32, ..MadeUp::new(seed, &levels(steps, &points)) }
}

/// A level for each of the slices, by step.
fn sliced(run: MadeUp, level: impl Fn(usize, usize) -> f64, slices: usize) -> MadeUp {
    let level =
        (0..run.level.len()).map(|step| (0..slices).map(|slice| level(step, slice)).collect()).collect();
    MadeUp { level, slices, ..run }
}

#[test]
fn healthy_runs_are_not_called_damaged() {
    let dips = |seed| {
        let dip = [(0.0, 0.2), (0.3, 0.8), (0.4, 0.2), (0.9, 0.75), (1.0, 0.8)];
        MadeUp::new(seed, &levels(20, &dip))
    };
    let counts = [
        ("learns", 0, alarms(|seed| learns(seed, 12))),
        ("learns, scattered", 0, alarms(|seed| scattered(learns(seed, 12), 0.06, 0.0))),
        (
            "learns, 8 groups of 4, 70 steps",
            0,
            alarms(|seed| MadeUp { groups: 8, size: 4, ..learns(seed, 70) }),
        ),
        ("flat", 0, alarms(|seed| flat(seed, 50, 0.5))),
        ("flat, 2 groups", 0, alarms(|seed| MadeUp { groups: 2, ..flat(seed, 50, 0.3) })),
        (
            "flat, one response a group",
            0,
            alarms(|seed| MadeUp { groups: 64, size: 1, ..flat(seed, 20, 0.3) }),
        ),
        ("flat, scattered", 0, alarms(|seed| scattered(flat(seed, 12, 0.5), 0.1, 0.0))),
        ("rare", 0, alarms(|seed| MadeUp { spread: 0.05, ..flat(seed, 50, 0.03) })),
        ("bounded", 0, alarms(|seed| MadeUp { kind: Kind::Bounded, ..flat(seed, 12, 0.5) })),
        ("heavy tails", 0, alarms(|seed| MadeUp { kind: Kind::Heavy, ..flat(seed, 24, 0.0) })),
        ("30 slices", 0, alarms(|seed| sliced(flat(seed, 20, 0.0), |_, k| 0.05 + 0.03 * k as f64, 30))),
        (
            "mix moves, with a column",
            0,
            alarms(|seed| MadeUp {
                mix: Some(levels(16, &[(0.0, 0.0), (1.0, 1.0)])),
                ..sliced(
                    learns(seed, 16),
                    |step, k| [0.5 + 0.03 * step as f64, 0.1 + 0.01 * step as f64][k],
                    2,
                )
            }),
        ),
        (
            "price from the middle on",
            0,
            alarms(|seed| MadeUp {
                parts: vec![part(
                    "reward/long",
                    PartKind::Price,
                    Some(levels(16, &[(0.0, 0.0), (0.5, 0.0), (0.51, 0.5), (1.0, 0.5)])),
                    1.0,
                )],
                ..learns(seed, 16)
            }),
        ),
        ("rescaled", 0, alarms(|seed| MadeUp { edits: vec![(Edit::Scale, 8, 0.5)], ..learns(seed, 16) })),
        (
            "one bad last step",
            0,
            alarms(|seed| MadeUp { edits: vec![(Edit::Zero, 11, 0.0)], ..learns(seed, 12) }),
        ),
        (
            "brevity shrinks",
            0,
            alarms(|seed| MadeUp {
                parts: vec![part(
                    "reward/conciseness",
                    PartKind::Bell,
                    Some(levels(12, &[(0.0, 0.7), (1.0, 0.3)])),
                    0.1,
                )],
                ..learns(seed, 12)
            }),
        ),
        ("long dip recovers", 0, alarms(dips)),
        (
            "drifts by a tenth",
            0,
            alarms(|seed| MadeUp { first: 10, ..MadeUp::new(seed, &levels(24, &[(0.0, 0.8), (1.0, 0.72)])) }),
        ),
        // No log can tell these from damage, or nearly so: they are pinned to be seen.
        ("walks", 2, alarms(|seed| scattered(flat(seed, 50, 0.5), 0.1, 0.9))),
        (
            "mix moves, without a column",
            12,
            alarms(|seed| MadeUp {
                mix: Some(levels(16, &[(0.0, 0.0), (1.0, 1.0)])),
                column: false,
                ..sliced(learns(seed, 16), |_, k| [0.9, 0.2][k], 2)
            }),
        ),
    ];
    assert_counts(&counts);
}

#[test]
fn damage_is_found() {
    let counts = [
        ("0.8 to 0.4", 10, alarms(|seed| falls_to(seed, 12, 0.4))),
        ("0.8 to 0.6, 24 steps", 6, alarms(|seed| falls_to(seed, 24, 0.6))),
        ("0.8 to 0.6", 2, alarms(|seed| falls_to(seed, 12, 0.6))),
        (
            "0.8 to 0.3, 8 groups of 4",
            2,
            alarms(|seed| MadeUp { groups: 8, size: 4, ..falls_to(seed, 12, 0.3) }),
        ),
        (
            "gradual",
            10,
            alarms(|seed| MadeUp {
                groups: 32,
                ..MadeUp::new(seed, &levels(24, &[(0.0, 0.2), (0.3, 0.8), (1.0, 0.5)]))
            }),
        ),
        (
            "0.11, 0.49, 0.08",
            8,
            alarms(|seed| MadeUp {
                groups: 32,
                ..MadeUp::new(seed, &levels(10, &[(0.0, 0.11), (0.5, 0.49), (1.0, 0.08)]))
            }),
        ),
        (
            "at the start",
            12,
            alarms(|seed| MadeUp {
                spread: 0.1,
                ..MadeUp::new(seed, &[0.25, 0.02, 0.005, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
            }),
        ),
        (
            "one of three slices",
            7,
            alarms(|seed| {
                let (up, down) = (
                    levels(12, &LEARNS),
                    levels(12, &[(0.0, 0.2), (0.5, 0.8), (0.7, 0.8), (0.8, 0.2), (1.0, 0.2)]),
                );
                sliced(
                    MadeUp { groups: 32, ..learns(seed, 12) },
                    |step, k| if k == 2 { down[step] } else { up[step] },
                    3,
                )
            }),
        ),
        (
            "near normal, 1 to 0",
            12,
            alarms(|seed| MadeUp {
                kind: Kind::Bell,
                ..MadeUp::new(
                    seed,
                    &levels(12, &[(0.0, -0.5), (0.5, 1.0), (0.7, 1.0), (0.8, 0.0), (1.0, 0.0)]),
                )
            }),
        ),
        (
            "a malus comes",
            12,
            alarms(|seed| MadeUp { edits: vec![(Edit::Malus, 8, 0.8)], ..falls_to(seed, 12, 0.2) }),
        ),
    ];
    assert_counts(&counts);
}

#[test]
fn runs_at_their_start_are_called_so() {
    let counts = [
        ("flat at 0.1", 8, not_learning(|seed| MadeUp { first: 0, ..flat(seed, 12, 0.1) })),
        ("flat at 0.1, start not logged", 0, not_learning(|seed| flat(seed, 12, 0.1))),
        ("learns", 0, not_learning(|seed| learns(seed, 12))),
        ("two steps of a learner", 3, not_learning(|seed| MadeUp::new(seed, &levels(12, &LEARNS)[..2]))),
    ];
    assert_counts(&counts);
}

/// Names, counts as pinned, counts.
#[track_caller]
fn assert_counts(counts: &[(&str, usize, usize)]) {
    let moved: Vec<_> = counts.iter().filter(|(_, pinned, count)| pinned != count).collect();
    assert!(moved.is_empty(), "of {RUNS}: {moved:?}");
}
