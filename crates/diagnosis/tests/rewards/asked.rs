//! Rewards, their parts and copies.

use crate::ask::{changed, confidence, likely, likely_with, siblings};
use crate::log::Row;
use crate::made::{END, SIBLINGS, healthy, set_advantages};
use stapo_diagnosis::{Code, Confidence, FallenPart, Outcome};

#[test]
fn copies_that_chance_forbids() {
    let log = changed(|rows, _| {
        for pair in rows.chunks_mut(2).step_by(2) {
            pair[1] = Row { place: pair[1].place, ..pair[0].clone() };
        }
        set_advantages(rows, siblings);
    });
    assert_eq!(likely(&log), [Code::DuplicateRollouts]);
    let certain = changed(|rows, _| {
        for group in rows.chunks_mut(SIBLINGS) {
            for row in group.iter_mut() {
                row.tokens = Some(vec![10, 11, END]);
                row.logprob = vec![-0.1; 3];
                row.rollout = Some(vec![-0.1; 3]);
                row.entropy = Some(vec![0.3; 3]);
                row.mask = Some(vec![1; 3]);
                row.parts = vec![1.0, 1.0];
                row.reward = 1.2;
            }
        }
        set_advantages(rows, siblings);
    });
    assert_eq!(likely(&certain), [], "short and probable");
}

#[test]
fn rows_of_every_epoch_are_no_copies() {
    let log = |update: fn(usize) -> i64| {
        changed(|rows, _| {
            let again: Vec<Row> = (0..2)
                .flat_map(|epoch| {
                    let of_epoch = move |row: &Row| Row { update: Some(update(epoch)), ..row.clone() };
                    rows.iter().map(of_epoch).collect::<Vec<_>>()
                })
                .collect();
            *rows = again;
            rows.iter_mut().enumerate().for_each(|(place, row)| row.place = place as u64);
        })
    };
    assert_eq!(likely(&log(|epoch| epoch as i64)), []);
    assert_eq!(likely(&log(|_| 0)), [Code::DuplicateRollouts]);
}

#[test]
fn equal_texts_of_other_questions_are_no_siblings() {
    // No group is logged: all of a step are one.
    let log = changed(|rows, random| {
        for row in rows.iter_mut() {
            row.group = 0;
            row.tokens = Some(vec![10 + random.below(4) as i32, END]);
            for values in [&mut row.logprob, row.rollout.as_mut().unwrap(), row.entropy.as_mut().unwrap()] {
                values.truncate(2);
                values.fill(-9.0);
            }
            row.mask = Some(vec![1; 2]);
        }
    });
    assert_eq!(likely(&log), []);
}

#[test]
fn a_sharper_sampler_than_logged_repeats_its_most_probable_responses() {
    let log = changed(|rows, random| {
        for group in rows.chunks_mut(SIBLINGS) {
            for row in group.iter_mut() {
                let drawn = row.rollout.as_mut().unwrap();
                let level = -0.4 - 3.0 * random.unit() as f32;
                drawn.fill(level);
            }
            group.sort_by(|a, b| b.rollout.as_ref().unwrap()[0].total_cmp(&a.rollout.as_ref().unwrap()[0]));
            let (first, second) = group.split_at_mut(1);
            second[0].tokens = first[0].tokens.clone();
            second[0].rollout = first[0].rollout.clone();
            second[0].logprob = first[0].logprob.clone();
            second[0].entropy = first[0].entropy.clone();
            second[0].mask = first[0].mask.clone();
            (second[0].reward, second[0].parts) = (first[0].reward, first[0].parts.clone());
        }
        set_advantages(rows, siblings);
    });
    assert_eq!(confidence(&log, Code::DuplicateRollouts), Some(Confidence::Possible));
}

#[test]
fn a_coin_for_a_reward() {
    let coin = |slices: &[&str]| {
        changed(|rows, random| {
            for row in rows.iter_mut().filter(|row| slices.contains(&row.slice.as_str())) {
                row.reward = f32::from(u8::from(random.is(0.5)));
            }
            set_advantages(rows, siblings);
        })
    };
    let log = coin(&["sum"]);
    let found = log.examine().findings.remove(0).finding;
    assert_eq!((found.code, found.slice.as_deref()), (Code::UninformativeReward, Some("sum")));
    assert_eq!(likely(&coin(&["sum", "words"])), [Code::UninformativeReward]);
    // Parts that are logged beside a reward and say nothing of its goal.
    let mut beside = coin(&["sum", "words"]);
    beside.parts = vec!["tokens".into(), "latency".into()];
    assert_eq!(likely(&beside), []);
}

#[test]
fn a_task_whose_parts_are_not_logged() {
    let log = changed(|rows, random| {
        for row in rows.iter_mut().filter(|row| row.slice == "words") {
            (row.reward, row.parts) = (random.unit() as f32, vec![f32::NAN; 2]);
        }
        set_advantages(rows, siblings);
    });
    assert_eq!(likely(&log), []);
}

#[test]
fn equal_responses_with_unequal_rewards() {
    let log = |noise: f32| {
        changed(|rows, random| {
            for row in rows.iter_mut() {
                row.tokens = Some(vec![10 + i32::from(row.parts[0] > 0.0), END]);
                for values in [&mut row.logprob, row.rollout.as_mut().unwrap(), row.entropy.as_mut().unwrap()]
                {
                    values.truncate(2);
                    values.fill(-0.3);
                }
                row.mask = Some(vec![1; 2]);
                row.reward = row.parts[0] + noise * random.normal() as f32;
            }
            set_advantages(rows, siblings);
        })
    };
    assert_eq!(likely(&log(0.5)), [Code::UninformativeReward]);
    assert_eq!(likely(&log(0.005)), [], "a grader that rounds");
}

#[test]
fn a_part_is_given_up_for_the_reward() {
    let part = FallenPart { name: "format".into(), before: 0.9, after: 0.1, step: 5 };
    let outcome =
        |z: f64| Outcome { fallen_parts: vec![part.clone()], reward_gain_z: Some(z), ..Outcome::default() };
    assert_eq!(likely_with(&healthy(10, 7), &outcome(9.0)), [Code::RewardHacking]);
    assert_eq!(likely_with(&healthy(10, 7), &outcome(-9.0)), [], "it fell with the reward");
}
