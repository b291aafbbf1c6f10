//! Answers differ, and the advantage follows something else.
//!
//! In groups with right and wrong answers, what is right explains less than a
//! quarter of the advantage while length or another part explains more than half (both ends three
//! standard errors away), and a right answer raises the advantage by less than half of what that other does
//! over its usual range in a group (beyond three standard errors): the update pays for something
//! else. The last, since right answers that are rare explain little, however well they are paid. A reward
//! that is chance is another cause. Looked for over the run and, since a reward may change in its middle, in the steps in
//! which right answers have no higher advantage in more groups (`right_no_better`). Only possible by a part whose name has
//! words that are not understood: it may not be what is right.

use super::paid_length::HINT;
use crate::causes::shared::lasting::Side;
use crate::causes::shared::right_no_better::right_no_better;
use crate::causes::shared::siblings::is_mixed;
use crate::causes::uninformative_reward;
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::responses::right::Right;
use crate::responses::within_groups::{Feature, MAX_PARTS, OwnedFeature, Slopes, explained, part};
use crate::words::percent;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence, SignalName};

/// What is right explains less than this of the advantage, …
const LITTLE: f64 = 0.25;
/// … and something else more than this.
const MOST: f64 = 0.5;
/// A right answer that is paid less than this part of another quantity, by so many standard errors.
const HALF: f64 = 0.5;
const ERRORS: f64 = 3.0;

/// What the advantage follows in groups in which answers differ.
pub fn paid_for_something_else(patient: &Patient<'_>) -> Finding {
    let Some(right) = patient.right().filter(|right| right.part.is_some()) else { return Finding::Absent };
    let of_side = |side: Side| paid_in(patient, &right, side);
    let worse_paid = || right_no_better(patient.groups(), &right, |fact| fact.advantage);
    let found = of_side(Side::Whole).or_else(|| of_side(worse_paid()?));
    // A reward that is chance pays for nothing.
    let is_chance = || matches!(uninformative_reward::examine(patient), Finding::Found(_));
    found.filter(|_| !is_chance()).unwrap_or(Finding::Absent)
}

fn paid_in(patient: &Patient<'_>, right: &Right<'_>, side: Side) -> Option<Finding> {
    let mixed = |group: &&[ResponseFact]| side.holds(group[0].step) && is_mixed(group, |fact| right.of(fact));
    let advantage = |f: &ResponseFact| f64::from(f.advantage);
    let share = |of: Feature<'_>| explained(patient.groups().filter(mixed), &advantage, &[of]);
    let is_right = |f: &ResponseFact| right.of(f).map_or(f64::NAN, |right| f64::from(u8::from(right)));
    let by_right = share(&is_right).filter(|e| e.upper < LITTLE)?;
    let names = &patient.plan.reward_parts;
    let others = (0..names.len().min(MAX_PARTS)).filter(|index| Some(*index) != right.part);
    let mut rivals: Vec<(SignalName, OwnedFeature)> =
        vec![(SignalName::Length, Box::new(|f| f64::from(f.length)))];
    rivals.extend(others.map(|index| (SignalName::part(&names[index]), part(index))));
    let shares = rivals.iter().filter_map(|(name, of)| Some((name, of, share(of.as_ref())?)));
    let (name, rival_of, rival) =
        shares.filter(|(_, _, e)| e.lower > MOST).max_by(|a, b| a.2.share.total_cmp(&b.2.share))?;
    let [paid, paid_rival] = paid(patient.groups().filter(mixed), &is_right, rival_of.as_ref())?;
    let told = found(
        CauseCode::RewardHacking,
        if right.is_plain() { Confidence::Likely } else { Confidence::Possible },
        side.first_step(patient),
        format!(
            "{}where answers differ, {name} explains {} of the advantage and what is right ({}) {}: the update \
             pays for something else",
            side.opens(),
            percent(rival.share),
            right.name,
            percent(by_right.share)
        ),
        HINT,
        vec![
            number(&format!("share of the advantage that {name} explains"), rival.share),
            number("share that what is right explains", by_right.share),
            number("what a right answer adds to the advantage", paid),
            number(&format!("what {name} adds over its range in a group"), paid_rival),
            number("responses", by_right.responses),
        ],
    );
    Some(told.before(side.end()))
}

/// What a right answer adds to the advantage, and what `rival` does over its usual range in a group;
/// `None` where the former is not clearly less than half of it.
fn paid<'a>(
    groups: impl Iterator<Item = &'a [ResponseFact]>,
    is_right: Feature<'_>,
    rival: Feature<'_>,
) -> Option<[f64; 2]> {
    let groups: Vec<&[ResponseFact]> = groups.collect();
    let reach = |group: &&[ResponseFact]| {
        let values = group.iter().map(rival).filter(|value| value.is_finite());
        let ends =
            values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)]);
        (ends[1] - ends[0]).max(0.0)
    };
    let reach = groups.iter().map(reach).sum::<f64>() / groups.len().max(1) as f64;
    let advantage = |f: &ResponseFact| f64::from(f.advantage);
    let slopes = Slopes::of(groups.into_iter(), &advantage, &[is_right, rival])?;
    let [right, _] = slopes.sum(&[(0, 1.0)])?;
    let [over_range, _] = slopes.sum(&[(1, reach)])?;
    let [less, error] = slopes.sum(&[(0, -1.0), (1, (HALF * reach).copysign(over_range))])?;
    (less > ERRORS * error).then_some([right, over_range])
}
