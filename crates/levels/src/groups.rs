//! What a comparison needs of a run: totals of each group of responses, the same in any order and however the log is
//! split.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use stapo_base::stats::exact_sum::ExactSum;

use crate::metric::Metric;

/// Which group a total is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GroupKey {
    /// Responses of an evaluation, which are not trained on.
    pub held_out: bool,
    /// Trainer step.
    pub step: i64,
    /// Task or data source, "" where the log names none.
    pub task: String,
    /// Hash of the group's id. Where the log has none, that of its prompt; without both, the place of the response.
    pub group: u64,
}

/// One response, as it enters the totals.
#[derive(Clone, Copy, Debug)]
pub struct ResponseTotals<'a> {
    /// Trainer step.
    pub step: i64,
    /// Hash of the group's id, where it is logged.
    pub group: Option<u64>,
    /// Hash of the prompt, where it is logged.
    pub prompt: Option<u64>,
    /// Place of the response in the log, the same however the log is split.
    pub place: u64,
    /// Task or data source, "" where the log names none.
    pub task: &'a str,
    /// A row of an evaluation.
    pub held_out: bool,
    /// Reward; NaN where it was not logged.
    pub reward: f64,
    /// Whether the answer is right, where that is known.
    pub right: Option<bool>,
    /// Number of trained tokens.
    pub length: u64,
    /// Σ entropy over the trained tokens that have one, in nats.
    pub entropy: f64,
    /// Number of these tokens.
    pub entropy_tokens: u64,
}

/// Totals of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Number of responses.
    pub responses: u64,
    /// Σ reward.
    pub reward: ExactSum,
    /// Σ reward².
    pub reward_squares: ExactSum,
    /// Responses with a reward.
    pub rewarded: u64,
    /// Right answers.
    pub right: u64,
    /// Answers known to be right or wrong.
    pub judged: u64,
    /// Σ trained tokens.
    pub length: u64,
    /// Σ entropy over trained tokens.
    pub entropy: ExactSum,
    /// Trained tokens with an entropy.
    pub entropy_tokens: u64,
    /// Hash of the prompt, the least where a group has several.
    pub prompt: Option<u64>,
    /// Means of a whole step, where nothing else was logged.
    #[serde(skip)]
    pub means: Option<Box<BTreeMap<Metric, f64>>>,
}

impl Totals {
    /// Adds the totals of other responses of the group.
    pub fn merge(&mut self, other: &Self) {
        self.responses += other.responses;
        self.reward.merge(&other.reward);
        self.reward_squares.merge(&other.reward_squares);
        self.rewarded += other.rewarded;
        self.right += other.right;
        self.judged += other.judged;
        self.length += other.length;
        self.entropy.merge(&other.entropy);
        self.entropy_tokens += other.entropy_tokens;
        self.prompt = self.prompt.into_iter().chain(other.prompt).min();
    }

    /// Adds the reward of a response; one that is not finite was not logged.
    pub fn add_reward(&mut self, reward: f64) {
        if reward.is_finite() {
            self.rewarded += 1;
            self.reward.add(reward);
            self.reward_squares.add(reward * reward);
        }
    }

    /// Numerator and denominator of a metric; the denominator is 0 where the group does not have it.
    #[must_use]
    pub fn parts(&self, metric: Metric) -> [f64; 2] {
        if let Some(means) = &self.means {
            return means.get(&metric).map_or([0.0; 2], |mean| [*mean, 1.0]);
        }
        let (part, whole) = match metric {
            Metric::Reward | Metric::HeldOut => (self.reward.value(), self.rewarded),
            Metric::RightAnswers => (self.right as f64, self.judged),
            Metric::Length => (self.length as f64, self.responses),
            Metric::Entropy => (self.entropy.value(), self.entropy_tokens),
        };
        [part, whole as f64]
    }
}

impl From<&ResponseTotals<'_>> for Totals {
    fn from(response: &ResponseTotals<'_>) -> Self {
        let mut totals =
            Self { responses: 1, length: response.length, prompt: response.prompt, ..Self::default() };
        totals.add_reward(response.reward);
        if let Some(right) = response.right {
            (totals.judged, totals.right) = (1, u64::from(right));
        }
        if response.entropy.is_finite() {
            totals.entropy_tokens = response.entropy_tokens;
            totals.entropy.add(response.entropy);
        }
        totals
    }
}

/// Totals of all groups of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunGroups {
    groups: BTreeMap<GroupKey, Totals>,
    /// Responses that stand for themselves, since neither a group nor a prompt was logged.
    alone: u64,
    /// How wide each metric can be, where the groups are means of steps.
    #[serde(skip)]
    ranges: Option<BTreeMap<Metric, f64>>,
    /// Metrics that are left out.
    #[serde(skip)]
    left_out: BTreeSet<Metric>,
}

impl RunGroups {
    /// A run of which means of steps are known alone, as curves hold them: of each metric, step and value, and how wide it
    /// can be.
    #[must_use]
    pub fn of_means(curves: &BTreeMap<Metric, (BTreeMap<i64, f64>, f64)>) -> Self {
        let mut groups: BTreeMap<GroupKey, Totals> = BTreeMap::new();
        for (metric, (values, _)) in curves {
            for (step, value) in values {
                let key = GroupKey { held_out: metric.is_held_out(), step: *step, ..GroupKey::default() };
                let means = &mut groups.entry(key).or_default().means;
                means.get_or_insert_default().insert(*metric, *value);
            }
        }
        let ranges = curves.iter().map(|(metric, (_, range))| (*metric, *range)).collect();
        Self { groups, ranges: Some(ranges), ..Self::default() }
    }

    /// Whether groups are means of steps.
    pub(crate) fn are_means(&self) -> bool {
        self.ranges.is_some()
    }

    /// How wide a metric can be, where that is known.
    pub(crate) fn range(&self, metric: Metric) -> Option<f64> {
        self.ranges.as_ref()?.get(&metric).copied()
    }

    /// Adds a response.
    pub fn add(&mut self, response: &ResponseTotals<'_>) {
        let group = response.group.or(response.prompt);
        self.alone += u64::from(group.is_none());
        let key = GroupKey {
            held_out: response.held_out,
            step: response.step,
            task: response.task.to_owned(),
            group: group.unwrap_or(response.place),
        };
        self.add_group(key, &response.into());
    }

    /// Adds responses that stand for themselves, whose totals are added as groups.
    pub fn add_lone(&mut self, responses: u64) {
        self.alone += responses;
    }

    /// The same without a metric: rewards on a scale of their own say nothing.
    #[must_use]
    pub fn without(mut self, metric: Metric) -> Self {
        self.left_out.insert(metric);
        self
    }

    /// Whether right answers are the reward itself: then one of the two says it all.
    #[must_use]
    pub fn are_answers_the_reward(&self) -> bool {
        let is_same = |totals: &Totals| {
            let [right, judged] = totals.parts(Metric::RightAnswers);
            let [reward, rewarded] = totals.parts(Metric::Reward);
            judged == rewarded && (right - reward).abs() < 1e-9
        };
        self.groups.iter().all(|(key, totals)| key.held_out || is_same(totals))
    }

    /// Adds totals of a group.
    pub fn add_group(&mut self, key: GroupKey, totals: &Totals) {
        self.groups.entry(key).or_default().merge(totals);
    }

    /// Adds what another part of the same run holds.
    pub fn merge(&mut self, other: &Self) {
        for (key, totals) in &other.groups {
            self.add_group(key.clone(), totals);
        }
        self.alone += other.alone;
    }

    /// The groups of the run for which it holds.
    #[must_use]
    pub fn filtered(&self, mut keep: impl FnMut(&GroupKey) -> bool) -> Self {
        let kept = self.groups.iter().filter(|(key, _)| keep(key));
        let groups = kept.map(|(key, totals)| (key.clone(), totals.clone())).collect();
        Self { groups, alone: self.alone, ranges: self.ranges.clone(), left_out: self.left_out.clone() }
    }

    /// All groups: by held-out, step, task and id.
    pub fn groups(&self) -> impl Iterator<Item = (&GroupKey, &Totals)> {
        self.groups.iter()
    }

    /// Whether responses stand for themselves.
    #[must_use]
    pub fn has_lone_responses(&self) -> bool {
        self.alone > 0
    }

    /// Groups that have the metric.
    pub(crate) fn having(&self, metric: Metric) -> impl Iterator<Item = (&GroupKey, &Totals)> {
        let is_left_out = self.left_out.contains(&metric);
        let has = move |(key, totals): &(&GroupKey, &Totals)| {
            !is_left_out && key.held_out == metric.is_held_out() && totals.parts(metric)[1] > 0.0
        };
        self.groups.iter().filter(has)
    }

    /// Steps at which the metric is known.
    pub(crate) fn steps(&self, metric: Metric) -> BTreeSet<i64> {
        self.having(metric).map(|(key, _)| key.step).collect()
    }
}
