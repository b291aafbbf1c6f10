//! Real runs with one thing made wrong on purpose (a fifth of their groups): the cause stands first
//! or second, and what is healthy is called healthy. Beside them, runs that older versions misjudged.

use std::path::PathBuf;

use stapo_analyze::analyze::result::{CauseCode, Confidence, RunState, WarningCode};
use stapo_analyze::analyze::{AnalyzeSettings, Condition, RunAnalysis, analyze};
use stapo_analyze::ingest::{IngestSettings, Run, Silent, StepRange};

use super::support::sample;
use super::{analyzed, preset};
use stapo_analyze::framework::s2t::S2tSettings;
use stapo_analyze::stats::sustained::Direction;

fn of(path: PathBuf) -> RunAnalysis {
    analyzed(&[path], &preset(S2tSettings::v5()))
}

fn ward(name: &str) -> RunAnalysis {
    of(sample(&format!("ward/{name}.parquet")))
}

fn repro(name: &str) -> RunAnalysis {
    of(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/repro/{name}.parquet")))
}

fn told(analysis: &RunAnalysis) -> String {
    let causes = analysis.diagnosis.causes.iter();
    let causes: Vec<String> = causes.map(|c| format!("{} {:?}", c.code.name(), c.confidence)).collect();
    format!("{:?} {:?} {causes:?}", analysis.diagnosis.state, analysis.diagnosis.damage)
}

/// The cause stands first or second.
fn names(analysis: &RunAnalysis, code: CauseCode) {
    let found = analysis.diagnosis.causes.iter().take(2).any(|cause| cause.code == code);
    assert!(found, "{} is not among the first two: {}", code.name(), told(analysis));
}

fn likely(analysis: &RunAnalysis) -> Vec<CauseCode> {
    let causes = analysis.diagnosis.causes.iter().filter(|c| c.confidence == Confidence::Likely);
    causes.map(|c| c.code).filter(|code| *code != CauseCode::DeadGroups).collect()
}

#[test]
fn healthy_is_healthy() {
    let analysis = ward("healthy");
    assert_eq!(analysis.diagnosis.state, RunState::Healthy, "{}", told(&analysis));
    assert_eq!(likely(&analysis), []);
    assert!(analysis.diagnosis.damage.is_empty());
    assert!(analysis.diagnosis.onsets.iter().any(|o| o.signal == "reward" && o.direction == Direction::Up));
}

#[test]
fn easy_prompts_cost_but_do_not_harm() {
    let analysis = ward("easy");
    names(&analysis, CauseCode::DeadGroups);
    assert!(analysis.diagnosis.damage.is_empty(), "{}", told(&analysis));
}

#[test]
fn causes_are_named() {
    for (run, code) in [
        ("hot", CauseCode::LargeUpdates),
        ("temperature", CauseCode::SamplerTemperature),
        ("flipped", CauseCode::AdvantageContradictsReward),
        ("hacked", CauseCode::RewardHacking),
        ("positive_only", CauseCode::NoNegativeSignal),
        ("noise", CauseCode::UninformativeReward),
        ("async", CauseCode::StaleSampler),
        ("async", CauseCode::UnboundedRatio),
    ] {
        names(&ward(run), code);
    }
}

/// What a watch sees of the run while it goes on.
#[test]
fn hacking_is_not_lost_from_look_to_look() {
    for last in [9, 12, 15, 18, 21, 24] {
        let steps = Some(StepRange { first: 0, last });
        let settings = IngestSettings { steps, ..IngestSettings::default() };
        let run = Run::open(&[sample("ward/hacked.parquet")], &settings).unwrap();
        let analysis = analyze(&run, &preset(S2tSettings::v5()), &Silent).unwrap();
        assert_eq!(likely(&analysis).first(), Some(&CauseCode::RewardHacking), "{last}: {}", told(&analysis));
        assert!(!analysis.verdict.health.contains("stood still"), "{}", analysis.verdict.health);
    }
}

#[test]
fn ruined_runs_are_damaged() {
    for run in ["hot", "hacked"] {
        let analysis = ward(run);
        let ruined = matches!(analysis.diagnosis.state, RunState::Damaged | RunState::Collapsed);
        assert!(ruined, "{run}: {}", told(&analysis));
        assert!(analysis.verdict.health.starts_with("This run"), "{}", analysis.verdict.health);
        assert!(
            analysis.verdict.health.contains(&analysis.diagnosis.causes[0].code.name().replace('_', " "))
        );
    }
}

#[test]
fn the_temperature_is_estimated() {
    let analysis = ward("temperature");
    let cause = analysis.diagnosis.causes.iter().find(|c| c.code == CauseCode::SamplerTemperature).unwrap();
    let t = cause.evidence.iter().find(|e| e.what == "estimated temperature").unwrap().value;
    assert!((t - 0.6).abs() < 0.02, "{t}");
}

#[test]
fn one_token_drives_the_asynchronous_run() {
    let analysis = ward("async");
    let drivers = &analysis.drivers;
    let first = &drivers.top[0];
    assert!((first.ratio.unwrap() - 610.4).abs() < 1.0 && first.advantage < 0.0);
    assert_eq!(first.corner.unwrap().name(), "high_negative");
    assert!(drivers.concentration.effective_number.unwrap() < 2.0);
    assert!(first.energy_share > 0.5 && !first.before.is_empty());
    let dual = drivers.what_if.iter().find(|row| row.rule == "dual_clip_3").unwrap();
    assert!(dual.energy_kept < 0.5 && dual.effective_number.unwrap() > 50.0, "{dual:?}");
}

/// A run of TRL whose reward is a coin that is logged as a part of itself: it explains the reward and
/// tells nothing, while the right answer does not matter.
#[test]
fn a_part_that_is_the_reward_does_not_explain_it() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/trl/noise.parquet");
    let analysis = of(path);
    assert_eq!(likely(&analysis), [CauseCode::UninformativeReward], "{}", told(&analysis));
    let message = &analysis.diagnosis.causes[0].message;
    assert!(message.contains("reward/coin alone"), "{message}");
}

/// What the user calls right is a signal, and is what the run was trained for.
#[test]
fn the_pass_rate_is_a_signal() {
    let pass = Some(Condition::parse("reward/answer>0.5").unwrap());
    let settings = AnalyzeSettings { pass, ..preset(S2tSettings::v5()) };
    let analysis = analyzed(&[sample("ward/healthy.parquet")], &settings);
    let risen = |name: &str| {
        analysis.diagnosis.onsets.iter().any(|onset| onset.signal == name && onset.direction == Direction::Up)
    };
    assert!(risen("pass_rate"), "{:?}", analysis.diagnosis.onsets);
    assert_eq!(analysis.diagnosis.state, RunState::Healthy, "{}", told(&analysis));
}

#[test]
fn a_constant_reward_has_not_collapsed() {
    let analysis = repro("constant_reward");
    assert!(analysis.diagnosis.damage.is_empty(), "{}", told(&analysis));
    assert!(analysis.warnings.iter().all(|w| w.code != WarningCode::RewardCollapse));
}

#[test]
fn an_explosion_is_one_where_little_room_is_left_above() {
    let analysis = repro("explosion_v64");
    assert!(analysis.diagnosis.damage.iter().any(|d| d.signal == "entropy"), "{}", told(&analysis));
    assert_eq!(analysis.warnings[0].code, WarningCode::EntropyExplosion);
}

#[test]
fn a_third_of_the_reward_lost_is_damage() {
    let analysis = repro("reward_90_55");
    assert!(analysis.diagnosis.damage.iter().any(|d| d.signal == "reward"), "{}", told(&analysis));
    assert_eq!(analysis.diagnosis.state, RunState::Damaged);
}

#[test]
fn dead_batches_say_what_their_rewards_are() {
    let message = |analysis: &RunAnalysis| {
        let dead = analysis.warnings.iter().find(|w| w.code == WarningCode::DeadBatches);
        dead.unwrap().message.clone()
    };
    let zero = message(&repro("zero_advantage"));
    assert!(zero.contains("rewards differ"), "{zero}");
    let best = message(&repro("rewards_minus1_0"));
    assert!(best.contains("has the same reward"), "{best}");
    assert!(!best.contains("lowest") && !best.contains("wrong"), "{best}");
}

/// A warning does not send the reader elsewhere than the diagnosis does.
#[test]
fn hints_and_causes_agree() {
    let run = ward;
    let hot_sampler = run("temperature");
    let warning = hot_sampler.warnings.iter().find(|w| w.code == WarningCode::PolicyMismatch).unwrap();
    assert!(warning.hint.contains("sampler temperature"), "{}", warning.hint);
    let chance = run("noise");
    let causes: Vec<CauseCode> = chance.diagnosis.causes.iter().map(|cause| cause.code).collect();
    assert!(causes.contains(&CauseCode::UninformativeReward), "{causes:?}");
    assert!(!causes.contains(&CauseCode::PhantomAdvantage), "{causes:?}");
}
