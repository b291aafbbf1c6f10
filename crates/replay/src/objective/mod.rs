//! What the replay minimises: one small file an objective, behind one trait.
//!
//! Every loss depends on the parameters only through ln π of the logged tokens: probabilities and
//! entropies of the current policy choose and weigh tokens, without a gradient. So an objective is
//! a function of plain numbers, and its gradient is one coefficient ∂loss/∂ln π a token.

mod aggregate;
mod clipped;
mod corrected;
mod covariance;
mod masks;
mod minibatch;
mod registry;
mod words;

mod ar;
mod cispo;
mod clip_cov;
mod dapo;
mod dasd;
mod dgg;
mod dr_grpo;
mod dual_clip;
mod entropy20;
mod fullmask;
mod grpo;
mod gspo;
mod high_entropy;
mod justrl;
mod kl_cov;
mod lopti;
mod low_prob_only;
mod random;
mod sapo;
mod stapo;
mod stare;

pub use aggregate::{Judged, judge};
pub use dgg::{GateState, GradientGate};
pub use masks::S2tMask;
pub use minibatch::MiniBatch;
pub use random::RandomFrom;
pub use registry::{NAMES, ObjectiveSettings, build, can_dual_clip};

use stapo_framework::rules::Rule;
use stapo_result::replay::Counts;

/// ℓ of one token.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Term {
    /// ℓ.
    pub loss: f64,
    /// ∂ℓ/∂ln π.
    pub slope: f64,
    /// Whether clipping bounds it.
    pub clipped: bool,
}

/// How terms become one loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mean {
    /// Σℓ over the number of kept tokens.
    Token,
    /// The mean over responses of the mean over their kept tokens.
    Sequence,
    /// Σℓ over responses × this length.
    Constant(usize),
}

/// The terms of a mini-batch, before they are averaged.
#[derive(Clone, Debug)]
pub struct Weighed {
    /// One a token; those of tokens that are not kept do not count.
    pub terms: Vec<Term>,
    /// Whether a token is in the loss and in its denominator.
    pub kept: Vec<bool>,
    /// What the rule did.
    pub counts: Counts,
}

impl Weighed {
    /// All trained tokens, with these terms.
    fn all(batch: &MiniBatch<'_>, term: impl Fn(usize) -> Term) -> Self {
        let kept = batch.trained.to_vec();
        let terms = (0..kept.len()).map(|t| if kept[t] { term(t) } else { Term::default() }).collect();
        Self { terms, kept, counts: Counts::default() }
    }

    /// Takes tokens out of the loss and of its denominator.
    fn without(mut self, silenced: &[usize]) -> Self {
        silenced.iter().for_each(|t| self.kept[*t] = false);
        self.counts.silenced = Some(silenced.len() as u64);
        self
    }
}

/// A training rule.
pub trait Objective: Send + Sync {
    /// Which rule it is.
    fn rule(&self) -> Rule;

    /// What it does with the settings at hand, in one sentence.
    fn describe(&self) -> String;

    /// The terms of one mini-batch.
    fn weigh(&self, batch: &MiniBatch<'_>) -> Weighed;

    /// The objective that it changes: what it does not say itself holds as that one says it.
    fn base(&self) -> Option<&dyn Objective> {
        None
    }

    /// How the terms are averaged.
    fn mean(&self, batch: &MiniBatch<'_>) -> Mean {
        self.base().map_or(Mean::Token, |base| base.mean(batch))
    }

    /// Updates that one mini-batch gives; [`MiniBatch::pass`] says which it is.
    fn passes(&self) -> usize {
        self.base().map_or(1, Objective::passes)
    }

    /// Whether it needs the column `logprob_ref`.
    fn needs_teacher(&self) -> bool {
        self.base().is_some_and(Objective::needs_teacher)
    }

    /// A gate that may drop a gradient before the optimizer sees it.
    fn gate(&self) -> Option<GradientGate> {
        self.base().and_then(Objective::gate)
    }

    /// Whether its result depends on random draws.
    fn is_random(&self) -> bool {
        self.base().is_some_and(Objective::is_random)
    }
}
