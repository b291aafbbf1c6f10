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
    assert_said(HEALTHY, &[]);
}

#[test]
fn sick_runs_are_told() {
    assert_said(SICK, &[]);
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
