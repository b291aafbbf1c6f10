//! Small runs for comparisons: groups of responses to prompts, with scatter at every level.
#![allow(dead_code, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::ArrayRef;
use stapo_analyze::stats::random::Random;

use super::support::{float_lists, floats, int_lists, ints, write_parquet};

/// A run in the making.
pub struct Made {
    /// Everything random hangs on it.
    pub seed: u64,
    /// Logged steps.
    pub steps: Vec<i64>,
    /// Prompts a step; the same in every run.
    pub groups: u64,
    /// Mean entropy.
    pub entropy: f64,
    /// Whether prompts are logged.
    pub prompts: bool,
    /// Whether rewards are logged.
    pub rewards: bool,
    /// Share of tokens that the entropy does not explain.
    pub rare: f64,
    /// How much the entropy falls from the first to the last step, as a share.
    pub fall: f64,
    /// The run's own wandering from step to step: scatter and correlation.
    pub wander: (f64, f64),
    /// What this run adds to entropy and to the chance of a right answer, as another seed does.
    pub own: (f64, f64),
    /// From this step on all rewards are alike, and this is what is left of their advantages.
    pub idle: Option<(i64, f32)>,
    /// The rewards of wrong and of right answers.
    pub paid: [f32; 2],
}

impl Default for Made {
    fn default() -> Self {
        Self {
            seed: 0,
            steps: (0..10).collect(),
            groups: 8,
            entropy: 0.5,
            prompts: true,
            rewards: true,
            rare: 0.01,
            fall: 0.0,
            wander: (0.0, 0.0),
            own: (0.0, 0.0),
            idle: None,
            paid: [0.0, 1.0],
        }
    }
}

const GROUP: usize = 4;

impl Made {
    /// Writes `NAME.parquet` and gives its path.
    #[allow(clippy::cast_possible_truncation)]
    pub fn write(&self, folder: &Path, name: &str) -> PathBuf {
        let mut random = Random::new(self.seed, 77);
        let (mut steps, mut groups, mut samples) = (vec![], vec![], vec![]);
        let (mut rewards, mut advantages) = (vec![], vec![]);
        let (mut prompts, mut ids): (Vec<Vec<i32>>, Vec<Vec<i32>>) = (vec![], vec![]);
        let (mut logprobs, mut entropies): (Vec<Vec<f32>>, Vec<Vec<f32>>) = (vec![], vec![]);
        let (scatter, correlation) = self.wander;
        let mut drift = if scatter > 0.0 { random.normal() } else { 0.0 };
        for (number, step) in self.steps.iter().enumerate() {
            if scatter > 0.0 {
                drift = correlation * drift + (1.0 - correlation * correlation).sqrt() * random.normal();
            }
            let progress = number as f64 / (self.steps.len().max(2) - 1) as f64;
            let level = self.entropy * (1.0 - self.fall * progress) + self.own.0 + scatter * drift;
            for group in 0..self.groups {
                let mood = 0.1 * random.normal();
                let chance = 0.6 + self.own.1 + scatter * drift;
                let right: Vec<bool> = (0..GROUP).map(|_| random.unit() < chance).collect();
                let mean = right.iter().filter(|r| **r).count() as f64 / GROUP as f64;
                for (sample, right) in right.iter().enumerate() {
                    let tokens = 20 + random.below(20);
                    let mut entropy = Vec::with_capacity(tokens);
                    let mut logprob = Vec::with_capacity(tokens);
                    for _ in 0..tokens {
                        let h = (level + mood + 0.2 * random.normal()).max(0.05);
                        entropy.push(h as f32);
                        // Now and then a token that the entropy does not explain.
                        let rare = random.unit() < self.rare;
                        logprob.push(if rare { -7.0 } else { -(h * (0.5 + random.unit())) as f32 });
                    }
                    steps.push(*step);
                    groups.push(*step * 1_000 + group as i64);
                    samples.push((sample as i64) + 10 * group as i64 + 1_000 * *step);
                    let idle = self.idle.filter(|(from, _)| step >= from).map(|(_, left)| left);
                    rewards.push(if idle.is_some() { 0.2 } else { self.paid[usize::from(*right)] });
                    advantages.push(idle.unwrap_or((f64::from(u8::from(*right)) - mean) as f32));
                    prompts.push(vec![*step as i32, group as i32, 7]);
                    ids.push((0..tokens).map(|_| random.below(50) as i32).collect());
                    logprobs.push(logprob);
                    entropies.push(entropy);
                }
            }
        }
        let of_floats = |rows: &[Vec<f32>]| float_lists(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let of_ints = |rows: &[Vec<i32>]| int_lists(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let mut columns: Vec<(&str, ArrayRef)> = vec![
            ("step", ints(&steps)),
            ("group_id", ints(&groups)),
            ("sample_id", ints(&samples)),
            ("advantage", floats(&advantages)),
            ("token_ids", of_ints(&ids)),
            ("logprob", of_floats(&logprobs)),
            ("entropy", of_floats(&entropies)),
        ];
        if self.rewards {
            columns.push(("reward", floats(&rewards)));
        }
        if self.prompts {
            columns.push(("prompt_ids", Arc::clone(&of_ints(&prompts))));
        }
        let path = folder.join(format!("{name}.parquet"));
        write_parquet(&path, columns, 4_096);
        path
    }
}
