//! Faults that begin in the middle of a run, faults that look like others, and consequences that look
//! like causes.

use stapo_analyze::analyze::RunAnalysis;
use stapo_analyze::analyze::result::{Cause, CauseCode, Confidence};
use stapo_analyze::stats::random::Random;

use super::innocent::has;
use super::log::Log;
use super::maker::Maker;
use super::run::{Fault, Kind, Shape};
use super::{SHAPE, alarms, analysis, analysis_of, told};

/// A healthy run that gets a fault at a step.
fn from_step(fault: Fault, shape: Shape, step: usize) -> RunAnalysis {
    let healthy = Maker::run(Fault::Nothing, shape, 5);
    analysis_of(&healthy.then(Maker::run(fault, shape, 6), step as i64), shape)
}

/// The cause, which is likely and first or second.
fn likely(analysis: &RunAnalysis, code: CauseCode) -> &Cause {
    let mut first_two = analysis.diagnosis.causes.iter().take(2);
    let found = first_two.find(|cause| cause.code == code && cause.confidence == Confidence::Likely);
    found.unwrap_or_else(|| {
        panic!("{} is not likely and among the first two: {}", code.name(), told(analysis))
    })
}

/// The other three quarters of the run are healthy: they do not hide the fault, and are not blamed.
#[test]
fn a_fault_of_the_last_quarter_is_named_and_dated() {
    for (fault, code) in [
        (Fault::Temperature(0.6), CauseCode::SamplerTemperature),
        (Fault::TopP(0.9), CauseCode::SamplerTruncation),
        (Fault::Imprecise, CauseCode::PrecisionGap),
        (Fault::PositiveOnly, CauseCode::NoNegativeSignal),
        (Fault::NegativeOnly, CauseCode::NoPositiveSignal),
        (Fault::Flipped(0.3), CauseCode::AdvantageContradictsReward),
    ] {
        let found = from_step(fault, SHAPE, 9);
        assert_eq!(likely(&found, code).from_step, Some(9), "{fault:?}: {}", told(&found));
        assert_eq!(likely(&found, code).before_step, None, "{fault:?}: {}", told(&found));
        assert_eq!(alarms(&found), [code.name()], "{fault:?}");
    }
}

/// A sign that was wrong at first, and then mended: it is told when it ended, and of how many groups.
#[test]
fn a_fault_that_was_mended_is_told_as_such() {
    let healthy = Maker::run(Fault::Nothing, SHAPE, 5);
    for (fault, code) in [
        (Fault::Flipped(1.0), CauseCode::AdvantageContradictsReward),
        (Fault::PositiveOnly, CauseCode::NoNegativeSignal),
        (Fault::Imprecise, CauseCode::PrecisionGap),
    ] {
        let found = analysis_of(&Maker::run(fault, SHAPE, 6).then(healthy.clone(), 4), SHAPE);
        let cause = likely(&found, code);
        assert_eq!(cause.from_step, Some(0), "{cause:?}");
        assert!(cause.message.contains(" before step 4"), "{}", cause.message);
        assert_eq!(cause.before_step, Some(4), "{cause:?}");
    }
}

#[test]
fn a_temperature_that_changes_is_the_one_of_the_steps_it_was_used_in() {
    let found = from_step(Fault::Temperature(0.6), SHAPE, 6);
    let cause = likely(&found, CauseCode::SamplerTemperature);
    let fitted = cause.evidence.iter().find(|e| e.what == "estimated temperature").unwrap().value;
    assert!((fitted - 0.6).abs() < 0.05, "{fitted}");
}

/// A narrow nucleus is sharper, too, but never lowers what it keeps.
#[test]
fn a_narrow_nucleus_is_no_temperature() {
    for mass in [0.3, 0.5, 0.7] {
        let found = analysis(Fault::TopP(mass), SHAPE, 5);
        likely(&found, CauseCode::SamplerTruncation);
    }
    likely(&analysis(Fault::Temperature(0.3), SHAPE, 5), CauseCode::SamplerTemperature);
    likely(&analysis(Fault::Temperature(2.5), SHAPE, 5), CauseCode::SamplerTemperature);
}

/// Beyond what the fit can tell, no number is given; a sampler without chance is told as such.
#[test]
fn temperatures_that_are_far_off_are_bounded() {
    for (temperature, said) in [(0.3, "below 0.5"), (2.5, "above 1.5"), (0.005, "takes the most likely one")]
    {
        let found = analysis(Fault::Temperature(temperature), SHAPE, 5);
        let cause = likely(&found, CauseCode::SamplerTemperature);
        assert!(cause.message.contains(said), "{temperature}: {}", cause.message);
        assert!(!alarms(&found).contains(&"sampler_truncation"), "{temperature}: {}", told(&found));
    }
}

/// Cut responses of groups that teach nothing have no energy; a budget that cuts most is named all the same.
#[test]
fn a_budget_that_cuts_most_responses_is_named_without_their_energy() {
    likely(&analysis(Fault::MostlyCut, SHAPE, 5), CauseCode::Truncation);
}

/// Cuts that are unlearned, and a learning rate that was lowered: both end.
#[test]
fn what_ends_is_dated() {
    let shape = Shape { steps: 16, ..SHAPE };
    let healthy = Maker::run(Fault::Nothing, shape, 5);
    let (mut log, mut coin) = (healthy.clone(), Random::new(3, 7));
    for (cut, step) in log.truncated.iter_mut().zip(&log.steps) {
        *cut = coin.unit() < if *step < 8 { 0.8 } else { 0.02 };
    }
    let found = analysis_of(&log, shape);
    let cut = found.diagnosis.causes.iter().find(|cause| cause.code == CauseCode::Truncation).unwrap();
    assert_eq!(cut.before_step, Some(8), "the later half: {cut:?}");
    assert!(cut.message.contains(" from step 8 on"), "{}", cut.message);
    let found = analysis_of(&Maker::run(Fault::Brisk, shape, 6).then(healthy, 9), shape);
    let updates = likely(&found, CauseCode::LargeUpdates);
    assert_eq!((updates.from_step, updates.before_step), (Some(0), Some(9)), "{updates:?}");
    assert!(updates.message.ends_with(", all before step 9"), "{}", updates.message);
    assert_eq!(likely(&analysis(Fault::Brisk, shape, 6), CauseCode::LargeUpdates).before_step, None);
}

/// Updates that stay within the clip, but twenty times as large as those of the run so far.
#[test]
fn a_run_is_the_measure_of_its_own_updates() {
    let shape = Shape { steps: 24, groups: 8, ..SHAPE };
    let found = from_step(Fault::Warm, shape, 12);
    let cause = likely(&found, CauseCode::LargeUpdates);
    assert!(cause.from_step.is_some_and(|step| (11..=13).contains(&step)), "{cause:?}");
    assert!(cause.message.contains("times as far as before"), "{}", cause.message);
    let times = cause.evidence.iter().find(|e| e.what == "times as far as before").unwrap().value;
    assert!((times - 5.0).abs() < 0.5, "0.15 nats are 5 times 0.03: {}", cause.message);
}

/// The same, up to a collapse: a policy that is certain of everything cannot move any more.
#[test]
fn updates_that_grew_up_to_the_damage_are_named() {
    let shape = Shape { steps: 32, groups: 6, ..SHAPE };
    let healthy = Maker::run(Fault::Nothing, shape, 5);
    let mut log = healthy.then(Maker::run(Fault::Warm, shape, 6), 18);
    let [old, _, new, ..] = &mut log.values;
    for ((old, new), step) in old.iter().zip(new).zip(&log.steps) {
        let times = match *step {
            14..18 => 5.0,
            23.. => 0.1,
            _ => 1.0,
        };
        new.iter_mut().zip(old).for_each(|(new, old)| *new = (old + times * (*new - old)).min(0.0));
    }
    let found = analysis_of(&log, shape);
    let cause = likely(&found, CauseCode::LargeUpdates);
    assert!(cause.from_step.is_some_and(|step| (13..=15).contains(&step)), "{cause:?}");
    assert!(cause.message.contains("and the damage follows"), "{}", cause.message);
}

/// Most steps beyond the edge of the clip, none of them far: not what a fresh optimizer does once.
#[test]
fn updates_that_are_always_too_large_are_named() {
    let found = analysis(Fault::Brisk, SHAPE, 5);
    let cause = likely(&found, CauseCode::LargeUpdates);
    let logged = |step| found.steps.iter().find(|row| Some(row.step) == step).and_then(|row| row.update_k3);
    let told: Vec<_> = cause.evidence.iter().filter(|e| e.what == "update k3").collect();
    assert!(!told.is_empty() && told.iter().all(|e| logged(e.step) == Some(e.value)), "{told:?}");
}

/// One ratio of thousands lifts the mean of a small step's updates, but the other tokens did not move.
#[test]
fn one_huge_ratio_is_no_large_update() {
    let found = analysis(Fault::HugeRatio, Shape { groups: 2, ..SHAPE }, 5);
    likely(&found, CauseCode::UnboundedRatio);
    assert!(!alarms(&found).contains(&CauseCode::LargeUpdates.name()), "{}", told(&found));
}

/// A fresh optimizer's first update moves one rare token by a thousand times, and the run goes on as if nothing were. The same
/// token is likely a cause in a later step, of a log that begins later, too, and where the run was damaged.
#[test]
fn one_huge_ratio_of_the_first_update_is_possible_at_most() {
    let with_token = |fault: Fault, step: i64, later: i64| {
        let mut log = Maker::run(fault, SHAPE, 5);
        log.steps.iter_mut().chain(&mut log.versions).for_each(|step| *step += later);
        let row =
            (0..log.steps.len()).find(|row| log.steps[*row] == step && log.advantages[*row] < 0.0).unwrap();
        let [old, rollout, new, ..] = &mut log.values;
        (old[row][1], rollout[row][1], new[row][1]) = (-9.0, -9.0, -2.0);
        let found = analysis_of(&log, SHAPE);
        let mut causes = found.diagnosis.causes.iter();
        let cause = causes.find(|cause| cause.code == CauseCode::UnboundedRatio).cloned();
        cause.unwrap_or_else(|| panic!("{}", told(&found)))
    };
    let first = with_token(Fault::Nothing, 0, 0);
    assert_eq!(first.confidence, Confidence::Possible, "{first:?}");
    assert!(first.message.contains("of it at step 0"), "{}", first.message);
    for (fault, step, later) in [(Fault::Nothing, 5, 0), (Fault::Nothing, 100, 100), (Fault::Hacked, 0, 0)] {
        assert_eq!(with_token(fault, step, later).confidence, Confidence::Likely, "{fault:?} {step}");
    }
}

#[test]
fn age_is_named_where_lag_0_is_imprecise() {
    likely(&analysis(Fault::StaleImprecise, SHAPE, 5), CauseCode::StaleSampler);
}

/// A run that lost its right answers has groups without any: a consequence.
#[test]
fn groups_without_a_right_answer_after_the_damage_are_no_cause() {
    let found = from_step(Fault::Phantom, SHAPE, 3);
    assert!(found.diagnosis.damage.iter().any(|d| d.signal == "reward/answer"), "{}", told(&found));
    assert!(!alarms(&found).contains(&CauseCode::PhantomAdvantage.name()), "{}", told(&found));
}

/// The reward follows the answer until its function breaks.
#[test]
fn a_reward_that_becomes_chance_is_named() {
    let found = from_step(Fault::Noise, Shape { steps: 20, ..SHAPE }, 8);
    let cause = likely(&found, CauseCode::UninformativeReward);
    assert!(cause.from_step.is_some_and(|step| (7..=9).contains(&step)), "{cause:?}");
}

/// The same the other way round: of what was mended it is said before which step it was.
#[test]
fn a_reward_that_was_chance_until_it_was_mended_is_named() {
    let shape = Shape { steps: 20, ..SHAPE };
    let found = analysis_of(
        &Maker::run(Fault::Noise, shape, 5).then(Maker::run(Fault::Nothing, shape, 6), 10),
        shape,
    );
    let cause = likely(&found, CauseCode::UninformativeReward);
    let end = cause.before_step.unwrap();
    assert!((9..=11).contains(&end), "{cause:?}");
    assert!(cause.message.starts_with(&format!("before step {end}, ")), "{cause:?}");
}

/// Wrong answers of easy prompts that are cut carry little: that they are many is said all the same.
#[test]
fn many_cuts_are_possible_whatever_they_carry() {
    let mut log = Maker::run(Fault::Nothing, SHAPE, 5);
    let mut coin = Random::new(3, 7);
    log.truncated.iter_mut().for_each(|cut| *cut = coin.below(5) < 2);
    for (cut, advantage) in log.truncated.iter().zip(&mut log.advantages) {
        *advantage *= if *cut { 0.1 } else { 1.0 };
    }
    let found = analysis_of(&log, SHAPE);
    let cause = found.diagnosis.causes.iter().find(|cause| cause.code == CauseCode::Truncation);
    assert!(cause.is_some_and(|cause| cause.confidence == Confidence::Possible), "{}", told(&found));
}

/// A learned value that errs turns the order of advantages in some groups of healthy runs.
#[test]
fn a_learned_baseline_may_turn_the_order_in_a_group() {
    let shape = Shape { kind: Kind::LearnedBaseline, group: 4, groups: 32, ..SHAPE };
    assert_eq!(alarms(&analysis(Fault::Nothing, shape, 5)), Vec::<&str>::new());
    likely(&analysis(Fault::Flipped(1.0), shape, 5), CauseCode::AdvantageContradictsReward);
}

/// What the reward is made of is not logged, but it rises with the length until responses are cut.
#[test]
fn a_reward_for_length_is_named_without_its_parts() {
    let shape = Shape { kind: Kind::NoParts, ..SHAPE };
    likely(&analysis(Fault::Hacked, shape, 5), CauseCode::RewardHacking);
}

/// One response a prompt, each with a group of its own: steps are what is held against each other. Then
/// without a baseline that a whole step shares, where the order of a step rules nothing out.
#[test]
fn groups_of_one_are_judged_by_step() {
    let alone = |fault: Fault, kind: Kind| {
        let shape = Shape { kind, ..SHAPE };
        let mut log = Maker::run(fault, shape, 5);
        (0..).zip(&mut log.groups).for_each(|(row, group)| *group = row);
        analysis_of(&log, shape)
    };
    for (fault, expected) in [
        (Fault::Nothing, vec![]),
        (Fault::Flipped(1.0), vec!["advantage_contradicts_reward"]),
        (Fault::PositiveOnly, vec!["no_negative_signal"]),
        (Fault::Noise, vec!["uninformative_reward"]),
    ] {
        let found = alone(fault, Kind::BatchBaseline);
        assert_eq!(alarms(&found), expected, "{fault:?}: {}", told(&found));
        let unchecked = |code: CauseCode| found.diagnosis.not_checked.iter().any(|n| n.code == code);
        // Advantages that were cut are no line of the rewards.
        let in_line = fault != Fault::PositiveOnly;
        assert_eq!(unchecked(CauseCode::AdvantageContradictsReward), !in_line, "{fault:?}");
        assert!(found.diagnosis.causes.iter().all(|c| c.code != CauseCode::DeadGroups), "{fault:?}");
    }
    let found = alone(Fault::Flipped(0.35), Kind::Plain);
    let contradicts = CauseCode::AdvantageContradictsReward;
    let is_told = found.diagnosis.causes.iter().any(|c| c.code == contradicts)
        || found.diagnosis.not_checked.iter().any(|n| n.code == contradicts);
    assert!(is_told, "{}", told(&found));
}

/// Without versions a gap at the first step is no staleness; one that comes later may be.
#[test]
fn a_gap_from_the_first_step_on_needs_no_versions() {
    let without_versions = |mut log: Log| {
        log.versions.clear();
        analysis_of(&log, SHAPE)
    };
    let from_start = without_versions(Maker::run(Fault::Imprecise, SHAPE, 5));
    let cause = likely(&from_start, CauseCode::PrecisionGap);
    assert!(cause.message.contains("at the first step"), "{}", cause.message);
    let healthy = Maker::run(Fault::Nothing, SHAPE, 5);
    let later = without_versions(healthy.then(Maker::run(Fault::Imprecise, SHAPE, 6), 4));
    assert_eq!(alarms(&later), Vec::<&str>::new(), "{}", told(&later));
}

/// The sampler gets no new weights from a step on: the policy goes farther and farther away from it.
#[test]
fn a_sampler_that_gets_no_new_weights_is_named_whatever_its_version_says() {
    let with = |gap: fn(i64) -> f64, versions: bool| {
        let mut log = Maker::run(Fault::Nothing, SHAPE, 5);
        let mut random = Random::new(3, 4);
        for (row, step) in log.values[1].iter_mut().zip(&log.steps) {
            let gap = gap(*step);
            row.iter_mut().for_each(|value| *value = (*value + (gap * random.normal()) as f32).min(0.0));
        }
        if !versions {
            log.versions.clear();
        }
        analysis_of(&log, SHAPE)
    };
    for versions in [false, true] {
        let stuck = with(|step| 0.07 * ((step - 3).max(0) as f64).powf(0.75), versions);
        let cause = likely(&stuck, CauseCode::StaleSampler);
        assert_eq!(cause.from_step, Some(4), "{}", cause.message);
        assert!(cause.message.contains("those of step 3"), "{}", cause.message);
        assert_eq!(alarms(&stuck), ["stale_sampler"], "{versions}: {}", told(&stuck));
        // A level, and one that doubles, are no distance.
        for gap in [|step| if step < 4 { 0.0 } else { 0.25 }, |step| 0.2 + 0.02 * step as f64] {
            let level = with(gap, versions);
            assert!(!has(&level, CauseCode::StaleSampler), "{versions}: {}", told(&level));
            assert!(has(&level, CauseCode::PrecisionGap), "{versions}: {}", told(&level));
        }
    }
}

/// From the middle on, the update pays for length: what it paid for before does not hide it.
#[test]
fn what_is_paid_for_from_a_step_on_is_dated() {
    let shape = Shape { steps: 24, ..SHAPE };
    let found = from_step(Fault::Paid, shape, 15);
    let cause = likely(&found, CauseCode::RewardHacking);
    assert!(cause.from_step.is_some_and(|step| (13..=17).contains(&step)), "{cause:?}");
    assert!(cause.message.starts_with("from step 1"), "{}", cause.message);
}

/// A mask that became wrong in the middle is dated there; one that is wrong throughout from the start.
#[test]
fn a_mask_that_becomes_wrong_is_dated() {
    for step in [0, 6] {
        let found = from_step(Fault::Observed, SHAPE, step);
        let cause = likely(&found, CauseCode::ObservationTrained);
        assert_eq!(cause.from_step, Some(step as i64), "{cause:?}");
        assert_eq!(cause.message.starts_with("from step 6 on, "), step == 6, "{}", cause.message);
    }
}

/// Zeros of the sampler's at observations are fills, and no sampler that is certain of them.
#[test]
fn zeros_at_observations_are_no_probabilities() {
    let mut log = Maker::run(Fault::Observed, SHAPE, 5);
    for (rollout, turns) in log.values[1].iter_mut().zip(&log.turns) {
        let turn = turns.iter().position(|turn| *turn > 0).unwrap_or(rollout.len());
        rollout.iter_mut().skip(turn).take(3).for_each(|value| *value = 0.0);
    }
    log.turns.clear();
    let found = analysis_of(&log, SHAPE);
    likely(&found, CauseCode::ObservationTrained);
    assert!(!alarms(&found).contains(&"sampler_truncation"), "{}", told(&found));
}

/// The policy becomes sharper meanwhile, as policies do: old weights are flatter than it, and no temperature is set.
#[test]
fn old_weights_of_a_policy_that_sharpens_are_no_temperature() {
    let mut log = Maker::run(Fault::Nothing, SHAPE, 5);
    let mut random = Random::new(3, 4);
    for row in 0..log.ids.len() {
        let gap = 0.05 * ((log.steps[row] - 3).max(0) as f64).powf(0.75);
        for token in 0..log.ids[row].len() {
            let x = f64::from(log.values[0][row][token] + log.values[3][row][token]);
            let off = gap * (0.8 * random.normal() - x);
            let value = &mut log.values[1][row][token];
            *value = (*value + off as f32).min(0.0);
        }
    }
    log.versions.clear();
    let stuck = analysis_of(&log, SHAPE);
    assert_eq!(likely(&stuck, CauseCode::StaleSampler).from_step, Some(4), "{}", told(&stuck));
    assert!(!has(&stuck, CauseCode::SamplerTemperature), "{}", told(&stuck));
}

/// A flatter sampler of a policy that sharpens may have old weights, unless these are known, or none can be old yet.
#[test]
fn a_temperature_is_likely_where_weights_are_fresh() {
    let shape = Shape { kind: Kind::Sharpens, steps: 24, ..SHAPE };
    let with = |first: i64, versions: bool| {
        let mut log = Maker::run(Fault::Temperature(1.4), shape, 5);
        log.steps.iter_mut().chain(&mut log.versions).for_each(|step| *step += first);
        if !versions {
            log.versions.clear();
        }
        let found = analysis_of(&log, shape);
        let cause = found.diagnosis.causes.iter().find(|c| c.code == CauseCode::SamplerTemperature).cloned();
        cause.map(|cause| (cause.confidence, cause.message.contains("steps old would do the same"))).unwrap()
    };
    assert_eq!(with(0, true), (Confidence::Likely, false));
    assert_eq!(with(0, false), (Confidence::Likely, false));
    assert_eq!(with(100, true), (Confidence::Likely, false));
    assert_eq!(with(100, false), (Confidence::Possible, true));
}

/// Old weights lie above the trainer's where it has unlearned what they drew.
#[test]
fn truncation_is_likely_where_weights_are_fresh() {
    for (lag, confidence) in [(0, Confidence::Likely), (2, Confidence::Possible)] {
        let mut log = Maker::run(Fault::TopP(0.9), SHAPE, 5);
        log.versions.iter_mut().for_each(|version| *version -= lag);
        let found = analysis_of(&log, SHAPE);
        let cause = found.diagnosis.causes.iter().find(|c| c.code == CauseCode::SamplerTruncation).unwrap();
        assert_eq!(cause.confidence, confidence, "{lag}: {}", told(&found));
    }
}
