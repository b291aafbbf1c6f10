//! Parts of the reward whose fall took next to nothing off it while it gained: a bonus for style that one response in
//! thirty had, and none has any more.
//!
//! Statistic: the fall of a part times its weight (the slope of the reward on it within groups beside the other parts,
//! upper end of three standard errors) over what the reward gained for good, or what is right by its own weight.
//! Threshold: a hundredth of the gain, which two digits of the reward do not show, and a tenth of the part's own range: a
//! format that a sixth of the responses lost is a loss, however little is paid for it. The part that says what is
//! right is never a trifle.

use crate::responses::within_groups::{Feature, MAX_PARTS, OwnedFeature, Slopes, part};
use crate::signals::series::{Role, Series};
use stapo_base::stats::sustained::Change;
use stapo_collect::collect::signs::response_facts::ResponseFacts;
use stapo_result::{Damage, SignalName};

const ERRORS: f64 = 3.0;
const OF_GAIN: f64 = 0.01;
const OF_RANGE: f64 = 0.1;

/// What parts of the reward weigh.
pub struct Weights<'a> {
    parts: &'a [String],
    slopes: Slopes,
}

impl<'a> Weights<'a> {
    /// Those of a run; `None` where too few responses differ within groups.
    pub fn of(facts: &ResponseFacts, parts: &'a [String]) -> Option<Self> {
        let owned: Vec<OwnedFeature> = (0..parts.len().min(MAX_PARTS)).map(part).collect();
        let features: Vec<Feature<'_>> = owned.iter().map(AsRef::as_ref).collect();
        let slopes = Slopes::of(facts.groups(), &|fact| f64::from(fact.reward), &features)?;
        Some(Self { parts: &parts[..features.len()], slopes })
    }

    /// The weight of a signal that is a part, with its standard error.
    fn weight(&self, signal: &SignalName) -> Option<[f64; 2]> {
        let SignalName::Part(signal) = signal else { return None };
        let index = self.parts.iter().position(|part| part == signal.part())?;
        self.slopes.sum(&[(index, 1.0)])
    }
}

/// Those of the damages that are trifles; `only_rose` is how a signal rose that did nothing else.
pub fn trifles(
    damage: &[Damage],
    series: &[Series],
    right: Option<&SignalName>,
    weights: &Weights<'_>,
    only_rose: &dyn Fn(&SignalName) -> Option<Change>,
) -> Vec<Damage> {
    let rise = |signal: &SignalName| only_rose(signal).map(|change| change.after - change.before);
    let by_right = right.and_then(|right| Some(weights.weight(right)?[0] * rise(right)?));
    let gain = rise(&SignalName::Reward).into_iter().chain(by_right).fold(0.0, f64::max);
    let is_trifle = |damage: &&Damage| {
        let fall = damage.before - damage.after;
        let goal = series.iter().find(|s| s.name == damage.signal && s.role == Role::Goal);
        let is_small =
            goal.and_then(|s| s.range).is_some_and(|[low, high, _]| fall < OF_RANGE * (high - low));
        let taken_off = weights.weight(&damage.signal).map(|[slope, error]| (slope + ERRORS * error) * fall);
        right != Some(&damage.signal) && is_small && taken_off.is_some_and(|off| off < OF_GAIN * gain)
    };
    damage.iter().filter(is_trifle).cloned().collect()
}
