//! All causes of a run.

use crate::causes::{CAUSES, cause_of};
use crate::state::Circumstances;
use crate::{Code, Confidence, Finding, Measures, Need, Ranked, Symptom, rank};

/// What was found, and what could not be looked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnosis {
    /// Causes, the first first.
    pub findings: Vec<Ranked>,
    /// Causes that the log cannot show, with the first thing that they need.
    pub not_checked: Vec<(Code, Need)>,
}

impl Diagnosis {
    /// The likely findings, the first first.
    pub fn likely(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .map(|ranked| &ranked.finding)
            .filter(|finding| finding.confidence == Confidence::Likely)
    }

    /// What the state of the run has to know of its causes.
    #[must_use]
    pub fn circumstances(&self, measures: &Measures<'_>) -> Circumstances {
        let holds = |finding: &Finding| {
            cause_of(finding.code).is_some_and(|cause| cause.symptoms.contains(&Symptom::NotLearning))
        };
        Circumstances {
            not_finite: self.likely().any(|finding| finding.code == Code::NotFinite),
            likely_cause: self.likely().next().is_some(),
            cause_holds: self.likely().any(holds),
            trainer_steps: measures.evidence.logged.steps().map_or(0, |(_, last)| last),
        }
    }
}

/// Looks for every cause.
#[must_use]
pub fn examine_all(measures: &Measures<'_>) -> Diagnosis {
    let mut findings = Vec::new();
    let mut not_checked = Vec::new();
    for cause in CAUSES {
        match cause.needs.iter().find(|need| !measures.meets(**need)) {
            Some(missing) => not_checked.push((cause.code, *missing)),
            None => findings.extend((cause.examine)(measures)),
        }
    }
    Diagnosis { findings: rank(findings, measures.outcome.symptom), not_checked }
}
