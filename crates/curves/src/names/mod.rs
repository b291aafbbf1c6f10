//! The names that trainers give to the same number: one table. A new repository brings one or two that it lacks, so
//! `--map` goes before it, and a name that it does not know is told.

mod table;

use std::sync::LazyLock;

use regex::RegexSet;
use serde::Serialize;
use stapo_base::error::{Error, Result};

use self::table::{HELD_OUT, TABLE};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CanonicalName {
    /// Trainer step.
    Step,
    /// Epoch: whether the log begins with the training, where no step says it.
    Epoch,
    /// Time of the whole run: TRL's row that sums up.
    Summary,
    /// Known, and of no use here: times, memory, counts.
    Ignored,
    /// A score on held-out prompts.
    HeldOut,
    /// Share of responses that were cut.
    Truncated,
    /// Share of tokens that the objective clips.
    ClipFraction,
    /// Share of groups with equal rewards.
    DeadGroups,
    /// KL to the reference.
    Kl,
    /// KL of one update.
    KlStep,
    /// KL between sampler and trainer.
    KlGap,
    /// Entropy of the policy.
    Entropy,
    /// Mean length of responses.
    Length,
    /// Norm of the gradient.
    GradNorm,
    /// Learning rate.
    LearningRate,
    /// Greatest reward of a response in the step.
    RewardMax,
    /// Least reward of a response in the step.
    RewardMin,
    /// Standard deviation of the reward.
    RewardStd,
    /// Mean reward of the step.
    Reward,
    /// Loss of the policy.
    Loss,
    /// A part of the reward, or a measure of success beside it.
    Part,
}

use CanonicalName as N;

/// The names that a user can map a column to, as `--map` writes them.
const MAPPED: [(&str, CanonicalName); 18] = [
    ("step", N::Step),
    ("epoch", N::Epoch),
    ("held_out", N::HeldOut),
    ("truncated", N::Truncated),
    ("clip_fraction", N::ClipFraction),
    ("dead_groups", N::DeadGroups),
    ("kl", N::Kl),
    ("kl_step", N::KlStep),
    ("kl_gap", N::KlGap),
    ("entropy", N::Entropy),
    ("length", N::Length),
    ("grad_norm", N::GradNorm),
    ("reward_max", N::RewardMax),
    ("reward_min", N::RewardMin),
    ("reward_std", N::RewardStd),
    ("reward", N::Reward),
    ("loss", N::Loss),
    ("part", N::Part),
];

/// One pattern of the table: what it stands for, its place among the patterns of its row, and what rules it out.
struct Pattern {
    name: CanonicalName,
    rank: usize,
    /// Index into the set of exclusions.
    unless: Option<usize>,
}

struct Compiled {
    patterns: Vec<Pattern>,
    whole: RegexSet,
    excluded: RegexSet,
}

/// A pattern that does not compile would leave an empty table: the first test below would fail.
static COMPILED: LazyLock<Compiled> = LazyLock::new(|| {
    let (mut patterns, mut whole, mut excluded) = (Vec::new(), Vec::new(), Vec::new());
    for (name, words, unless) in TABLE {
        let unless = (!unless.is_empty()).then(|| {
            excluded.push(*unless);
            excluded.len() - 1
        });
        for (rank, word) in words.split_whitespace().enumerate() {
            patterns.push(Pattern { name: *name, rank, unless });
            whole.push(format!("^(?:{})$", word.replace("{held_out}", HELD_OUT)));
        }
    }
    let set = |all: &[String]| RegexSet::new(all).unwrap_or_else(|_| RegexSet::empty());
    let excluded: Vec<String> = excluded.into_iter().map(str::to_owned).collect();
    Compiled { patterns, whole: set(&whole), excluded: set(&excluded) }
});

/// A name as the table writes it.
#[must_use]
pub(crate) fn normalised(name: &str) -> String {
    if name == "_step" || name == "global_step" {
        return name.to_owned();
    }
    let mut out = String::with_capacity(name.len());
    for c in name.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            out.push(c);
        } else if !out.ends_with('_') {
            out.push('_');
        }
    }
    let out = out.trim_matches('_');
    let inner = ["train_metrics_", "train_", "global_", "metrics_"].iter().find_map(|p| out.strip_prefix(p));
    match inner {
        Some(rest) if !rest.is_empty() && !rest.starts_with("global_step") => rest.to_owned(),
        _ => out.to_owned(),
    }
}

fn in_table(name: &str) -> Option<(CanonicalName, usize)> {
    let name = normalised(name);
    let whole = whole_in_table(&name);
    match whole {
        // Any name with `reward` in it is a part, if it is nothing better.
        None | Some((N::Part, _)) => of_mean(&name).and_then(whole_in_table).or(whole),
        _ => whole,
    }
}

/// Of `avg_entropy`, `kl_avg` and `rollout_reward_mean` what the mean is of.
fn of_mean(name: &str) -> Option<&str> {
    let rest = ["rollout_", "avg_", "average_", "mean_"].iter().find_map(|p| name.strip_prefix(p));
    let rest = rest.or_else(|| ["_avg", "_average", "_mean"].iter().find_map(|s| name.strip_suffix(s)));
    rest.filter(|rest| !rest.is_empty())
}

fn whole_in_table(name: &str) -> Option<(CanonicalName, usize)> {
    let excluded = COMPILED.excluded.matches(name);
    let mut hits = COMPILED.whole.matches(name).into_iter().map(|i| &COMPILED.patterns[i]);
    hits.find(|p| p.unless.is_none_or(|u| !excluded.matched(u))).map(|p| (p.name, p.rank))
}

/// Names of columns longer than this are not looked up.
const LONGEST: usize = 300;

/// The table, behind what the user maps.
#[derive(Clone, Debug, Default)]
pub struct Names {
    mapped: Vec<(CanonicalName, String)>,
}

impl Names {
    /// From arguments `canonical=column`; `canonical=` leaves a number out.
    pub fn with_map(arguments: &[String]) -> Result<Self> {
        let wrong = |argument: &String, message: String| Error::Map {
            argument: argument.clone(),
            message,
            hint: format!("write NAME=COLUMN with one of {}", MAPPED.map(|(name, _)| name).join(", ")),
        };
        let mut mapped = Vec::new();
        for argument in arguments {
            let Some((name, column)) = argument.split_once('=') else {
                return Err(wrong(argument, "it has no `=`".into()));
            };
            let Some((_, known)) = MAPPED.iter().find(|(word, _)| *word == name) else {
                return Err(wrong(argument, format!("curves have no `{name}`")));
            };
            mapped.push((*known, column.to_owned()));
        }
        Ok(Self { mapped })
    }

    /// What a column holds, and how good a name of it this is (0 is best); `None` where nobody knows.
    #[must_use]
    pub(crate) fn of(&self, column: &str) -> Option<(CanonicalName, usize)> {
        if let Some((name, _)) = self.mapped.iter().find(|(_, mapped)| mapped == column) {
            return Some((*name, 0));
        }
        if column.len() > LONGEST {
            return None;
        }
        if column == "train_runtime" || column.ends_with("/train_runtime") {
            return Some((N::Summary, 0));
        }
        let found = in_table(column).or_else(|| {
            // `actor/main_chain/entropy`: what stands between is left out where the whole name is not known.
            let mut segments = column.splitn(3, '/');
            match (segments.next(), segments.next(), segments.next()) {
                (Some(first), Some(_), Some(rest)) => in_table(&format!("{first}/{rest}")),
                _ => None,
            }
        });
        match found {
            // The user said which column it is: the others are not it.
            Some((name, _))
                if !matches!(name, N::Part | N::HeldOut) && self.mapped.iter().any(|m| m.0 == name) =>
            {
                Some((N::Ignored, 0))
            }
            other => other,
        }
    }
}

impl CanonicalName {
    /// Whether it is a number of the training, not its clock.
    #[must_use]
    pub(crate) fn is_curve(self) -> bool {
        !matches!(self, N::Step | N::Epoch | N::Summary | N::Ignored | N::LearningRate)
    }

    /// The word of `--map` and of tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        MAPPED.iter().find(|(_, name)| *name == self).map_or("", |(word, _)| word)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn of(name: &str) -> Option<CanonicalName> {
        Names::default().of(name).map(|found| found.0)
    }

    #[test]
    fn names_of_many_trainers_are_known() {
        let cases = [
            ("train/global_step", N::Step),
            ("_step", N::Step),
            ("training/epoch", N::Epoch),
            ("train_runtime", N::Summary),
            ("timing_s/gen", N::Ignored),
            ("critic/score/mean", N::Reward),
            ("episode/reward/mean", N::Reward),
            ("train/reward", N::Reward),
            ("actor/main_chain/entropy", N::Entropy),
            ("actor/entropy_loss", N::Entropy),
            ("response_length/main_chain/mean", N::Length),
            ("completion_length", N::Length),
            ("clip_ratio", N::ClipFraction),
            ("clip_ratio/region_mean", N::ClipFraction),
            ("clip_ratio/high_max", N::Ignored),
            ("completions/clipped_ratio", N::Truncated),
            ("response_length/clip_ratio", N::Truncated),
            ("objective/kl", N::Ignored),
            ("actor/ppo_kl", N::KlStep),
            ("val-core/openai/gsm8k/acc/mean@1", N::HeldOut),
            ("val-aux/gsm8k/tool_call_count/mean", N::Ignored),
            ("val-aux/gsm8k/error_ratio/mean", N::Ignored),
            ("eval_loss", N::Ignored),
            ("rewards/correctness_reward_func", N::Part),
            ("rewards/soft_format_reward_func/mean", N::Part),
            ("test/env/all/by_group/frac_all_good", N::Ignored),
            ("env/all/by_group/frac_all_good", N::DeadGroups),
            ("avg_exact_kl", N::Kl),
            ("kl_avg", N::Kl),
            ("avg_clip_fraction", N::ClipFraction),
            ("rollout_reward_mean", N::Reward),
            ("rollout/kl", N::KlGap),
            ("mean_episode_rewards", N::Reward),
            ("train_accuracies_avg", N::Part),
            ("val_accuracies_avg", N::HeldOut),
            ("Actor Loss", N::Loss),
            ("Avg Response Len", N::Length),
            ("global_step/max_steps", N::Step),
            ("rollout/raw_reward", N::Reward),
            ("reward/avg_raw_reward", N::Reward),
            ("ppo_actor/task_reward/avg", N::Reward),
            ("team_reward", N::Part),
            ("eval_seconds", N::Ignored),
            ("policy/approxkl_avg", N::KlStep),
        ];
        for (name, expected) in cases {
            assert_eq!(of(name), Some(expected), "{name}");
        }
        assert_eq!(of("banana"), None);
        assert_eq!(COMPILED.whole.len(), COMPILED.patterns.len());
    }

    #[test]
    fn what_the_user_maps_goes_first() {
        let names = Names::with_map(&["reward=my/points".into(), "kl=".into()]).unwrap();
        assert_eq!(names.of("my/points"), Some((N::Reward, 0)));
        assert_eq!(names.of("reward").map(|f| f.0), Some(N::Ignored));
        assert_eq!(names.of("kl").map(|f| f.0), Some(N::Ignored));
        let refused = Names::with_map(&["rewrad=x".into()]).unwrap_err();
        assert!(refused.hint().unwrap().contains("reward_std, reward"), "{refused}");
    }
}
