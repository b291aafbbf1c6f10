//! Small runs made up for one purpose.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};

use super::support::{float_lists, floats, int_lists, ints, write_parquet};

/// What one step of a made-up run looks like.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Mean entropy.
    pub entropy: f32,
    /// Share of right answers.
    pub reward: f32,
    /// Scale of the advantages.
    pub scale: f32,
    /// Whether rewards differ within groups.
    pub learns: bool,
    /// A rare token of this id in every rewarded response.
    pub rare: Option<i32>,
}

/// A step of a run that goes well.
pub fn healthy(step: i64) -> Step {
    let step = step as f32;
    Step {
        entropy: 0.5 - 0.01 * step,
        reward: 0.4 + 0.02 * step,
        scale: 1.0,
        learns: true,
        rare: Some(step as i32),
    }
}

/// A made-up run: groups of four responses of thirty tokens.
pub struct Synthetic {
    steps: i64,
    of: fn(i64) -> Step,
    /// Mini-batches a step.
    pub updates: i64,
}

const GROUPS: i64 = 8;
const GROUP: i64 = 4;
const TOKENS: usize = 30;

impl Synthetic {
    /// A run of `steps` steps.
    pub fn new(steps: i64, of: fn(i64) -> Step) -> Self {
        Self { steps, of, updates: 0 }
    }

    /// Writes the run and returns its path.
    pub fn write(&self, folder: &Path) -> PathBuf {
        let (mut step_ids, mut updates, mut groups, mut samples) = (vec![], vec![], vec![], vec![]);
        let (mut rewards, mut advantages) = (vec![], vec![]);
        let mut tokens: Vec<Vec<i32>> = vec![];
        let (mut logprobs, mut entropies): (Vec<Vec<f32>>, Vec<Vec<f32>>) = (vec![], vec![]);
        for step in 0..self.steps {
            let like = (self.of)(step);
            for group in 0..GROUPS {
                for sample in 0..GROUP {
                    let right = (group * GROUP + sample) as f32 / (GROUPS * GROUP) as f32;
                    let reward = if like.learns {
                        f32::from(u8::from((right * 7.3).fract() < like.reward))
                    } else {
                        like.reward.round()
                    };
                    let advantage = if like.learns { like.scale * (reward - like.reward) } else { 0.0 };
                    step_ids.push(step);
                    updates.push(group % self.updates.max(1));
                    groups.push(format!("step {step} group {group}"));
                    samples.push(sample);
                    rewards.push(reward);
                    advantages.push(advantage);
                    let (ids, logprob, entropy) = response(&like, reward > 0.0, step + group + sample);
                    tokens.push(ids);
                    logprobs.push(logprob);
                    entropies.push(entropy);
                }
            }
        }
        let texts: Vec<&str> = groups.iter().map(String::as_str).collect();
        let mut columns: Vec<(&str, ArrayRef)> = vec![
            ("step", ints(&step_ids)),
            ("group_id", Arc::new(StringArray::from(texts))),
            ("sample_id", ints(&samples)),
            ("reward", floats(&rewards)),
            ("advantage", floats(&advantages)),
            ("token_ids", int_lists(&tokens.iter().map(Vec::as_slice).collect::<Vec<_>>())),
            ("logprob", float_lists(&logprobs.iter().map(Vec::as_slice).collect::<Vec<_>>())),
            ("entropy", float_lists(&entropies.iter().map(Vec::as_slice).collect::<Vec<_>>())),
        ];
        if self.updates > 0 {
            columns.push(("update", ints(&updates)));
        }
        let path = folder.join("run.parquet");
        write_parquet(&path, columns, 64);
        path
    }
}

/// Tokens whose p and H can be of one distribution, with the wanted mean entropy.
fn response(like: &Step, rewarded: bool, seed: i64) -> (Vec<i32>, Vec<f32>, Vec<f32>) {
    let (mut ids, mut logprobs, mut entropies) = (vec![], vec![], vec![]);
    for t in 0..TOKENS {
        let wave = 0.5 + ((seed as usize * 7 + t * 13) % 11) as f32 / 11.0;
        let entropy = like.entropy * wave;
        let surprisal = entropy * (0.4 + ((t * 5 + seed as usize) % 7) as f32 / 10.0);
        ids.push(((seed as usize * 31 + t * 17) % 200) as i32);
        logprobs.push(-surprisal);
        entropies.push(entropy);
    }
    if let Some(id) = like.rare.filter(|_| rewarded) {
        let at = (seed as usize * 11) % TOKENS;
        ids[at] = id;
        logprobs[at] = -8.0 - (seed % 5) as f32 / 10.0;
        entropies[at] = 0.1 + 0.05 * (seed % 7) as f32;
    }
    (ids, logprobs, entropies)
}
