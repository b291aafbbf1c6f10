//! Made-up runs of every size with one known fault: tokens are drawn from distributions whose p, H and
//! Σπ² are exact, so that only the fault is wrong. The table of `docs/diagnosis.md` comes from here:
//! `cargo test --release --test analyze pathologies::table -- --ignored --nocapture`.

mod innocent;
mod late;
mod log;
mod maker;
mod policy;
mod run;

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

/// A run with each fault.
pub fn one_of_each() -> Vec<(String, RunAnalysis)> {
    let faults = std::iter::once(Fault::Nothing).chain(Fault::ALL.map(|(fault, _)| fault));
    faults.map(|fault| (format!("{fault:?}"), analysis(fault, SHAPE, 5))).collect()
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

/// How often something is so, as a cell of the table.
fn cell(hits: usize, draws: usize) -> String {
    format!("{hits} of {draws}")
}

/// The table of `docs/diagnosis.md`, written after every row. `HEALTHY_DRAWS` and `FAULT_DRAWS` are of each
/// row over all numbers of steps; `TABLE_STEPS` (`3,10,30`) chooses these.
#[test]
#[ignore = "an hour"]
fn table() {
    let set = |name: &str| std::env::var(name).ok();
    let steps = set("TABLE_STEPS").unwrap_or_else(|| "3,10,30,100,1000".into());
    let all_steps: Vec<usize> = steps.split(',').map(|steps| steps.parse().unwrap()).collect();
    let draws =
        |name: &str, usual: usize| set(name).and_then(|n| n.parse().ok()).unwrap_or(usual) / all_steps.len();
    let (healthy, each) = (draws("HEALTHY_DRAWS", 500), draws("FAULT_DRAWS", 100));
    let heads: Vec<String> = all_steps.iter().map(|steps| format!("{steps} steps")).collect();
    let mut lines = vec![format!("| run | {} |", heads.join(" | "))];
    lines.push(format!("|---|{}", "---|".repeat(all_steps.len())));
    let mut wrong: Vec<String> = Vec::new();
    let write = |lines: &[String], wrong: &[String]| {
        let text = format!("{}\n\n{}\n", lines.join("\n"), wrong.join("\n"));
        std::fs::write(std::env::temp_dir().join(format!("diagnosis_table_{steps}.md")), text).unwrap();
    };
    let mut random = Random::new(99, 0);
    let mut cells: [Vec<String>; 2] = Default::default();
    for steps in all_steps.iter().copied() {
        let mut bad = [0; 2];
        for seed in 0..healthy {
            let kind = Kind::ALL[seed % Kind::ALL.len()];
            let shape = Shape::draw(&mut random, steps, kind);
            let found = analysis(Fault::Nothing, shape, 1_000 + seed as u64);
            let ill = [!alarms(&found).is_empty(), !found.diagnosis.damage.is_empty()];
            bad.iter_mut().zip(ill).for_each(|(bad, ill)| *bad += usize::from(ill));
            if ill.contains(&true) {
                wrong.push(format!("{shape:?} seed {}: {}", 1_000 + seed, told(&found)));
            }
        }
        cells.iter_mut().zip(bad).for_each(|(cells, bad)| cells.push(cell(bad, healthy)));
        write(&lines, &wrong);
    }
    for (name, cells) in ["healthy: a likely cause", "healthy: damage"].into_iter().zip(&cells) {
        lines.push(format!("| {name} | {} |", cells.join(" | ")));
    }
    for (fault, code) in Fault::ALL {
        let mut cells = Vec::new();
        for steps in all_steps.iter().copied() {
            let mut named = 0;
            for seed in 0..each {
                let shape = Shape::draw(&mut random, steps, Kind::Plain);
                let found = analysis(fault, shape, 2_000 + seed as u64);
                if among_first_two(&found, code) {
                    named += 1;
                } else {
                    wrong.push(format!("{fault:?} {shape:?} seed {}: {}", 2_000 + seed, told(&found)));
                }
            }
            cells.push(cell(named, each));
        }
        lines.push(format!("| {fault:?} → `{}` | {} |", code.name(), cells.join(" | ")));
        write(&lines, &wrong);
    }
}
