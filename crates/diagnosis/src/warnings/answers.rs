//! Warnings about what engineers ask: how much of a batch still counts, and lost diversity.

use super::log::gap_explained;
use crate::numbers::{at_the_end, evidence, share_of};
use stapo_base::stats::sustained::{Change, Direction, Point, sustained};
use stapo_result::groups::StepGroupOutcomes;
use stapo_result::offpolicy::{Difference, StepDifferences};
use stapo_result::{Answers, Cause, Warning, WarningCode};

/// Below this effective share of a step's tokens a few of them decide for all.
const LOW_SHARE: f64 = 0.5;

/// All of them; `causes` are those of the run.
pub fn warnings(answers: &Answers, causes: &[Cause]) -> Vec<Warning> {
    [effective_share(answers, causes), diversity(answers)].into_iter().flatten().collect()
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
fn diversity(answers: &Answers) -> Option<Warning> {
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
    if change(1, Direction::Down).is_some() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use stapo_result::{CauseCode, Confidence};

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
            code: CauseCode::new("sampler_temperature"),
            confidence: Confidence::Likely,
            from_step: None,
            slice: None,
            follows_from: None,
            message: String::new(),
            hint: "score with the temperature that was sampled with".into(),
            evidence: Vec::new(),
        };
        assert_eq!(
            advice(true, &[temperature]),
            "the diagnosis names its cause, sampler temperature: score with the temperature that was sampled with"
        );
    }
}
