//! Advantages of one sign.

use crate::{Code, Confidence, Examined, Finding, Measures, Proof};

/// Responses with an advantage that tell, about a dozen groups' worth.
const FEWEST: u64 = 20;

/// Finds advantages of one sign: how many responses have it and how many the other, and which way each pushes.
pub fn finding(
    code: Code,
    [there, other]: [u64; 2],
    [pushed, missing]: [&str; 2],
    hint: &str,
    measures: &Measures<'_>,
) -> Examined {
    if there == 0 || other > 0 {
        return None;
    }
    let sentence = format!("{there} responses are pushed {pushed} and none is pushed {missing}: {hint}");
    let why = vec![
        Proof::new(format!("responses pushed {missing}"), 0.0, "about half"),
        Proof::new(format!("responses pushed {pushed}"), there as f64, "about half"),
    ];
    let onset = measures.evidence.rewards.steps.iter().find(|(_, step)| step.advantaged > 0);
    let confidence = if there < FEWEST { Confidence::Possible } else { Confidence::Likely };
    let finding = Finding::likely(code, 1.0, sentence, why).with(confidence);
    Some(finding.from_step(onset.map(|(step, _)| *step)))
}
