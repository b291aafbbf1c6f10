//! Rules beyond the reference implementation, each on the smallest run that calls for it.

#![allow(clippy::unwrap_used)]

use stapo_curves::{CurveVerdict, ReadOptions, RunState, judge, read_bytes};

/// Noise between -1 and 1 that is the same each time.
fn noise(seed: u32, row: u32) -> f64 {
    let mixed = (seed * 7919 + row + 1).wrapping_mul(2_654_435_761);
    f64::from((mixed ^ (mixed >> 15)).wrapping_mul(2_246_822_519) >> 8) / f64::from(1 << 23) - 1.0
}

fn verdict(header: &str, rows: u32, row: impl Fn(u32) -> Vec<f64>) -> CurveVerdict {
    let line = |step: u32| {
        let values: Vec<String> = row(step).iter().map(f64::to_string).collect();
        format!("{step},{}\n", values.join(","))
    };
    let text = format!("step,{header}\n{}", (1..=rows).map(line).collect::<String>());
    judge(&read_bytes("x.csv", text.as_bytes(), &ReadOptions::default()).unwrap().runs[0])
}

fn rises(step: u32, rows: u32, from: f64, to: f64) -> f64 {
    from + (to - from) * (f64::from(step) / f64::from(rows)).min(1.0)
}

#[test]
fn a_rare_maximum_is_not_the_end_of_the_scale() {
    let found = verdict("critic/score/mean,critic/score/max,critic/score/min", 400, |step| {
        let most = if step.is_multiple_of(12) { 2.5 + f64::from(step % 7) } else { 1.0 };
        vec![rises(step, 400, 0.2, 0.35) + 0.05 * noise(1, step), most, 0.0]
    });
    assert_eq!(found.gain.unwrap().top.to_bits(), 1.0_f64.to_bits());
    assert_eq!(found.state, RunState::Healthy, "{}", found.sentence);
    // Of a rare success most rows reach nothing.
    let found = verdict("critic/score/mean,critic/score/max,critic/score/min", 200, |step| {
        let most = if step.is_multiple_of(4) { 1.0 } else { 0.0 };
        vec![0.02 * most + 0.001 * noise(1, step), most, 0.0]
    });
    assert_eq!(found.gain.unwrap().top.to_bits(), 1.0_f64.to_bits());
}

#[test]
fn a_run_whose_kl_blew_up_is_not_called_stuck() {
    let found = verdict("reward,kl", 400, |step| {
        let kl = if (150..250).contains(&step) { 3.0 } else { 0.1 };
        vec![0.3 + 0.05 * noise(2, step), kl + 0.01 * noise(3, step)]
    });
    assert_eq!(found.state, RunState::Suspicious, "{}", found.sentence);
    assert_eq!(found.causes[0].code.as_str(), "large_updates");
    assert_eq!(found.sentence, "The reward went 0.30 to 0.30; the KL reached 3.");
}

#[test]
fn a_rate_of_other_things_is_no_hacked_part() {
    let row = |step: u32, other: f64| {
        let reward = rises(step, 300, 0.3, 0.8) + 0.05 * noise(4, step);
        vec![reward, reward, 0.13 + 0.05 * noise(5, step), other + 0.05 * noise(6, step)]
    };
    let header = "reward,success,replay_success,raw_success";
    let found = verdict(header, 300, |step| row(step, rises(step, 300, 0.4, 0.85)));
    assert_eq!(found.state, RunState::Healthy, "{}", found.sentence);
    let found = verdict(header, 300, |step| row(step, 0.2));
    assert_eq!(found.state, RunState::Suspicious, "{}", found.sentence);
    assert_eq!(found.causes[0].code.as_str(), "reward_hacking");
}

#[test]
fn a_held_out_score_that_rose_is_learning() {
    let row = |step: u32, score: f64| vec![0.3 + 0.1 * noise(7, step), score + 0.01 * noise(8, step)];
    let found = verdict("reward,eval/accuracy", 400, |step| row(step, rises(step, 400, 0.05, 0.4)));
    assert_ne!(found.state, RunState::NotLearning, "{}", found.sentence);
    let found = verdict("reward,eval/accuracy", 400, |step| row(step, 0.05));
    assert_eq!(found.state, RunState::NotLearning, "{}", found.sentence);
}

#[test]
fn an_abrupt_fall_is_told_with_its_row() {
    for at in [297, 301, 307, 411] {
        let found =
            verdict("reward", 700, |step| vec![if step < at { 0.34 } else { 0.06 } + 0.03 * noise(9, step)]);
        assert!(found.state.is_loss(), "{}", found.sentence);
        assert_eq!(found.events[0].first_step.to_bits(), f64::from(at).to_bits(), "{}", found.sentence);
    }
}

#[test]
fn a_collapse_in_the_first_rows_is_one() {
    let found =
        verdict("reward", 40, |step| vec![if step < 4 { 0.87 } else { 0.0 } + 0.005 * noise(10, step)]);
    assert_eq!(found.state, RunState::Collapsed, "{}", found.sentence);
}
