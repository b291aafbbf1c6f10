//! Parts that the reward is less by, written as either sign: what they may cost in a run that learns.

use stapo_analyze::analyze::RunAnalysis;
use stapo_analyze::analyze::result::{RunState, WarningCode};

use super::paid::{part, regraded, way};
use super::run::{Kind, Shape};
use super::{SHAPE, alarms, told};

const LEARNS: Shape = Shape { kind: Kind::LearnsFast, steps: 24, ..SHAPE };

/// A run with a part that grows with the policy's way from its reference, taken off the reward and logged as `sign` of it.
/// Right answers, which are what was learned, have `more` of it.
fn with_cost(shape: Shape, name: &'static str, sign: f32, more: f64) -> RunAnalysis {
    regraded(shape, |log, random| {
        let answers = part(log, "reward/answer").to_vec();
        let mut grown = |(row, answer): (usize, &f32)| {
            let far = 0.2 * way(log, row) * (1.0 + more * f64::from(*answer));
            (far * random.unit()) as f32
        };
        let costs: Vec<f32> = answers.iter().enumerate().map(&mut grown).collect();
        log.rewards = answers.iter().zip(&costs).map(|(answer, cost)| answer - cost).collect();
        log.parts.retain(|(known, _)| *known != "reward/format");
        log.parts.push((name, costs.iter().map(|cost| sign * cost).collect()));
    })
}

fn is_healthy(found: &RunAnalysis) {
    assert_eq!(found.diagnosis.state, RunState::Healthy, "{}", told(found));
    assert_eq!(alarms(found), Vec::<&str>::new(), "{}", told(found));
    assert!(found.warnings.iter().all(|w| w.code != WarningCode::RewardPartsDiverge), "{:?}", found.warnings);
}

/// A KL penalty grows in every run that learns: a sign, whatever its sign, and whether the reward rises or not.
#[test]
fn a_distance_from_the_reference_that_grows_is_no_damage() {
    for name in ["reward/kl", "reward/kl_reward", "reward/kl_penalty"] {
        for sign in [-1.0, 1.0] {
            is_healthy(&with_cost(LEARNS, name, sign, 1.0));
        }
    }
}

/// A cost of another name that right answers were bought with; the same cost where nothing was.
#[test]
fn a_cost_that_was_worth_it_is_no_damage() {
    for sign in [-1.0, 1.0] {
        let bought = with_cost(LEARNS, "reward/verbosity_penalty", sign, 0.0);
        is_healthy(&bought);
        let health = &bought.verdict.health;
        assert!(health.contains("the price of what was learned, which is no damage"), "{sign}: {health}");
        let flat = with_cost(Shape { kind: Kind::Flat, ..LEARNS }, "reward/verbosity_penalty", sign, 0.0);
        let damaged = flat.diagnosis.damage.iter().any(|d| d.signal == "reward/verbosity_penalty");
        assert!(damaged, "{sign}: {}", told(&flat));
    }
}

/// A penalty that is 0 up to the middle and switched on there, while right answers stand: the reward falls by it. The same
/// where answers become worse, and where few responses have the penalty at first and more and more do.
#[test]
fn a_penalty_that_is_switched_on_is_no_damage() {
    let shape = Shape { kind: Kind::Flat, steps: 24, ..SHAPE };
    let switched_on = |name: &'static str, sign: f32, worse: bool, slowly: bool| {
        regraded(shape, |log, random| {
            let mut answers = part(log, "reward/answer").to_vec();
            if worse {
                let late = answers.iter_mut().enumerate().filter(|(row, _)| way(log, *row) > 0.5);
                late.for_each(|(_, answer)| *answer *= f32::from(u8::from(random.unit() < 0.3)));
            }
            let mut penalty = |row: usize| {
                let late = way(log, row) - 0.5;
                let has = late > 0.0 && (!slowly || random.unit() < 2.0 * late * late);
                if has { 0.8 * random.unit() as f32 } else { 0.0 }
            };
            let penalties: Vec<f32> = (0..answers.len()).map(&mut penalty).collect();
            log.rewards = answers.iter().zip(&penalties).map(|(answer, penalty)| answer - penalty).collect();
            log.parts = vec![
                ("reward/answer", answers),
                (name, penalties.iter().map(|penalty| sign * penalty).collect()),
            ];
        })
    };
    for sign in [-1.0, 1.0] {
        let on = switched_on("reward/length_penalty", sign, false, false);
        is_healthy(&on);
        let health = &on.verdict.health;
        assert!(
            health.contains("reward/length_penalty from step 12 on; 0 in every response before"),
            "{health}"
        );
        let worse = switched_on("reward/length_penalty", sign, true, false);
        let damaged =
            |found: &RunAnalysis, name: &str| found.diagnosis.damage.iter().any(|d| d.signal == name);
        assert!(damaged(&worse, "reward") && damaged(&worse, "reward/answer"), "{}", told(&worse));
        assert!(!damaged(&worse, "reward/length_penalty"), "{}", told(&worse));
        let slowly = switched_on("reward/length_penalty", sign, false, true);
        assert!(damaged(&slowly, "reward/length_penalty"), "{}", told(&slowly));
    }
}
