//! Measures of a run: each computed once, when a cause first asks for it, from the evidence alone.

pub mod advantages;
mod agreement;
pub mod asked;
pub mod copies;
mod fit;
mod gap;
mod groups;
pub mod held_out;
pub mod of_rewards;
mod padding;
mod push;
mod restart;
pub mod right;
mod shift;
mod sync;
pub mod trained;

pub use agreement::Agreement;
pub use gap::{ARITHMETIC, EDGE, Explanation, FAR, Gap};
pub use padding::Padding;
pub use push::{Push, Slope};
pub use restart::Restart;
pub use shift::{Aligned, Column};
pub use sync::Jump;

use self::of_rewards::OfRewards;
use crate::{Need, Outcome};
use stapo_evidence::Evidence;
use stapo_evidence::policies::Step;
use std::cell::OnceCell;

/// What causes read.
#[derive(Debug)]
pub struct Measures<'a> {
    /// The sums behind the measures.
    pub evidence: &'a Evidence,
    /// What became of the run.
    pub outcome: &'a Outcome,
    of_rewards: OfRewards,
    agreement: OnceCell<Agreement>,
    gap: OnceCell<Option<Gap>>,
    push: OnceCell<Option<Push>>,
    restarts: OnceCell<Vec<Restart>>,
}

/// A log whose first step is this or earlier holds the start of training: they count from 0 or from 1.
const FIRST_STEP: i64 = 1;
/// Mean |ln π_old − ln π_ref| below which a policy is its reference.
const AT_REFERENCE: f64 = 0.01;

impl<'a> Measures<'a> {
    /// Of a run with this outcome.
    #[must_use]
    pub fn new(evidence: &'a Evidence, outcome: &'a Outcome) -> Self {
        Self {
            evidence,
            outcome,
            of_rewards: OfRewards::default(),
            agreement: OnceCell::new(),
            gap: OnceCell::new(),
            push: OnceCell::new(),
            restarts: OnceCell::new(),
        }
    }

    /// Whether the log holds what a cause needs.
    #[must_use]
    pub fn meets(&self, need: Need) -> bool {
        let logged = &self.evidence.logged;
        match need {
            Need::Column(column) => logged.has(column),
            Need::Steps(steps) => self.evidence.policies.steps.len() >= steps,
            Need::Updates(updates) => logged.last_update() + 1 >= updates,
            Need::Cut => trained::cut(&self.evidence.rewards).is_some(),
            Need::Claims => self.outcome.spurious.is_some(),
        }
    }

    /// Sums by step, in order.
    pub fn steps(&self) -> impl DoubleEndedIterator<Item = (i64, &'a Step)> + use<'a> {
        self.evidence.policies.steps.iter().map(|(step, sums)| (*step, sums))
    }

    /// The first logged step.
    #[must_use]
    pub fn first_step(&self) -> Option<i64> {
        self.steps().next().map(|(step, _)| step)
    }

    /// Whether the log holds the start of training: by its number, or since the policy is its reference there.
    #[must_use]
    pub fn holds_the_start(&self) -> bool {
        self.first_step().is_some_and(|step| step <= FIRST_STEP) || self.starts_at_reference()
    }

    /// Whether π_old is π_ref at the first logged step.
    #[must_use]
    pub fn starts_at_reference(&self) -> bool {
        let first = self.steps().next();
        first.and_then(|(_, sums)| sums.trainer_to_reference.mean()).is_some_and(|far| far < AT_REFERENCE)
    }

    /// How well the trainer agrees with itself.
    pub fn agreement(&self) -> &Agreement {
        self.agreement.get_or_init(|| Agreement::of(&self.evidence.policies))
    }

    /// The gap between trainer and sampler; none where the sampler's log-probabilities are not logged.
    pub fn gap(&self) -> Option<&Gap> {
        self.gap.get_or_init(|| Gap::of(self)).as_ref()
    }

    /// What the last update of a step moved by.
    pub fn push(&self) -> Option<&Push> {
        self.push.get_or_init(|| Push::of(&self.evidence.policies)).as_ref()
    }

    /// Steps at which several series jump.
    pub fn restarts(&self) -> &[Restart] {
        self.restarts.get_or_init(|| restart::restarts(&self.evidence.policies))
    }
}
