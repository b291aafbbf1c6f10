//! Warnings about what engineers ask: how much of a batch still counts, lost diversity, parts of the
//! reward that part ways.

use super::log::gap_explained;
use crate::damage::changes::Changes;
use crate::evidence::{at_the_end, evidence};
use crate::signals::of_run::share_of;
use crate::signals::series::{Role, Series};
use stapo_base::stats::sustained::{Change, Direction, Point, sustained};
use stapo_result::groups::StepGroupOutcomes;
use stapo_result::offpolicy::{Difference, StepDifferences};
use stapo_result::{Answers, Cause, SignalName, Warning, WarningCode};

/// Below this effective share of a step's tokens a few of them decide for all.
const LOW_SHARE: f64 = 0.5;

/// All of them; `causes` are those of the run, and `failed` whether its grader failed at a step.
pub fn warnings(
    answers: &Answers,
    (changes, series): (&Changes, &[Series]),
    causes: &[Cause],
    failed: &dyn Fn(i64) -> bool,
) -> Vec<Warning> {
    [effective_share(answers, causes), diversity(answers, changes), parts(changes, series, failed)]
        .into_iter()
        .flatten()
        .collect()
}

/// Steps whose importance weights leave less than half of the tokens effective.
fn effective_share(answers: &Answers, causes: &[Cause]) -> Option<Warning> {
    let steps = &answers.offpolicy.as_ref()?.steps;
    let known: Vec<(&StepDifferences, f64)> = steps
        .iter()
        .filter_map(|row| {
            let differences = &row.differences;
            let total = differences.total.as_ref().or(differences.engine.as_ref());
            Some((row, total.or(differences.update.as_ref())?.ess))
        })
        .collect();
    let low: Vec<&(&StepDifferences, f64)> = known.iter().filter(|(_, ess)| *ess < LOW_SHARE).collect();
    let (worst, ess) = **low.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let (step, first) = (worst.step, low.first()?.0.step);
    let share = |of: &Option<Difference>| of.as_ref().map(|difference| difference.ess);
    let parts = [share(&worst.differences.update), share(&worst.differences.engine)];
    let (of, of_sampler) = which_ratio(parts);
    Some(Warning {
        code: WarningCode::LowEffectiveShare,
        message: format!(
            "weighted by the ratio of the policies, {:.0} % of the tokens count at step {step}{of}; below {:.0} % \
             in {} of {} steps, first at step {first}",
            100.0 * ess,
            100.0 * LOW_SHARE,
            low.len(),
            known.len()
        ),
        hint: format!("a few tokens decide for all: {}", advice(of_sampler, causes)),
        evidence: [
            ("effective share", Some(ess)),
            ("by the updates", parts[0]),
            ("by the sampler", parts[1]),
        ]
        .into_iter()
        .filter_map(|(what, share)| Some(evidence(Some(step), what, share?)))
        .chain([
            evidence(Some(first), "first", first as f64),
            evidence(None, "steps below half", low.len() as f64),
            evidence(None, "steps with ratios", known.len() as f64),
        ])
        .collect(),
    })
}

/// What to do about it; where a cause says why trainer and sampler disagree, what that asks for.
fn advice(of_sampler: bool, causes: &[Cause]) -> String {
    let fresher = || "sample with fresher weights, or cap the weights (see the corrections)".to_owned();
    match of_sampler {
        true => gap_explained(causes).unwrap_or_else(fresher),
        false => "make smaller updates, or cap the weights (see the corrections)".to_owned(),
    }
}

/// Which of two ratios leaves few tokens, the update's (new policy against old) or the sampler's (old policy
/// against the one that sampled): in words, and whether it is the sampler's.
fn which_ratio(shares: [Option<f64>; 2]) -> (String, bool) {
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    match shares {
        [Some(update), Some(engine)] => {
            let of = format!(
                " (by the updates within the step {}, by the sampler {})",
                percent(update),
                percent(engine)
            );
            (of, update >= engine)
        }
        [Some(_), None] => (" (by the updates within the step)".into(), false),
        [None, _] => (" (by the sampler)".into(), true),
    }
}

/// pass@1 that rises for good while pass@k of the largest k falls. One that fell as well, before it rose or after,
/// was not given answers for; nor does the policy give up what harder prompts ask for.
fn diversity(answers: &Answers, changes: &Changes) -> Option<Warning> {
    let groups = answers.groups.as_ref()?;
    let largest = *groups.pass_at.last_key_value()?.0;
    let change = |k: u64, direction: Direction| -> Option<Change> {
        // pass@k of a group lies between 0 and 1, so groups are what is counted.
        let point =
            |row: &StepGroupOutcomes| Some(share_of(row.step, *row.pass_at.get(&k)?, row.groups as f64));
        let points: Vec<Point> = groups.steps.iter().filter_map(point).collect();
        sustained(&points, direction)
    };
    let (rise, fall) = (change(1, Direction::Up)?, change(largest, Direction::Down)?);
    if change(1, Direction::Down).is_some() || changes.harder_prompts().is_some() {
        return None;
    }
    Some(Warning {
        code: WarningCode::DiversityLost,
        message: format!(
            "pass@1 rose from {:.2} to {:.2} while pass@{largest} fell from {:.2} to {:.2}",
            rise.before, rise.after, fall.before, fall.after
        ),
        hint: "the policy gives up answers that it could find: raise the upper clip, sample at a higher \
               temperature, add an entropy bonus or a KL term, or weigh rare right answers more"
            .into(),
        evidence: vec![at_the_end("pass@1", rise.after), at_the_end(&format!("pass@{largest}"), fall.after)],
    })
}

/// A part of the reward that rises for good while another falls, other than by a grader that failed.
fn parts(changes: &Changes, series: &[Series], failed: &dyn Fn(i64) -> bool) -> Option<Warning> {
    // A penalty that falls while an answer gets better diverges from nothing, nor does a weight, a price or a trifle.
    let is_goal = |name: &SignalName| series.iter().any(|s| s.name == *name && s.role == Role::Goal);
    let is_price = |name: &SignalName| changes.price.as_ref().is_some_and(|price| price.cost.signal == *name);
    let is_trifle = |name: &SignalName| changes.trifles.iter().any(|trifle| trifle.signal == *name);
    let is_part = |name: &SignalName| name.is_part() && is_goal(name) && !is_price(name) && !is_trifle(name);
    let parts = || changes.found.iter().filter(|(name, _)| is_part(name));
    // A part that went both ways diverges from nothing but itself; one that only came back to where the
    // run began has gained nothing.
    let began =
        |name: &SignalName| series.iter().find(|s| s.name == *name)?.points.first().map(|point| point.value);
    let beyond_start = |name: &SignalName, change: &Change| {
        began(name).is_none_or(|first| match change.direction {
            Direction::Up => change.after - first > 0.5 * (change.after - change.before),
            Direction::Down => first - change.after > 0.5 * (change.before - change.after),
        })
    };
    let of = |direction: Direction| {
        parts().find(|(name, change)| {
            let turned = parts().any(|(other, turn)| other == name && turn.direction != direction);
            let is_lost = direction == Direction::Down && failed(change.onset);
            change.direction == direction && !turned && !is_lost && beyond_start(name, change)
        })
    };
    let ((up, rise), (down, fall)) = (of(Direction::Up)?, of(Direction::Down)?);
    Some(Warning {
        code: WarningCode::RewardPartsDiverge,
        message: format!(
            "{up} rose from {:.3} to {:.3} while {down} fell from {:.3} to {:.3}: a suspicion of reward hacking",
            rise.before, rise.after, fall.before, fall.after
        ),
        hint: "read late responses with a high reward: see whether they do what you want, or only what is paid for".into(),
        evidence: vec![
            evidence(None, &format!("{up} before"), rise.before),
            at_the_end(up.as_str(), rise.after),
            evidence(None, &format!("{down} before"), fall.before),
            at_the_end(down.as_str(), fall.after),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stapo_result::{CauseCode, Confidence};

    fn part(name: &str, levels: [f64; 3]) -> (Series, (SignalName, Change)) {
        let [first, before, after] = levels;
        let point = |(step, value): (i64, f64)| Point { step, value, error: None };
        let points = [(0, first), (4, before), (8, before), (12, after)].map(point).to_vec();
        let direction = if after > before { Direction::Up } else { Direction::Down };
        let series = Series { points, ..Series::new(SignalName::part(name), Role::Goal) };
        (series, (SignalName::part(name), Change { direction, onset: 8, before, after, z: 9.0 }))
    }

    #[test]
    fn the_advice_is_for_the_ratio_that_is_low() {
        let (of, of_sampler) = which_ratio([Some(0.124), Some(0.9997)]);
        assert_eq!(of, " (by the updates within the step 12 %, by the sampler 100 %)");
        assert!(advice(of_sampler, &[]).starts_with("make smaller updates"));
        assert!(which_ratio([Some(0.9), Some(0.2)]).1);
        assert_eq!(which_ratio([None, Some(0.2)]), (" (by the sampler)".into(), true));
        assert!(advice(true, &[]).starts_with("sample with fresher weights"));
        // Not against what the diagnosis says of the same gap.
        let temperature = Cause {
            code: CauseCode::SamplerTemperature,
            confidence: Confidence::Likely,
            from_step: None,
            before_step: None,
            message: String::new(),
            hint: "score with the temperature that was sampled with".into(),
            evidence: Vec::new(),
        };
        assert_eq!(
            advice(true, &[temperature]),
            "the diagnosis names its cause, sampler temperature: score with the temperature that was sampled with"
        );
    }

    /// A run that lost its format and found it again has not been hacked.
    #[test]
    fn a_part_that_only_came_back_does_not_diverge() {
        let warned_of = |format: [f64; 3], failed: bool| {
            let (series, found): (Vec<Series>, Vec<(SignalName, Change)>) =
                [part("format", format), part("answer", [0.7, 0.7, 0.1])].into_iter().unzip();
            parts(
                &Changes {
                    damage: Vec::new(),
                    onsets: Vec::new(),
                    found,
                    regraded: None,
                    price: None,
                    trifles: Vec::new(),
                    came_in: None,
                    same_prompts: None,
                },
                &series,
                &|_| failed,
            )
            .is_some()
        };
        let warned = |format| warned_of(format, false);
        assert!(!warned([0.97, 0.0, 1.0]));
        assert!(!warned_of([0.1, 0.0, 1.0], true), "the other one fell by a grader that failed");
        assert!(warned([0.1, 0.0, 1.0]));
    }
}
