//! Causes in rewards, advantages and what was trained, on made-up runs that have them, and on what looks alike.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod advantages;
mod ask;
mod asked;
mod held_out;
mod log;
mod made;
mod trained;

use ask::{changed, likely};
use made::{Random, by_token, healthy};
use stapo_diagnosis::Code;

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
