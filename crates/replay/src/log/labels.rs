//! Which responses count as correct.

use std::collections::BTreeSet;

use stapo_base::format::number;
use stapo_batch::batch::{ResponseColumns, TokenBatch};
use stapo_batch::columns::Column;
use stapo_ingest::Run;
use stapo_ingest::right::PassRule;
use stapo_ingest::right::{RightRule, SeenRewards, middle, right_part, rivals_of};

/// What makes a response correct.
#[derive(Clone, Debug, PartialEq)]
pub enum Labels {
    /// The user's condition.
    Condition(PassRule),
    /// A part of the reward whose name says so.
    Part {
        /// Its name.
        name: String,
        /// The value above which a response is correct.
        above: f64,
    },
    /// A reward of two values: the higher one.
    Higher {
        /// The lower value.
        low: f32,
        /// The higher value.
        high: f32,
    },
    /// Rewards of many values, or none: better than its group, A > 0.
    Advantage,
}

impl Labels {
    /// Whether response `i` is correct; `None` where that is not known. `advantages` are its tokens'.
    pub fn of(&self, batch: &TokenBatch, i: usize, advantages: &[f32]) -> Option<bool> {
        match self {
            Self::Condition(rule) => rule.judge(&batch.responses, i),
            Self::Part { name, above } => {
                part_of(&batch.responses, name, i).map(|value| f64::from(value) > *above)
            }
            Self::Higher { high, .. } => {
                let reward = batch.responses.floats.get(Column::Reward)?[i];
                reward.is_finite().then_some(reward >= *high)
            }
            Self::Advantage => {
                let advantage = advantages.iter().copied().find(|a| !a.is_nan())?;
                (advantage != 0.0).then_some(advantage > 0.0)
            }
        }
    }

    /// In words, after "correct means".
    #[must_use]
    pub fn meaning(&self) -> String {
        match self {
            Self::Condition(rule) => rule.text().to_owned(),
            Self::Part { name, above } => format!("reward/{name} above {}", number(*above)),
            Self::Higher { low, high } => {
                format!("a reward of {}, not {}", number(f64::from(*high)), number(f64::from(*low)))
            }
            Self::Advantage => "better than its group (A > 0)".into(),
        }
    }
}

/// A part of the reward of response `i`, where it is logged.
fn part_of(responses: &ResponseColumns, name: &str, i: usize) -> Option<f32> {
    let (_, values) = responses.reward_parts.iter().find(|(known, _)| **known == *name)?;
    Some(values[i]).filter(|value| value.is_finite())
}

/// The rewards of a log, as far as they decide on labels.
#[derive(Clone, Debug, Default)]
pub struct LoggedRewards {
    seen: SeenRewards,
    /// The part whose name says what is right, with its finite values.
    part: Option<(String, Vec<f32>)>,
    /// The names of the others that say so.
    rivals: Vec<String>,
}

impl LoggedRewards {
    /// Nothing yet of a run.
    pub fn new(run: &Run) -> Self {
        let parts = run.mappings.iter().flat_map(|m| m.reward_parts.iter().map(|(_, part)| part.as_str()));
        let parts: Vec<&str> = parts.collect::<BTreeSet<_>>().into_iter().collect();
        let chosen = right_part(parts.iter().copied());
        let rivals = chosen.map_or_else(Vec::new, |chosen| rivals_of(chosen, &parts));
        Self {
            part: chosen.map(|part| (parts[part].to_owned(), Vec::new())),
            rivals: rivals.into_iter().map(|part| parts[part].to_owned()).collect(),
            ..Self::default()
        }
    }

    /// Adds the reward of response `i`.
    pub fn add(&mut self, batch: &TokenBatch, i: usize) {
        let reward = batch.responses.floats.get(Column::Reward).map_or(f32::NAN, |rewards| rewards[i]);
        let part = self.part.as_ref().and_then(|(name, _)| part_of(&batch.responses, name, i));
        let rivals = self.rivals.iter().map(|name| part_of(&batch.responses, name, i).unwrap_or(f32::NAN));
        let rival = rivals.reduce(f32::max);
        self.note(reward, part, rival);
    }

    fn note(&mut self, reward: f32, part: Option<f32>, rival: Option<f32>) {
        let reward = if reward.is_finite() { reward } else { f32::NAN };
        self.seen.add(reward, part.unwrap_or(f32::NAN));
        if let Some(rival) = rival {
            self.seen.add_rival(reward, part.unwrap_or(f32::NAN), rival);
        }
        if let (Some((_, values)), Some(value)) = (&mut self.part, part) {
            values.push(value);
        }
    }

    /// What the analysis takes for right; where nothing is, a graded part above the middle of its range,
    /// else the advantage: a reward with parts (a bonus for the format, a penalty for the length) does not
    /// say by its sign which answer is right.
    #[must_use]
    pub fn labels(&self) -> Labels {
        let part = self.part.as_ref().map(|(name, _)| (0, name.as_str()));
        match RightRule::of(None, part, &self.seen) {
            Some(RightRule::Part { name, values: [low, _], .. }) => {
                Labels::Part { name, above: f64::from(low) }
            }
            Some(RightRule::Reward([low, high])) => Labels::Higher { low, high },
            Some(RightRule::Given(_)) | None => self.graded().unwrap_or_else(|| self.alike()),
        }
    }

    fn graded(&self) -> Option<Labels> {
        let alone = self.part.as_ref().filter(|_| !self.seen.rivals.are_apart());
        let (name, mut values) = alone.filter(|(_, values)| !values.is_empty()).cloned()?;
        Some(Labels::Part { name, above: middle(&mut values) })
    }

    /// All rewards alike: correct where there is anything to be correct about.
    fn alike(&self) -> Labels {
        match self.seen.reward.verdict() {
            Some([low, high]) => Labels::Higher { low, high },
            None => Labels::Advantage,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_values_decide_and_many_do_not() {
        let labels = |rewards: &[f32], parts: &[f32]| {
            let part = (!parts.is_empty()).then(|| ("answer".to_owned(), Vec::new()));
            let mut seen = LoggedRewards { part, ..LoggedRewards::default() };
            rewards.iter().for_each(|reward| seen.note(*reward, None, None));
            parts.iter().for_each(|part| seen.note(f32::NAN, Some(*part), None));
            seen.labels()
        };
        // A bonus for the format makes every reward positive.
        assert_eq!(labels(&[1.1, 0.1], &[]), Labels::Higher { low: 0.1, high: 1.1 });
        assert_eq!(labels(&[-1.0, 0.0], &[]), Labels::Higher { low: -1.0, high: 0.0 });
        assert_eq!(labels(&[0.0, 0.2, 1.2], &[]), Labels::Advantage);
        assert_eq!(labels(&[], &[]), Labels::Advantage);
        assert_eq!(labels(&[1.0], &[]), Labels::Higher { low: 0.0, high: 1.0 });
        // A part of another task leaves no label to a part alone.
        let mut tasks =
            LoggedRewards { part: Some(("code_correct".into(), vec![])), ..LoggedRewards::default() };
        for (code, math) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)] {
            (0..30).for_each(|format| tasks.note(code + math + format as f32, Some(code), Some(math)));
        }
        assert_eq!(tasks.labels(), Labels::Advantage);
        // A part that says what is right is asked first, a grade last.
        let answer = |above: f64| Labels::Part { name: "answer".into(), above };
        assert_eq!(labels(&[0.0, 1.0], &[0.0, 1.0, 1.0]), answer(0.0));
        assert_eq!(answer(0.0).meaning(), "reward/answer above 0");
        assert_eq!(labels(&[0.0, 1.0], &[0.0, 0.4, 1.0]), Labels::Higher { low: 0.0, high: 1.0 });
        let graded = labels(&[0.0, 0.7, 1.0], &[0.0, 0.4, 1.0]);
        // Between the 1 % and the 99 % quantile, 0.008 and 0.988.
        assert!(matches!(&graded, Labels::Part { above, .. } if (above - 0.498).abs() < 1e-6), "{graded:?}");
    }
}
