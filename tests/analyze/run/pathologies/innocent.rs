//! Logs in which nothing is wrong, or something else than it seems: what is missing in them, or written
//! in another way, must not be blamed.

use stapo_analyze::analyze::RunAnalysis;
use stapo_analyze::analyze::result::{CauseCode, Confidence, RunState, WarningCode};
use stapo_analyze::stats::random::Random;

use super::log::{Log, NO_GROUP};
use super::maker::Maker;
use super::run::{Fault, Kind, Shape};
use super::{SHAPE, alarms, among_first_two, analysis_of, told};

/// A run with a fault, its log changed.
pub fn changed(fault: Fault, shape: Shape, change: impl Fn(&mut Log)) -> RunAnalysis {
    let mut log = Maker::run(fault, shape, 5);
    change(&mut log);
    analysis_of(&log, shape)
}

pub fn has(analysis: &RunAnalysis, code: CauseCode) -> bool {
    analysis.diagnosis.causes.iter().any(|cause| cause.code == code)
}

/// Nothing is marked likely.
pub fn is_innocent(analysis: &RunAnalysis) {
    assert_eq!(alarms(analysis), Vec::<&str>::new(), "{}", told(analysis));
}

fn answers(log: &mut Log, of: impl Fn(usize, f32) -> f32) {
    let groups = log.groups.clone();
    let (_, values) = log.parts.iter_mut().find(|(name, _)| *name == "reward/answer").unwrap();
    values.iter_mut().zip(groups).for_each(|(value, group)| *value = of(group as usize, *value));
}

#[test]
fn a_part_with_its_weight_says_what_is_right() {
    let weighted = changed(Fault::Nothing, SHAPE, |log| answers(log, |_, value| 0.3 * value));
    is_innocent(&weighted);
    assert!(!has(&weighted, CauseCode::PhantomAdvantage), "{}", told(&weighted));
}

#[test]
fn groups_without_a_known_outcome_are_not_wrong() {
    let partly = |group: usize, value: f32| if group.is_multiple_of(4) { value } else { f32::NAN };
    let partly = changed(Fault::Nothing, SHAPE, |log| answers(log, partly));
    is_innocent(&partly);
    assert!(!has(&partly, CauseCode::PhantomAdvantage), "{}", told(&partly));
}

#[test]
fn steps_without_the_samplers_probabilities_are_not_observations() {
    let late = changed(Fault::Nothing, SHAPE, |log| {
        let rows = log.values[1].iter_mut().zip(&log.steps);
        rows.filter(|(_, step)| **step < 3).for_each(|(row, _)| row.fill(f32::NAN));
    });
    is_innocent(&late);
}

#[test]
fn responses_without_a_group_are_no_siblings() {
    let half = |log: &mut Log| {
        log.groups.iter_mut().filter(|group| **group % 2 == 1).for_each(|group| *group = NO_GROUP);
        // They all say the same, to different prompts.
        let ids = log.ids.iter_mut().zip(&log.groups).filter(|(_, group)| **group == NO_GROUP);
        ids.for_each(|(ids, _)| ids.fill(7));
    };
    let half = changed(Fault::Nothing, SHAPE, half);
    is_innocent(&half);
    assert_eq!(half.totals.groups, Some((SHAPE.steps * SHAPE.groups / 2) as u64));
}

/// Versions that count from 1, or updates: the old weights are behind the youngest all the same.
#[test]
fn versions_need_not_be_steps() {
    let from_one = |version: i64| version + 1;
    let updates = |version: i64| 4 * version + 40;
    for count in [from_one, updates] {
        let stale = |log: &mut Log| log.versions.iter_mut().for_each(|version| *version = count(*version));
        let stale = changed(Fault::Stale, SHAPE, stale);
        assert!(among_first_two(&stale, CauseCode::StaleSampler), "{}", told(&stale));
        assert!(stale.diagnosis.causes.iter().all(|c| !c.message.contains("the same weights")));
    }
    // From the middle of a training: at its first step no weights are old.
    let imprecise = changed(Fault::Imprecise, SHAPE, |log| {
        log.versions.iter_mut().for_each(|version| *version = updates(*version));
        log.steps.iter_mut().for_each(|step| *step += 5);
    });
    let gap = imprecise.diagnosis.causes.iter().find(|cause| cause.code == CauseCode::PrecisionGap).unwrap();
    assert_eq!(gap.confidence, Confidence::Possible);
    assert!(gap.message.contains("not known"), "{}", gap.message);
}

/// A few tokens of every age are tokens all the same.
#[test]
fn many_ages_are_looked_at_together() {
    let spread = |log: &mut Log| {
        let rows = log.versions.iter_mut().enumerate();
        rows.for_each(|(row, version)| *version -= (row % 97) as i64);
    };
    let found = changed(Fault::Imprecise, SHAPE, spread);
    assert!(has(&found, CauseCode::PrecisionGap), "{}", told(&found));
    let unchecked = |code: CauseCode| found.diagnosis.not_checked.iter().find(|n| n.code == code);
    assert!(unchecked(CauseCode::SamplerTemperature).is_none());
    let needs = &unchecked(CauseCode::StaleSampler).unwrap().needs;
    assert!(needs.contains("more tokens"), "{needs}");
}

/// What rounding leaves of equal rewards is no advantage, and one that is far out makes no other so.
#[test]
fn dead_groups_are_the_same_wherever_they_are_counted() {
    let dust = |log: &mut Log| {
        log.advantages.iter_mut().filter(|a| **a == 0.0).for_each(|a| *a = 1e-8);
    };
    let far_out = |log: &mut Log| {
        if let Some(first) = log.advantages.iter_mut().find(|a| **a > 0.0) {
            *first = 1e6;
        }
    };
    let exact = changed(Fault::Solved, SHAPE, |_| {});
    let dead = exact.totals.zero_advantage_groups;
    assert!(dead.is_some_and(|dead| dead > 20));
    // (r − mean)/(σ + 1e-6) of seven equal rewards in single precision.
    let residue = |log: &mut Log| {
        log.advantages.iter_mut().filter(|a| **a == 0.0).for_each(|a| *a = 0.056);
    };
    for change in [dust as fn(&mut Log), far_out, residue] {
        let found = changed(Fault::Solved, SHAPE, change);
        assert_eq!(found.totals.zero_advantage_groups, dead);
        let cause = |analysis: &RunAnalysis| {
            analysis
                .diagnosis
                .causes
                .iter()
                .find(|c| c.code == CauseCode::DeadGroups)
                .map(|c| c.message.clone())
        };
        assert_eq!(cause(&found), cause(&exact));
    }
    let taught = changed(Fault::Nothing, Shape { kind: Kind::OneTurn, ..SHAPE }, far_out);
    assert!(!has(&taught, CauseCode::AdvantageContradictsReward), "{}", told(&taught));
}

pub fn warning(analysis: &RunAnalysis, code: WarningCode) -> Option<&str> {
    analysis.warnings.iter().find(|warning| warning.code == code).map(|warning| warning.message.as_str())
}

/// An engine that gives no value here and there, and a logger that has none for the first token.
#[test]
fn single_missing_values_are_no_observations() {
    let scattered = |log: &mut Log| {
        let tokens = log.values[1].iter_mut().flatten();
        tokens.enumerate().filter(|(t, _)| t % 97 == 0).for_each(|(_, value)| *value = f32::NAN);
    };
    let first = |log: &mut Log| log.values[1].iter_mut().for_each(|row| row[0] = f32::NAN);
    for change in [scattered as fn(&mut Log), first] {
        is_innocent(&changed(Fault::Nothing, SHAPE, change));
    }
    let in_a_row = |log: &mut Log| log.values[1].iter_mut().for_each(|row| row[1..4].fill(f32::NAN));
    let in_a_row = changed(Fault::Nothing, SHAPE, in_a_row);
    assert!(among_first_two(&in_a_row, CauseCode::ObservationTrained), "{}", told(&in_a_row));
}

/// An engine that gives log-probabilities of its most likely tokens only has none for the others: they stand side
/// by side where the policy is unsure.
#[test]
fn rare_tokens_without_a_value_are_no_observations() {
    let rare = |log: &mut Log| {
        log.values[1].iter_mut().flatten().filter(|v| **v < -3.0).for_each(|value| *value = f32::NAN);
    };
    let found = changed(Fault::Nothing, Shape { kind: Kind::OneTurn, ..SHAPE }, rare);
    is_innocent(&found);
}

/// Ranks among siblings differ between equal ones, too.
#[test]
fn ranks_are_no_chance() {
    let ranked = |log: &mut Log| {
        let mut random = Random::new(2, 8);
        let noisy = log.parts[0].1.iter().map(|answer| f64::from(*answer) + 0.3 * random.normal());
        let noisy: Vec<f64> = noisy.collect();
        for first in (0..noisy.len()).step_by(SHAPE.group) {
            let rows = first..first + SHAPE.group;
            for row in rows.clone() {
                let place = rows.clone().filter(|other| noisy[*other] < noisy[row]).count() as f32;
                log.rewards[row] = place;
                log.advantages[row] = place - (SHAPE.group - 1) as f32 / 2.0;
                // Half of the responses of a group say the same.
                if row % 2 == 0 {
                    log.ids[row] = vec![3; log.ids[row].len()];
                }
            }
        }
    };
    is_innocent(&changed(Fault::Nothing, SHAPE, ranked));
    is_innocent(&changed(Fault::Nothing, SHAPE, |log| {
        ranked(log);
        log.parts.clear();
    }));
}

/// Entropies that are too small by a factor, with a sampler that agrees; samplers that log what they had before their
/// temperature; entropies that are too large.
#[test]
fn entropies_of_another_size_are_named() {
    let small = changed(Fault::Nothing, SHAPE, |log| {
        log.values[3].iter_mut().flatten().for_each(|entropy| *entropy *= 0.7);
    });
    assert_eq!(alarms(&small), ["entropy_of_another_policy"], "{}", told(&small));
    let hot = changed(Fault::Temperature(1.4), SHAPE, |log| log.values[1] = log.values[0].clone());
    is_innocent(&hot);
    assert!(has(&hot, CauseCode::SamplerTemperature), "{}", told(&hot));
    let sharp = changed(Fault::Temperature(0.6), SHAPE, |log| log.values[1] = log.values[0].clone());
    assert_eq!(alarms(&sharp), ["sampler_temperature"], "{}", told(&sharp));
    let large = changed(Fault::Nothing, SHAPE, |log| {
        log.values[3].iter_mut().flatten().for_each(|entropy| *entropy *= 1.25);
    });
    assert_eq!(alarms(&large), ["entropy_of_another_policy"], "{}", told(&large));
}

/// A response alone, or siblings that are all wrong, of a run with a baseline over the batch.
#[test]
fn a_baseline_over_the_batch_gives_no_phantom_advantages() {
    let hard = Shape { kind: Kind::Hard, group: 2, groups: 64, ..SHAPE };
    let by_batch = |log: &mut Log| {
        log.rewards.clone_from(&log.parts[0].1);
        log.advantages = log.rewards.iter().map(|reward| reward - 0.1).collect();
        log.parts.truncate(1);
    };
    let pairs = changed(Fault::Nothing, hard, by_batch);
    is_innocent(&pairs);
    assert!(!has(&pairs, CauseCode::PhantomAdvantage), "{}", told(&pairs));
    let alone = changed(Fault::Nothing, hard, |log| {
        by_batch(log);
        log.groups.iter_mut().enumerate().for_each(|(row, group)| *group = row as i64);
    });
    is_innocent(&alone);
    let unchecked = alone.diagnosis.not_checked.iter().find(|n| n.code == CauseCode::PhantomAdvantage);
    assert!(unchecked.is_some_and(|n| n.needs.contains("two responses")), "{}", told(&alone));
}

/// A part that has nothing to do with the reward: by its name it may be what is right, or not at all.
#[test]
fn what_is_not_plainly_right_does_not_make_a_reward_chance() {
    let named = |name: &'static str| {
        changed(Fault::Nothing, SHAPE, |log| {
            let unrelated = (0..log.rewards.len()).map(|row| (row * 37 % 101) as f32 / 101.0).collect();
            log.parts = vec![(name, unrelated)];
        })
    };
    let overlap = named("reward/passage_overlap");
    is_innocent(&overlap);
    assert!(!has(&overlap, CauseCode::UninformativeReward), "{}", told(&overlap));
    let graded = named("reward/answer");
    is_innocent(&graded);
    assert!(has(&graded, CauseCode::UninformativeReward), "{}", told(&graded));
}

#[test]
fn a_mask_that_leaves_no_token_is_what_is_told() {
    let none = changed(Fault::Nothing, SHAPE, |log| {
        log.masks = log.ids.iter().map(|ids| vec![0; ids.len()]).collect();
    });
    is_innocent(&none);
    assert!(!has(&none, CauseCode::AdvantageContradictsReward), "{}", told(&none));
    assert_eq!(none.diagnosis.state, RunState::Untrained);
    assert!(none.verdict.health.starts_with("No token is trained"), "{}", none.verdict.health);
    let message = warning(&none, WarningCode::NothingTrained).unwrap();
    let tokens: usize = none.totals.masked_out as usize;
    assert!(tokens > 0 && message.starts_with("no token is trained: the mask leaves out all "), "{message}");
    assert_eq!(message.rsplit(' ').next().unwrap().replace(',', ""), tokens.to_string());
}

/// Empty responses, and those that the mask leaves out as a whole.
#[test]
fn responses_without_a_trained_token_are_counted() {
    let left_out = |row: usize| row % 40 == 7;
    let masked = changed(Fault::Nothing, SHAPE, |log| {
        let of = |(row, ids): (usize, &Vec<i32>)| vec![i32::from(!left_out(row)); ids.len()];
        log.masks = log.ids.iter().enumerate().map(of).collect();
    });
    let empty = changed(Fault::Nothing, SHAPE, |log| {
        for row in (0..log.ids.len()).filter(|row| left_out(*row)) {
            log.ids[row].clear();
            log.turns.get_mut(row).into_iter().for_each(Vec::clear);
            log.references.get_mut(row).into_iter().for_each(Vec::clear);
            log.values.iter_mut().filter_map(|rows| rows.get_mut(row)).for_each(Vec::clear);
        }
    });
    for some in [masked, empty] {
        is_innocent(&some);
        let all = some.totals.responses as usize;
        let said = warning(&some, WarningCode::UntrainedResponses).unwrap();
        let count = format!("{} of ", (0..all).filter(|row| left_out(*row)).count());
        assert!(said.starts_with(&count) && said.contains(" responses have no trained token"), "{said}");
    }
    let none = changed(Fault::Nothing, SHAPE, |_| {});
    assert!(warning(&none, WarningCode::UntrainedResponses).is_none());
}

/// A mask that is one token too short; the same token trained in the middle of responses is none that they end with.
#[test]
fn the_end_of_responses_that_is_never_trained_is_told() {
    let end = SHAPE.vocabulary as i32 - 1;
    let masked = |ends_in_the_middle: bool| {
        changed(Fault::Nothing, SHAPE, |log| {
            for (row, ids) in log.ids.iter_mut().enumerate() {
                ids.iter_mut().for_each(|id| *id = (*id).min(end - 1));
                if ends_in_the_middle && row % 9 == 0 {
                    ids[0] = end;
                }
                if !log.truncated[row] {
                    *ids.last_mut().unwrap() = end;
                }
            }
            let of = |(ids, cut): (&Vec<i32>, &bool)| {
                let mut mask = vec![1; ids.len()];
                *mask.last_mut().unwrap() = i32::from(*cut);
                mask
            };
            log.masks = log.ids.iter().zip(&log.truncated).map(of).collect();
        })
    };
    let short = masked(false);
    is_innocent(&short);
    let said = warning(&short, WarningCode::UntrainedEnds).unwrap();
    assert!(said.contains(&format!(" end in ⟨{end}⟩, ")), "{said}");
    assert!(warning(&masked(true), WarningCode::UntrainedEnds).is_none());
}

/// Rewards that are all the same: nothing is learned, so nothing can be called healthy.
#[test]
fn a_run_that_learns_nothing_is_not_healthy() {
    let silent = changed(Fault::Nothing, SHAPE, |log| {
        log.rewards.fill(0.0);
        log.advantages.fill(0.0);
        log.parts.clear();
    });
    assert_eq!(silent.diagnosis.state, RunState::Untrained, "{}", told(&silent));
    assert!(silent.verdict.health.starts_with("No step has an advantage"), "{}", silent.verdict.health);
}

/// Late rewards are all 0.2, and rounding leaves a hundred-thousandth of them.
#[test]
fn what_rounding_leaves_is_no_gradient() {
    let late = changed(Fault::Nothing, SHAPE, |log| {
        let rows = log.rewards.iter_mut().zip(&mut log.advantages).zip(&log.steps);
        rows.filter(|(_, step)| **step >= 5).for_each(|((reward, advantage), _)| {
            (*reward, *advantage) = (0.2, 1e-5);
        });
    });
    let message = warning(&late, WarningCode::DeadBatches).unwrap();
    assert!(message.starts_with("7 of 12 batches have no advantage at all, the last one too"), "{message}");
    assert_eq!(warning(&late, WarningCode::EnergySpike), None);
    let onsets: Vec<&str> = late.diagnosis.onsets.iter().map(|onset| onset.signal.as_str()).collect();
    assert!(!onsets.contains(&"effective_number"), "{onsets:?}");
}

#[test]
fn tokens_are_only_said_to_be_left_out_where_they_are() {
    let missing = |change: fn(&mut Log)| {
        let found = changed(Fault::Nothing, SHAPE, change);
        (warning(&found, WarningCode::MissingValues).unwrap().to_owned(), found.totals.missing)
    };
    let (of_rewards, missing_tokens) = missing(|log| {
        log.rewards.iter_mut().skip(1).step_by(2).for_each(|reward| *reward = f32::NAN);
    });
    assert!(of_rewards.ends_with("what needs them is of the others alone"), "{of_rewards}");
    assert_eq!(missing_tokens, 0);
    let (of_tokens, missing_tokens) =
        missing(|log| log.values[0].iter_mut().for_each(|row| row[1] = f32::NAN));
    assert!(of_tokens.ends_with("such tokens are left out") && missing_tokens > 0, "{of_tokens}");
}

/// Answers to imitate, without a reward, among groups that are compared: of these, none lacks a sign.
#[test]
fn groups_without_rewards_are_no_groups_with_different_rewards() {
    let mixed = changed(Fault::Nothing, SHAPE, |log| {
        for row in (0..log.groups.len()).filter(|row| log.groups[*row] % 5 != 0) {
            (log.rewards[row], log.advantages[row]) = (f32::NAN, 1.0);
            log.parts.iter_mut().for_each(|(_, values)| values[row] = f32::NAN);
        }
    });
    is_innocent(&mixed);
    assert!(!has(&mixed, CauseCode::NoNegativeSignal), "{}", told(&mixed));
}

/// A cause of groups names some of them, so that they can be looked at.
#[test]
fn contradicting_groups_are_named() {
    let flipped = changed(Fault::Flipped(0.35), SHAPE, |_| {});
    let causes = &flipped.diagnosis.causes;
    let cause = causes.iter().find(|c| c.code == CauseCode::AdvantageContradictsReward).unwrap();
    let named: Vec<_> = cause.evidence.iter().filter(|e| e.what.contains("in group ")).collect();
    assert_eq!(named.len(), 3, "{:?}", cause.evidence);
    for example in named {
        let group = example.what.rsplit(' ').next().unwrap();
        assert!(example.value < 0.0, "{example:?}");
        let place = format!("group {group} of step {}", example.step.unwrap());
        assert!(cause.message.contains(&place), "{}", cause.message);
    }
    assert!(cause.hint.contains("show RUN --step "), "{}", cause.hint);
}

/// Rewards that follow the answer and, where answers are equal, nothing but length.
#[test]
fn length_that_is_paid_among_equal_answers_is_named() {
    let paid = |sign: f32| {
        changed(Fault::Nothing, SHAPE, |log| {
            let lengths: Vec<f32> = log.ids.iter().map(|ids| sign * ids.len() as f32).collect();
            let groups = log.groups.clone();
            for rows in groups.chunk_by(|a, b| a == b).scan(0, |from, group| {
                *from += group.len();
                Some(*from - group.len()..*from)
            }) {
                let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
                let answers = &log.parts[0].1[rows.clone()];
                let of = |row: usize| 0.02 * lengths[row] + log.parts[0].1[row];
                let rewards: Vec<f32> = rows.clone().map(of).collect();
                let differ = answers.iter().any(|answer| *answer != answers[0]);
                let middle = mean(&rewards);
                for (row, reward) in rows.zip(rewards) {
                    log.rewards[row] = reward;
                    log.advantages[row] = (reward - middle) * if differ { 1.0 } else { 3.0 };
                }
            }
        })
    };
    let longer = paid(1.0);
    let cause = longer.diagnosis.causes.iter().find(|cause| cause.code == CauseCode::RewardHacking);
    assert!(cause.is_some_and(|c| c.message.contains("longer is better")), "{}", told(&longer));
    is_innocent(&paid(-1.0));
}

/// Where answers are equal the reward is, too, and what a critic expected of long responses is all that is left of the
/// advantage: another one for each token.
#[test]
fn guesses_of_a_critic_are_not_paid_length() {
    let critic = changed(Fault::Nothing, SHAPE, |log| {
        log.rewards = log.parts[0].1.clone();
        for (row, ids) in log.ids.iter().enumerate() {
            let expected = 0.9 - 0.004 * ids.len() as f32;
            let of_token =
                |t: usize| log.rewards[row] - expected + if t.is_multiple_of(2) { 0.05 } else { -0.05 };
            log.token_advantages.push((0..ids.len()).map(of_token).collect());
        }
    });
    is_innocent(&critic);
}

/// Harder prompts from the middle on: nothing that is logged tells them from damage, and that is said.
#[test]
fn harder_prompts_cannot_be_told_from_damage() {
    let harder = changed(Fault::Nothing, SHAPE, |log| {
        for row in (0..log.steps.len()).filter(|row| log.steps[*row] >= 6) {
            if row % 8 > 1 {
                log.parts[0].1[row] = 0.0;
                log.rewards[row] = 0.2 * log.parts[1].1[row];
            }
        }
        let groups = log.rewards.chunks(SHAPE.group);
        let relative = |group: &[f32]| {
            let mean = group.iter().sum::<f32>() / group.len() as f32;
            group.iter().map(|reward| reward - mean).collect::<Vec<f32>>()
        };
        log.advantages = groups.flat_map(relative).collect();
    });
    is_innocent(&harder);
    assert!(matches!(harder.diagnosis.state, RunState::Damaged | RunState::Collapsed), "{}", told(&harder));
    assert!(harder.verdict.health.contains("Harder prompts"), "{}", harder.verdict.health);
}
