//! Without parts: the reward rose for good while responses were cut or looped, or became long or short, because it pays
//! for length, or takes it off. Statistics and thresholds: `reward_hacking`.

use crate::causes::shared::bounds::share_bounds;
use crate::causes::shared::siblings::more_where;
use crate::causes::shared::{longer_prompts, lowered_budget};
use crate::evidence::{at_the_end, number};
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::responses::within_groups::{Slopes, explained};
use crate::words::percent;
use stapo_base::stats::sustained::{Change, Direction};
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence, Damage, Evidence, SignalName};

/// Length that explains this much of the advantage is named.
pub const LENGTH_EXPLAINS: f64 = 0.25;
/// Length explains more than this of the advantage, or cut responses are the better ones in more groups.
const MOST: f64 = 0.5;
/// Lengths that became this many times as long, or as short.
const TWICE: f64 = 2.0;

/// What to do about it.
pub const HINT: &str = "read late responses with a high reward; take out or bound the part that is gamed, and \
                    weigh the part that you want";

const SHORTER: &str = "read late responses: where they no longer answer, bound what is taken off for length; log what is \
                       right as reward/answer";
const LONGER: &str = "read late responses: where they ramble, bound what pays for length; log what is right as \
                      reward/answer, and which responses were cut";

/// Longer and longer responses, until they are cut, because the reward pays for length.
pub fn by_length(patient: &Patient<'_>) -> Option<Finding> {
    let harm = |d: &&Damage| matches!(d.signal, SignalName::Truncated | SignalName::Repetition);
    let harm = patient.changes.damage.iter().find(harm)?;
    let rise = rise_of_reward(patient)?;
    let advantage = |f: &ResponseFact| f64::from(f.advantage);
    let length = |f: &ResponseFact| f64::from(f.length);
    let before = patient.groups().filter(|group| group[0].step < harm.from_step);
    let by_length = explained(before, &advantage, &[&length]).filter(|e| e.lower > MOST);
    let because = match by_length {
        Some(by_length) => Some((
            format!("before that, length alone explains {} of the advantage", percent(by_length.share)),
            number("share of the advantage that length explains within groups", by_length.share),
        )),
        None => {
            let [better, both] = cut_ones_are_better(patient);
            let told = format!(
                "in {better} of {both} groups with cut and finished responses the cut ones have the higher advantage"
            );
            let share = better as f64 / both as f64;
            let what = "share of groups whose cut responses have the higher advantage";
            (share_bounds(better, both)[0] > MOST).then(|| (told, number(what, share)))
        }
    };
    if because.is_none() && cuts_have_another_cause(patient) {
        return None;
    }
    let (because, measured): (Option<String>, Option<Evidence>) = because.unzip();
    let (confidence, because, hint) = match &because {
        Some(because) => (Confidence::Likely, because.as_str(), HINT),
        None => (
            Confidence::Possible,
            "the reward pays for it, or does not see it",
            "read late responses that are cut or loop: where they ramble, bound what pays for length; where they \
             reason, raise the length budget",
        ),
    };
    let message = format!(
        "the reward rose {:.2} → {:.2} while {} rose {:.2} → {:.2}; {because}",
        rise.before, rise.after, harm.signal, harm.before, harm.after,
    );
    let mut evidence = vec![
        at_the_end(SignalName::Reward.as_str(), rise.after),
        at_the_end(harm.signal.as_str(), harm.after),
    ];
    evidence.extend(measured);
    Some(found(
        CauseCode::RewardHacking,
        confidence,
        Some(harm.from_step.min(rise.onset)),
        message,
        hint,
        evidence,
    ))
}

/// Whether responses are cut since the budget was lowered, or prompts became longer.
fn cuts_have_another_cause(patient: &Patient<'_>) -> bool {
    lowered_budget::examine(patient).is_some() || longer_prompts::examine(patient).is_some()
}

/// How the reward rose for good, where it did not fall as well: nobody games it down.
fn rise_of_reward<'a>(patient: &'a Patient<'_>) -> Option<&'a Change> {
    let fell = patient.changes_of(&SignalName::Reward).any(|change| change.direction == Direction::Down);
    patient.changes_of(&SignalName::Reward).find(|change| change.direction == Direction::Up && !fell)
}

/// Groups whose cut responses have the higher mean advantage, of those that have cut and finished ones.
fn cut_ones_are_better(patient: &Patient<'_>) -> [u64; 2] {
    let teaching = patient.groups().filter(|group| group.iter().any(|fact| fact.signs != [false; 2]));
    let more = teaching.map(|group| more_where(group, |fact| fact.truncated, |fact| fact.advantage));
    more.filter(|more| more.is_finite())
        .fold([0, 0], |[better, both], more| [better + u64::from(more > 0.0), both + 1])
}

/// Responses that became twice as long, or half as long, because the reward pays for length, or takes it off: whether
/// they still say anything, nothing that is logged tells.
pub fn by_course(patient: &Patient<'_>) -> Option<Finding> {
    let rise = rise_of_reward(patient)?;
    let is_far = |change: &&Change| match change.direction {
        Direction::Up => change.after > TWICE * change.before,
        Direction::Down => TWICE * change.after < change.before,
    };
    let course = patient.changes_of(&SignalName::Length).find(is_far)?;
    let is_longer = course.direction == Direction::Up;
    let advantage = |f: &ResponseFact| f64::from(f.advantage);
    let length = |f: &ResponseFact| f64::from(f.length);
    let by_length =
        explained(patient.groups(), &advantage, &[&length]).filter(|e| e.lower > LENGTH_EXPLAINS)?;
    let [slope, _] = Slopes::of(patient.groups(), &advantage, &[&length])?.sum(&[(0, 1.0)])?;
    let (word, hint) = match is_longer {
        true => ("long", LONGER),
        false => ("short", SHORTER),
    };
    ((slope > 0.0) == is_longer).then(|| {
        found(
            CauseCode::RewardHacking,
            Confidence::Possible,
            Some(course.onset.min(rise.onset)),
            format!(
                "the reward rose {:.2} → {:.2} while responses went from {:.0} to {:.0} tokens; that they are {word} explains \
                 {} of the advantage",
                rise.before,
                rise.after,
                course.before,
                course.after,
                percent(by_length.share)
            ),
            hint,
            vec![
                at_the_end(SignalName::Reward.as_str(), rise.after),
                at_the_end(SignalName::Length.as_str(), course.after),
                number("share of the advantage that length explains within groups", by_length.share),
            ],
        )
    })
}
