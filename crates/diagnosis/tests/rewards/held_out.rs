//! Scores on held-out rows.

use crate::ask::{likely, likely_with};
use crate::log::{Log, Row};
use crate::made::{Random, healthy};
use stapo_diagnosis::{Code, Outcome, Symptom};

/// Evaluations of 60 questions, four answers each; `pass` by evaluation.
fn evaluated(passes: &[f64], seed: u64) -> Log {
    let mut log = healthy(10, 7);
    let mut random = Random::new(seed);
    let abilities: Vec<f64> = (0..60).map(|_| random.normal()).collect();
    let template = log.rows[0].clone();
    for (at, pass) in passes.iter().enumerate() {
        for (question, ability) in abilities.iter().enumerate() {
            for _ in 0..4 {
                let right = random.is((pass + 0.2 * ability).clamp(0.0, 1.0));
                log.rows.push(Row {
                    step: at as i64,
                    place: log.rows.len() as u64,
                    group: 50_000 + question as u64,
                    prompt: Some(question as u64 + 1),
                    held_out: true,
                    advantage: None,
                    reward: f32::from(u8::from(right)),
                    ..template.clone()
                });
            }
        }
    }
    log
}

#[test]
fn the_held_out_score_falls() {
    let falls = evaluated(&[0.4, 0.5, 0.6, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.2], 1);
    assert_eq!(likely(&falls), [Code::HeldOutFalls]);
    let damaged = Outcome { symptom: Some(Symptom::Damaged), ..Outcome::default() };
    assert_eq!(likely_with(&falls, &damaged), [], "with the reward of training");
    assert_eq!(likely(&evaluated(&[0.4, 0.45, 0.5, 0.5, 0.5, 0.55, 0.5, 0.5, 0.5, 0.5], 1)), []);
    assert_eq!(
        likely(&evaluated(&[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.2], 1)),
        [],
        "one bad evaluation"
    );
}

#[test]
fn held_out_scores_that_follow_themselves_do_not_fall() {
    let mut random = Random::new(11);
    let mut alarms = 0;
    for seed in 0..60 {
        let mut wobble = random.normal();
        let passes: Vec<f64> = (0..10)
            .map(|_| {
                wobble = 0.7 * wobble + (1.0_f64 - 0.49).sqrt() * random.normal();
                0.5 + 0.06 * wobble
            })
            .collect();
        alarms += usize::from(!likely(&evaluated(&passes, seed)).is_empty());
    }
    assert_eq!(alarms, 0, "of 60 runs");
}
