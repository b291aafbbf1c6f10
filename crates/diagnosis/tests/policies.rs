//! Each cause between the policies fires on a log that was made to have it, and not on what looks alike.

#![allow(clippy::unwrap_used)]

mod made;

use made::{Columns, Made, Sampler, Text, normal, uniform};
use stapo_accumulate::Accumulate;
use stapo_diagnosis::{Code, Confidence, Measures, Outcome, Spurious, Symptom, examine_all};
use stapo_evidence::{Evidence, mix};

/// Causes that rewards and advantages show: these logs are not about them.
const OTHERS: [Code; 3] = [Code::UninformativeReward, Code::DeadGroups, Code::DuplicateRollouts];

fn found(made: &Made, outcome: &Outcome, confidence: Confidence) -> Vec<Code> {
    let evidence = made.evidence();
    let findings = examine_all(&Measures::new(&evidence, outcome)).findings.into_iter();
    findings
        .filter(|ranked| ranked.consequence_of.is_none())
        .map(|ranked| ranked.finding)
        .filter(|finding| finding.confidence == confidence && !OTHERS.contains(&finding.code))
        .map(|finding| finding.code)
        .collect()
}

fn likely(made: Made) -> Vec<Code> {
    found(&made, &Outcome::default(), Confidence::Likely)
}

#[test]
fn a_sound_run_has_no_cause() {
    assert_eq!(likely(Made::default()), []);
    assert_eq!(likely(Made { drift: 0.0, gain: 0.0, ..Made::default() }), []);
    assert_eq!(likely(Made { drift: 0.15, length: 120, ..Made::default() }), []);
    assert_eq!(likely(Made { sampler: Sampler::Behind(0.95), ..Made::default() }), [], "a lag");
}

#[test]
fn a_language_is_told_as_well() {
    let log = Made { text: Text::Language, length: 40, drift: 0.08, ..Made::default() };
    for seed in 1..5 {
        assert_eq!(likely(Made { seed, ..log }), []);
        assert_eq!(likely(Made { seed, sampler: Sampler::OtherPrompt, ..log }), [Code::OtherContext]);
    }
}

#[test]
fn noise_of_the_trainer_is_told_from_foreign_entropies() {
    assert_eq!(likely(Made { noise: 0.3, ..Made::default() }), [Code::TrainerDisagreesWithItself]);
    let blind = |columns: &mut Columns| columns.update = 1;
    let siblings = Made { noise: 0.3, edit: blind, ..Made::default() };
    assert_eq!(likely(siblings), [Code::TrainerDisagreesWithItself], "by siblings alone");
    let foreign = |columns: &mut Columns| {
        let off = uniform(columns.place, 1) as f32;
        columns.entropy.iter_mut().for_each(|h| *h += off);
    };
    assert_eq!(likely(Made { edit: foreign, ..Made::default() }), [Code::EntropyOfAnotherPolicy]);
    let one_group = |columns: &mut Columns| columns.group = 5;
    assert_eq!(likely(Made { edit: one_group, ..Made::default() }), [], "a group of many prompts");
    let untold =
        |columns: &mut Columns| (columns.group, columns.prompt, columns.prompt_len) = (5, None, None);
    assert_eq!(likely(Made { edit: untold, groups: 32, ..Made::default() }), [], "a batch that is no group");
}

#[test]
fn columns_on_other_tokens_are_found() {
    let shifted = |columns: &mut Columns| columns.entropy.rotate_right(1);
    assert!(likely(Made { edit: shifted, length: 80, ..Made::default() }).contains(&Code::MisalignedLog));
    let rows = |columns: &mut Columns| columns.rollout.rotate_right(7);
    assert!(likely(Made { edit: rows, length: 80, ..Made::default() }).contains(&Code::MisalignedLog));
}

#[test]
fn gaps_are_told_apart() {
    let with = |sampler| likely(Made { sampler, ..Made::default() });
    assert_eq!(with(Sampler::Coarse(0.5)), [Code::PrecisionGap]);
    assert_eq!(with(Sampler::OtherPrompt), [Code::OtherContext]);
    assert_eq!(with(Sampler::Tempered(0.7)), [Code::SamplerTemperature]);
    assert_eq!(with(Sampler::Tempered(1.4)), [Code::SamplerTemperature]);
    assert_eq!(with(Sampler::TemperedRaw(0.7)), [Code::SamplerTemperature]);
    assert_eq!(with(Sampler::TopK(5)), [Code::SamplerTruncation]);
}

#[test]
fn a_gap_of_a_few_responses_is_retokenised() {
    let edit = |columns: &mut Columns| {
        if columns.place.is_multiple_of(25) {
            for (t, mu) in columns.rollout.iter_mut().enumerate().skip(5) {
                *mu += if t % 2 == 0 { 1.5 } else { -1.5 };
            }
        }
    };
    assert_eq!(likely(Made { edit, ..Made::default() }), [Code::Retokenised]);
    let late = |columns: &mut Columns| {
        if columns.place.is_multiple_of(25) {
            columns.rollout.iter_mut().for_each(|mu| *mu += 1.5);
        }
        columns.step += 50;
        columns.reference.iter_mut().flatten().for_each(|value| *value -= 0.5);
    };
    assert_eq!(likely(Made { edit: late, ..Made::default() }), [], "a heavy tail late in a run");
}

#[test]
fn weights_that_do_not_arrive_are_told_apart() {
    let run = |sampler| likely(Made { sampler, drift: 0.15, ..Made::default() });
    assert_eq!(run(Sampler::Frozen), [Code::SamplerFrozen]);
    assert_eq!(run(Sampler::Behind(0.5)), [Code::StaleSampler]);
    let no_reference = |columns: &mut Columns| columns.reference = None;
    let frozen = Made { sampler: Sampler::Frozen, drift: 0.15, edit: no_reference, ..Made::default() };
    assert_eq!(likely(frozen), [Code::StaleSampler], "without the reference it is old");
    let spoilt = Made { sampler: Sampler::SpoiltFrom(3), drift: 0.03, ..Made::default() };
    assert_eq!(likely(spoilt)[0], Code::SyncCorruptsWeights);
}

#[test]
fn a_gap_that_goes_with_padding_is_a_shift() {
    let shifted = Made { sampler: Sampler::NoPadding, groups: 64, ..Made::default() };
    assert_eq!(likely(shifted)[0], Code::PositionShifted);
    let coarse = Made { sampler: Sampler::Coarse(0.5), groups: 64, ..Made::default() };
    assert_eq!(likely(coarse), [Code::PrecisionGap]);
}

#[test]
fn terms_beside_the_reward_are_told_apart() {
    assert_eq!(likely(Made { pull: 0.15, ..Made::default() }), [Code::KlOutweighs]);
    assert_eq!(likely(Made { push: 0.04, ..Made::default() }), [Code::EntropyPushed]);
    assert_eq!(
        likely(Made { pull: 0.03, push: 0.008, ..Made::default() }),
        [],
        "terms that leave room to learn"
    );
}

#[test]
fn moves_beyond_the_clip_are_large_and_few_are_unbounded() {
    assert_eq!(likely(Made { gain: 0.9, ..Made::default() }), [Code::LargeUpdates]);
    let few = |columns: &mut Columns| {
        if columns.place % 97 == 1 && columns.advantage < 0.0 {
            columns.new[3] = columns.logprob[3].min(-6.0) + 5.0;
            columns.logprob[3] = columns.logprob[3].min(-6.0);
        }
    };
    assert!(likely(Made { edit: few, ..Made::default() }).contains(&Code::UnboundedRatio));
    let once = |columns: &mut Columns| {
        if columns.place == 97 {
            columns.new[3] = -1.0;
            columns.logprob[3] = -6.0;
            columns.rollout[3] = -6.0;
        }
    };
    assert_eq!(likely(Made { edit: once, ..Made::default() }), [], "one token of a fresh optimizer");
}

#[test]
fn values_that_are_not_finite_count_from_where_they_stay() {
    let from_five = |columns: &mut Columns| {
        if columns.step >= 5 {
            columns.logprob.fill(f32::NAN);
        }
    };
    let made = Made { edit: from_five, ..Made::default() };
    let evidence = made.evidence();
    let outcome = Outcome::default();
    let findings = examine_all(&Measures::new(&evidence, &outcome)).findings;
    let finding = findings.iter().find(|ranked| ranked.finding.code == Code::NotFinite).unwrap();
    assert_eq!((finding.finding.onset, finding.finding.why[0].value), (Some(5), 1.0));
    assert!(finding.finding.sentence.contains("logprob at step 5, token 0"));
    let few = |columns: &mut Columns| {
        if columns.place.is_multiple_of(9) {
            columns.logprob[4] = f32::NAN;
        }
    };
    assert_eq!(likely(Made { edit: few, ..Made::default() }), [], "missing values");
    let entropy = |columns: &mut Columns| {
        if columns.step >= 5 {
            columns.entropy.fill(f32::NAN);
        }
    };
    assert_eq!(
        likely(Made { edit: entropy, ..Made::default() }),
        [],
        "a column that is logged at some steps"
    );
}

#[test]
fn a_run_starts_at_its_reference() {
    let elsewhere = |columns: &mut Columns| {
        let place = columns.place;
        let far = |(t, value): (usize, &mut f32)| *value += 0.8 * normal(place, t as u64) as f32;
        columns.reference.iter_mut().flatten().enumerate().for_each(far);
    };
    assert_eq!(likely(Made { edit: elsewhere, ..Made::default() }), [Code::WrongStart]);
    let later = |columns: &mut Columns| columns.step += 40;
    assert_eq!(likely(Made { edit: later, drift: 0.2, ..Made::default() }), [], "a log that begins late");
}

#[test]
fn weights_that_leave_nothing_empty_the_batch() {
    let empty = |columns: &mut Columns| {
        let share = if columns.place.is_multiple_of(40) { 1.0 } else { 0.0 };
        columns.is_weight = Some(vec![share; columns.tokens.len()]);
    };
    assert_eq!(likely(Made { edit: empty, ..Made::default() }), [Code::CorrectionEmptiesTheBatch]);
    let mild = |columns: &mut Columns| {
        let weight = 0.5 + uniform(columns.place, 3) as f32;
        columns.is_weight = Some(vec![weight; columns.tokens.len()]);
    };
    assert_eq!(likely(Made { edit: mild, ..Made::default() }), []);
}

#[test]
fn a_restart_breaks_where_several_series_jump() {
    let broken = |columns: &mut Columns| {
        if columns.step >= 6 {
            columns.version -= 6;
            columns.entropy.iter_mut().for_each(|h| *h += 1.0);
            columns.reference.iter_mut().flatten().for_each(|value| *value -= 1.5);
        }
    };
    let made = Made { edit: broken, steps: 12, ..Made::default() };
    assert!(likely(made).contains(&Code::ResumeBreak));
    let sound = |columns: &mut Columns| columns.version = columns.step % 6;
    assert_eq!(
        likely(Made { edit: sound, steps: 12, ..Made::default() }),
        [],
        "versions start anew, nothing jumps"
    );
}

#[test]
fn entropy_that_is_gone_is_a_cause_where_nothing_was_learned() {
    let gone = |columns: &mut Columns| {
        if columns.step >= 4 {
            columns.entropy.fill(0.01);
        }
        columns.rollout.fill(f32::NAN);
        columns.update = 1;
    };
    let made = Made { edit: gone, ..Made::default() };
    let stuck = Outcome { symptom: Some(Symptom::NotLearning), ..Outcome::default() };
    assert!(found(&made, &stuck, Confidence::Likely).contains(&Code::EntropyConsumed));
    assert!(found(&made, &Outcome::default(), Confidence::Note).contains(&Code::EntropyConsumed));
}

#[test]
fn spurious_tokens_count_where_they_carry_the_update() {
    let outcome = |rare, times, energy| Outcome {
        spurious: Some(Spurious {
            rare_for_sampler: Some(rare),
            energy_over_tokens: times,
            energy,
            first_step: Some(0),
        }),
        ..Outcome::default()
    };
    let made = Made::default();
    assert_eq!(found(&made, &outcome(0.98, 30.0, 0.2), Confidence::Likely), [Code::SpuriousTokens]);
    assert_eq!(found(&made, &outcome(0.3, 30.0, 0.2), Confidence::Note), [Code::SpuriousTokens]);
    assert_eq!(found(&made, &outcome(0.98, 2.4, 0.039), Confidence::Likely), [], "as on healthy real runs");
}

#[test]
fn a_log_is_the_same_in_any_pieces() {
    let made = Made { steps: 4, groups: 6, noise: 0.1, ..Made::default() };
    let bytes = |evidence: &Evidence| postcard::to_allocvec(&evidence.policies).unwrap();
    let whole = bytes(&made.evidence());
    for pieces in [2_u64, 5] {
        let mut parts: Vec<Evidence> = (0..pieces).map(|_| Evidence::new(vec![])).collect();
        made.each(|response| parts[usize::try_from(mix(response.place, 8) % pieces).unwrap()].add(response));
        let mut merged = Evidence::default();
        parts.into_iter().rev().for_each(|part| merged.merge(part));
        assert_eq!(bytes(&merged), whole);
    }
}

#[test]
fn what_is_not_logged_is_not_checked() {
    let bare = |columns: &mut Columns| {
        columns.rollout.fill(f32::NAN);
        columns.reference = None;
    };
    let evidence = Made { edit: bare, ..Made::default() }.evidence();
    let outcome = Outcome::default();
    let diagnosis = examine_all(&Measures::new(&evidence, &outcome));
    let missing = |code| {
        diagnosis.not_checked.iter().find(|(other, _)| *other == code).map(|(_, need)| need.to_string())
    };
    assert_eq!(missing(Code::PrecisionGap).as_deref(), Some("logprob_rollout"));
    assert_eq!(missing(Code::KlOutweighs).as_deref(), Some("logprob_ref"));
    assert_eq!(missing(Code::LargeUpdates), None);
}
