//! Advantages against rewards.

use crate::ask::{changed, confidence, likely, siblings};
use crate::log::Row;
use crate::made::{SIBLINGS, by_token, healthy, set_advantages};
use stapo_diagnosis::{Code, Confidence};

/// Advantage of a reward by those of its siblings, and by those of the step.
type Baseline = fn(f32, &[f32], &[f32]) -> f32;

fn mean(values: &[f32]) -> f32 {
    values.iter().sum::<f32>() / values.len() as f32
}

fn deviation(values: &[f32]) -> f32 {
    let mean = mean(values);
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / (values.len() - 1) as f32).sqrt()
}

fn median(values: &[f32]) -> f32 {
    let mut values = values.to_vec();
    values.sort_by(f32::total_cmp);
    values[values.len() / 2]
}

#[test]
fn baselines_of_all_trainers_are_healthy() {
    let baselines: [(&str, Baseline); 7] = [
        ("GRPO with 1e-6", |r, group, _| (r - mean(group)) / (deviation(group) + 1e-6)),
        ("Dr. GRPO", |r, group, _| r - mean(group)),
        ("RLOO", |r, group, _| (r - mean(group)) * 8.0 / 7.0),
        ("REINFORCE++", |r, _, step| (r - mean(step)) / (deviation(step) + 1e-6)),
        ("REINFORCE++ with a baseline", |r, group, step| (r - mean(group)) / (deviation(step) + 1e-6)),
        ("median of the group", |r, group, _| r - median(group)),
        ("punished less", |r, group, _| (r - mean(group)) * if r < mean(group) { 0.2 } else { 1.0 }),
    ];
    for (name, baseline) in baselines {
        let log = changed(|rows, _| {
            for of_step in rows.chunk_by_mut(|a, b| a.step == b.step) {
                let step: Vec<f32> = of_step.iter().map(|row| row.reward).collect();
                for siblings in of_step.chunk_by_mut(|a, b| a.group == b.group) {
                    let group: Vec<f32> = siblings.iter().map(|row| row.reward).collect();
                    siblings.iter_mut().for_each(|row| {
                        row.advantage = Some(baseline(row.reward, &group, &step));
                    });
                }
            }
        });
        assert_eq!(likely(&log), [], "{name}");
    }
}

#[test]
fn the_first_turn_lacks_its_advantage() {
    let mut log = healthy(10, 7);
    by_token(&mut log);
    let rows = |change: fn(usize, &mut f32)| {
        let mut log = log.clone();
        for row in &mut log.rows {
            row.advantages.as_mut().unwrap().iter_mut().enumerate().for_each(|(t, a)| change(t, a));
        }
        log
    };
    let missing = rows(|t, a| *a = if t < 6 { 0.0 } else { *a });
    assert_eq!(likely(&missing), [Code::AdvantageMissing]);
    let critic = rows(|t, a| *a = if t < 6 { 0.0 } else { *a + (t as f32).sin() });
    assert_eq!(likely(&critic), [], "advantages of tokens");
}

#[test]
fn some_responses_lack_their_advantage() {
    let zero = |cut: Option<bool>| {
        changed(|rows, random| {
            for row in rows.iter_mut().filter(|_| random.is(0.2)) {
                row.advantage = Some(0.0);
                row.truncated = cut;
            }
        })
    };
    assert_eq!(likely(&zero(Some(false))), [Code::AdvantageMissing]);
    assert_eq!(likely(&zero(Some(true))), [], "cut ones are left out on purpose");
}

#[test]
fn advantages_blow_up_by_a_deviation_of_next_to_zero() {
    let blow = |scale: f32| {
        changed(|rows, random| {
            let tenth: Vec<u64> = (0..400).filter(|_| random.is(0.1)).collect();
            for row in
                rows.iter_mut().filter(|row| tenth.contains(&(row.group % 1000 + 32 * row.step as u64)))
            {
                row.advantage = row.advantage.map(|a| if a > 0.0 { scale * a } else { a });
            }
        })
    };
    assert!(likely(&blow(1000.0)).contains(&Code::AdvantageBlowup));
    assert_eq!(likely(&blow(1.0)), []);
}

#[test]
fn rewards_with_a_heavy_tail_are_not_blown_up() {
    let log = changed(|rows, random| {
        for row in rows.iter_mut() {
            let size = (2.0 * random.normal()).exp() as f32;
            row.reward *= size;
            row.parts.iter_mut().for_each(|part| *part *= size);
        }
        let copy = rows.clone();
        for row in rows.iter_mut() {
            let group: Vec<f32> = copy
                .iter()
                .filter(|other| siblings(other) == siblings(row))
                .map(|other| other.reward)
                .collect();
            row.advantage = Some(row.reward - group.iter().sum::<f32>() / group.len() as f32);
        }
    });
    assert_eq!(likely(&log), []);
}

#[test]
fn a_baseline_of_other_questions() {
    let strided = changed(|rows, _| set_advantages(rows, |row| (row.step, row.place % 32)));
    assert_eq!(likely(&strided), [Code::WrongGroups]);
    // The log itself interleaved: its groups are every 32nd response, the baseline that of neighbours.
    let neighbours = changed(|rows, _| {
        rows.iter_mut().for_each(|row| row.group = 1000 * row.step as u64 + row.place % 32);
        set_advantages(rows, |row| (row.step, row.place / SIBLINGS as u64));
    });
    assert_eq!(likely(&neighbours), [Code::WrongGroups]);
    let batch = changed(|rows, _| set_advantages(rows, |row| row.step));
    assert_eq!(likely(&batch), [], "a baseline over the batch");
}

#[test]
fn a_wrong_sign_in_one_task() {
    let log = changed(|rows, _| {
        for row in rows.iter_mut().filter(|row| row.slice == "sum") {
            row.advantage = row.advantage.map(|a| -a);
        }
    });
    let found = log.examine().findings.remove(0).finding;
    assert_eq!((found.code, found.slice.as_deref()), (Code::AdvantageContradictsReward, Some("sum")));
    assert_eq!(likely(&log).len(), 1);
    let centred = changed(|rows, _| {
        let mean = rows.iter().map(|row| row.reward).sum::<f32>() / rows.len() as f32;
        rows.iter_mut().for_each(|row| row.advantage = Some(3.0 * (row.reward - mean)));
    });
    assert_eq!(likely(&centred), [], "another baseline and scale");
}

#[test]
fn advantages_of_one_sign() {
    let keep = |keep: fn(f32) -> bool| {
        changed(|rows, _| {
            rows.iter_mut()
                .for_each(|row| row.advantage = row.advantage.map(|a| if keep(a) { a } else { 0.0 }));
        })
    };
    assert_eq!(likely(&keep(|a| a > 0.0)), [Code::NoNegativeSignal]);
    assert_eq!(likely(&keep(|a| a < 0.0)), [Code::NoPositiveSignal]);
    // One response in a thousand has the other sign: most groups lack it all the same.
    let few = keep(|a| !(-2.4..=0.0).contains(&a));
    assert_eq!(confidence(&few, Code::NoNegativeSignal), Some(Confidence::Possible));
}

#[test]
fn cut_responses_that_are_masked_have_no_advantage() {
    let mut log = changed(|rows, random| {
        for row in rows.iter_mut().filter(|_| random.is(0.3)) {
            (row.truncated, row.finish) = (Some(true), Some("length".into()));
            (row.reward, row.parts) = (0.0, vec![0.0; 2]);
            row.mask.as_mut().unwrap().fill(0);
        }
        set_advantages(rows, siblings);
    });
    assert_eq!(likely(&log), []);
    by_token(&mut log);
    assert_eq!(likely(&log), []);
}

#[test]
fn equal_rewards_are_told_apart() {
    let log = |size: f64| {
        changed(|rows, random| {
            let is_solved = |row: &Row| row.group.is_multiple_of(5);
            for row in rows.iter_mut().filter(|row| is_solved(row)) {
                (row.reward, row.parts) = (1.2, vec![1.0, 1.0]);
            }
            set_advantages(rows, siblings);
            for row in rows.iter_mut().filter(|row| is_solved(row)) {
                row.advantage = Some((size * random.normal()) as f32);
            }
        })
    };
    assert_eq!(likely(&log(1.0)), [Code::PhantomAdvantage]);
    assert_eq!(likely(&log(1e-6)), []);
    let mut critic = log(1.0);
    by_token(&mut critic);
    for row in &mut critic.rows {
        row.advantages.as_mut().unwrap().iter_mut().enumerate().for_each(|(t, a)| *a += (t as f32).sin());
    }
    assert_eq!(likely(&critic), [], "a critic");
}

#[test]
fn solved_questions_are_a_note() {
    let log = changed(|rows, _| {
        for row in rows.iter_mut().filter(|row| row.step >= 6) {
            (row.reward, row.parts) = (1.2, vec![1.0, 1.0]);
        }
        set_advantages(rows, siblings);
    });
    assert_eq!(likely(&log), []);
    let found = log.examine().findings.remove(0).finding;
    assert_eq!((found.code, found.confidence), (Code::DeadGroups, Confidence::Note));
    assert!(found.sentence.contains("solved"), "{}", found.sentence);
}

/// Logs of texts have rewards and advantages alone.
#[test]
fn rewards_and_advantages_are_enough() {
    for empty in [false, true] {
        let log = changed(|rows, _| {
            for row in rows {
                row.advantage = row.advantage.map(|a| -a);
                row.logprob.fill(f32::NAN);
                if empty {
                    row.logprob.clear();
                }
                (row.tokens, row.mask, row.rollout, row.entropy) = (None, None, None, None);
                (row.finish, row.truncated) = (None, None);
            }
        });
        assert_eq!(likely(&log), [Code::AdvantageContradictsReward]);
    }
}
