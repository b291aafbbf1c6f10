//! Nothing that is logged of a response explains its reward.
//!
//! Statistic: the share of the variance of the reward within groups (within steps, where there are no siblings)
//! that its parts, length, whether it was cut, entropy and surprisal explain; how much the rewards of siblings
//! with equal tokens differ; and how much less rewards differ between siblings with equal endings.
//! A part that the reward is made of explains it whatever it measures: the others must explain the reward.
//! Threshold: an upper bound, not a p-value: likely where what is right is logged, is no part of the
//! reward and a verdict of two values, and at most 5 % can be explained (15 %, which few responses can
//! tell, or a graded witness, which need not be what is right, is possible); or where
//! the rewards of equal siblings differ at least half as much as those of any (in squares, three standard
//! errors over groups; a reward that reads the response leaves 0, and a noisy judge little), which is only
//! possible where what is logged explains 5 % of the reward (lower end), and says nothing of ranks. Where nothing
//! apart from the reward says what is right, at most 2 % is possible, and only where equal endings are rewarded
//! as differently as any: length and entropy need not tell a right answer.
//! A reward that is the same for right and wrong answers is told as such (`failed_grader`), and so is one that errs from a
//! step on (`erring_grader`), gives all responses of some steps one reward (`outage`), a share of them one value,
//! whatever they are (`failing_grader`), or a share of them something else than its parts say (`reward_beside_parts`).
//! A reward that broke in the middle of a run, or was mended there, is looked for on the side of the step at
//! which the share of groups whose reward does not follow what is right changed (`right_no_better`).

mod around_step;
mod composition;
mod erring_grader;
mod failed_grader;
mod failing_grader;
mod fails_with;
mod graded;
mod outage;
mod reward_beside_parts;

use self::composition::components;
use super::shared::lasting::Side;
use super::shared::right_no_better::right_no_better;
use super::shared::siblings::{Endings, Pairs, is_mixed};
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::responses::right::Right;
use crate::responses::told_reward::OF_RESPONSES;
use crate::responses::within_groups::{Explained, Feature, MAX_PARTS, OwnedFeature, explained, part};
use crate::words::percent;
use stapo_batch::columns::Column;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence};

const NEGLIGIBLE: f64 = 0.05;
const NEGLIGIBLE_WITHOUT_PARTS: f64 = 0.02;
/// What few responses can bound; possible, not likely.
const SMALL: f64 = 0.15;
/// Groups with right and wrong answers that a statement about the part that tells them apart needs.
const FEWEST_MIXED: usize = 10;

const HINT: &str = "read some responses with their rewards: the reward function may not see the response it \
                    scores, or not the right reference answer";
pub(super) const NEEDS: &str = "a part of the reward that says what is right (reward/answer), or --pass: length and \
                     entropy do not tell whether the reward follows the response";

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    if !patient.has(Column::Reward) || !patient.knows_groups() {
        return Finding::NotChecked("reward and group_id");
    }
    if let Some(failed) = failed_grader::examine(patient) {
        return failed;
    }
    let chance = by_chance(patient);
    if chance.is_likely() {
        return chance;
    }
    let found: Vec<Finding> = [outage::examine, failing_grader::examine, erring_grader::examine]
        .iter()
        .filter_map(|look| look(patient))
        .collect();
    let likely = found.iter().position(Finding::is_likely).unwrap_or(0);
    match (found.into_iter().nth(likely), chance) {
        (Some(found), _) | (None, found @ Finding::Found(_)) => found,
        (None, chance) => reward_beside_parts::examine(patient).unwrap_or(chance),
    }
}

/// A reward that looks like chance, over the run or on one side of a step.
fn by_chance(patient: &Patient<'_>) -> Finding {
    let of_the_run = examine_side(patient, Side::Whole);
    let broken =
        patient.right().and_then(|right| right_no_better(patient.units(), &right, |fact| fact.reward));
    let Some(broken) = broken.map(|side| examine_side(patient, side)) else { return of_the_run };
    match (broken.is_likely(), of_the_run.is_likely()) {
        (true, _) => broken,
        // What is paid before and what is paid after cancel: it is not chance.
        (false, true) => Finding::Absent,
        (false, false) => of_the_run,
    }
}

/// Looks for it in some steps.
fn examine_side(patient: &Patient<'_>, side: Side) -> Finding {
    let pairs = match patient.has(Column::TokenId) && patient.has_siblings() {
        true => Pairs::of(side.units(patient)),
        false => Pairs::default(),
    };
    let made_of = components(patient, side);
    let says_right = patient.right().and_then(|right| right.part).is_some_and(|part| made_of.contains(&part));
    let witness = patient.right().filter(|right| is_witness(patient, side, right, &made_of));
    let (witnessed, is_verdict) = (witness.is_some(), witness.is_some_and(|right| right.is_verdict));
    let is_apart = |part: &usize| !made_of.contains(part) && !says_right;
    let parts = 0..patient.plan.reward_parts.len().min(MAX_PARTS);
    let explained = explained_by(patient, side, &parts.filter(is_apart).collect::<Vec<_>>());
    let is_chance = |negligible: f64| explained.is_some_and(|e| e.lower <= 0.0 && e.upper < negligible);
    if pairs.contradict() && !(witnessed && is_chance(NEGLIGIBLE)) {
        let follows = explained.is_some_and(|e| e.lower > NEGLIGIBLE);
        return equal_siblings(patient, side, &pairs, follows);
    }
    let Some(explained) = explained else { return Finding::Absent };
    let told = |confidence| chance((patient, side), confidence, &explained, &pairs, &made_of);
    match pairs.endings() {
        _ if is_verdict && is_chance(NEGLIGIBLE) => told(Confidence::Likely),
        _ if witnessed && is_chance(SMALL) => told(Confidence::Possible),
        _ if witnessed => Finding::Absent,
        Endings::Silent if is_chance(NEGLIGIBLE_WITHOUT_PARTS) => told(Confidence::Possible),
        Endings::Tell => Finding::Absent,
        _ if says_right || explained.lower > NEGLIGIBLE_WITHOUT_PARTS => Finding::Absent,
        _ => Finding::NotChecked(NEEDS),
    }
}

/// Whether what is right is known apart from the reward: not a part that the reward is made of, and
/// different between siblings.
fn is_witness(patient: &Patient<'_>, side: Side, right: &Right<'_>, made_of: &[usize]) -> bool {
    right.part.is_some_and(|part| !made_of.contains(&part))
        && side.units(patient).filter(|group| is_mixed(group, |fact| right.of(fact))).count() >= FEWEST_MIXED
}

/// The share of the reward that parts, length, cuts, entropy and surprisal explain.
fn explained_by(patient: &Patient<'_>, side: Side, parts: &[usize]) -> Option<Explained> {
    let owned: Vec<OwnedFeature> = parts.iter().map(|index| part(*index)).collect();
    let mut features: Vec<Feature<'_>> = owned.iter().map(AsRef::as_ref).collect();
    features.extend(OF_RESPONSES.iter().map(|of| of as Feature<'_>));
    let reward = |f: &ResponseFact| f64::from(f.reward);
    explained(side.units(patient), &reward, &features)
}

fn chance(
    (patient, side): (&Patient<'_>, Side),
    confidence: Confidence,
    explained: &Explained,
    pairs: &Pairs,
    made_of: &[usize],
) -> Finding {
    let names: Vec<String> =
        made_of.iter().map(|part| format!("reward/{}", patient.plan.reward_parts[*part])).collect();
    let what = match (names.len(), patient.plan.reward_parts.len()) {
        (0, 0) => "length and entropy".to_owned(),
        (0, _) => "parts, length and entropy".to_owned(),
        (hidden, all) if hidden == all => {
            format!("the reward is {} alone; length and entropy", names.join(" and "))
        }
        _ => format!("the reward is {} alone; the other parts, length and entropy", names.join(" and ")),
    };
    // Where a prompt has one response each, those of its step are what it is held against.
    let (others, units) = match patient.has_siblings() {
        true => ("its siblings'", "groups"),
        false => ("that of the other responses of its step", "steps"),
    };
    let mut evidence = vec![
        number(&format!("explained share of the reward within {units}"), explained.share),
        number("its upper end", explained.upper),
        number("responses", explained.responses),
    ];
    if patient.has_siblings() {
        evidence.extend([
            number("pairs of equal siblings", pairs.equal[0] as f64),
            number("of these with different rewards", pairs.equal[1] as f64),
        ]);
    }
    evidence.extend(pairs.left().map(|[left, _]| {
        number("squared difference of rewards between equal endings, 1 as between any siblings", left)
    }));
    found(
        CauseCode::UninformativeReward,
        confidence,
        side.first_step(patient),
        format!(
            "{}{what} of a response explain at most {} of how its reward differs from {others}: the reward \
             looks like chance",
            side.opens(),
            percent(explained.upper)
        ),
        HINT,
        evidence,
    )
    .before(side.end())
}

/// Equal siblings with different rewards; `follows` where what is logged of responses explains some of the
/// reward all the same.
fn equal_siblings(patient: &Patient<'_>, side: Side, pairs: &Pairs, follows: bool) -> Finding {
    let [all, differ] = pairs.equal;
    let apart = pairs.apart().map_or(f64::NAN, |[apart, _]| apart);
    let (confidence, so) = match follows {
        true => (
            Confidence::Possible,
            "it follows from the response only in part (a rank among siblings, or a judge that is not sure)",
        ),
        false => (Confidence::Likely, "the reward does not follow from the response"),
    };
    found(
        CauseCode::UninformativeReward,
        confidence,
        side.first_step(patient),
        format!(
            "{}{differ} of {all} pairs of siblings with the same tokens have different rewards, {} as far \
             apart (in squares) as those of any siblings: {so}",
            side.opens(),
            percent(apart)
        ),
        HINT,
        vec![
            number("pairs of equal siblings", all as f64),
            number("of these with different rewards", differ as f64),
            number("squared difference of their rewards, 1 as between any siblings", apart),
        ],
    )
    .before(side.end())
}
