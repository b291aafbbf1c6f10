//! A few tokens that are far out: values that an engine fills in, masked logits, placeholders. They say nothing
//! of all others, so no cause of the whole run may come from them.

use stapo_analyze::analyze::RunAnalysis;
use stapo_analyze::analyze::result::{CauseCode, Confidence, WarningCode};

use super::innocent::{changed, has, is_innocent, warning};
use super::log::Log;
use super::run::Fault;
use super::{SHAPE, told};

const OLD: usize = 0;
const SAMPLER: usize = 1;
const ENTROPY: usize = 3;

/// Rows of different groups in the given steps.
fn rows(log: &Log, steps: &[i64]) -> Vec<usize> {
    let first = |step: &i64| log.steps.iter().position(|of| of == step).unwrap();
    steps.iter().enumerate().map(|(i, step)| first(step) + i * SHAPE.group).collect()
}

/// One token, or one in each of two steps, with a log-probability that was filled in.
#[test]
fn a_filled_in_log_probability_is_no_large_update() {
    for (fill, steps) in [
        (-20.0, &[4][..]),
        (-60.0, &[4]),
        (-500.0, &[4]),
        (-10_000.0, &[4]),
        (-60.0, &[4, 7]),
        (-20.0, &[4, 4]),
    ] {
        let found = changed(Fault::Nothing, SHAPE, |log| {
            rows(log, steps).into_iter().for_each(|row| log.values[OLD][row][2] = fill);
        });
        assert!(!has(&found, CauseCode::LargeUpdates), "{fill} {steps:?}: {}", told(&found));
    }
}

/// One token of 24,000 six nats off, in the last or in the first step; two, three or four ten nats off.
#[test]
fn a_few_tokens_are_no_gap_between_engines() {
    for (off, steps) in [
        (6.0, &[0][..]),
        (6.0, &[11]),
        (10.0, &[2, 8]),
        (10.0, &[3, 3]),
        (10.0, &[1, 4, 7]),
        (10.0, &[1, 4, 7, 10]),
    ] {
        let found = changed(Fault::Nothing, SHAPE, |log| {
            for row in rows(log, steps) {
                log.values[SAMPLER][row][2] = log.values[OLD][row][2] - off;
            }
        });
        is_innocent(&found);
        assert!(!has(&found, CauseCode::PrecisionGap), "{off} {steps:?}: {}", told(&found));
        let told = warning(&found, WarningCode::PolicyMismatch);
        assert_eq!(told, None, "{off} {steps:?}");
    }
}

/// No vocabulary has an entropy of 1,000 nats, and the one of 32 tokens none of 20.
#[test]
fn one_impossible_entropy_is_not_of_another_policy() {
    for (entropy, bad) in [(3e38, 1), (1_000.0, 1), (20.0, 0)] {
        let found = changed(Fault::Nothing, SHAPE, |log| {
            rows(log, &[4]).into_iter().for_each(|row| log.values[ENTROPY][row][2] = entropy);
        });
        is_innocent(&found);
        let quality = found.quality.iter().find(|column| column.column == "entropy").unwrap();
        assert_eq!(quality.out_of_range, bad, "{entropy}");
        let mean = found.steps[4].mean_entropy;
        assert!(mean.is_some_and(|mean| mean < 3.0), "{entropy}: {mean:?}");
    }
}

/// Improbable tokens of a policy that is sure of all others; and those of one that is unsure everywhere, which
/// are no exception.
#[test]
fn spurious_tokens_are_a_cause_where_they_stand_out() {
    let with = |sure: [f32; 3], rare: f32, every: usize| {
        changed(Fault::Nothing, SHAPE, |log| {
            for (t, value) in log.values[OLD].iter_mut().flatten().enumerate() {
                *value = if t % every == 0 { rare } else { sure[0] };
            }
            log.values[SAMPLER] = log.values[OLD].clone();
            log.values[2] = log.values[OLD].clone();
            for (t, value) in log.values[ENTROPY].iter_mut().flatten().enumerate() {
                *value = sure[1] * (1.0 + 0.1 * ((t * 7) % 10) as f32);
            }
            log.values[4].iter_mut().flatten().for_each(|value| *value = sure[2]);
        })
    };
    let spurious = |found: &RunAnalysis| {
        let causes = &found.diagnosis.causes;
        causes.iter().find(|c| c.code == CauseCode::SpuriousTokens).map(|c| c.confidence)
    };
    let stand_out = with([-0.03, 0.15, 0.94], -9.0, 211);
    assert_eq!(spurious(&stand_out), Some(Confidence::Likely), "{}", told(&stand_out));
    let unsure = with([-2.3, 2.0, 0.1], -6.5, 2);
    assert!(unsure.s2t.energy_share > Some(0.1), "{:?}", unsure.s2t);
    assert_eq!(spurious(&unsure), None, "{}", told(&unsure));
}
