//! Runs of which it is known what was made wrong: real ones of SmolLM2 and TRL, and of the toy policy. State and first
//! causes are those of the design in Python, which was tried on twice as many.

use std::path::PathBuf;

use stapo_analyze::analyze::result::{CauseCode, Confidence, RunState};
use stapo_analyze::analyze::{AnalyzeSettings, Condition, RunAnalysis, analyze};
use stapo_analyze::framework::s2t::S2tSettings;
use stapo_analyze::ingest::{IngestSettings, Run, Silent, StepRange};

use super::support::sample;
use super::{analyzed, preset};

fn of(path: PathBuf) -> RunAnalysis {
    analyzed(&[path], &preset(S2tSettings::v5()))
}

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Some steps of a sample.
fn steps_of(name: &str, first: i64, last: i64) -> RunAnalysis {
    let settings = IngestSettings { steps: Some(StepRange { first, last }), ..IngestSettings::default() };
    let run = Run::open(&[sample(name)], &settings).unwrap();
    analyze(&run, &preset(S2tSettings::v5()), &Silent).unwrap()
}

fn told(analysis: &RunAnalysis) -> String {
    let causes = analysis.diagnosis.causes.iter();
    let causes: Vec<String> = causes.map(|c| format!("{} {:?}", c.code.name(), c.confidence)).collect();
    format!("{:?} {:?} {causes:?}", analysis.diagnosis.state, analysis.diagnosis.damage)
}

fn likely(analysis: &RunAnalysis) -> Vec<&str> {
    let causes = analysis.diagnosis.causes.iter().filter(|c| c.confidence == Confidence::Likely);
    causes.map(|c| c.code.name()).collect()
}

/// Log, state, and a cause among the first two; "" where none is likely.
const LABELLED: &[(&str, RunState, &str)] = &[
    ("real/healthy.parquet", RunState::Healthy, ""),
    ("real/healthy_two_turns_lag1.parquet", RunState::Healthy, ""),
    ("real/arms/grpo_1.parquet", RunState::Healthy, ""),
    ("real/arms/stapo_1.parquet", RunState::Healthy, ""),
    ("real/other_prompt.parquet", RunState::Suspicious, "other_context"),
    ("real/dropout_1.parquet", RunState::NotLearning, "trainer_disagrees_with_itself"),
    ("real/kl_weight_1.parquet", RunState::NotLearning, "kl_outweighs"),
    ("real/coin_json.parquet", RunState::Damaged, "uninformative_reward"),
    ("real/weights_never_sent.parquet", RunState::NotLearning, "sampler_frozen"),
    ("ward/healthy.parquet", RunState::Healthy, ""),
    ("ward/easy.parquet", RunState::Healthy, ""),
    ("ward/hot.parquet", RunState::Damaged, "large_updates"),
    ("ward/temperature.parquet", RunState::Suspicious, "sampler_temperature"),
    ("ward/flipped.parquet", RunState::Suspicious, "advantage_contradicts_reward"),
    ("ward/hacked.parquet", RunState::Collapsed, "reward_hacking"),
    ("ward/positive_only.parquet", RunState::Suspicious, "no_negative_signal"),
    ("ward/noise.parquet", RunState::Damaged, "uninformative_reward"),
];

#[test]
fn states_and_causes_are_those_that_are_known() {
    let mut wrong = Vec::new();
    for (log, state, cause) in LABELLED {
        let analysis = of(sample(log));
        let named = match *cause {
            "" => likely(&analysis).is_empty(),
            cause => analysis.diagnosis.causes.iter().take(2).any(|found| found.code == cause),
        };
        if analysis.diagnosis.state != *state || !named {
            wrong.push(format!("{log}: {}", told(&analysis)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A coin that is logged as a part of itself explains the reward and tells nothing.
#[test]
fn a_part_that_is_the_reward_does_not_explain_it() {
    let analysis = of(data("trl/noise.parquet"));
    assert_eq!(likely(&analysis), ["uninformative_reward"], "{}", told(&analysis));
}

/// Halves of healthy runs hold no less health than the whole; a first half may be too short to say that it learns.
#[test]
fn no_part_of_a_healthy_run_is_sick() {
    for (log, last) in
        [("real/healthy.parquet", 29), ("real/arms/grpo_1.parquet", 19), ("ward/healthy.parquet", 29)]
    {
        for (from, to) in [(0, last / 2), (last / 2 + 1, last), (0, last / 4), (last / 3, 2 * last / 3)] {
            let analysis = steps_of(log, from, to);
            let is_sick = analysis.diagnosis.state.is_sick() || !likely(&analysis).is_empty();
            assert!(!is_sick, "{log}, steps {from} to {to}: {}", told(&analysis));
        }
    }
}

/// What a watch sees of the run while it goes on.
#[test]
fn hacking_is_not_lost_from_look_to_look() {
    for last in [15, 18, 21, 24, 29] {
        let analysis = steps_of("ward/hacked.parquet", 0, last);
        let first = analysis.diagnosis.causes.iter().take(2).any(|cause| cause.code == "reward_hacking");
        assert!(first && analysis.diagnosis.state.is_loss(), "{last}: {}", told(&analysis));
    }
}

/// Sentence, panel and table show the same start and end.
#[test]
fn there_is_one_start_and_one_end() {
    let analysis = of(sample("real/healthy.parquet"));
    let course = analysis.diagnosis.reward.unwrap();
    let said = format!("reward {:.2} to {:.2} of {:.2}", course.start, course.end, course.top);
    assert!(analysis.verdict.health.contains(&said), "{said}: {}", analysis.verdict.health);
    let shown = analysis.diagnosis.signals.iter().find(|signal| signal.name == "reward").unwrap();
    assert_eq!(shown.range, Some([course.floor, course.top]));
    let last = shown.points.len().div_ceil(5);
    let end = shown.points.iter().rev().take(last).map(|point| point.1).sum::<f64>() / last as f64;
    assert!((end - course.end).abs() < 0.02, "{end} {}", course.end);
}

/// A cause is named as its page is, with what to do.
#[test]
fn the_answer_begins_with_the_first_cause() {
    let analysis = of(sample("real/other_prompt.parquet"));
    let health = &analysis.verdict.health;
    assert!(
        health.starts_with("Trainer and sampler see different prompts. The run learns: reward "),
        "{health}"
    );
    assert!(health.contains(" Do: "), "{health}");
    let first = &analysis.diagnosis.causes[0];
    assert!(first.evidence.iter().all(|number| number.healthy.is_some()), "{first:?}");
}

/// What the user calls right is a series of the state.
#[test]
fn the_pass_rate_is_a_signal() {
    let pass = Some(Condition::parse("reward/answer>0.5").unwrap());
    let settings = AnalyzeSettings { pass, ..preset(S2tSettings::v5()) };
    let analysis = analyzed(&[sample("ward/healthy.parquet")], &settings);
    assert!(analysis.diagnosis.signals.iter().any(|signal| signal.name == "pass_rate"));
    assert_eq!(analysis.diagnosis.state, RunState::Healthy, "{}", told(&analysis));
}

#[test]
fn equal_rewards_of_all_siblings_are_no_damage() {
    let analysis = of(data("repro/constant_reward.parquet"));
    assert!(analysis.diagnosis.damage.is_empty(), "{}", told(&analysis));
}

#[test]
fn a_third_of_the_reward_lost_is_damage() {
    let analysis = of(data("repro/reward_90_55.parquet"));
    assert!(analysis.diagnosis.damage.iter().any(|d| d.signal == "reward"), "{}", told(&analysis));
    assert_eq!(analysis.diagnosis.state, RunState::Damaged);
}

#[test]
fn one_token_drives_the_asynchronous_run() {
    let analysis = of(sample("ward/async.parquet"));
    let drivers = &analysis.drivers;
    let first = &drivers.top[0];
    assert!((first.ratio.unwrap() - 610.4).abs() < 1.0 && first.advantage < 0.0);
    assert!(drivers.concentration.effective_number.unwrap() < 2.0);
    assert!(first.energy_share > 0.5 && !first.before.is_empty());
    let causes: Vec<&CauseCode> = analysis.diagnosis.causes.iter().map(|cause| &cause.code).collect();
    assert!(causes.iter().any(|code| **code == "unbounded_ratio"), "{causes:?}");
}
