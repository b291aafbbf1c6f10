//! Responses of two kinds in the same steps: what some of them have throughout, and others not at all.

use stapo_analyze::analyze::RunAnalysis;
use stapo_analyze::analyze::result::{Cause, CauseCode, Confidence};
use stapo_analyze::stats::random::Random;

use super::innocent::{changed, has};
use super::run::Fault;
use super::{SHAPE, told};

const OLD: usize = 0;
const NEW: usize = 2;

/// A share of the responses of a healthy run, from a step on, whose every token the trainer finds less likely.
fn scored_lower(share: f64, by: f64, from: i64) -> RunAnalysis {
    changed(Fault::Nothing, SHAPE, |log| {
        let mut random = Random::new(11, 4);
        for row in 0..log.ids.len() {
            if random.unit() < share && log.steps[row] >= from {
                for token in 0..log.ids[row].len() {
                    let off = (by * (1.0 + 0.4 * random.normal())).max(0.0) as f32;
                    log.values[OLD][row][token] -= off;
                    log.values[NEW][row][token] -= off;
                }
            }
        }
    })
}

fn gap(analysis: &RunAnalysis) -> &Cause {
    analysis.diagnosis.causes.iter().find(|c| c.code == CauseCode::PrecisionGap).unwrap()
}

/// As packing without a mask between sequences does it, or another prompt.
#[test]
fn responses_that_are_scored_behind_other_tokens_are_no_setting_of_the_sampler() {
    for (share, by) in [(0.1, 1.0), (0.3, 1.0), (0.3, 0.4), (0.3, 4.0), (0.7, 1.0)] {
        let found = scored_lower(share, by, 0);
        for other in [CauseCode::SamplerTruncation, CauseCode::SamplerTemperature] {
            assert!(!has(&found, other), "{share} {by}: {}", told(&found));
        }
        let cause = gap(&found);
        assert_eq!(cause.confidence, Confidence::Likely, "{share} {by}: {}", told(&found));
        let told = cause.evidence.iter().find(|e| e.what.starts_with("share of responses")).unwrap().value;
        assert!((told - share).abs() < 0.03, "{share} {by}: {told}");
        assert!(cause.message.contains("differ throughout"), "{}", cause.message);
        assert!(cause.hint.contains("packed without a mask"), "{}", cause.hint);
    }
    let late = scored_lower(0.3, 1.0, 7);
    assert_eq!(gap(&late).from_step, Some(7), "{}", gap(&late).message);
    assert!(gap(&late).message.contains("of the responses from step 7 on"), "{}", gap(&late).message);
}

/// What all responses have is told as before, also where it began at a step.
#[test]
fn what_all_responses_have_is_one_kind() {
    for fault in [Fault::TopP(0.9), Fault::TopP(0.5), Fault::Temperature(0.6), Fault::Imprecise] {
        let found = changed(fault, SHAPE, |_| {});
        let causes = &found.diagnosis.causes;
        assert!(!causes.iter().any(|c| c.message.contains("throughout")), "{fault:?}: {}", told(&found));
    }
    let late = scored_lower(1.0, 1.0, 6);
    assert!(!gap_message(&late).contains("throughout"), "{}", told(&late));
}

fn gap_message(analysis: &RunAnalysis) -> String {
    let causes = analysis.diagnosis.causes.iter();
    causes.map(|cause| cause.message.as_str()).collect::<Vec<_>>().join("; ")
}
