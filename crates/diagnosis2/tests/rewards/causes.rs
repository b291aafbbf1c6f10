//! Each cause on a run that has it, and on what looks like it.

use crate::log::{Log, Row};
use crate::made::{END, Random, SIBLINGS, by_token, healthy, set_advantages};
use stapo_diagnosis2::{Code, Confidence, FallenPart, Outcome, Symptom};

fn likely_with(log: &Log, outcome: &Outcome) -> Vec<Code> {
    let findings = log.examine_with(outcome).findings.into_iter().map(|ranked| ranked.finding);
    findings.filter(|finding| finding.confidence == Confidence::Likely).map(|finding| finding.code).collect()
}

fn likely(log: &Log) -> Vec<Code> {
    likely_with(log, &Outcome::default())
}

fn confidence(log: &Log, code: Code) -> Option<Confidence> {
    let findings = log.examine().findings.into_iter().map(|ranked| ranked.finding);
    findings.filter(|finding| finding.code == code).map(|finding| finding.confidence).next()
}

/// A healthy run that was changed.
fn changed(change: impl Fn(&mut Vec<Row>, &mut Random)) -> Log {
    let mut log = healthy(10, 7);
    change(&mut log.rows, &mut Random::new(3));
    log
}

fn siblings(row: &Row) -> (i64, u64) {
    (row.step, row.group)
}

#[test]
fn healthy_runs_have_none() {
    for seed in 0..20 {
        let mut log = healthy(8, seed);
        assert_eq!(likely(&log), [], "seed {seed}");
        by_token(&mut log);
        assert_eq!(likely(&log), [], "seed {seed}, advantages by token");
    }
}

#[test]
fn order_and_shards_change_nothing() {
    let log = changed(|rows, _| rows.iter_mut().for_each(|row| row.advantage = row.advantage.map(|a| -a)));
    let mut other = log.clone();
    let mut random = Random::new(5);
    for at in (1..other.rows.len()).rev() {
        other.rows.swap(at, random.below(at + 1));
    }
    assert_eq!(log.examine(), other.examine());
    assert_eq!(likely(&other), [Code::AdvantageContradictsReward]);
}

#[test]
fn observations_stand_in_rows_without_values() {
    let observe = |rows: &mut Vec<Row>, trained: u8| {
        for row in rows {
            let (mask, drawn) = (row.mask.as_mut().unwrap(), row.rollout.as_mut().unwrap());
            for t in 4..8 {
                mask[t] = trained;
                drawn[t] = f32::NAN;
            }
        }
    };
    assert_eq!(likely(&changed(|rows, _| observe(rows, 1))), [Code::ObservationTrained]);
    assert_eq!(likely(&changed(|rows, _| observe(rows, 0))), []);
}

#[test]
fn a_shifted_mask_trains_one_observed_token() {
    let log = changed(|rows, _| {
        for row in rows {
            let (mask, drawn) = (row.mask.as_mut().unwrap(), row.rollout.as_mut().unwrap());
            for t in 4..8 {
                mask[t] = u8::from(t == 4);
                drawn[t] = f32::NAN;
            }
        }
    });
    let found = log.examine().findings.remove(0).finding;
    assert_eq!(found.code, Code::ObservationTrained);
    assert!(found.sentence.contains("shifted by one"), "{}", found.sentence);
}

#[test]
fn values_that_an_engine_leaves_out_are_no_observations() {
    let ends = changed(|rows, random| {
        for row in rows {
            let drawn = row.rollout.as_mut().unwrap();
            let last = drawn.len() - 1;
            drawn[0] = f32::NAN;
            drawn[last] = f32::NAN;
            if random.is(0.1) {
                drawn.fill(f32::NAN);
            }
        }
    });
    assert_eq!(likely(&ends), []);
    let rare = changed(|rows, random| {
        for value in rows.iter_mut().flat_map(|row| row.rollout.as_mut().unwrap()) {
            if random.is(0.03) {
                *value = f32::NAN;
            }
        }
    });
    assert_eq!(confidence(&rare, Code::ObservationTrained), Some(Confidence::Possible));
}

#[test]
fn engines_leave_out_the_ends_of_turns() {
    let log = |last: bool| {
        changed(|rows, _| {
            for row in rows {
                let (mask, drawn) = (row.mask.as_mut().unwrap(), row.rollout.as_mut().unwrap());
                for t in 5..8 {
                    mask[t] = 0;
                    drawn[t] = f32::NAN;
                }
                drawn[4] = f32::NAN;
                if last {
                    *drawn.last_mut().unwrap() = f32::NAN;
                }
            }
        })
    };
    assert_eq!(likely(&log(true)), [], "of the last one, too");
    assert_eq!(likely(&log(false)), [Code::ObservationTrained], "a shifted mask");
}

#[test]
fn observations_surprise_the_policy_where_a_turn_begins() {
    let turns = |surprise: f32| {
        changed(|rows, _| {
            for row in rows {
                row.rollout = None;
                row.turns = Some((0..row.logprob.len()).map(|t| i32::from(t >= 6)).collect());
                row.logprob[6] -= surprise;
            }
        })
    };
    assert_eq!(likely(&turns(3.0)), [Code::ObservationTrained]);
    assert_eq!(likely(&turns(0.2)), []);
}

#[test]
fn an_end_that_is_never_trained() {
    let mask = |tokens: usize, all: bool| {
        changed(|rows, _| {
            for row in rows {
                let mask = row.mask.as_mut().unwrap();
                let from = if all { 0 } else { mask.len() - tokens };
                mask[from..].fill(0);
            }
        })
    };
    assert_eq!(likely(&mask(1, false)), [Code::EndUntrained]);
    assert_eq!(likely(&mask(2, false)), [Code::EndUntrained], "with the template's line feed");
    assert_eq!(likely(&mask(6, false)), [], "an observation");
    assert_eq!(likely(&mask(1, true)), [], "left out as a whole");
}

#[test]
fn a_line_feed_of_the_template_is_no_end() {
    let log = |drawn: bool| {
        changed(|rows, _| {
            for row in rows {
                row.tokens.as_mut().unwrap().push(3);
                row.mask.as_mut().unwrap().push(0);
                row.logprob.push(-0.1);
                row.entropy.as_mut().unwrap().push(0.1);
                row.rollout.as_mut().unwrap().push(if drawn { -0.1 } else { f32::NAN });
            }
        })
    };
    assert_eq!(confidence(&log(false), Code::EndUntrained), Some(Confidence::Possible));
    assert_eq!(likely(&log(true)), [Code::EndUntrained]);
}

#[test]
fn failures_are_named_by_their_status() {
    let fail = |trained: bool| {
        changed(|rows, random| {
            for row in rows.iter_mut().filter(|_| random.is(0.1)) {
                row.finish = Some("Timeout".into());
                (row.reward, row.parts) = (0.0, vec![0.0, 0.0]);
                if !trained {
                    row.mask.as_mut().unwrap().fill(0);
                }
            }
            set_advantages(rows, siblings);
        })
    };
    assert_eq!(likely(&fail(true)), [Code::FailuresTrained]);
    assert_eq!(likely(&fail(false)), []);
}

#[test]
fn failures_leave_next_to_nothing_behind() {
    let cut = |last: i32| {
        changed(|rows, random| {
            for row in rows.iter_mut().filter(|_| random.is(0.05)) {
                row.tokens = Some(vec![10, last]);
                row.logprob.truncate(2);
                row.rollout.as_mut().unwrap().truncate(2);
                row.entropy.as_mut().unwrap().truncate(2);
                row.mask.as_mut().unwrap().truncate(2);
                (row.reward, row.parts) = (0.0, vec![0.0, 0.0]);
            }
            set_advantages(rows, siblings);
        })
    };
    assert_eq!(likely(&cut(11)), [Code::FailuresTrained]);
    assert_eq!(likely(&cut(END)), [], "short answers that are wrong");
}

#[test]
fn cuts_that_stay_are_a_budget() {
    let cut = |last: f64| {
        changed(|rows, random| {
            for row in rows {
                let share = if row.step < 2 { 0.8 } else { last };
                row.truncated = Some(random.is(share));
            }
        })
    };
    assert_eq!(likely(&cut(0.8)), [Code::Truncation]);
    assert_eq!(likely(&cut(0.1)), [], "unlearned");
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
