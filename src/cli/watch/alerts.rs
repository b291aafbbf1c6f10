//! What is worth waking someone for: damage, and causes that are likely.

use serde::Serialize;

use stapo_base::format::{number, words};
use stapo_result::RunAnalysis;

/// Something that is wrong with the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Alert {
    /// `damage` or `cause`.
    pub kind: &'static str,
    /// The signal that was damaged, or the code of the cause.
    pub code: String,
    /// In words.
    pub message: String,
    /// What to try next, of a cause.
    pub hint: Option<String>,
    /// The last step that was read.
    pub step: Option<i64>,
}

impl Alert {
    /// As a line of the terminal.
    pub fn said(&self) -> String {
        match self.kind {
            "damage" => format!("damage: {}", self.message),
            _ => format!("likely cause, {}: {}", words(&self.code), self.message),
        }
    }

    /// What is remembered of it.
    pub fn key(&self) -> String {
        format!("{}:{}", self.kind, self.code)
    }
}

/// What is wrong. Causes that are only possible, or follow from another, are left to the report.
pub fn all(analysis: &RunAnalysis) -> Vec<Alert> {
    let step = analysis.steps.last().map(|row| row.step);
    let damage = analysis.diagnosis.damage.iter().map(|damage| Alert {
        kind: "damage",
        code: damage.signal.to_string(),
        message: format!(
            "{} {} → {} from step {}",
            damage.signal,
            number(damage.before),
            number(damage.after),
            damage.from_step
        ),
        hint: None,
        step,
    });
    let likely = analysis.diagnosis.causes.iter().filter(|cause| cause.is_root());
    let causes = likely.map(|cause| Alert {
        kind: "cause",
        code: cause.code.name().to_owned(),
        message: cause.message.clone(),
        hint: Some(cause.hint.clone()),
        step,
    });
    damage.chain(causes).collect()
}
