//! The answer in plain words: what is wrong, what the run does, what to do.

use super::page::title;
use crate::state::{Gain, Outcome, Verdict};
use crate::words::measured;
use stapo_base::format::grouped;
use stapo_collect::plan::Plan;
use stapo_result::{Confidence, Damage, Diagnosis, RunCore, RunState, StepRow};

/// Damaged signals that the sentence names.
const DAMAGED: usize = 3;

/// The first cause, what the reward does, what to do.
pub fn sentence(diagnosis: &Diagnosis, judged: &Verdict, analysis: &RunCore, plan: &Plan) -> String {
    let root = diagnosis.causes.iter().find(|cause| cause.is_root());
    let sick = diagnosis.state.is_sick();
    let cause = root.map(|cause| {
        let of = cause.slice.as_ref().map_or_else(String::new, |slice| format!(", in {slice}"));
        format!("{}{of}.", title(cause.code.name()))
    });
    let advice = root.map(|cause| format!("Do: {}.", cause.hint));
    let unexplained = (diagnosis.state.is_loss() && root.is_none()).then(|| {
        let possible = diagnosis.causes.iter().find(|cause| cause.confidence == Confidence::Possible);
        match possible {
            Some(cause) => format!("Possible: {}.", title(cause.code.name())),
            None => "No cause was found in what is logged.".into(),
        }
    });
    let soft = judged.soft.first().filter(|_| sick).map(|hit| {
        format!(
            "The reward's part {} fell from {} to {} while the reward rises.",
            hit.series,
            measured(hit.from, 2),
            measured(hit.to, 2)
        )
    });
    let said = [
        cause,
        Some(course(diagnosis, judged, analysis)),
        soft,
        redefined(judged),
        unmixed(diagnosis, judged),
        unexplained,
        advice.filter(|_| sick),
        entropy(&analysis.steps).filter(|_| judged.gain.is_none() && !plan.stand_in.entropy),
    ];
    said.into_iter().flatten().collect::<Vec<String>>().join(" ")
}

/// What the run does.
fn course(diagnosis: &Diagnosis, judged: &Verdict, analysis: &RunCore) -> String {
    let steps = grouped(analysis.steps.len() as u64);
    let has_reward = analysis.totals.mean_reward.is_some();
    match (diagnosis.state, judged.outcome, &judged.gain) {
        (RunState::Collapsed | RunState::Damaged, ..) => lost(&diagnosis.damage),
        (_, _, None) if has_reward => {
            "The reward has one value throughout: nothing says how the run does.".into()
        }
        (_, _, None) => "No reward is logged: nothing says how the run does.".into(),
        (RunState::NotLearning, _, Some(gain)) => {
            format!("The run does not learn: the reward stays at {} of {}.", value(gain.end), value(gain.top))
        }
        (_, Outcome::Learned, Some(gain)) => format!("The run learns: reward {}.", way(gain)),
        (_, Outcome::AtItsBest, Some(gain)) => {
            format!("The reward is near its best throughout: {} of {}.", value(gain.mean), value(gain.top))
        }
        (_, Outcome::NotLearning, Some(gain)) => {
            format!("No gain yet in {steps} steps: reward {}.", way(gain))
        }
        (_, _, Some(gain)) => {
            format!(
                "Too short or too noisy to say whether the run learns: reward {} in {steps} steps.",
                way(gain)
            )
        }
    }
}

fn way(gain: &Gain) -> String {
    format!("{} to {} of {}", value(gain.start), value(gain.end), value(gain.top))
}

fn value(number: f64) -> String {
    measured(number, 2)
}

/// What was lost.
fn lost(damage: &[Damage]) -> String {
    let one = |damage: &Damage| {
        let of = damage.slice.as_ref().map_or_else(String::new, |slice| format!(" of {slice}"));
        format!(
            "{}{of} fell from {} to {} (from step {})",
            damage.signal,
            value(damage.before),
            value(damage.after),
            damage.from_step
        )
    };
    let named: Vec<String> = damage.iter().take(DAMAGED).map(one).collect();
    let more = match damage.len().saturating_sub(DAMAGED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("The run lost what it had: {}{more}.", named.join(", "))
}

fn redefined(judged: &Verdict) -> Option<String> {
    let redefined = judged.redefined.as_ref()?;
    Some(format!(
        "A third of the rewards from step {} on are values that were never given before: the reward was redefined \
         there, and both sides are judged apart.",
        redefined.step
    ))
}

/// A mix of tasks that changes looks like damage, where tasks are not told apart.
fn unmixed(diagnosis: &Diagnosis, judged: &Verdict) -> Option<String> {
    let may_be = diagnosis.state.is_loss() && !diagnosis.damage.is_empty() && !judged.has_slices;
    may_be.then(|| {
        "Tasks are not told apart in this log: harder ones from there on would look the same.".into()
    })
}

/// Where nothing else says how the run does.
fn entropy(steps: &[StepRow]) -> Option<String> {
    let known = || steps.iter().filter_map(|row| row.mean_entropy);
    let (first, last) = (known().next()?, known().next_back()?);
    Some(format!("Entropy goes from {} to {} nats a token.", value(first), value(last)))
}

/// How sure the state is.
pub fn statement(judged: &Verdict, responses: u64) -> String {
    let looked_at = match judged.looked_at < responses {
        true => format!(
            "; judged by {} of {} responses, whole groups drawn by a hash",
            grouped(judged.looked_at),
            grouped(responses)
        ),
        false => String::new(),
    };
    format!("a run that loses nothing is called damaged in at most 1 of 1,000 cases{looked_at}")
}
