//! What is found in a log.

use crate::log::{Log, Row};
use crate::made::{Random, healthy};
use stapo_diagnosis::{Code, Confidence, Outcome};

/// Likely causes of a run with this outcome.
pub fn likely_with(log: &Log, outcome: &Outcome) -> Vec<Code> {
    let findings = log.examine_with(outcome).findings.into_iter().map(|ranked| ranked.finding);
    findings.filter(|finding| finding.confidence == Confidence::Likely).map(|finding| finding.code).collect()
}

/// Likely causes of a run.
pub fn likely(log: &Log) -> Vec<Code> {
    likely_with(log, &Outcome::default())
}

/// How sure a cause is.
pub fn confidence(log: &Log, code: Code) -> Option<Confidence> {
    let findings = log.examine().findings.into_iter().map(|ranked| ranked.finding);
    findings.filter(|finding| finding.code == code).map(|finding| finding.confidence).next()
}

/// A healthy run that was changed.
pub fn changed(change: impl Fn(&mut Vec<Row>, &mut Random)) -> Log {
    let mut log = healthy(10, 7);
    change(&mut log.rows, &mut Random::new(3));
    log
}

/// The group of a response.
pub fn siblings(row: &Row) -> (i64, u64) {
    (row.step, row.group)
}
