//! Groups of real runs, as `expect.py` wrote them.
#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use stapo_base::stats::exact_sum::ExactSum;
use stapo_base::stats::random::Random;
use stapo_levels::{GroupKey, RunGroups, Settings, Totals, compare_runs};

/// Step, task, prompt, responses, Σ reward, right answers, Σ length, Σ entropy, its tokens, Σ reward².
type Row = (i64, usize, u64, u64, f64, u64, u64, f64, u64, f64);

#[derive(Deserialize)]
struct File {
    tasks: Vec<String>,
    runs: BTreeMap<String, Vec<Row>>,
}

/// All runs by name.
pub fn real_runs() -> BTreeMap<String, RunGroups> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/groups.json");
    let file: File = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    file.runs.iter().map(|(name, rows)| (name.clone(), groups(rows, &file.tasks))).collect()
}

fn groups(rows: &[Row], tasks: &[String]) -> RunGroups {
    let mut run = RunGroups::default();
    for (group, row) in rows.iter().enumerate() {
        let (step, task, prompt, responses, reward, right, length, entropy, entropy_tokens, reward_squares) =
            *row;
        let totals = Totals {
            responses,
            reward: sum(reward),
            reward_squares: sum(reward_squares),
            rewarded: responses,
            right,
            judged: responses,
            length,
            entropy: sum(entropy),
            entropy_tokens,
            prompt: Some(prompt),
            means: None,
        };
        run.add_group(
            GroupKey { held_out: false, step, task: tasks[task].clone(), group: group as u64 },
            &totals,
        );
    }
    run
}

fn sum(value: f64) -> ExactSum {
    let mut sum = ExactSum::new();
    sum.add(value);
    sum
}

/// Three seeds of an arm.
pub fn arm(runs: &BTreeMap<String, RunGroups>, name: &str) -> Vec<RunGroups> {
    (1..=3).map(|seed| runs[&format!("{name}_{seed}")].clone()).collect()
}

/// A random half of the groups of each step, and the other half.
pub fn halves(run: &RunGroups, random: &mut Random) -> [RunGroups; 2] {
    let steps: BTreeSet<i64> = run.groups().map(|(key, _)| key.step).collect();
    let mut first = BTreeSet::new();
    for step in steps {
        let mut groups: Vec<u64> =
            run.groups().filter(|(key, _)| key.step == step).map(|(key, _)| key.group).collect();
        random.shuffle(&mut groups);
        first.extend(groups[..groups.len() / 2].iter().copied());
    }
    [run.filtered(|key| first.contains(&key.group)), run.filtered(|key| !first.contains(&key.group))]
}

/// So many random groups of each step.
pub fn thinned(run: &RunGroups, groups_a_step: usize, random: &mut Random) -> RunGroups {
    let steps: BTreeSet<i64> = run.groups().map(|(key, _)| key.step).collect();
    let mut kept = BTreeSet::new();
    for step in steps {
        let mut groups: Vec<u64> =
            run.groups().filter(|(key, _)| key.step == step).map(|(key, _)| key.group).collect();
        random.shuffle(&mut groups);
        kept.extend(groups.into_iter().take(groups_a_step));
    }
    run.filtered(|key| kept.contains(&key.group))
}

/// In how many of so many splits any metric of two halves differs, at δ = 0.
pub fn false_differences(run: &RunGroups, splits: u64) -> u64 {
    let differs = |split: &u64| {
        let [first, second] = halves(run, &mut Random::new(20_261_119, *split));
        let level = compare_runs(&first, &second, &Settings::default());
        level.rows.iter().any(|row| row.difference.zip(row.half).is_some_and(|(d, half)| d.abs() > half))
    };
    (0..splits).filter(differs).count() as u64
}
