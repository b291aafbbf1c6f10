//! Signals that are means over responses: their values are those of all responses, their errors come from
//! the kept ones, by drawing groups.

use std::collections::BTreeMap;

use super::series::{Role, Series};
use stapo_base::stats::quantile::select_quantile;
use stapo_base::stats::sustained::Point;
use stapo_collect::collect::signs::response_facts::{ResponseFact, ResponseFacts};
use stapo_result::SignalName;

/// Single responses beyond these quantiles are no measure of the range: one odd reward must not be.
const ENDS: [f64; 2] = [0.01, 0.99];

/// The mean of a quantity over all responses of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanAtStep {
    /// Step.
    pub step: i64,
    /// Mean.
    pub value: f64,
    /// Responses that have the quantity.
    pub responses: u64,
}

/// A quantity of a response; `None` where it has none.
pub type Quantity<'a> = &'a dyn Fn(&ResponseFact) -> Option<f64>;

/// One that owns what it needs.
pub type OwnedQuantity = Box<dyn Fn(&ResponseFact) -> Option<f64> + Send + Sync>;

/// Number and sum of the values of a group's responses.
type GroupSum = (f64, f64);

/// What the kept responses tell of one quantity.
struct Kept {
    /// The groups of each step, both ascending.
    steps: BTreeMap<i64, Vec<GroupSum>>,
    groups: usize,
    values: Vec<f64>,
    /// Each kept group stands for so many.
    weight: f64,
}

impl Kept {
    fn of(facts: &ResponseFacts, of: Quantity<'_>) -> Self {
        let mut steps = BTreeMap::new();
        let mut values = Vec::with_capacity(facts.responses.len());
        // They are in the order of steps and groups.
        for step in facts.responses.chunk_by(|a, b| a.step == b.step) {
            let mut groups: Vec<GroupSum> = Vec::new();
            for group in step.chunk_by(|a, b| a.group == b.group) {
                let before = values.len();
                values.extend(group.iter().filter_map(of));
                let own = &values[before..];
                if !own.is_empty() {
                    groups.push((own.len() as f64, own.iter().fold(0.0, |sum, value| sum + value)));
                }
            }
            if !groups.is_empty() {
                steps.insert(step[0].step, groups);
            }
        }
        let groups = steps.values().map(Vec::len).sum();
        Self { steps, groups, values, weight: 2_f64.powi(i32::try_from(facts.level).unwrap_or(i32::MAX)) }
    }

    /// Means of the kept responses, for a quantity whose exact means are not known.
    fn means(&self) -> Vec<MeanAtStep> {
        let mean = |(step, groups): (&i64, &Vec<GroupSum>)| {
            let (n, sum) = groups.iter().fold((0.0, 0.0), |all, g| (all.0 + g.0, all.1 + g.1));
            MeanAtStep { step: *step, value: sum / n, responses: (self.weight * n) as u64 }
        };
        self.steps.iter().map(mean).collect()
    }

    /// The groups of a step: counted where all were kept, else as many as its responses let expect.
    fn groups_at(&self, mean: &MeanAtStep) -> f64 {
        if self.weight <= 1.0 {
            return self.steps.get(&mean.step).map_or(1.0, |groups| groups.len() as f64);
        }
        (mean.responses as f64 * self.groups as f64 / self.values.len() as f64).max(1.0)
    }

    /// Ends of the values of single responses, and their standard deviation.
    fn range(&self) -> [f64; 3] {
        let mut sorted = self.values.clone();
        let [mut low, mut high] = ENDS.map(|end| select_quantile(&mut sorted, end).unwrap_or(0.0));
        if low >= high {
            low = sorted.iter().copied().fold(f64::INFINITY, f64::min);
            high = sorted.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        }
        let n = sorted.len() as f64;
        let bounded = || self.values.iter().map(|value| value.clamp(low, high));
        let mean = bounded().sum::<f64>() / n;
        [low, high, (bounded().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n).sqrt()]
    }
}

/// The signal of a quantity; `exact` are the means of all responses, where they are known.
pub fn response_series(
    facts: &ResponseFacts,
    name: SignalName,
    role: Role,
    of: Quantity<'_>,
    exact: Vec<MeanAtStep>,
) -> Option<Series> {
    let kept = Kept::of(facts, of);
    if kept.values.is_empty() {
        return None;
    }
    let means = if exact.is_empty() { kept.means() } else { exact };
    let range = kept.range();
    // Steps of one group, or of none that was kept, borrow the scatter of the others: of responses,
    // which is more than that of groups, where none has two.
    let scattered: Vec<(f64, f64)> = kept.steps.values().filter_map(|groups| variance(groups)).collect();
    let weights: f64 = scattered.iter().map(|(_, freedom)| freedom).sum();
    let pooled = match weights > 0.0 {
        true => scattered.iter().map(|(v, freedom)| v * freedom).sum::<f64>() / weights,
        false => range[2] * range[2],
    };
    // With one group of several responses a step, nothing tells how much groups scatter.
    let alone = means.iter().all(|mean| kept.groups_at(mean) < 2.0) && kept.groups < kept.values.len();
    let error = |mean: &MeanAtStep| {
        let own = kept
            .steps
            .get(&mean.step)
            .and_then(|groups| variance(groups))
            .map_or(pooled, |(own, _)| own.max(pooled));
        (own / kept.groups_at(mean)).sqrt()
    };
    let point = |mean: &MeanAtStep| Point {
        step: mean.step,
        value: mean.value,
        error: (!alone).then(|| error(mean)),
    };
    Some(Series { points: means.iter().map(point).collect(), range: Some(range), ..Series::new(name, role) })
}

/// The variance of the means of groups, with its degrees of freedom.
fn variance(groups: &[GroupSum]) -> Option<(f64, f64)> {
    if groups.len() < 2 {
        return None;
    }
    let means: Vec<f64> = groups.iter().map(|(n, sum)| sum / n).collect();
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    let freedom = (means.len() - 1) as f64;
    Some((means.iter().map(|m| (m - mean) * (m - mean)).sum::<f64>() / freedom, freedom))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stapo_base::stats::sustained::Direction;

    fn fact(step: i64, group: u64, reward: f32) -> ResponseFact {
        ResponseFact { step, group, reward, ..ResponseFact::default() }
    }

    fn reward(facts: ResponseFacts, exact: Vec<MeanAtStep>) -> Option<Series> {
        let value = |fact: &ResponseFact| Some(f64::from(fact.reward));
        response_series(&facts, SignalName::Reward, Role::Goal, &value, exact)
    }

    fn fallen(steps: i64, responses: u64) -> Vec<MeanAtStep> {
        let level = |step: i64| if 2 * step < steps { 0.8 } else { 0.05 } + 0.001 * (step % 3) as f64;
        (0..steps).map(|step| MeanAtStep { step, value: level(step), responses }).collect()
    }

    /// One group in eight was kept, and none at most steps.
    #[test]
    fn steps_without_a_kept_group_count() {
        let kept = |step: i64| (0..8).map(move |i| fact(step, step as u64, f32::from(u8::from(i % 2 == 0))));
        let facts = ResponseFacts {
            responses: [3, 4, 15].into_iter().flat_map(kept).collect(),
            level: 3,
            ..ResponseFacts::default()
        };
        let series = reward(facts, fallen(20, 400));
        let change = series.as_ref().and_then(|series| series.change(Direction::Down));
        assert_eq!(series.as_ref().map(|series| series.points.len()), Some(20));
        assert_eq!(change.map(|change| change.onset), Some(10));
        let error = series.and_then(|series| series.points[0].error);
        assert_eq!(error, Some((0.25_f64 / 50.0).sqrt()), "of 50 groups of 8, as if each were one response");
    }

    /// One group a step tells nothing of how groups scatter: the steps themselves do.
    #[test]
    fn one_group_a_step_has_no_error() {
        let kept = |step: i64| (0..500).map(move |i| fact(step, 7, f32::from(u8::from(i % 2 == 0))));
        let facts = ResponseFacts {
            responses: [3, 15].into_iter().flat_map(kept).collect(),
            level: 3,
            ..ResponseFacts::default()
        };
        let series = reward(facts, fallen(20, 500));
        assert!(series.as_ref().is_some_and(|s| s.points.iter().all(|point| point.error.is_none())));
        let change = series.and_then(|series| series.change(Direction::Down));
        assert_eq!(change.map(|change| change.onset), Some(10));
    }

    #[test]
    fn one_odd_reward_is_no_end_of_the_range() {
        let mut responses: Vec<ResponseFact> =
            (0..1_000).map(|i| fact(i / 100, i as u64 / 4, f32::from(u8::from(i % 4 < 3)))).collect();
        responses[17].reward = 50.0;
        let range = reward(ResponseFacts { responses, ..ResponseFacts::default() }, Vec::new())
            .and_then(|series| series.range);
        assert!(range.is_some_and(|[low, high, deviation]| (low, high) == (0.0, 1.0) && deviation < 0.5));
    }
}
