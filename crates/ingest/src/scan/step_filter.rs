//! Lets only the responses through that are asked for.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::scope::Scope;
use crate::step_range::StepRange;
use stapo_base::error::{Error, Result};
use stapo_batch::batch::TokenBatch;

/// Lets through what is asked for, and remembers which steps there are.
pub struct StepFilter {
    scope: Scope,
    lowest: AtomicI64,
    highest: AtomicI64,
    passed: AtomicI64,
}

impl StepFilter {
    pub fn new(scope: Scope) -> Self {
        let (lowest, highest) = (AtomicI64::new(i64::MAX), AtomicI64::new(i64::MIN));
        Self { scope, lowest, highest, passed: AtomicI64::new(0) }
    }

    /// Passes on the responses of a batch that are asked for.
    pub fn pass(&self, batch: &TokenBatch, accept: &mut dyn FnMut(&TokenBatch) -> Result<()>) -> Result<()> {
        if self.scope.is_all() {
            return accept(batch);
        }
        let steps = &batch.responses.step;
        if self.scope.steps.is_some() {
            for step in steps {
                self.lowest.fetch_min(*step, Ordering::Relaxed);
                self.highest.fetch_max(*step, Ordering::Relaxed);
            }
        }
        for part in self.scope.stretches(&batch.responses) {
            self.passed.fetch_add(1, Ordering::Relaxed);
            if part == (0..steps.len()) { accept(batch) } else { accept(&batch.slice(part)) }?;
        }
        Ok(())
    }

    /// The same for a response that is passed on as a whole.
    pub fn pass_on(&self, batch: TokenBatch, emit: &mut dyn FnMut(TokenBatch) -> Result<()>) -> Result<()> {
        match self.scope.is_all() {
            true => emit(batch),
            false => self.pass(&batch, &mut |batch| emit(batch.clone())),
        }
    }

    /// The steps that there are.
    pub fn seen(&self) -> StepsSeen {
        StepsSeen {
            lowest: self.lowest.load(Ordering::Relaxed),
            highest: self.highest.load(Ordering::Relaxed),
            passed: self.passed.load(Ordering::Relaxed) > 0,
        }
    }
}

/// The steps that a scan came upon, where some were asked for.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct StepsSeen {
    lowest: i64,
    highest: i64,
    passed: bool,
}

impl Default for StepsSeen {
    fn default() -> Self {
        Self { lowest: i64::MAX, highest: i64::MIN, passed: false }
    }
}

impl StepsSeen {
    /// Adds those of another scan.
    pub fn merge(&mut self, other: Self) {
        self.lowest = self.lowest.min(other.lowest);
        self.highest = self.highest.max(other.highest);
        self.passed |= other.passed;
    }

    /// Fails where steps were asked for that the log does not have.
    pub fn require_some(&self, range: Option<StepRange>) -> Result<()> {
        let Some(range) = range.filter(|_| !self.passed) else { return Ok(()) };
        let there = match self.lowest <= self.highest {
            true => format!("the log has {}", StepRange { first: self.lowest, last: self.highest }),
            false => "the log has no response".into(),
        };
        Err(Error::Usage {
            message: format!("no response belongs to {range}"),
            hint: format!("{there}; give other --steps"),
        })
    }
}
