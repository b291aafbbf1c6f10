//! Lets only the responses through that are asked for, and apart from them those that are held out.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::scan::passed::{Give, Passed};
use crate::scope::Scope;
use crate::step_range::StepRange;
use stapo_base::error::{Error, Result};
use stapo_batch::batch::TokenBatch;
use stapo_batch::held_out::HeldOut;

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

    /// Passes on the responses of a batch that are asked for, and those that are held out.
    pub fn pass(&self, batch: TokenBatch, give: &mut Give<'_>) -> Result<()> {
        if self.scope.is_all() {
            return give(Passed::Asked(Box::new(batch)));
        }
        let steps = &batch.responses.step;
        if self.scope.steps.is_some() {
            for step in steps {
                self.lowest.fetch_min(*step, Ordering::Relaxed);
                self.highest.fetch_max(*step, Ordering::Relaxed);
            }
        }
        let parts = self.scope.stretches(&batch.responses);
        self.passed.fetch_add(parts.len() as i64, Ordering::Relaxed);
        let is_whole = matches!(&parts[..], [whole] if *whole == (0..steps.len()));
        if is_whole && !batch.is_empty() {
            return give(Passed::Asked(Box::new(batch)));
        }
        for part in parts {
            give(Passed::Asked(Box::new(batch.slice(part))))?;
        }
        let is_held_out = |i: &usize| self.scope.leaves_out_evaluation(&batch.responses, *i);
        let held_out: Vec<usize> = (0..batch.len()).filter(is_held_out).collect();
        match held_out.is_empty() {
            true => Ok(()),
            false => give(Passed::HeldOut(Box::new(HeldOut::of(&batch, &held_out)))),
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
