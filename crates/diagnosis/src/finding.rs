//! What looking for a cause gives.

use stapo_result::{Cause, CauseCode, Confidence, Evidence};

/// What looking for a cause gives.
pub enum Finding {
    /// It is not there.
    Absent,
    /// The log cannot tell: what it would need.
    NotChecked(&'static str),
    /// The columns are there, but there is too little of them: what it would need.
    TooFew(&'static str),
    /// It is there.
    Found(Cause),
}

impl Finding {
    /// Whether it is there, and likely.
    pub fn is_likely(&self) -> bool {
        matches!(self, Self::Found(cause) if cause.confidence == Confidence::Likely)
    }

    /// The step from which on it is there, where it is and that is known.
    pub fn first_step(&self) -> Option<i64> {
        match self {
            Self::Found(cause) => cause.from_step,
            _ => None,
        }
    }

    /// The same of a cause that shows no more from a step on, where that is known.
    pub fn before(mut self, step: Option<i64>) -> Self {
        if let Self::Found(cause) = &mut self {
            cause.before_step = step;
        }
        self
    }
}

/// A cause that was found.
pub fn found(
    code: CauseCode,
    confidence: Confidence,
    from_step: Option<i64>,
    message: String,
    hint: &str,
    evidence: Vec<Evidence>,
) -> Finding {
    Finding::Found(Cause {
        code,
        confidence,
        from_step,
        before_step: None,
        message,
        hint: hint.into(),
        evidence,
    })
}
