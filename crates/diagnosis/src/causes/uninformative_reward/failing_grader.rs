//! A share of the responses gets one low value from a step on, whatever they are: the grader fails for these.
//!
//! Statistic: the share of responses whose reward (or a part of it) is one value, over groups, just before a step and
//! just from it on (`around_step`). With a of them before and b from there on, the grader fails for (b − a)/(1 − a).
//! Threshold: b is above a by what chance gives in 1 of 1,000,000 runs, steps and values paid for, and the share that
//! fails above a tenth (lower end, three standard errors). A policy that became worse writes other responses: length,
//! cuts, entropy and likelihood must be what they were: over the three steps on either side or, since a policy that
//! learns moves on, from one step to the next, where half of the rise is from that one to the next as well. A scale that
//! changed has other values altogether. Where failures end, at least half of the level comes back: a count that becomes smaller and smaller only passes through a
//! value. A rule that was made stricter, and a penalty, are told by the response: these and the parts that are not one value
//! wherever it is must explain less than 15 % of who gets the value (upper end), among those that may have failed. A part fails with it that is one value
//! wherever it is, and that value is half as much more frequent from there on as failures make it, at the least, or
//! where another part does, more frequent from one step to the next.
//! Harder prompts lose whole groups, failures strike any response: groups without that value must be as few as
//! failures leave, and fewer than lost groups would leave (three deviations each).
//! Likely where, beside that, two parts or more fall to one value in the same responses, as no prompt makes them, or
//! where it ends as it began, from one step to the next. Of nine tenths that is enough: no policy unlearns and learns
//! a task from one step to the next, whatever else it does (a part may not be scored in the steps of another task:
//! there, responses must be the same). Else possible.

use std::ops::Range;

use statrs::distribution::{ContinuousCDF, Normal};

use super::around_step::{
    ENOUGH, FEWEST, GroupsAtStep, Sums, are_same_responses, by_step, groups_of, level, near, sums,
};
use super::fails_with::{FailedPart, fail_too, next_to, one_valued};
use super::graded::{Graded, are_other_values, frequent};
use crate::causes::shared::lasting::Side;
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::responses::told_reward::OF_RESPONSES;
use crate::responses::within_groups::{Feature, MAX_PARTS, OwnedFeature, explained, part};
use crate::words::{measured, percent};
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence};

/// Runs in which chance does it.
const FALSE_ALARMS: f64 = 1e-6;
const ERRORS: f64 = 3.0;
/// Failures below this share are not told from a task that became a little harder.
const SOME: f64 = 0.1;
const NEARLY_ALL: f64 = 0.9;
/// What is logged of a response explains less than this of who gets the value.
const SMALL: f64 = 0.15;
/// Parts that fall together with the value.
const TOGETHER: usize = 2;
const HALF: f64 = 0.5;

const HINT: &str = "look at the grader there: what it gives where it fails (a time-out, a sandbox or a judge that does not \
                    answer). Log failures apart from low rewards, and leave such responses out of training";

/// One value of a quantity that became more frequent.
struct Failure {
    quantity: Graded,
    value: f32,
    places: Range<usize>,
    /// The share with that value before and there, near the step at which it began.
    shares: [f64; 2],
    /// Parts that fail in the same responses, each with its value there.
    together: Vec<FailedPart>,
    /// Whether responses are what they were.
    are_same: bool,
    confidence: Confidence,
}

impl Failure {
    fn share(&self) -> f64 {
        failing(self.shares)
    }
}

/// The share for which the grader fails.
fn failing([before, there]: [f64; 2]) -> f64 {
    (there - before) / (1.0 - before)
}

/// A rise, or a fall, of the share with a value at a place.
struct Edge {
    at: usize,
    /// The places with fewer, and those with more.
    fewer: Range<usize>,
    more: Range<usize>,
    shares: [f64; 2],
    errors: f64,
}

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Option<Finding> {
    let steps = by_step(patient);
    if steps.len() < 2 * FEWEST {
        return None;
    }
    let parts = 0..patient.plan.reward_parts.len().min(MAX_PARTS);
    let quantities: Vec<Graded> = std::iter::once(None).chain(parts.map(Some)).map(Graded).collect();
    let looked_at: Vec<(Graded, f32)> = quantities
        .iter()
        .flat_map(|quantity| {
            frequent(&steps, *quantity, SOME).into_iter().map(move |value| (*quantity, value))
        })
        .collect();
    let tried = (looked_at.len() * steps.len()).max(1) as f64;
    let far = Normal::standard().inverse_cdf(1.0 - FALSE_ALARMS / tried);
    let failures =
        looked_at.iter().filter_map(|(quantity, value)| failure(patient, &steps, (*quantity, *value), far));
    // The reward where its parts fall with it; else what fails most.
    let rank = |failure: &Failure| {
        let is_whole = failure.quantity.0.is_none() && failure.together.len() >= TOGETHER;
        (failure.confidence == Confidence::Likely, is_whole, failure.share())
    };
    let worst = failures.max_by(|a, b| {
        let (a, b) = (rank(a), rank(b));
        (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2))
    })?;
    Some(told(patient, &steps, &worst))
}

fn failure(
    patient: &Patient<'_>,
    steps: &[GroupsAtStep<'_>],
    (quantity, value): (Graded, f32),
    far: f64,
) -> Option<Failure> {
    let has = |fact: &ResponseFact| match quantity.of(fact) {
        known if known.is_finite() => f64::from(u8::from(known == value)),
        _ => f64::NAN,
    };
    let shares = sums(steps, &has);
    let start = steepest(steps, &shares, &(0..steps.len()), false).filter(|edge| edge.is_beyond(far))?;
    let later = start.at..steps.len();
    let end = steepest(steps, &shares, &later, true).filter(|edge| edge.is_beyond(far));
    let [before, there] = [&steps[start.fewer.clone()], &steps[start.more.clone()]];
    let share = failing(start.shares);
    let are_same = |edge: &Edge| {
        are_same_responses(steps, edge.at, FEWEST)
            || is_abrupt(steps, &shares, edge) && are_same_responses(steps, edge.at, 1)
    };
    let are_same = are_same(&start) && end.as_ref().is_none_or(are_same);
    // Steps of another task have parts of their own; the reward is that of all tasks.
    let came_and_went = end.is_some() && share >= NEARLY_ALL;
    let is_told = are_same || came_and_went && quantity.0.is_none();
    let is_low = f64::from(value) < quantity.level(before).0;
    let comes_back = end.as_ref().is_none_or(|end| {
        let [was, failed, is] = [before, there, &steps[end.fewer.clone()]].map(|at| quantity.level(at).0);
        is - failed >= HALF * (was - failed)
    });
    if !is_low || !comes_back || !is_told || are_other_values([before, there], quantity, value) {
        return None;
    }
    let parts = 0..patient.plan.reward_parts.len().min(MAX_PARTS);
    let known = one_valued(there, &has, parts);
    let together = fail_too([before, there], next_to(steps, start.at), &known, share);
    let places = start.at..end.as_ref().map_or(steps.len(), |end| end.at);
    let all = &steps[places.clone()];
    if share < NEARLY_ALL
        && is_explained(all, &has, quantity, (&known, &together), patient.plan.reward_parts.len())
    {
        return None;
    }
    let strikes_any = strikes_any(before, there, &has, share);
    let is_likely = match &end {
        Some(_) => strikes_any || came_and_went,
        None => strikes_any && together.len() >= TOGETHER,
    };
    let is_possible = strikes_any || share >= NEARLY_ALL && together.len() >= TOGETHER;
    (is_likely || is_possible).then_some(Failure {
        quantity,
        value,
        places,
        shares: start.shares,
        together,
        are_same,
        confidence: if is_likely { Confidence::Likely } else { Confidence::Possible },
    })
}

impl Edge {
    fn is_beyond(&self, far: f64) -> bool {
        let [fewer, more] = self.shares;
        self.height() > far && failing([fewer, more - ERRORS * self.errors]) > SOME
    }

    fn height(&self) -> f64 {
        (self.shares[1] - self.shares[0]) / self.errors
    }
}

/// The place within some at which a share rises most, or falls most, in standard errors.
fn steepest(steps: &[GroupsAtStep<'_>], sums: &[Sums], within: &Range<usize>, falls: bool) -> Option<Edge> {
    let edge = |at: usize| {
        let [before, there] = near(steps, at, within)?;
        let [fewer, more] = if falls { [there, before] } else { [before, there] };
        let groups =
            [&fewer, &more].map(|places| sums[(*places).clone()].iter().map(|[n, ..]| n).sum::<f64>());
        let levels = [&fewer, &more].map(|places| level(&sums[(*places).clone()]));
        // No group of some is no certainty: half of one might have been.
        let error = |side: usize| levels[side].1.max(0.5 / groups[side]);
        let shares = levels.map(|(share, _)| share);
        let is_known = levels.iter().all(|(share, error)| share.is_finite() && error.is_finite());
        is_known.then(|| Edge { at, fewer, more, shares, errors: error(0).hypot(error(1)) })
    };
    within.clone().filter_map(edge).max_by(|a, b| a.height().total_cmp(&b.height()).then(b.at.cmp(&a.at)))
}

/// Whether at least half of a rise, or a fall, is from one step to the next, with groups enough in both.
fn is_abrupt(steps: &[GroupsAtStep<'_>], sums: &[Sums], edge: &Edge) -> bool {
    let places = [edge.at - 1, edge.at];
    let [last, next] = places.map(|at| level(&sums[at..=at]).0);
    let are_enough = places.iter().all(|at| steps[*at].groups.len() >= ENOUGH);
    are_enough && (next - last).abs() >= HALF * (edge.shares[1] - edge.shares[0])
}

/// Whether what is logged of a response tells who gets the value, apart from parts that are one value wherever it is. Those
/// in which such a part is another one, though it does not fail with it, were graded, and say nothing of who is not.
fn is_explained(
    there: &[GroupsAtStep<'_>],
    has: &dyn Fn(&ResponseFact) -> f64,
    quantity: Graded,
    (known, lost): (&[FailedPart], &[FailedPart]),
    parts: usize,
) -> bool {
    let others = (0..parts.min(MAX_PARTS))
        .filter(|part| known.iter().all(|(known, _)| known != part) && quantity.0 != Some(*part));
    let may_fail = |fact: &ResponseFact| {
        let mut parts = known.iter().filter(|part| quantity.0 != Some(part.0) && !lost.contains(part));
        parts.all(|(part, value)| Graded(Some(*part)).of(fact) == *value)
    };
    let has = |fact: &ResponseFact| if may_fail(fact) { has(fact) } else { f64::NAN };
    let owned: Vec<OwnedFeature> = others.map(part).collect();
    let mut features: Vec<Feature<'_>> = owned.iter().map(AsRef::as_ref).collect();
    features.extend(OF_RESPONSES.iter().map(|of| of as Feature<'_>));
    explained(groups_of(there), &has, &features).is_none_or(|explained| explained.upper > SMALL)
}

/// Whether any response may get the value: fewer groups have none of it than whole groups that were lost would leave, and
/// as few as failures would.
fn strikes_any(
    before: &[GroupsAtStep<'_>],
    there: &[GroupsAtStep<'_>],
    has: &dyn Fn(&ResponseFact) -> f64,
    share: f64,
) -> bool {
    let without = |group: &&[ResponseFact]| group.iter().all(|fact| has(fact) == 0.0);
    let groups = groups_of(there).count() as f64;
    let usual = groups_of(before).filter(without).count() as f64 / groups_of(before).count().max(1) as f64;
    let left = groups_of(there).filter(without).count() as f64;
    let by_failures: f64 = groups_of(there).map(|group| usual * (1.0 - share).powf(group.len() as f64)).sum();
    let by_groups = usual * (1.0 - share) * groups;
    left <= by_failures + ERRORS * (by_failures + 1.0).sqrt()
        && left + ERRORS * (left + 1.0).sqrt() < by_groups
}

fn told(patient: &Patient<'_>, steps: &[GroupsAtStep<'_>], failure: &Failure) -> Finding {
    let Failure { quantity, value, places, shares: [before, there], together, are_same, confidence } =
        failure;
    let side = Side::of(places, steps.len(), |at| steps[at].step);
    let name = match quantity.0 {
        None => "the reward".into(),
        Some(_) => quantity.name(patient).to_string(),
    };
    let with: Vec<String> = together
        .iter()
        .filter(|(part, _)| quantity.0 != Some(*part))
        .map(|(part, value)| {
            format!("{} {}", Graded(Some(*part)).name(patient), measured((*value).into(), 2))
        })
        .collect();
    let with = if with.is_empty() { String::new() } else { format!(" (with {})", with.join(", ")) };
    let alike = match are_same {
        true => ", whatever they are: they are as long, as likely and of the same entropy as before",
        false => "",
    };
    found(
        CauseCode::UninformativeReward,
        *confidence,
        Some(steps[places.start].step),
        format!(
            "{}{name} is {}{with} in {} of the responses, just before in {}{alike}. The grader fails for about {} of them",
            side.opens(),
            measured((*value).into(), 2),
            percent(*there),
            percent(*before),
            percent(failure.share()),
        ),
        HINT,
        vec![
            number("the value of a failure", (*value).into()),
            number("share of responses with it there", *there),
            number("the same just before", *before),
            number("share of responses for which the grader fails, about", failure.share()),
            number("parts that fail in the same responses", together.len() as f64),
        ],
    )
    .before(side.end())
}
