//! What falls although responses do as before: the mix of tasks, prompts, bonuses; and what is taught where nothing
//! differs.

use stapo_analyze::analyze::result::{Cause, CauseCode, Confidence, Diagnosis};
use stapo_analyze::analyze::{AnalyzeSettings, RunAnalysis, analyze_partial};
use stapo_analyze::ingest::{IngestSettings, Run, Silent};
use stapo_analyze::stats::random::Random;

use super::log::Log;
use super::maker::Maker;
use super::paid::{part, regraded, way};
use super::run::{Fault, Kind, Shape};
use super::{SHAPE, alarms, analysis_of, told};

const LEARNS: Shape = Shape { kind: Kind::LearnsFast, steps: 24, ..SHAPE };

fn cause(diagnosis: &Diagnosis, code: CauseCode) -> Option<&Cause> {
    diagnosis.causes.iter().find(|cause| cause.code == code)
}

fn is_damaged(analysis: &RunAnalysis, signal: &str) -> bool {
    analysis.diagnosis.damage.iter().any(|damage| damage.signal == signal)
}

/// Two tasks, each with its own part, which is 0 for the other: the mix goes from the first to the second.
#[test]
fn a_task_that_becomes_rare_is_no_damage() {
    for lost in [false, true] {
        let found = regraded(LEARNS, |log, random| {
            let second: Vec<bool> = log
                .groups
                .chunk_by(|a, b| a == b)
                .scan(0, |row, group| {
                    let is_second = random.unit() < 0.1 + 0.8 * way(log, *row);
                    *row += group.len();
                    Some(vec![is_second; group.len()])
                })
                .flatten()
                .collect();
            let mut answers = part(log, "reward/answer").to_vec();
            for row in (0..answers.len()).filter(|row| lost && !second[*row]) {
                answers[row] = f32::from(u8::from(random.unit() < 0.8 - 0.75 * way(log, row)));
            }
            let of = |is_second: bool| {
                let rows = answers.iter().zip(&second);
                rows.map(|(answer, second)| if *second == is_second { *answer } else { 0.0 }).collect()
            };
            log.parts = vec![("reward/math", of(false)), ("reward/code", of(true))];
            log.rewards = answers;
        });
        assert_eq!(is_damaged(&found, "reward/math"), lost, "{}", told(&found));
        if !lost {
            assert!(found.diagnosis.damage.is_empty(), "{}", told(&found));
            assert_eq!(alarms(&found), Vec::<&str>::new(), "{}", told(&found));
        }
    }
}

/// A bonus that becomes less while answers get better: one for what is new wears off; of another it is said that it
/// was given up, and not that answers were gamed.
#[test]
fn a_bonus_that_wears_off_is_no_hacking() {
    for (name, expected) in [("reward/novelty", None), ("reward/style", Some(Confidence::Possible))] {
        let found = regraded(LEARNS, |log, random| {
            let bonus = |row: usize| 0.5 / (1.0 + log.steps[row] as f32).sqrt() * random.unit() as f32;
            let bonuses: Vec<f32> = (0..log.rewards.len()).map(bonus).collect();
            log.rewards = part(log, "reward/answer").iter().zip(&bonuses).map(|(a, b)| a + b).collect();
            log.parts.retain(|(name, _)| *name != "reward/format");
            log.parts.push((name, bonuses));
        });
        assert_eq!(is_damaged(&found, name), expected.is_some(), "{}", told(&found));
        let hacked = cause(&found.diagnosis, CauseCode::RewardHacking);
        assert_eq!(hacked.map(|cause| cause.confidence), expected, "{}", told(&found));
        assert!(hacked.is_none_or(|c| c.message.contains("and reward/answer")), "{}", told(&found));
    }
}

/// From the middle on, harder prompts among those that come again, or a policy that lost all of them; with and
/// without the prompts in the log.
#[test]
fn the_same_prompts_tell_harder_ones_from_damage() {
    let shape = Shape { kind: Kind::Flat, steps: 16, groups: 48, ..SHAPE };
    let run = |all_fall: bool, logged: bool| {
        regraded(shape, |log, random| {
            let mut prompts = Vec::new();
            for row in 0..log.steps.len() {
                let (late, group) = (log.steps[row] >= 8, log.groups[row] as usize);
                let is_new = late && group % 2 == 0;
                let falls = if all_fall { late } else { is_new };
                log.rewards[row] = f32::from(u8::from(random.unit() < if falls { 0.1 } else { 0.6 }));
                log.parts[0].1[row] = log.rewards[row];
                prompts.push(if is_new { vec![7, group as i32] } else { vec![(group % 40) as i32] });
            }
            log.parts.truncate(1);
            if logged {
                log.prompts = prompts;
            }
        })
    };
    let harder = run(false, true);
    assert!(harder.diagnosis.damage.is_empty(), "{}", told(&harder));
    assert!(harder.verdict.health.contains("the other prompts are harder"), "{}", harder.verdict.health);
    let worse = run(true, true);
    assert!(is_damaged(&worse, "reward"), "{}", told(&worse));
    assert!(worse.verdict.health.contains("The same prompts fell, too"), "{}", worse.verdict.health);
    let unknown = run(false, false);
    assert!(is_damaged(&unknown, "reward"), "{}", told(&unknown));
    assert!(unknown.verdict.health.contains("See whether the prompts changed"), "{}", unknown.verdict.health);
}

/// A thousandth of noise on rewards of 0 and 1: divided by its own deviation it teaches as much as an answer.
#[test]
fn noise_that_is_divided_by_itself_is_possible() {
    let shape = Shape { kind: Kind::LearnsFast, ..SHAPE };
    let jitter = |log: &mut Log, random: &mut Random| {
        let noisy = |answer: &f32| answer + 1e-3 * random.normal() as f32;
        log.rewards = part(log, "reward/answer").iter().map(noisy).collect();
        log.parts.truncate(1);
    };
    let divided = regraded(shape, jitter);
    let phantom = cause(&divided.diagnosis, CauseCode::PhantomAdvantage);
    assert!(phantom.is_some_and(|c| c.message.contains("less than a hundredth")), "{}", told(&divided));
    assert_eq!(alarms(&divided), Vec::<&str>::new(), "{}", told(&divided));
    let mut log = Maker::run(Fault::Nothing, shape, 5);
    jitter(&mut log, &mut Random::new(8, 9));
    let groups = log.rewards.chunks(shape.group);
    let relative = |group: &[f32]| {
        let mean = group.iter().sum::<f32>() / group.len() as f32;
        group.iter().map(|reward| reward - mean).collect::<Vec<f32>>()
    };
    log.advantages = groups.flat_map(relative).collect();
    let not_divided = analysis_of(&log, shape);
    let noise = cause(&not_divided.diagnosis, CauseCode::PhantomAdvantage);
    assert!(noise.is_none_or(|c| !c.message.contains("a hundredth")), "{}", told(&not_divided));
}

/// Responses shrink to a quarter because length is taken off, or grow as much because it is paid for; without parts
/// nothing tells what became of answers.
#[test]
fn responses_that_shrink_or_grow_while_the_reward_rises_are_possible() {
    let shape = Shape { kind: Kind::NoParts, steps: 24, length: 24, groups: 8, ..SHAPE };
    let [shrinks, grows] = [-0.2, 0.2];
    for (pays, expected) in
        [(Some(shrinks), Some(Confidence::Possible)), (Some(grows), Some(Confidence::Possible)), (None, None)]
    {
        let found = regraded(shape, |log, random| {
            for row in 0..log.steps.len() {
                let less = if pays == Some(grows) { 1.0 - way(log, row) } else { way(log, row) };
                let kept = (log.ids[row].len() as f64 * (1.0 - 0.75 * less)).ceil() as usize;
                log.ids[row].truncate(kept);
                log.turns[row].truncate(kept);
                log.values.iter_mut().for_each(|column| column[row].truncate(kept));
                let paid = pays.map_or(way(log, row), |pays| pays * kept as f64);
                log.rewards[row] = (paid + 0.7 * random.normal()) as f32;
            }
        });
        let hacked = cause(&found.diagnosis, CauseCode::RewardHacking).map(|cause| cause.confidence);
        assert_eq!(hacked, expected, "{}", told(&found));
    }
}

/// The diagnosis of a log that lacks its entropies.
fn without_entropy(mut log: Log) -> Diagnosis {
    log.values[3].clear();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.parquet");
    log.write(&path);
    let run = Run::open(&[path], &IngestSettings::default()).unwrap();
    let settings = AnalyzeSettings { vocab_size: Some(SHAPE.vocabulary as u32), ..Default::default() };
    analyze_partial(&run, &settings, None, &Silent).unwrap().diagnosis
}

/// Without entropies, what needs none is still looked for.
#[test]
fn causes_that_need_no_entropy_are_found_without() {
    use CauseCode as Code;
    let expected = [
        (Fault::TopP(0.9), Code::SamplerTruncation, Confidence::Possible),
        (Fault::Imprecise, Code::PrecisionGap, Confidence::Possible),
        (Fault::MostlyCut, Code::Truncation, Confidence::Likely),
        (Fault::Observed, Code::ObservationTrained, Confidence::Likely),
    ];
    for (fault, code, confidence) in expected {
        let mut log = Maker::run(fault, SHAPE, 5);
        if fault == Fault::Observed {
            // What the environment wrote, the sampler has no probability for.
            log.values[1].iter_mut().for_each(|row| {
                let turn = row.len() / 2;
                let end = row.len().min(turn + 3);
                row[turn..end].fill(f32::NAN);
            });
        }
        let found = without_entropy(log);
        let named = cause(&found, code);
        assert_eq!(named.map(|c| c.confidence), Some(confidence), "{fault:?}: {:?}", found.causes);
        assert!(named.is_none_or(|c| !c.message.contains("gradient energy")), "{:?}", found.causes);
    }
    let healthy = without_entropy(Maker::run(Fault::Nothing, SHAPE, 5));
    assert!(healthy.causes.iter().all(|c| c.code == Code::DeadGroups), "{:?}", healthy.causes);
    let needed: Vec<&str> = healthy.not_checked.iter().map(|n| n.code.name()).collect();
    for code in ["sampler_truncation", "precision_gap", "truncation", "observation_trained"] {
        assert!(!needed.contains(&code), "{needed:?}");
    }
}

/// A sampler that writes −100 where it has nothing to say.
#[test]
fn a_gap_that_few_tokens_make_is_told_with_ratios_cut() {
    let mut log = Maker::run(Fault::Nothing, SHAPE, 5);
    log.values[1].iter_mut().for_each(|row| row[1] = -100.0);
    let found = analysis_of(&log, SHAPE);
    let said = cause(&found.diagnosis, CauseCode::PrecisionGap).map_or("", |c| c.message.as_str());
    assert!(said.contains("of ratios cut at 10"), "{}", told(&found));
}
