//! Which tokens and responses are trained that should not be, or the other way round.

use crate::ask::{changed, confidence, likely, siblings};
use crate::log::Row;
use crate::made::{END, set_advantages};
use stapo_diagnosis::{Code, Confidence};

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

/// Where nothing says which responses were cut, the length that none exceeds does, if it is one that budgets have.
#[test]
fn lengths_that_end_at_a_round_number_are_a_budget() {
    let long = |budget: usize| {
        changed(|rows, random| {
            for row in rows {
                let length = if random.is(0.8) { budget } else { 20 + random.below(budget - 20) };
                (row.finish, row.truncated) = (None, None);
                // Texts have no log-probability.
                (row.logprob, row.rollout, row.entropy, row.mask) = (Vec::new(), None, None, None);
                row.tokens = Some((0..length).map(|_| random.below(5_000) as i32).collect());
            }
        })
    };
    assert_eq!(likely(&long(96)), [Code::Truncation]);
    assert_eq!(likely(&long(97)), [], "answers of one length");
}
