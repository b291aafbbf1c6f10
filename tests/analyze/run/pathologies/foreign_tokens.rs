//! Trained tokens that the policy did not write: observations of either turn, padding, ids that were made anew.

use stapo_analyze::analyze::result::{CauseCode, Confidence, WarningCode};
use stapo_analyze::stats::random::Random;

use super::innocent::{changed, has};
use super::log::Log;
use super::run::{Fault, Kind, Shape};
use super::{SHAPE, alarms, among_first_two, told};

const OLD: usize = 0;
const SAMPLER: usize = 1;
const NEW: usize = 2;
const ENTROPY: usize = 3;

/// Puts tokens after the end of a response: what the trainer says of them, and what the sampler does.
fn pad(log: &mut Log, row: usize, tokens: usize, rollout: f32) {
    log.ids[row].extend(std::iter::repeat_n(4, tokens));
    for (values, value) in log.values.iter_mut().zip([-11.0, rollout, -11.0, 2.0, 0.2]) {
        if let Some(values) = values.get_mut(row) {
            values.extend(std::iter::repeat_n(value, tokens));
        }
    }
    if let Some(turns) = log.turns.get_mut(row) {
        turns.extend(std::iter::repeat_n(0, tokens));
    }
}

/// All responses of a batch are as long as the longest, or much longer, and the mask is all ones; the sampler's
/// values are missing or zeros there, a single one among them.
#[test]
fn padding_that_is_trained_is_named_and_nothing_else() {
    let shape = Shape { kind: Kind::OneTurn, ..SHAPE };
    for (length, fill) in [(20, 0.0), (20, f32::NAN), (90, 0.0), (90, f32::NAN)] {
        let found = changed(Fault::Nothing, shape, |log| {
            for row in 0..log.ids.len() {
                let missing = usize::saturating_sub(length + row % 3, log.ids[row].len());
                pad(log, row, missing, fill);
            }
        });
        assert_eq!(alarms(&found)[0], "observation_trained", "{length} {fill}: {}", told(&found));
        let cause = &found.diagnosis.causes[0];
        assert!(cause.message.contains("padding is trained"), "{}", cause.message);
        for other in [CauseCode::EntropyOfAnotherPolicy, CauseCode::SamplerTruncation] {
            assert!(!has(&found, other), "{length} {fill}: {}", told(&found));
        }
    }
}

/// The sampler's values are there for the last quarter of each response alone: what the others are, the policy
/// wrote.
#[test]
fn a_log_that_lacks_most_of_the_samplers_values_is_not_blamed() {
    let found = changed(Fault::Nothing, SHAPE, |log| {
        for row in &mut log.values[SAMPLER] {
            let known = row.len() / 4;
            let missing = row.len() - known;
            row[..missing].fill(f32::NAN);
        }
    });
    assert_eq!(alarms(&found), Vec::<&str>::new(), "{}", told(&found));
    let cause = found.diagnosis.causes.iter().find(|c| c.code == CauseCode::ObservationTrained);
    assert_eq!(cause.map(|cause| cause.confidence), Some(Confidence::Possible), "{}", told(&found));
}

/// Results of tools that are counted to the turn that called them, in a log that knows nothing of the sampler.
#[test]
fn observations_at_the_end_of_a_turn_are_named() {
    let found = changed(Fault::Observed, SHAPE, |log| {
        log.values[SAMPLER].clear();
        for turns in &mut log.turns {
            let later = turns.iter().position(|turn| *turn > 0).unwrap_or(turns.len());
            let end = turns.len().min(later + 3);
            turns[later..end].fill(0);
        }
    });
    assert!(among_first_two(&found, CauseCode::ObservationTrained), "{}", told(&found));
    let cause = found.diagnosis.causes.iter().find(|c| c.code == CauseCode::ObservationTrained).unwrap();
    assert!(cause.message.contains("the last trained tokens of turns"), "{}", cause.message);
}

/// Old weights open later turns in another way than the present ones: what surprises the trainer alone was drawn; what
/// surprises both was not.
#[test]
fn turns_that_old_weights_opened_are_no_observations() {
    for (sampler, expected) in [(-0.3, false), (-5.0, true)] {
        let found = changed(Fault::Stale, SHAPE, |log| {
            for row in 0..log.ids.len() {
                let later = log.turns[row].iter().position(|turn| *turn > 0).unwrap_or(0);
                for t in later..log.ids[row].len().min(later + 3) {
                    for (column, value) in [(OLD, -5.0), (NEW, -5.0), (SAMPLER, sampler), (ENTROPY, 0.5)] {
                        log.values[column][row][t] = value;
                    }
                }
            }
        });
        assert_eq!(has(&found, CauseCode::ObservationTrained), expected, "{sampler}: {}", told(&found));
    }
}

/// Two tokens of some responses that the trainer scores under other ids.
#[test]
fn tokens_that_were_tokenised_anew_are_no_truncation() {
    for every in [20, 3, 1] {
        let found = changed(Fault::Nothing, SHAPE, |log| {
            for row in (0..log.ids.len()).step_by(every) {
                for (place, by) in [(2, 4.0), (5, 9.0)] {
                    log.values[OLD][row][place] -= by;
                    log.values[NEW][row][place] -= by;
                    log.values[ENTROPY][row][place] = 2.0;
                }
            }
        });
        for other in [CauseCode::SamplerTruncation, CauseCode::SamplerTemperature] {
            assert!(!has(&found, other), "{every}: {}", told(&found));
        }
        let cause = found.diagnosis.causes.iter().find(|c| c.code == CauseCode::PrecisionGap).unwrap();
        assert!(cause.message.contains("ten times less likely"), "{}", cause.message);
        assert!(cause.hint.contains("tokenised anew"), "{}", cause.hint);
    }
}

/// A tail of which little is left out raises the others by less than rounding moves them: the mean tells.
#[test]
fn a_small_tail_that_was_left_out_shows_through_rounding() {
    for (fault, expected) in [(Fault::TopP(0.97), true), (Fault::Nothing, false)] {
        let found = changed(fault, SHAPE, |log| {
            let mut random = Random::new(3, 4);
            let values = log.values[SAMPLER].iter_mut().flatten();
            values.for_each(|value| *value += 0.03 * random.normal() as f32);
        });
        assert_eq!(has(&found, CauseCode::SamplerTruncation), expected, "{fault:?}: {}", told(&found));
        assert!(!has(&found, CauseCode::SamplerTemperature), "{fault:?}: {}", told(&found));
    }
}

/// A sampler with other weights finds some tokens far more likely, and a few clearly less: that is no tail that was left out.
#[test]
fn other_weights_are_no_truncation() {
    let raised = |less: f32| {
        changed(Fault::TopP(0.9), SHAPE, |log| {
            for (row, values) in log.values[SAMPLER].iter_mut().enumerate() {
                values.iter_mut().skip(row % 9).step_by(40).for_each(|value| *value += 2.0);
                values.iter_mut().skip(row % 7 + 9).step_by(40).for_each(|value| *value -= less);
            }
        })
    };
    assert!(has(&raised(0.0), CauseCode::SamplerTruncation), "{}", told(&raised(0.0)));
    let found = raised(0.4);
    assert!(!has(&found, CauseCode::SamplerTruncation), "{}", told(&found));
    assert!(has(&found, CauseCode::PrecisionGap), "{}", told(&found));
}

/// The sampler's values of other tokens: two further on, or in any order within the response.
#[test]
fn values_of_other_tokens_are_no_gap_of_engines() {
    for by in [2, 5] {
        let found = changed(Fault::Nothing, SHAPE, |log| {
            log.values[SAMPLER].iter_mut().for_each(|row| row.rotate_right(by));
        });
        assert_eq!(alarms(&found), ["misaligned_log"], "{by}: {}", told(&found));
        let cause = &found.diagnosis.causes[0];
        assert!(cause.message.contains("of other tokens or of other rows"), "{}", cause.message);
        assert!(!has(&found, CauseCode::PrecisionGap), "{by}: {}", told(&found));
    }
    for fault in
        [Fault::Temperature(0.3), Fault::Temperature(2.5), Fault::TopP(0.3), Fault::Stale, Fault::Imprecise]
    {
        let found = changed(fault, SHAPE, |_| {});
        assert!(!has(&found, CauseCode::MisalignedLog), "{fault:?}: {}", told(&found));
    }
}

/// Turns of eight tokens. The sampler has no value for the last (or the first) token of each, at the end of responses
/// only where `at_end`; where `is_off` the policy did not write it.
fn turns(log: &mut Log, last: bool, is_off: bool, at_end: bool) {
    let mut random = Random::new(11, 4);
    for row in 0..log.ids.len() {
        let n = log.ids[row].len();
        log.turns[row] = (0..n).map(|t| (t / 8) as i32).collect();
        for t in 0..n {
            let is_edge = if last { t % 8 == 7 && t + 1 < n } else { t % 8 == 0 && t > 0 };
            if is_edge || at_end && t + 1 == n {
                log.values[SAMPLER][row][t] = f32::NAN;
                if is_off {
                    let logprob = -3.0 * random.unit() as f32 - 1.0;
                    log.values[OLD][row][t] = logprob;
                    log.values[NEW][row][t] = logprob;
                    log.values[ENTROPY][row][t] = 1.0;
                }
            }
        }
    }
}

/// One token of the environment at an edge of each turn. An engine that gives no value for what made it stop, at the end
/// of responses, too, is not blamed, whatever such tokens surprise; nor is one that gives none for tokens the policy wrote.
#[test]
fn a_mask_that_is_off_by_one_is_named() {
    let shape = Shape { length: 32, ..SHAPE };
    for (last, said) in [(true, "the environment's first token"), (false, "the environment's last token")] {
        let found = changed(Fault::Nothing, shape, |log| turns(log, last, true, false));
        assert_eq!(alarms(&found), ["observation_trained"], "{}", told(&found));
        let cause = &found.diagnosis.causes[0];
        assert!(cause.message.contains(said) && cause.message.ends_with("off by one"), "{}", cause.message);
        assert!(cause.hint.contains("shifted by one token"), "{}", cause.hint);
    }
    for (is_off, at_end) in [(true, true), (false, false)] {
        let found = changed(Fault::Nothing, shape, |log| turns(log, true, is_off, at_end));
        assert!(!has(&found, CauseCode::ObservationTrained), "{is_off} {at_end}: {}", told(&found));
    }
}

/// Twelve tokens of the prompt before each response, as the policy and the sampler score them; from a step on they are in
/// the mask.
fn with_prompts(log: &mut Log, from: i64, likelihood: f32, rollout: impl Fn(f32) -> f32) {
    const PROMPT: usize = 12;
    log.masks = log.ids.iter().map(|ids| vec![1; ids.len()]).collect();
    for row in 0..log.ids.len() {
        let group = log.groups[row] as i32;
        let ids = (0..PROMPT as i32).map(|t| (7 * group + t * t) % 32);
        log.ids[row].splice(0..0, ids);
        log.masks[row].splice(0..0, [i32::from(log.steps[row] >= from); PROMPT]);
        let values = [likelihood, rollout(likelihood), likelihood, 0.5, 0.7];
        for (rows, value) in log.values.iter_mut().zip(values) {
            rows[row].splice(0..0, [value; PROMPT]);
        }
    }
}

/// The sampler has scored the prompt, too: that siblings share it is what tells. Words that the policy always begins with
/// are no prompt.
#[test]
fn prompts_in_the_mask_are_named_though_the_sampler_scored_them() {
    let shape = Shape { kind: Kind::OneTurn, ..SHAPE };
    for from in [0, 6] {
        let found = changed(Fault::Nothing, shape, |log| with_prompts(log, from, -2.5, |same| same));
        assert!(alarms(&found).contains(&"observation_trained"), "{from}: {}", told(&found));
        let causes = &found.diagnosis.causes;
        let cause = causes.iter().find(|cause| cause.code == CauseCode::ObservationTrained).unwrap();
        assert_eq!(cause.from_step, Some(from), "{cause:?}");
        assert!(cause.message.contains("open with the same 8 trained tokens"), "{}", cause.message);
    }
    for (from, likelihood) in [(100, -2.5), (0, -0.02)] {
        let found = changed(Fault::Nothing, shape, |log| with_prompts(log, from, likelihood, |same| same));
        assert!(!has(&found, CauseCode::ObservationTrained), "{from} {likelihood}: {}", told(&found));
    }
}

/// Where the sampler's values of the prompt are zeros, no warning calls them a gap between two engines.
#[test]
fn zeros_of_prompts_in_the_mask_are_no_gap_of_engines() {
    let shape = Shape { kind: Kind::OneTurn, ..SHAPE };
    let warned = |fault: Fault, rollout: fn(f32) -> f32| {
        let found = changed(fault, shape, |log| with_prompts(log, 0, -4.0, rollout));
        assert!(alarms(&found).contains(&"observation_trained"), "{}", told(&found));
        let of = |code: WarningCode| found.warnings.iter().find(|warning| warning.code == code);
        let width = of(WarningCode::MaskTooWide).map(|warning| warning.message.clone());
        assert!(width.as_ref().is_none_or(|said| !said.contains("the sampler differs")), "{width:?}");
        of(WarningCode::PolicyMismatch).is_some()
    };
    assert!(!warned(Fault::Nothing, |_| 0.0));
    assert!(warned(Fault::Temperature(0.6), |_| 0.0), "a gap of its own stays");
}
