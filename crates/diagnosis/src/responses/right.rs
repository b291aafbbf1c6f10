//! Whether a single response is right, by what the run's rule says (`analyze::right`); where there is
//! none, by a graded part of the reward whose name says so.

use crate::words::percent;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_collect::plan::Plan;
use stapo_ingest::right::{RightRule, Rivals, is_plain, middle};
use stapo_result::SignalName;

/// What says whether an answer is right.
#[derive(Clone, Copy, Debug)]
pub struct Right<'a> {
    /// The user's condition, the name of the part, or "reward".
    pub name: &'a str,
    /// The part of the reward that it is read from; `None` for the reward itself.
    pub part: Option<usize>,
    /// Whether it is a verdict, of two values: a graded part of that name may measure something else.
    pub is_verdict: bool,
    /// Whether its name says nothing that is not understood: `answer_boldness` may measure something else.
    is_plain: bool,
    by: By,
}

#[derive(Clone, Copy, Debug)]
enum By {
    /// The user's condition.
    Condition,
    /// A part above this.
    Part(f64),
    /// This reward.
    Reward(f32),
}

impl<'a> Right<'a> {
    /// What says it in a run.
    pub fn of_run(rule: Option<&'a RightRule>, plan: &'a Plan, facts: &[ResponseFact]) -> Option<Self> {
        let (parts, asked) = (&plan.reward_parts, &plan.questions);
        let stands_alone = |part: &usize| !rivals(*part, &asked.right_rivals, facts).are_apart();
        let graded =
            || asked.right_part.filter(stands_alone).map(|part| Self::graded(part, &parts[part], facts));
        let on = asked.pass.as_ref().and_then(|rule| rule.part());
        rule.map(|rule| Self::ruled(rule, on, parts)).or_else(graded)
    }

    /// By the rule of the run; `on` is the part of the reward that the user's condition is on.
    pub fn ruled(rule: &'a RightRule, on: Option<&str>, parts: &[String]) -> Self {
        match rule {
            RightRule::Given(text) => {
                let part = on.and_then(|name| parts.iter().position(|part| part == name));
                Self { name: text, part, is_verdict: true, is_plain: true, by: By::Condition }
            }
            RightRule::Part { name, part, values: [low, _] } => Self {
                name,
                part: Some(*part),
                is_verdict: true,
                is_plain: is_plain(name),
                by: By::Part(f64::from(*low)),
            },
            RightRule::Reward([_, high]) => Self {
                name: SignalName::Reward.as_str(),
                part: None,
                is_verdict: true,
                is_plain: true,
                by: By::Reward(*high),
            },
        }
    }

    /// By a graded part: above the middle of its range.
    pub fn graded(part: usize, name: &'a str, facts: &[ResponseFact]) -> Self {
        let values = facts.iter().filter_map(|fact| fact.parts.get(part).copied());
        let mut values: Vec<f32> = values.filter(|value| value.is_finite()).collect();
        let (is_plain, by) = (is_plain(name), By::Part(middle(&mut values)));
        Self { name, part: Some(part), is_verdict: false, is_plain, by }
    }

    /// Whether a response is right; `None` where its value is missing.
    pub fn of(&self, fact: &ResponseFact) -> Option<bool> {
        match self.by {
            By::Condition => fact.right,
            By::Part(above) => {
                let value = self.part.and_then(|part| fact.parts.get(part)).copied()?;
                value.is_finite().then_some(f64::from(value) > above)
            }
            By::Reward(high) => fact.reward.is_finite().then_some(fact.reward >= high),
        }
    }

    /// Whether its name says nothing that is not understood.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Whether it is a verdict by its name and by its values, not by a guess.
    pub fn is_sure(&self) -> bool {
        self.is_verdict && self.is_plain
    }

    /// ", although 48 % of these answers are right (answer)": what it says apart from the reward, of answers that
    /// all have the lowest reward (of wrong ones, where all have the best); `None` where it says the same.
    pub fn against<'f>(&self, facts: impl Iterator<Item = &'f ResponseFact>, best: bool) -> Option<String> {
        self.part.filter(|_| self.is_sure())?;
        let known: Vec<bool> = facts.filter_map(|fact| self.of(fact)).collect();
        let others = known.iter().filter(|right| **right != best).count();
        let word = if best { "wrong" } else { "right" };
        (others > 0).then(|| {
            let share = percent(others as f64 / known.len() as f64);
            format!(", although {share} of these answers are {word} ({})", self.name)
        })
    }

    /// The signal that follows it.
    pub fn signal(&self) -> SignalName {
        match self.by {
            By::Condition => SignalName::PassRate,
            By::Part(_) => SignalName::part(self.name),
            By::Reward(_) => SignalName::Reward,
        }
    }
}

/// A part against the best of the others whose names say what is right.
fn rivals(part: usize, others: &[usize], facts: &[ResponseFact]) -> Rivals {
    let mut rivals = Rivals::default();
    for fact in facts {
        let of = |part: usize| fact.parts.get(part).copied().unwrap_or(f32::NAN);
        rivals.add(of(part), others.iter().map(|other| of(*other)).fold(f32::NAN, f32::max));
    }
    rivals
}

#[cfg(test)]
mod tests {
    use super::*;
    use stapo_ingest::right::SeenRewards;

    fn right(values: &[f32]) -> (bool, Vec<Option<bool>>) {
        let fact = |value: &f32| ResponseFact { parts: [*value].into(), ..ResponseFact::default() };
        let facts: Vec<ResponseFact> = values.iter().map(fact).collect();
        let mut seen = SeenRewards::default();
        values.iter().for_each(|value| seen.add(f32::NAN, *value));
        let rule = RightRule::of(None, Some((0, "answer")), &seen);
        let right = match &rule {
            Some(rule) => Right::ruled(rule, None, &[]),
            None => Right::graded(0, "answer", &facts),
        };
        (right.is_verdict, facts.iter().map(|fact| right.of(fact)).collect())
    }

    #[test]
    fn what_is_right_does_not_depend_on_the_scale() {
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(right(&[0.0, 0.3, 0.3, 0.0]), (true, vec![no, yes, yes, no]));
        assert_eq!(right(&[-1.0, 1.0, -1.0]), (true, vec![no, yes, no]));
        assert_eq!(right(&[0.0, 0.0]), (true, vec![no, no]));
        assert_eq!(right(&[0.3, 0.3]), (true, vec![yes, yes]));
        assert_eq!(right(&[0.0, f32::NAN, 1.0]), (true, vec![no, None, yes]));
        assert_eq!(right(&[0.0, 0.1, 1.0]), (false, vec![no, no, yes]), "a grade is no verdict");
    }
}
