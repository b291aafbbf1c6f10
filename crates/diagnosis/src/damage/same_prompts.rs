//! A fall that the same prompts do not share: the prompts became harder, and the policy did not become worse.
//!
//! Statistic: prompts that were drawn in the steps before a fall (as many as there are from it on) and again after it; the
//! mean over them of how much each fell.
//! Threshold: ten prompts, and a fall that is no damage at its upper end (three standard errors over prompts), while
//! all responses of these steps fell by half of what is called damage at least: else the steps before it are not those
//! that it left.

use std::collections::BTreeMap;

use crate::signals::response_series::{OwnedQuantity, Quantity};
use crate::words::measured;
use stapo_base::stats::ratio_of_sums::ratio_of_sums;
use stapo_collect::collect::signs::response_facts::ResponseFacts;
use stapo_result::{Damage, SignalName};

const FEWEST: usize = 10;
const ERRORS: f64 = 3.0;
const HALF: f64 = 0.5;

/// Number and sum of values, before the fall and from it on.
type Sides = [[f64; 2]; 2];

fn mean([n, sum]: [f64; 2]) -> f64 {
    sum / n
}

/// The quantity of a response that a reward, one of its parts or the pass rate is the mean of.
pub fn quantity(signal: &SignalName, parts: &[String]) -> Option<OwnedQuantity> {
    let finite = |value: f32| value.is_finite().then_some(f64::from(value));
    match signal {
        SignalName::Reward => Some(Box::new(move |fact| finite(fact.reward))),
        SignalName::PassRate => Some(Box::new(|fact| fact.right.map(|right| f64::from(u8::from(right))))),
        SignalName::Part(signal) => {
            let part = parts.iter().position(|part| part == signal.part())?;
            Some(Box::new(move |fact| fact.parts.get(part).copied().and_then(finite)))
        }
        _ => None,
    }
}

/// How prompts fared that were drawn before a fall and again after it.
#[derive(Clone, Debug, PartialEq)]
pub struct SamePrompts {
    /// The fall.
    pub fall: Damage,
    /// How many there are.
    prompts: usize,
    /// Their mean before it.
    pub before: f64,
    /// Their mean from it on.
    after: f64,
    /// The standard error of the difference, over prompts.
    error: f64,
}

impl SamePrompts {
    /// Those of a fall; `None` where too few come again, or the steps before are not those that it left.
    pub fn of(facts: &ResponseFacts, of: Quantity<'_>, fall: &Damage) -> Option<Self> {
        let last = facts.responses.last()?.step;
        // Steps may have gaps: what counts is their number.
        let mut steps: Vec<i64> = facts.responses.iter().map(|fact| fact.step).collect();
        steps.dedup();
        let at = steps.partition_point(|step| *step < fall.from_step);
        let first = *steps.get(at.saturating_sub(steps.len() - at))?;
        let mut all = Sides::default();
        let mut by_prompt: BTreeMap<u64, Sides> = BTreeMap::new();
        for group in facts.groups().filter(|group| (first..=last).contains(&group[0].step)) {
            let side = usize::from(group[0].step >= fall.from_step);
            // Siblings after the first may leave out the prompt.
            let prompt = group.iter().map(|fact| fact.prompt).find(|prompt| *prompt != 0);
            for value in group.iter().filter_map(of) {
                let own = prompt.map(|prompt| &mut by_prompt.entry(prompt).or_default()[side]);
                for sums in own.into_iter().chain([&mut all[side]]) {
                    *sums = [sums[0] + 1.0, sums[1] + value];
                }
            }
        }
        let is_told = mean(all[0]) - mean(all[1]) >= HALF * (fall.before - fall.after);
        let again: Vec<Sides> =
            by_prompt.into_values().filter(|sides| sides.iter().all(|side| side[0] > 0.0)).collect();
        if again.len() < FEWEST || !is_told {
            return None;
        }
        let n = again.len() as f64;
        let [before, after] = [0, 1].map(|side| again.iter().map(|sides| mean(sides[side])).sum::<f64>() / n);
        let (_, error) = ratio_of_sums(again.iter().map(|sides| [1.0, mean(sides[1]) - mean(sides[0])]));
        Some(Self { fall: fall.clone(), prompts: again.len(), before, after, error })
    }

    /// The most that they may have fallen.
    pub fn largest_fall(&self) -> f64 {
        self.before - self.after + ERRORS * self.error
    }

    /// Whether they fell, too.
    fn fell(&self) -> bool {
        self.before - self.after > ERRORS * self.error
    }

    /// What they say of a fall that was taken back.
    pub fn harder(&self) -> String {
        let Damage { signal, from_step, before, after } = &self.fall;
        let [before, after] = [*before, *after].map(|level| measured(level, 2));
        format!(
            "{signal} fell {before} → {after} from step {from_step} on, but not where the same prompts were drawn before and \
             after it ({}): the other prompts are harder, which is no damage.",
            self.course()
        )
    }

    /// What they say of a fall that is damage without a cause.
    pub fn told(&self) -> String {
        match self.fell() {
            true => format!(
                "The same prompts fell, too ({}): it is not that prompts became harder.",
                self.course()
            ),
            false => format!(
                "See whether the prompts became harder: those that were drawn before and after it ({}) do not tell.",
                self.course()
            ),
        }
    }

    fn course(&self) -> String {
        format!("{} prompts, {} → {}", self.prompts, measured(self.before, 2), measured(self.after, 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stapo_base::stats::random::Random;
    use stapo_collect::collect::signs::response_facts::ResponseFact;

    /// 24 steps of 16 groups of 8; from step 12 on half of the prompts are others. The share of right answers of
    /// old and of new prompts at a step.
    fn told(right: impl Fn(bool, i64) -> f64, prompts: usize) -> Option<SamePrompts> {
        let mut random = Random::new(3, 4);
        let mut responses = Vec::new();
        for step in 0..24 {
            for group in 0..16 {
                let is_new = step >= 12 && group % 2 == 0;
                let prompt = 1 + random.below(prompts) as u64 + if is_new { 1_000_000 } else { 0 };
                for sibling in 0..8 {
                    let reward = f32::from(u8::from(random.unit() < right(is_new, step)));
                    let prompt = if sibling == 0 { prompt } else { 0 };
                    responses.push(ResponseFact { step, group, reward, prompt, ..ResponseFact::default() });
                }
            }
        }
        let facts = ResponseFacts { responses, ..ResponseFacts::default() };
        let fall = Damage { signal: SignalName::Reward, from_step: 12, before: 0.8, after: 0.5 };
        SamePrompts::of(&facts, &|fact| Some(f64::from(fact.reward)), &fall)
    }

    #[test]
    fn a_fall_of_new_prompts_is_told_from_one_of_all() {
        let harder = told(|is_new, _| if is_new { 0.2 } else { 0.8 }, 40).map(|same| same.largest_fall());
        assert!(harder.is_some_and(|fall| fall < 0.08), "{harder:?}");
        let worse = told(|_, step| if step < 12 { 0.8 } else { 0.5 }, 40).map(|same| same.largest_fall());
        assert!(worse.is_some_and(|fall| fall > 0.3), "{worse:?}");
    }

    #[test]
    fn nothing_is_told_of_prompts_that_do_not_come_again_or_of_a_level_that_was_not_left() {
        assert_eq!(told(|is_new, _| if is_new { 0.2 } else { 0.8 }, 1_000_000), None);
        // It rose before it fell: on average nothing was lost.
        assert_eq!(told(|_, step| if step < 12 { 0.07 * step as f64 } else { 0.4 }, 40), None);
    }
}
