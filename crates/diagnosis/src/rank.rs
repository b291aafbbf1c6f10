//! What stands above what.

use crate::causes::cause_of;
use crate::{Code, Confidence, Finding, Symptom};
use std::cmp::Ordering;

/// A finding, and what it follows from.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// What was found.
    pub finding: Finding,
    /// The likely cause that explains it.
    pub consequence_of: Option<Code>,
}

/// Orders findings: the surer first; roots before what follows from them; what can bring about the symptom behind the
/// state; what explains more; what began earlier.
#[must_use]
pub fn rank(findings: Vec<Finding>, symptom: Option<Symptom>) -> Vec<Ranked> {
    let roots: Vec<Option<Code>> = findings.iter().map(|finding| root_of(finding, &findings)).collect();
    let mut ranked: Vec<Ranked> = findings
        .into_iter()
        .zip(roots)
        .map(|(finding, consequence_of)| Ranked { finding, consequence_of })
        .collect();
    ranked.sort_by(|a, b| compare(a, b, symptom));
    ranked
}

/// The likely finding that this one follows from and that began no later. An identity that does not hold stays a cause
/// of its own, so that two faults at once are both named.
fn root_of(finding: &Finding, all: &[Finding]) -> Option<Code> {
    let cause = cause_of(finding.code)?;
    if cause.null.is_identity() {
        return None;
    }
    let began = |finding: &Finding| finding.onset.unwrap_or(i64::MIN);
    all.iter()
        .filter(|root| root.confidence == Confidence::Likely && cause.follows.contains(&root.code))
        .filter(|root| began(root) <= began(finding) || finding.onset.is_none())
        .min_by_key(|root| cause.follows.iter().position(|code| *code == root.code))
        .map(|root| root.code)
}

fn compare(a: &Ranked, b: &Ranked, symptom: Option<Symptom>) -> Ordering {
    let brings_it = |code: Code| {
        symptom.is_some_and(|symptom| cause_of(code).is_some_and(|cause| cause.symptoms.contains(&symptom)))
    };
    let key = |ranked: &Ranked| {
        let finding = &ranked.finding;
        (finding.confidence, ranked.consequence_of.is_some(), !brings_it(finding.code))
    };
    key(a)
        .cmp(&key(b))
        .then_with(|| b.finding.strength.total_cmp(&a.finding.strength))
        .then_with(|| {
            let began = |ranked: &Ranked| ranked.finding.onset.unwrap_or(i64::MAX);
            began(a).cmp(&began(b))
        })
        .then_with(|| a.finding.code.cmp(&b.finding.code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::CAUSES;

    /// Whether `code` follows from itself by way of others.
    fn comes_back(code: Code) -> bool {
        let mut seen: Vec<Code> = Vec::new();
        let mut next: Vec<Code> = cause_of(code).map_or(vec![], |cause| cause.follows.to_vec());
        while let Some(at) = next.pop() {
            if at == code {
                return true;
            }
            if !seen.contains(&at) {
                seen.push(at);
                next.extend(cause_of(at).map_or(vec![], |cause| cause.follows.to_vec()));
            }
        }
        false
    }

    #[test]
    fn nothing_follows_from_itself() {
        for cause in CAUSES {
            assert!(!comes_back(cause.code), "{} follows from itself", cause.code);
        }
    }

    #[test]
    fn each_code_has_at_most_one_row() {
        for (i, cause) in CAUSES.iter().enumerate() {
            assert!(CAUSES[..i].iter().all(|other| other.code != cause.code), "{} twice", cause.code);
        }
    }

    fn likely(code: Code, strength: f64, onset: i64) -> Finding {
        Finding::likely(code, strength, String::new(), vec![]).from_step(Some(onset))
    }

    fn order(findings: Vec<Finding>, symptom: Option<Symptom>) -> Vec<(Code, Option<Code>)> {
        rank(findings, symptom)
            .into_iter()
            .map(|ranked| (ranked.finding.code, ranked.consequence_of))
            .collect()
    }

    #[test]
    fn a_finding_stands_below_what_it_follows_from_and_began_no_later() {
        let noise = likely(Code::TrainerDisagreesWithItself, 0.2, 0);
        let far = likely(Code::LargeUpdates, 0.9, 3);
        let root = Some(Code::TrainerDisagreesWithItself);
        assert_eq!(
            order(vec![far.clone(), noise.clone()], None),
            [(Code::TrainerDisagreesWithItself, None), (Code::LargeUpdates, root)]
        );
        let later = likely(Code::TrainerDisagreesWithItself, 0.2, 5);
        assert_eq!(
            order(vec![far.clone(), later], None),
            [(Code::LargeUpdates, None), (Code::TrainerDisagreesWithItself, None)]
        );
        let possible = noise.with(Confidence::Possible);
        assert_eq!(
            order(vec![possible, far], None),
            [(Code::LargeUpdates, None), (Code::TrainerDisagreesWithItself, None)]
        );
    }

    #[test]
    fn what_brings_the_symptom_comes_first_then_what_explains_more_then_what_began_earlier() {
        let gap = likely(Code::PrecisionGap, 0.9, 0);
        let frozen = likely(Code::SamplerFrozen, 0.5, 3);
        let codes =
            |symptom| order(vec![gap.clone(), frozen.clone()], symptom).into_iter().map(|(code, _)| code);
        assert!(codes(Some(Symptom::NotLearning)).eq([Code::SamplerFrozen, Code::PrecisionGap]));
        assert!(codes(Some(Symptom::Damaged)).eq([Code::PrecisionGap, Code::SamplerFrozen]));
        let (early, late) = (likely(Code::KlOutweighs, 0.5, 1), likely(Code::StaleSampler, 0.5, 2));
        assert_eq!(order(vec![late, early], None)[0].0, Code::KlOutweighs);
    }

    #[test]
    fn an_identity_follows_from_nothing() {
        for cause in CAUSES.iter().filter(|cause| cause.null.is_identity()) {
            assert_eq!(cause.follows, [], "{}", cause.code);
        }
    }
}
