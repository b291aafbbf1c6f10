//! What was found, with its proof.

use crate::Code;

/// How sure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Its null does not hold.
    Likely,
    /// Seen, but another explanation is at hand.
    Possible,
    /// No fault: worth knowing.
    Note,
}

/// A number of the proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// What was measured.
    pub name: String,
    /// How much.
    pub value: f64,
    /// What a healthy run has.
    pub healthy: &'static str,
}

impl Proof {
    /// A number beside what a healthy run has.
    pub fn new(name: impl Into<String>, value: f64, healthy: &'static str) -> Self {
        Self { name: name.into(), value, healthy }
    }
}

/// A cause that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Which.
    pub code: Code,
    /// How sure.
    pub confidence: Confidence,
    /// The part of what it concerns that it holds for (of Σd², of responses, of groups), from 0 to 1.
    pub strength: f64,
    /// The first step at which it shows.
    pub onset: Option<i64>,
    /// The task or data source that it is confined to.
    pub slice: Option<String>,
    /// The numbers behind it, the one that decides first.
    pub why: Vec<Proof>,
    /// What was found, with numbers.
    pub sentence: String,
}

impl Finding {
    /// A likely one of the whole run; [`likely_if`](Self::likely_if), [`from_step`](Self::from_step) and
    /// [`in_slice`](Self::in_slice) say otherwise.
    #[must_use]
    pub fn likely(code: Code, strength: f64, sentence: String, why: Vec<Proof>) -> Self {
        let strength = if strength.is_nan() { 0.0 } else { strength.clamp(0.0, 1.0) };
        Self { code, confidence: Confidence::Likely, strength, onset: None, slice: None, why, sentence }
    }

    /// With this confidence.
    #[must_use]
    pub fn with(self, confidence: Confidence) -> Self {
        Self { confidence, ..self }
    }

    /// Likely where this holds, else possible.
    #[must_use]
    pub fn likely_if(self, holds: bool) -> Self {
        self.with(if holds { Confidence::Likely } else { Confidence::Possible })
    }

    /// From this step on.
    #[must_use]
    pub fn from_step(self, step: Option<i64>) -> Self {
        Self { onset: step, ..self }
    }

    /// In this slice alone.
    #[must_use]
    pub fn in_slice(self, slice: impl Into<String>) -> Self {
        Self { slice: Some(slice.into()), ..self }
    }
}

/// What the look for a cause gives: nothing where its null holds.
pub type Examined = Option<Finding>;
