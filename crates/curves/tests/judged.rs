//! Verdicts with their numbers, against the reference implementation that the rules were validated with, and rates over
//! simulated curves whose truth is known.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

#[path = "../benches/curves/simulated.rs"]
#[allow(dead_code)]
mod simulated;

use serde_json::Value;
use simulated::{
    FALLS, FAULTS, FLAT, Fault, HEALTHY, NOISES, Noise, Random, Shape, means, rows, run_of, whole_run,
};
use stapo_curves::{ReadOptions, RunState, judge, read_bytes};

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

#[test]
fn verdicts_equal_the_reference() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("expected/verdicts.json")).unwrap();
    assert_eq!(cases.len(), 27);
    for case in &cases {
        let (name, expected) = (&case["name"], &case["verdict"]);
        let text = case["csv"].as_str().unwrap();
        let curves = read_bytes("case.csv", text.as_bytes(), &ReadOptions::default()).unwrap();
        let verdict = judge(&curves.runs[0]);
        assert_eq!(expected["state"], verdict.state.words(), "{name}");
        assert_eq!(expected["sentence"], verdict.sentence.as_str(), "{name}");
        assert_eq!(
            texts(&expected["events"]),
            verdict.events.iter().map(|e| &*e.sentence).collect::<Vec<_>>()
        );
        assert_eq!(texts(&expected["signs"]), verdict.signs.iter().map(|s| &*s.sentence).collect::<Vec<_>>());
        let causes: Vec<Value> =
            verdict.causes.iter().map(|c| serde_json::json!([c.code.as_str(), c.sentence])).collect();
        assert_eq!(expected["causes"], Value::Array(causes), "{name}");
        let gain = verdict.gain.unwrap();
        for (at, found) in [gain.start, gain.end, gain.floor, gain.top].into_iter().enumerate() {
            let number = expected["numbers"][at].as_f64().unwrap();
            assert!((found - number).abs() <= 1e-9 * number.abs().max(1e-3), "{name}: {found} for {number}");
        }
    }
}

/// How many of the simulated curves have one of these states, and how many there are.
fn count(
    shapes: &[Shape],
    noises: &[Noise],
    rhos: &[f64],
    lengths: &[usize],
    states: &[RunState],
) -> (usize, usize) {
    let (mut found, mut all) = (0, 0);
    for (number, (_, shape)) in shapes.iter().enumerate() {
        for n in lengths {
            let means = means(*shape, *n);
            for (kind, noise) in noises.iter().enumerate() {
                for (sd, rho) in
                    [0.02, 0.07, 0.2].into_iter().flat_map(|sd| rhos.iter().map(move |rho| (sd, *rho)))
                {
                    let seed =
                        [number as u64, *n as u64, (sd * 1e4) as u64, (rho * 10.0) as u64, kind as u64];
                    let mut random = Random::new(&seed);
                    for _ in 0..2 {
                        let verdict = judge(&run_of(rows(&mut random, &means, *noise, sd, rho)));
                        found += usize::from(states.contains(&verdict.state));
                        all += 1;
                    }
                }
            }
        }
    }
    (found, all)
}

const LENGTHS: [usize; 7] = [10, 20, 32, 50, 100, 200, 500];
const LOST: [RunState; 2] = [RunState::Damaged, RunState::Collapsed];

/// Counts are pinned: one in a hundred is promised, a thousandth is reached.
#[test]
fn curves_that_learned_are_not_called_damaged() {
    let (damaged, all) = count(&HEALTHY, &NOISES, &[0.0, 0.3, 0.6], &LENGTHS, &LOST);
    assert_eq!((damaged, all), (11, 7560));
    let (stuck, all) = count(&HEALTHY, &NOISES, &[0.0, 0.3, 0.6], &LENGTHS, &[RunState::NotLearning]);
    assert_eq!((stuck, all), (0, 7560));
}

#[test]
fn flat_curves_are_neither_damaged_nor_healthy() {
    let (damaged, all) = count(&FLAT, &NOISES, &[0.0, 0.3, 0.6], &LENGTHS, &LOST);
    assert_eq!((damaged, all), (13, 1890));
    let (healthy, _) = count(&FLAT, &NOISES, &[0.0, 0.3, 0.6], &LENGTHS, &[RunState::Healthy]);
    assert_eq!(healthy, 9);
    let (stuck, all) = count(&FLAT[..1], &[Noise::Normal], &[0.0], &[200, 500], &[RunState::NotLearning]);
    assert_eq!((stuck, all), (10, 12));
}

#[test]
fn falls_are_found() {
    let (found, all) = count(&FALLS, &[Noise::Normal], &[0.0, 0.3], &[50, 100, 200, 500], &LOST);
    assert_eq!((found, all), (214, 240));
}

/// Of ten runs of 120 rows each: how many have the state and the cause that the fault calls for.
#[test]
fn whole_runs_are_told_by_their_fault() {
    let told = FAULTS.map(|fault| {
        (0..10)
            .filter(|seed| {
                let verdict = judge(&whole_run(&mut Random::new(&[*seed, 120]), 120, fault));
                let caused = |code: &str| verdict.causes.iter().any(|cause| cause.code.as_str() == code);
                let lost = LOST.contains(&verdict.state);
                match fault {
                    Fault::None => verdict.causes.is_empty() && !lost,
                    Fault::Flat => {
                        verdict.state == RunState::Undecided || verdict.state == RunState::NotLearning
                    }
                    Fault::HeldOutFalls => caused("held_out_falls"),
                    Fault::PartFalls => caused("reward_hacking") || caused("part_falls"),
                    Fault::Truncation => caused("truncation"),
                    Fault::KlDip => caused("large_updates") && !verdict.events.is_empty(),
                    Fault::KlDamage => lost && caused("large_updates"),
                }
            })
            .count()
    });
    assert_eq!(told, [10; 7]);
}
