//! A file that lacks a column, and the same rows with values that are missing: the same run.

use stapo_analyze::analyze::result::{CauseCode, RunState, Warning};
use stapo_analyze::analyze::{AnalyzeSettings, RunAnalysis};

use super::log::Log;
use super::maker::Maker;
use super::run::{Fault, Kind, Shape};
use super::{SHAPE, analysis_of, told};
use crate::run::analyzed;

const HALF: i64 = 6;
const SAMPLER: usize = 1;
const NEW: usize = 2;

fn parts(logs: &[&Log]) -> RunAnalysis {
    let folder = tempfile::tempdir().unwrap();
    let write = |(number, log): (usize, &&Log)| {
        let path = folder.path().join(format!("{number}.parquet"));
        log.write(&path);
        path
    };
    let paths: Vec<_> = logs.iter().enumerate().map(write).collect();
    let settings = AnalyzeSettings { vocab_size: Some(SHAPE.vocabulary as u32), ..Default::default() };
    analyzed(&paths, &settings)
}

/// The later half of the run has responses of one token and neither the sampler's nor the new policy's
/// log-probabilities; in the earlier half the sampler lacks some in a row.
#[test]
fn a_column_that_a_file_lacks_is_like_values_that_are_missing() {
    let shape = Shape { kind: Kind::TwoEpochs, ..SHAPE };
    let mut early = Maker::run(Fault::Nothing, shape, 5);
    let mut late = early.clone();
    early.keep_steps(|step| step < HALF);
    early.values[SAMPLER].iter_mut().for_each(|row| row[1..4].fill(f32::NAN));
    late.keep_steps(|step| step >= HALF);
    late.updates.fill(9);
    late.ids.iter_mut().for_each(|row| row.truncate(1));
    late.turns.iter_mut().for_each(|row| row.truncate(1));
    late.values.iter_mut().flatten().for_each(|row| row.truncate(1));
    let mut nulls = late.clone();
    for column in [SAMPLER, NEW] {
        late.values[column].clear();
        nulls.values[column].iter_mut().for_each(|row| row.fill(f32::NAN));
    }
    let (lacks, has_nulls) = (parts(&[&early, &late]), parts(&[&early, &nulls]));
    let [a, b] = [&lacks, &has_nulls].map(|run| run.to_value().unwrap());
    for field in ["drivers", "clipping", "offpolicy"] {
        assert!(a[field].is_object(), "{field}");
        assert_eq!(a[field], b[field], "{field}");
    }
    let [a, b] = [&lacks, &has_nulls].map(|run| {
        let cause = run.diagnosis.causes.iter().find(|c| c.code == CauseCode::ObservationTrained);
        cause.unwrap_or_else(|| panic!("{}", told(run))).evidence.clone()
    });
    assert_eq!(a, b);
}

/// A run whose answers are pushed away, without its rewards, and with them at the last token of each response.
#[test]
fn a_run_without_rewards_is_not_healthy_and_rewards_of_tokens_are_rewards() {
    let shape = Shape { kind: Kind::NoParts, ..SHAPE };
    let log = Maker::run(Fault::Negated, shape, 5);
    let mut without = log.clone();
    without.rewards.clear();
    let mut by_token = without.clone();
    let last = |(ids, reward): (&Vec<i32>, &f32)| {
        let mut row = vec![0.0; ids.len()];
        row.iter_mut().last().into_iter().for_each(|last| *last = *reward);
        row
    };
    by_token.token_rewards = log.ids.iter().zip(&log.rewards).map(last).collect();
    let mut early = log.clone();
    early
        .rewards
        .iter_mut()
        .zip(&early.steps)
        .filter(|(_, step)| **step >= HALF)
        .for_each(|(r, _)| *r = f32::NAN);
    let [log, without, by_token, early] = [&log, &without, &by_token, &early].map(|log| parts(&[log]));
    assert_eq!(early.diagnosis.state, RunState::Unknown, "{}", told(&early));
    assert!(early.verdict.health.contains("no reward is logged after step 5"), "{}", early.verdict.health);
    assert_eq!(without.diagnosis.state, RunState::Unknown, "{}", told(&without));
    let health = &without.verdict.health;
    assert!(health.starts_with("No damage in what could be checked over 12 steps"), "{health}");
    assert!(health.contains("no reward is logged"), "{health}");
    assert!(!log.diagnosis.damage.is_empty(), "{}", told(&log));
    assert_eq!(by_token.diagnosis.damage, log.diagnosis.damage);
    assert_eq!(by_token.diagnosis.not_checked, log.diagnosis.not_checked);
    assert!(by_token.warnings.iter().any(|w| w.message.contains("the sum of `token_level_scores`")));
}

/// Reasons that no word of is known are named: responses that ended so are neither cut nor finished.
#[test]
fn endings_that_are_not_understood_are_named() {
    let with = |reason: fn(usize) -> &'static str| {
        let mut log = Maker::run(Fault::Nothing, SHAPE, 5);
        log.endings = (0..log.ids.len()).map(reason).collect();
        analysis_of(&log, SHAPE)
    };
    let is_named = |w: &&Warning| w.message.contains("finish_reason");
    let found = with(|row| ["stop", "length", "gave_up", "aborted", "42"][row % 5]);
    let warning = found.warnings.iter().find(is_named).unwrap();
    let responses = SHAPE.steps * SHAPE.groups * SHAPE.group;
    let unknown = (0..responses).filter(|row| [2, 4].contains(&(row % 5))).count();
    let said = format!("`finish_reason` of {unknown} responses is not understood (`42`, `gave_up`)");
    assert!(warning.message.starts_with(&said), "{}", warning.message);
    assert!(warning.hint.contains("length") && warning.hint.contains("stop"), "{}", warning.hint);
    let understood = with(|row| ["stop", "FinishReason.LENGTH", "error"][row % 3]);
    assert_eq!(understood.warnings.iter().find(is_named), None);
}

/// A reference tells only of jumps: updates that stay below them were not looked at.
#[test]
fn updates_without_ratios_are_not_checked_by_a_reference() {
    let mut log = Maker::run(Fault::Hot, SHAPE, 5);
    log.references.clone_from(&log.values[0]);
    let listed = |log: &Log| {
        let found = analysis_of(log, SHAPE);
        let open = found.diagnosis.not_checked.iter().find(|n| n.code == CauseCode::LargeUpdates);
        open.map(|open| open.needs.clone())
    };
    assert_eq!(listed(&log), None);
    log.values[NEW].clear();
    let with_reference = listed(&log);
    assert!(with_reference.as_ref().is_some_and(|needs| needs.starts_with("logprob_new")));
    log.references.clear();
    assert_eq!(listed(&log), with_reference, "a reference would not have it checked");
}

/// The sampler's values where the trainer's belong, as verl's bypass mode writes them: old weights cannot be seen.
#[test]
fn copied_log_probabilities_are_no_agreement() {
    let mut log = Maker::run(Fault::Stale, SHAPE, 5);
    log.values[0] = log.values[SAMPLER].clone();
    let found = analysis_of(&log, SHAPE);
    for code in [CauseCode::StaleSampler, CauseCode::PrecisionGap, CauseCode::SamplerTruncation] {
        let open = found.diagnosis.not_checked.iter().find(|n| n.code == code);
        assert!(
            open.is_some_and(|open| open.needs.contains("to the last bit")),
            "{code:?}: {}",
            told(&found)
        );
    }
}
