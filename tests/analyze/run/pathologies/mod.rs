//! Made-up runs of every size with one known fault: tokens are drawn from distributions whose p, H and
//! Σπ² are exact, so that only the fault is wrong. The table of `docs/diagnosis.md` comes from here:
//! `cargo test --release --test analyze pathologies::table -- --ignored`.

mod baselines;
mod copies;
mod costs;
mod far_tokens;
mod foreign_tokens;
mod graders;
mod innocent;
mod lacking;
mod late;
mod log;
mod maker;
mod mixed;
mod moved;
mod outliers;
mod paid;
mod passing;
mod policy;
mod run;
mod scales;
mod table;
mod trl;
mod unpaid;
mod windows;

use stapo_analyze::analyze::result::{Cause, CauseCode, Confidence};
use stapo_analyze::analyze::{AnalyzeSettings, RunAnalysis};
use stapo_analyze::stats::random::Random;

use self::log::Log;
use self::maker::Maker;
use self::run::{Fault, Kind, Shape};
use super::analyzed;

const SHAPE: Shape =
    Shape { steps: 12, groups: 16, group: 8, length: 16, vocabulary: 32, scale: 1.0, kind: Kind::Plain };

fn analysis(fault: Fault, shape: Shape, seed: u64) -> RunAnalysis {
    analysis_of(&Maker::run(fault, shape, seed), shape)
}

fn analysis_of(log: &Log, shape: Shape) -> RunAnalysis {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.parquet");
    log.write(&path);
    let settings = AnalyzeSettings { vocab_size: Some(shape.vocabulary as u32), ..Default::default() };
    analyzed(&[path], &settings)
}

fn among_first_two(analysis: &RunAnalysis, code: CauseCode) -> bool {
    analysis.diagnosis.causes.iter().take(2).any(|cause| cause.code == code)
}

/// Likely causes beside dead groups, which healthy runs may have.
fn alarms(analysis: &RunAnalysis) -> Vec<&'static str> {
    let likely = |c: &&Cause| c.confidence == Confidence::Likely && c.code != CauseCode::DeadGroups;
    analysis.diagnosis.causes.iter().filter(likely).map(|c| c.code.name()).collect()
}

fn told(analysis: &RunAnalysis) -> String {
    let diagnosis = &analysis.diagnosis;
    let causes: Vec<String> =
        diagnosis.causes.iter().map(|c| format!("{} {:?}", c.code.name(), c.confidence)).collect();
    format!("{:?} {:?} {causes:?}", diagnosis.state, diagnosis.damage)
}

#[test]
fn nothing_is_named_without_a_fault() {
    let mut random = Random::new(20, 0);
    for (seed, kind) in Kind::ALL.into_iter().enumerate() {
        let shape = Shape::draw(&mut random, [5, 12, 24][seed % 3], kind);
        let healthy = analysis(Fault::Nothing, shape, seed as u64);
        assert_eq!(alarms(&healthy), Vec::<&str>::new(), "{shape:?}: {}", told(&healthy));
    }
}

#[test]
fn faults_are_named() {
    for (fault, code) in Fault::ALL {
        let found = analysis(fault, SHAPE, 5);
        assert!(among_first_two(&found, code), "{fault:?}: {}", told(&found));
    }
}

/// Without what tells a right answer apart from the reward, chance cannot be seen, and that is said.
#[test]
fn what_cannot_be_told_is_not_checked() {
    let shape = Shape { kind: Kind::NoParts, ..SHAPE };
    for fault in [Fault::Noise, Fault::Nothing] {
        let found = analysis(fault, shape, 5);
        let listed = found.diagnosis.not_checked.iter().any(|n| n.code == CauseCode::UninformativeReward);
        assert!(listed && alarms(&found).is_empty(), "{fault:?}: {}", told(&found));
    }
}

#[test]
fn three_steps_are_too_few_to_tell_a_change() {
    let found = analysis(Fault::Nothing, Shape { steps: 3, ..SHAPE }, 1);
    assert!(found.diagnosis.onsets.is_empty() && found.diagnosis.damage.is_empty());
    assert!(found.diagnosis.statement.contains("too few"), "{}", found.diagnosis.statement);
    assert!(found.verdict.health.starts_with("3 steps are too few"), "{}", found.verdict.health);
}
