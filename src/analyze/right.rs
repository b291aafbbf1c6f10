//! What is right: one order for everything that asks. The user's condition (`--pass`), else a part of the
//! reward whose name says so and that is a verdict of two values, else a reward of two values. A part of
//! many values is a grade: where it turns into right is not known before all of it was seen, so only what
//! looks at single responses once more takes it, by the middle of its range, where nothing else says it.

use crate::stats::quantile::select_quantile;

/// Words in the name of a part of the reward that says whether the answer is right, …
const RIGHT: [&str; 18] = [
    "acc",
    "accuracy",
    "accurate",
    "answer",
    "answers",
    "correct",
    "correctly",
    "correctness",
    "exact",
    "pass",
    "passed",
    "passes",
    "passing",
    "passrate",
    "solve",
    "solved",
    "success",
    "successful",
];
/// … and beginnings of words that say it measures something else of it.
const OTHER: [&str; 17] = [
    "brevity", "cit", "count", "extract", "format", "json", "length", "overlap", "pars", "penal", "present",
    "style", "tag", "token", "word", "xml", "yaml",
];
/// Ends of a part's range; a few odd values are none.
const ENDS: [f64; 2] = [0.01, 0.99];

/// What a response must do to be right.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// The user's condition.
    Given(String),
    /// A part of the reward whose name says so takes two values: the higher one is right.
    Part {
        /// Its name.
        name: String,
        /// Its place among the parts.
        part: usize,
        /// The two.
        values: [f32; 2],
    },
    /// The reward takes two values: the higher one is right.
    Reward([f32; 2]),
}

impl Rule {
    /// The rule of a run; `None` where nothing says what is right. `part` is the place and the name of the
    /// part whose name says so.
    pub fn of(given: Option<&str>, part: Option<(usize, &str)>, seen: &SeenRewards) -> Option<Self> {
        if let Some(text) = given {
            return Some(Self::Given(text.to_owned()));
        }
        let by_part = part.zip(seen.part.verdict());
        let by_part =
            by_part.map(|((part, name), values)| Self::Part { name: name.to_owned(), part, values });
        by_part.or_else(|| seen.reward.two().map(Self::Reward))
    }

    /// In words of the option.
    pub fn text(&self) -> String {
        match self {
            Self::Given(text) => text.clone(),
            Self::Part { name, values: [low, _], .. } => format!("reward/{name}>{low}"),
            Self::Reward([low, _]) => format!("reward>{low}"),
        }
    }
}

/// The distinct values of a reward, as far as it matters whether there are two.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct RewardValues(Vec<f32>);

impl RewardValues {
    /// Puts what may come in any order into one: of more than two it does not matter which.
    pub fn settle(&mut self) {
        if self.0.len() > 2 {
            self.0 = vec![f32::NAN; 3];
        }
        self.0.iter_mut().for_each(|value| *value += 0.0);
        self.0.sort_by(f32::total_cmp);
    }

    /// Notes a reward; NaN is none.
    #[inline]
    pub fn add(&mut self, reward: f32) {
        if self.0.len() < 3 && !reward.is_nan() && !self.0.contains(&reward) {
            self.0.push(reward);
        }
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: &Self) {
        if other.0.len() > 2 {
            self.0.clone_from(&other.0);
        }
        other.0.iter().for_each(|reward| self.add(*reward));
    }

    /// The lower and the higher one, where there are just two.
    pub fn two(&self) -> Option<[f32; 2]> {
        match self.0[..] {
            [a, b] => Some([a.min(b), a.max(b)]),
            _ => None,
        }
    }

    /// The same of what is known to say what is right: one value alone is right above 0.
    pub fn verdict(&self) -> Option<[f32; 2]> {
        match self.0[..] {
            [one] if one > 0.0 => Some([0.0, one]),
            [one] => Some([one, one.max(0.0) + 1.0]),
            _ => self.two(),
        }
    }
}

/// The distinct rewards of a run, and those of the part whose name says what is right.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct SeenRewards {
    /// The reward itself.
    pub reward: RewardValues,
    /// The part.
    pub part: RewardValues,
}

impl SeenRewards {
    /// Puts what may come in any order into one.
    pub fn settle(&mut self) {
        self.reward.settle();
        self.part.settle();
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.reward.merge(&other.reward);
        self.part.merge(&other.part);
    }
}

/// The part whose name says most plainly that it tells what is right.
pub fn right_part<'a>(parts: impl IntoIterator<Item = &'a str>) -> Option<usize> {
    let plain = |(index, name): (usize, &str)| Some((words_of_right(name)?, index));
    parts.into_iter().enumerate().filter_map(plain).min().map(|(_, part)| part)
}

/// The number of words of a name that says what is right: the fewer, the plainer.
fn words_of_right(name: &str) -> Option<usize> {
    let words = words(name);
    let says_right = words.iter().any(|word| RIGHT.contains(&word.as_str()));
    let says_other = words.iter().any(|word| OTHER.iter().any(|start| word.starts_with(start)));
    (says_right && !says_other).then_some(words.len())
}

/// The words of a name, in lower case: `answer_format`, `AnswerFormat` and `answer-format` have two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (was_lower && c.is_uppercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The middle of a grade's range, whatever its scale. One that is the same everywhere is right where it is
/// above 0.
pub fn middle(values: &mut [f32]) -> f64 {
    let [low, high] = ENDS.map(|end| select_quantile(values, end).unwrap_or(0.0));
    if low < high {
        return f64::midpoint(low, high);
    }
    let wider = |(low, high): (f32, f32), value: &f32| (low.min(*value), high.max(*value));
    let (low, high) = values.iter().fold((f32::INFINITY, f32::NEG_INFINITY), wider);
    if low < high { f64::midpoint(f64::from(low), f64::from(high)) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(rewards: &[f32], parts: &[f32]) -> SeenRewards {
        let mut seen = SeenRewards::default();
        rewards.iter().for_each(|reward| seen.reward.add(*reward));
        parts.iter().for_each(|part| seen.part.add(*part));
        seen
    }

    #[test]
    fn a_part_that_says_so_comes_before_two_rewards_and_before_nothing() {
        let text = |given: Option<&str>, rewards: &[f32], parts: &[f32]| {
            let part = (!parts.is_empty()).then_some((0, "answer"));
            Rule::of(given, part, &seen(rewards, parts)).map(|rule| rule.text())
        };
        let many = [0.0, 0.2, 1.2];
        assert_eq!(text(Some("reward>1"), &many, &[0.0, 1.0]).as_deref(), Some("reward>1"));
        assert_eq!(text(None, &many, &[0.0, 1.0]).as_deref(), Some("reward/answer>0"));
        assert_eq!(text(None, &[0.0, 1.0], &[-1.0, 1.0]).as_deref(), Some("reward/answer>-1"));
        assert_eq!(text(None, &many, &[1.0]).as_deref(), Some("reward/answer>0"));
        assert_eq!(text(None, &[-1.0, 0.0], &[0.0, 0.5, 1.0]).as_deref(), Some("reward>-1"));
        assert_eq!(text(None, &many, &[0.0, 0.5, 1.0]), None);
        assert_eq!(text(None, &many, &[]), None);
    }

    #[test]
    fn the_plainest_name_says_what_is_right() {
        let best = |names: &[&'static str]| right_part(names.iter().copied()).map(|part| names[part]);
        assert_eq!(best(&["answer_format", "correct"]), Some("correct"));
        assert_eq!(best(&["answer_length_penalty", "exact_match_reward"]), Some("exact_match_reward"));
        assert_eq!(best(&["compass", "incorrect", "format"]), None);
        assert_eq!(best(&["passage_overlap", "passage", "answer_tokens", "exact_json"]), None);
        assert_eq!(best(&["AccuracyReward"]), Some("AccuracyReward"));
        assert_eq!(best(&["AnswerFormat", "pass@1"]), Some("pass@1"));
        assert_eq!(best(&["accuracy_reward", "accuracy"]), Some("accuracy"));
    }
}
