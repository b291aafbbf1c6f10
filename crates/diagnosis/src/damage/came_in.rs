//! Parts that came into the reward in the middle of a run: a penalty that is switched on. The reward means something
//! else from there on, and what came before is no level to fall from.
//!
//! Statistic: a part is exactly 0 in every response before a step; from there on the reward is less by it (its slope
//! within groups, beside the other parts, times its mean is below 0). Threshold: it comes in at once: the share of
//! responses that have it at its first step is half of that from there on at least. What a policy unlearns comes in
//! with few responses first. Such a part is judged from its first step on. A fall of the reward is none where the reward
//! without these parts, each by its slope, is not damaged.

use crate::responses::within_groups::{Feature, MAX_PARTS, OwnedFeature, Slopes, part};
use crate::signals::costs::says_right;
use crate::signals::response_series::response_series;
use crate::signals::series::{Role, Series};
use crate::words::measured;
use stapo_base::stats::sustained::Change;
use stapo_collect::collect::signs::response_facts::{ResponseFact, ResponseFacts};
use stapo_collect::plan::Plan;
use stapo_result::SignalName;

/// Of the later share of responses, this part at the first step.
const AT_ONCE: f64 = 0.5;

/// A part that came into the reward.
#[derive(Clone, Debug)]
pub struct CameIn {
    /// Its place in the plan's list.
    index: usize,
    /// Its signal.
    signal: SignalName,
    /// The first step that has it.
    step: i64,
    /// What one of it adds to the reward.
    weight: f64,
}

/// All such parts.
pub fn parts_that_came_in(facts: &ResponseFacts, plan: &Plan) -> Vec<CameIn> {
    let parts = plan.reward_parts.len().min(MAX_PARTS);
    let candidates = (0..parts).filter(|index| !says_right(plan, *index));
    let came_in = |index: usize| {
        let step = first_step(facts, index)?;
        let owned: Vec<OwnedFeature> = (0..parts).map(part).collect();
        let features: Vec<Feature<'_>> = owned.iter().map(AsRef::as_ref).collect();
        let groups = facts.groups().filter(|group| group[0].step >= step);
        let slopes = Slopes::of(groups, &|fact| f64::from(fact.reward), &features)?;
        let [weight, _] = slopes.sum(&[(index, 1.0)])?;
        let later = facts.responses.iter().filter(|fact| fact.step >= step);
        let sum: f64 = later.filter_map(|fact| value(fact, index)).sum();
        let signal = SignalName::part(&plan.reward_parts[index]);
        (weight * sum < 0.0).then_some(CameIn { index, signal, step, weight })
    };
    candidates.filter_map(came_in).collect()
}

/// The first step at which a part is other than 0, where earlier ones are there and it came at once.
fn first_step(facts: &ResponseFacts, index: usize) -> Option<i64> {
    let known = || facts.responses.iter().filter_map(|fact| Some((fact.step, value(fact, index)?)));
    let (step, _) = known().find(|(_, value)| *value != 0.0)?;
    let share = |is_in: &dyn Fn(i64) -> bool| {
        let values = || known().filter(|(step, _)| is_in(*step));
        values().filter(|(_, value)| *value != 0.0).count() as f64 / values().count() as f64
    };
    let has_earlier = known().next().is_some_and(|(first, _)| first < step);
    (has_earlier && share(&|at| at == step) >= AT_ONCE * share(&|at| at >= step)).then_some(step)
}

fn value(fact: &ResponseFact, index: usize) -> Option<f64> {
    fact.parts.get(index).filter(|value| value.is_finite()).map(|value| f64::from(*value))
}

/// Has their signals judged from their first step on.
pub fn judge_from_there(series: &mut [Series], came_in: &[CameIn]) {
    for part in came_in {
        let own = series.iter_mut().filter(|series| series.name == part.signal);
        own.for_each(|series| series.judged_from = Some(part.step));
    }
}

/// The reward without these parts.
pub fn rest(facts: &ResponseFacts, came_in: &[CameIn]) -> Option<Series> {
    let of = |fact: &ResponseFact| {
        let taken: f64 = came_in.iter().filter_map(|part| Some(part.weight * value(fact, part.index)?)).sum();
        fact.reward.is_finite().then_some(f64::from(fact.reward) - taken)
    };
    response_series(facts, SignalName::Reward, Role::Goal, &of, Vec::new()).filter(|_| !came_in.is_empty())
}

/// In words, of a fall of the reward that is none.
pub fn sentence(came_in: &[CameIn], fall: &Change) -> String {
    let parts: Vec<String> =
        came_in.iter().map(|part| format!("{} from step {} on", part.signal, part.step)).collect();
    let [before, after] = [fall.before, fall.after].map(|level| measured(level, 2));
    format!(
        "The reward fell {before} → {after} by what came into it ({}; 0 in every response before): the rest of it did \
         not fall, which is no damage",
        parts.join(", ")
    )
}
