//! Responses that stand in a log more than once: those of another step again, and siblings that are one response.
//!
//! Only responses count that nobody draws twice by chance. One of another step must have the same values, too: where
//! the weights moved on, the same text has another probability.

use std::collections::BTreeSet;

use crate::evidence::evidence;
use crate::words::percent;
use stapo_base::format::grouped;
use stapo_batch::limits::WARN_SHARE;
use stapo_collect::collect::signs::response_facts::{ResponseFact, ResponseFacts};
use stapo_ingest::NEVER_TWICE;
use stapo_result::{Warning, WarningCode};

/// Beyond this share of responses that are not of their step, nothing is said to be healthy.
const MANY: f64 = 0.1;

/// Whether nobody draws its tokens twice by chance: neither the trainer's policy nor the sampler's, which may be
/// sharper.
pub fn is_unique(fact: &ResponseFact) -> bool {
    let trainer = -f64::from(fact.surprisal) * f64::from(fact.length);
    let sampler = trainer + fact.gap.as_ref().map_or(0.0, |gap| gap.y);
    trainer.max(sampler) < f64::from(NEVER_TWICE)
}

fn text(fact: &ResponseFact) -> (u64, u64) {
    (fact.text, fact.prompt)
}

/// How many are those of an earlier step again, and the first step with one.
fn of_earlier_steps(unique: &[&ResponseFact]) -> (u64, Option<i64>) {
    let values = |fact: &ResponseFact| (fact.length, fact.surprisal.to_bits(), fact.entropy.to_bits());
    let mut all: Vec<_> = unique.iter().map(|fact| (text(fact), values(fact), fact.step)).collect();
    all.sort_unstable();
    let (mut repeated, mut first) = (0, None::<i64>);
    for copies in all.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let later = &copies[copies.partition_point(|(.., step)| *step == copies[0].2)..];
        repeated += later.len() as u64;
        first = later.first().map(|(.., step)| *step).into_iter().chain(first).min();
    }
    (repeated, first)
}

/// How many responses stand there more than once, at least: of large runs a sample of the groups is known, and most
/// copies of a response that was kept were not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Copies {
    /// Responses that were looked at.
    all: u64,
    /// Those that are of an earlier step.
    repeated: u64,
    /// The first step with one.
    first: Option<i64>,
    /// Those that are another one of their group.
    siblings: u64,
}

impl Copies {
    /// Counts them. Where responses may be logged once for each epoch, only siblings with ids of their own are held
    /// against each other.
    pub fn of(facts: &ResponseFacts, may_have_epochs: bool) -> Self {
        let mut unique: Vec<&ResponseFact> = facts.responses.iter().filter(|fact| is_unique(fact)).collect();
        let (repeated, first) = of_earlier_steps(&unique);
        let siblings = |same: &[&ResponseFact]| match may_have_epochs {
            true => {
                same.iter().map(|fact| fact.sample).filter(|id| *id != 0).collect::<BTreeSet<u64>>().len()
            }
            false => same.len(),
        };
        let mut copied = 0;
        // They are in the order of steps and groups.
        for group in unique.chunk_by_mut(|a, b| (a.step, a.group) == (b.step, b.group)) {
            group.sort_unstable_by_key(|fact| text(fact));
            let same = group.chunk_by(|a, b| text(a) == text(b));
            copied += same.map(|same| siblings(same).saturating_sub(1) as u64).sum::<u64>();
        }
        Self { all: facts.responses.len() as u64, repeated, first, siblings: copied }
    }

    fn share(&self, of: u64) -> f64 {
        of as f64 / self.all.max(1) as f64
    }

    /// The share of responses of an earlier step, where it is so large that damage may hide behind them.
    pub fn hiding(&self) -> Option<f64> {
        Some(self.share(self.repeated)).filter(|share| *share > MANY)
    }

    /// What to say of them.
    pub fn warnings(&self) -> Vec<Warning> {
        let found = [self.of_earlier_steps(), self.of_siblings()];
        found.into_iter().flatten().collect()
    }

    fn of_earlier_steps(&self) -> Option<Warning> {
        let (share, first) = (self.share(self.repeated), self.first?);
        (share >= WARN_SHARE).then(|| Warning {
            code: WarningCode::RepeatedResponses,
            message: format!(
                "at least {} of {} responses ({}) are those of an earlier step again, value for value, the first at step \
                 {first}: they say nothing of their own step",
                grouped(self.repeated),
                grouped(self.all),
                percent(share)
            ),
            hint: "see whether the logger writes a buffer again, or whether the data loader or the sampler stands still; \
                   log each step's own responses"
                .into(),
            evidence: vec![
                evidence(Some(first), "first step with one", first as f64),
                evidence(None, "responses of an earlier step", self.repeated as f64),
                evidence(None, "share of responses", share),
            ],
        })
    }

    fn of_siblings(&self) -> Option<Warning> {
        let share = self.share(self.siblings);
        (share >= WARN_SHARE).then(|| Warning {
            code: WarningCode::CopiedSiblings,
            message: format!(
                "at least {} of {} responses ({}) are a sibling again, token by token, which chance does not give: groups have \
                 fewer answers than responses",
                grouped(self.siblings),
                grouped(self.all),
                percent(share)
            ),
            hint: "look at the sampler's seed and temperature, and whether rows were written more than once under new \
                   ids: a copy adds nothing to a baseline or to pass@k"
                .into(),
            evidence: vec![
                evidence(None, "copies of a sibling", self.siblings as f64),
                evidence(None, "share of responses", share),
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four steps of four groups of four; `change` makes copies.
    fn copies(may_have_epochs: bool, change: impl Fn(&mut ResponseFact)) -> Copies {
        let fact = |number: u64| {
            let mut fact = ResponseFact {
                step: (number / 16).cast_signed(),
                group: number / 4,
                text: number,
                length: 40,
                surprisal: 1.0 + number as f32 / 100.0,
                ..ResponseFact::default()
            };
            change(&mut fact);
            fact
        };
        let responses = (0..64).map(fact).collect();
        Copies::of(&ResponseFacts { responses, ..ResponseFacts::default() }, may_have_epochs)
    }

    fn codes(copies: &Copies) -> Vec<WarningCode> {
        copies.warnings().iter().map(|warning| warning.code).collect()
    }

    #[test]
    fn responses_of_an_earlier_step_are_counted_once_each() {
        let again = |fact: &mut ResponseFact| {
            if fact.step > 1 {
                fact.surprisal = 1.0 + (16 + fact.text % 16) as f32 / 100.0;
                fact.text = 16 + fact.text % 16;
            }
        };
        let found = copies(false, again);
        assert_eq!((found.repeated, found.first, found.siblings), (32, Some(2), 0));
        assert_eq!(codes(&found), [WarningCode::RepeatedResponses]);
        assert_eq!(found.hiding(), Some(0.5));
        let moved = copies(false, |fact| {
            again(fact);
            fact.surprisal += fact.step as f32;
        });
        assert_eq!(codes(&moved), [], "the same texts of other weights");
        let likely = copies(false, |fact| {
            again(fact);
            fact.length = 4;
        });
        assert_eq!(codes(&likely), [], "short answers come again by chance");
    }

    #[test]
    fn copies_of_siblings_are_told_but_where_there_may_be_epochs() {
        let half = |fact: &mut ResponseFact| fact.text &= !1;
        let found = copies(false, half);
        assert_eq!((found.repeated, found.siblings), (0, 32));
        assert_eq!(codes(&found), [WarningCode::CopiedSiblings]);
        assert_eq!(found.hiding(), None);
        assert_eq!(codes(&copies(true, half)), []);
        let numbered = copies(true, |fact| {
            half(fact);
            fact.sample = fact.surprisal.to_bits().into();
        });
        assert_eq!(numbered.siblings, 32);
        let epochs = copies(true, |fact| {
            half(fact);
            fact.sample = 1 + fact.text;
        });
        assert_eq!(epochs.siblings, 0);
    }

    #[test]
    fn a_sharper_sampler_may_draw_twice_what_the_trainer_finds_rare() {
        let gap =
            |y: f64| Some(Box::new(stapo_collect::collect::signs::gaps::GapSums { y, ..Default::default() }));
        let fact =
            |y: f64| ResponseFact { length: 20, surprisal: 1.0, gap: gap(y), ..ResponseFact::default() };
        assert!(is_unique(&fact(0.0)) && is_unique(&fact(-9.0)));
        assert!(!is_unique(&fact(12.0)));
    }
}
