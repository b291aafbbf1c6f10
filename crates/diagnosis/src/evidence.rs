//! The numbers behind causes and warnings.

use stapo_result::Evidence;

/// The level of a signal that changed for good: a mean of the last steps, which no single step has.
pub fn at_the_end(signal: &str, level: f64) -> Evidence {
    evidence(None, &format!("{signal} at the end"), level)
}

/// One number of evidence.
pub fn evidence(step: Option<i64>, what: &str, value: f64) -> Evidence {
    Evidence { step, what: what.into(), value }
}

/// A number behind a cause.
pub fn number(what: &str, value: f64) -> Evidence {
    evidence(None, what, value)
}

/// A number at a step.
pub fn at(step: i64, what: &str, value: f64) -> Evidence {
    evidence(Some(step), what, value)
}
