//! What is right: one order for everything that asks. The user's condition (`--pass`), else a part of the
//! reward whose name says so and that is a verdict of two values, else a reward of two values. A name with
//! words that are not understood may measure something else (`answer_boldness`): a reward of two values comes
//! before such a part, unless both say the same of every response. Of several parts that may each be of a task
//! of its own, none says it alone: a reward of two values does, else nothing. A part of
//! many values is a grade: where it turns into right is not known before all of it was seen, so only what
//! looks at single responses once more takes it, by the middle of its range, where nothing else says it.

mod names;
mod pass_rule;
mod rivals;

pub use self::names::{is_plain, right_part, rivals_of};
pub use self::pass_rule::PassRule;
pub use self::rivals::Rivals;

use stapo_base::stats::quantile::select_quantile;

/// Ends of a part's range; a few odd values are none.
const ENDS: [f64; 2] = [0.01, 0.99];

/// What a response must do to be right.
#[derive(Clone, Debug, PartialEq)]
pub enum RightRule {
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

impl RightRule {
    /// The rule of a run; `None` where nothing says what is right. `part` is the place and the name of the
    /// part whose name says so.
    pub fn of(given: Option<&str>, part: Option<(usize, &str)>, seen: &SeenRewards) -> Option<Self> {
        if let Some(text) = given {
            return Some(Self::Given(text.to_owned()));
        }
        let by_reward = seen.reward.two().map(Self::Reward);
        let is_outdone = seen.rivals.are_apart() || (by_reward.is_some() && seen.rivals_make_the_reward());
        let says_it =
            |name: &str| !is_outdone && (by_reward.is_none() || is_plain(name) || seen.both.agree());
        let by_part = part.filter(|(_, name)| says_it(name)).zip(seen.part.verdict());
        let by_part =
            by_part.map(|((part, name), values)| Self::Part { name: name.to_owned(), part, values });
        by_part.or(by_reward)
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
    part: RewardValues,
    /// Both, of responses that have both.
    both: Pairs,
    /// The reward and the best of all parts whose names say what is right, where there are several.
    best: Pairs,
    /// The part against the best of the others.
    pub rivals: Rivals,
}

/// The distinct pairs of a reward and a part, as far as it matters whether both are the same verdict: then they
/// are two.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Pairs(Vec<[f32; 2]>);

impl Pairs {
    fn settle(&mut self) {
        if self.0.len() > 2 {
            self.0 = vec![[f32::NAN; 2]; 3];
        }
        self.0.iter_mut().flatten().for_each(|value| *value += 0.0);
        self.0.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    }

    #[inline]
    fn add(&mut self, pair: [f32; 2]) {
        if self.0.len() < 3 && !pair.iter().any(|value| value.is_nan()) && !self.0.contains(&pair) {
            self.0.push(pair);
        }
    }

    fn merge(&mut self, other: &Self) {
        if other.0.len() > 2 {
            self.0.clone_from(&other.0);
        }
        other.0.iter().for_each(|pair| self.add(*pair));
    }

    /// Whether both are the same verdict of every response.
    fn agree(&self) -> bool {
        matches!(self.0[..], [a, b] if a[0] != b[0] && a[1] != b[1] && (a[0] < b[0]) == (a[1] < b[1]))
    }
}

impl SeenRewards {
    /// Puts what may come in any order into one.
    pub fn settle(&mut self) {
        self.reward.settle();
        self.part.settle();
        self.both.settle();
        self.best.settle();
    }

    /// Notes the reward of a response and its part; NaN is none.
    #[inline]
    pub fn add(&mut self, reward: f32, part: f32) {
        self.reward.add(reward);
        self.part.add(part);
        self.both.add([reward, part]);
    }

    /// Notes the best of the other parts whose names say what is right, too; NaN is none.
    pub fn add_rival(&mut self, reward: f32, part: f32, rival: f32) {
        self.best.add([reward, part.max(rival)]);
        self.rivals.add(part, rival);
    }

    /// Whether the reward is the best of several parts, not the one whose name is the plainest.
    fn rivals_make_the_reward(&self) -> bool {
        self.rivals.knows_more() && self.best.agree()
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.reward.merge(&other.reward);
        self.part.merge(&other.part);
        self.both.merge(&other.both);
        self.best.merge(&other.best);
        self.rivals.merge(&other.rivals);
    }
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
        rewards.iter().for_each(|reward| seen.add(*reward, f32::NAN));
        parts.iter().for_each(|part| seen.add(f32::NAN, *part));
        seen
    }

    #[test]
    fn a_part_that_says_so_comes_before_two_rewards_and_before_nothing() {
        let text = |given: Option<&str>, rewards: &[f32], parts: &[f32]| {
            let part = (!parts.is_empty()).then_some((0, "answer"));
            RightRule::of(given, part, &seen(rewards, parts)).map(|rule| rule.text())
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

    /// Of a name that is not understood the reward is asked first, where it is a verdict.
    #[test]
    fn a_reward_of_two_values_decides_where_an_odd_part_says_something_else() {
        let of = |name: &str, both: &[[f32; 2]]| {
            let mut seen = SeenRewards::default();
            both.iter().for_each(|[reward, part]| seen.add(*reward, *part));
            // Workers see it in any order.
            let mut halves = [SeenRewards::default(), SeenRewards::default()];
            both.iter().rev().enumerate().for_each(|(i, [reward, part])| halves[i % 2].add(*reward, *part));
            let [mut merged, other] = halves;
            merged.merge(&other);
            let [one, two] = [&seen, &merged].map(|seen| RightRule::of(None, Some((0, name)), seen));
            assert_eq!(one, two);
            one.map(|rule| rule.text())
        };
        let (same, other) = ([[0.0, 0.0], [1.0, 0.5]], [[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]]);
        let against = [[0.0, 1.0], [1.0, 0.0]];
        assert_eq!(of("answer_boldness", &same).as_deref(), Some("reward/answer_boldness>0"));
        assert_eq!(of("answer_boldness", &other).as_deref(), Some("reward>0"));
        assert_eq!(of("answer_boldness", &against).as_deref(), Some("reward>0"));
        assert_eq!(of("answer_boldness", &[[0.0, 1.0], [1.0, 1.0]]).as_deref(), Some("reward>0"));
        // A reward of many values is no verdict; a plain name is one whatever is paid for.
        let many = [[0.0, 1.0], [0.5, 1.0], [1.0, 0.0]];
        assert_eq!(of("answer_boldness", &many).as_deref(), Some("reward/answer_boldness>0"));
        assert_eq!(of("answer", &other).as_deref(), Some("reward/answer>0"));
    }

    /// The chosen part is 0 in the groups of the other task.
    #[test]
    fn none_of_several_tasks_says_alone_what_is_right() {
        let of = |responses: &[[f32; 3]], times: usize| {
            let mut seen = SeenRewards::default();
            for [reward, part, rival] in responses.iter().cycle().take(times * responses.len()) {
                seen.add(*reward, *part);
                seen.add_rival(*reward, *part, *rival);
            }
            RightRule::of(None, Some((0, "code_correct")), &seen).map(|rule| rule.text())
        };
        let (none, chosen) = (f32::NAN, Some("reward/code_correct>0"));
        let tasks = [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0]];
        assert_eq!(of(&tasks, 1).as_deref(), Some("reward>0"), "the reward is the better of both");
        assert_eq!(
            of(&[[0.0, 0.0, none], [1.0, 1.0, none], [1.0, none, 1.0]], 1).as_deref(),
            Some("reward>0")
        );
        // A bonus for the format: the reward is no verdict, and chance does not keep them apart for long.
        let with_bonus = [[0.1, 0.0, 0.0], [1.1, 1.0, 0.0], [1.0, 0.0, 1.0]];
        assert_eq!(of(&with_bonus, 30), None);
        assert_eq!(of(&with_bonus, 2).as_deref(), chosen);
        // Both of the same answers: the chosen one explains the other, or is the plainer one.
        assert_eq!(of(&[[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]], 30).as_deref(), chosen);
        let unpaid = [[0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 0.0]];
        assert_eq!(of(&unpaid, 30).as_deref(), chosen);
    }
}
