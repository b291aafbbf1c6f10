//! The learning rate against the log's own.

use super::subject::{Subject, warning};
use crate::provenance::logged_rate;
use stapo_result::replay::{ReplayWarning, ReplayWarningCode};

/// Learning rates that differ by more than this factor are worth a word.
const RATE_FACTOR: f64 = 3.0;

/// The user asked for another rate than the log's.
pub fn other_than_logged(subject: &Subject<'_>) -> Vec<ReplayWarning> {
    let rate = subject.settings.optimizer.rate();
    let differs = |logged: &f64| !(1.0 / RATE_FACTOR..=RATE_FACTOR).contains(&(rate / logged));
    let one = |logged: f64| {
        warning(
            ReplayWarningCode::LearningRate,
            format!("this replay’s learning rate is {}, the log says {}", plain(rate), plain(logged)),
            "leave --lr out to train at the log’s rate and see effects of its size",
        )
    };
    logged_rate(subject.run).filter(differs).map(one).into_iter().collect()
}

/// A rate as people write it: 10, 0.003, 1.5e-4.
pub fn plain(rate: f64) -> String {
    if (1e-3..1e4).contains(&rate) { format!("{rate}") } else { format!("{rate:e}") }
}

/// Whether the log was trained at a higher rate than this replay.
pub fn is_below_logged(subject: &Subject<'_>) -> bool {
    logged_rate(subject.run).is_some_and(|logged| subject.settings.optimizer.rate() < logged)
}
