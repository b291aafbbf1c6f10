//! Verdicts on a few runs of each simulated family, pinned: `docs/accuracy.md` has hundreds of each.

use crate::simulated::healthy::HEALTHY;
use crate::simulated::sick::SICK;
use crate::simulated::{Family, Truth};
use stapo_diagnosis::state::{Rules, judge};

/// Runs of each family.
const RUNS: u64 = 6;

/// Verdicts that say what is true, of [`RUNS`].
fn said(family: &Family) -> usize {
    let outcome = |number| judge(&family.log(number).observed(), false, &Rules::default()).outcome;
    (0..RUNS).filter(|number| family.truth.is_said(outcome(*number))).count()
}

/// Families of which not every run is told, with how many are.
#[track_caller]
fn assert_said(families: &[Family], but: &[(&str, usize)]) {
    let missed: Vec<(String, usize)> = families
        .iter()
        .map(|family| (format!("{}: {}", family.group, family.name), said(family)))
        .filter(|(_, said)| *said < RUNS as usize)
        .collect();
    let missed: Vec<(&str, usize)> = missed.iter().map(|(name, said)| (name.as_str(), *said)).collect();
    assert_eq!(missed, but, "of {RUNS}");
}

#[test]
fn healthy_runs_are_told() {
    // Too few steps or too much noise to say that they learn; beyond any log, mixes that no column tells.
    assert_said(
        HEALTHY,
        &[
            ("learning: 5 steps", 3),
            ("rare successes: 0.005 to 0.04", 5),
            ("other rewards: normal, heavy tails, [−1, 1], [0, 1], mostly 0: heavy, 0 to 1", 3),
            ("other rewards: normal, heavy tails, [−1, 1], [0, 1], mostly 0: skewed, 0 to 1", 4),
            ("other rewards: normal, heavy tails, [−1, 1], [0, 1], mostly 0: normal, 0 to 0.6", 2),
            ("dips that recover, resumed, one bad last step: resumed lower, nearly back", 3),
            ("beyond any log: a walk of 0.5 (AR 0.5), 12 steps", 5),
            ("beyond any log: mix oscillates, no column", 0),
            ("beyond any log: easy, then hard, no column", 0),
            ("beyond any log: easy fades to hard, no column", 3),
        ],
    );
}

#[test]
fn sick_runs_are_told() {
    // Falls that are small, short or of many tasks are seen in some runs alone.
    assert_said(
        SICK,
        &[
            ("0.8 to 0.4, rise and fall: to 0.3, 8 × 4", 4),
            ("0.8 to 0.4, rise and fall: 50 tasks", 4),
            ("0.8 to 0.6: 12 steps", 2),
            ("0.8 to 0.6: 50 steps of 8 × 4", 0),
            ("other rewards: normal, 1 to 0", 5),
            ("other rewards: [−1, 1], 0.8 to 0.4", 5),
            ("never gains: \"not learning\": 0.5, 12 steps", 1),
            ("never gains: \"not learning\": normal, 24 steps", 5),
        ],
    );
}

/// Runs go where they are meant to.
#[test]
fn levels_are_the_planned_ones() {
    let means = |name: &str| {
        let family = HEALTHY.iter().find(|family| family.group == "learning" && family.name == name).unwrap();
        let runs: Vec<Vec<f64>> = (0..40).map(|number| family.log(number).means()).collect();
        let at = |step: usize| runs.iter().map(|means| means[step]).sum::<f64>() / runs.len() as f64;
        [at(0), at(runs[0].len() - 1)]
    };
    for (name, start, end) in [("12 steps", 0.1, 0.85), ("5 steps", 0.1, 0.7)] {
        let [first, last] = means(name);
        assert!((first - start).abs() < 0.02 && (last - end).abs() < 0.02, "{name}: {first} {last}");
    }
}

/// What is pinned is not pinned twice: names are told apart, and each run is another one.
#[test]
fn runs_of_a_family_differ() {
    for family in HEALTHY.iter().chain(SICK) {
        let same = family.log(0).reward == family.log(1).reward;
        assert!(!same || family.truth == Truth::Sound, "{}", family.name);
        assert_eq!(family.log(2).reward, family.log(2).reward, "{}", family.name);
    }
    let mut names: Vec<(&str, &str)> =
        HEALTHY.iter().chain(SICK).map(|family| (family.group, family.name)).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
}
