//! Answers do not differ, and the advantage is the length of the response.
//!
//! Where answers do not differ (all right, or all wrong) nothing should be learned: among the groups that teach, of
//! four responses or more, those whose answers are equal and whose advantage rises with length, correlation
//! above 0.99, which chance gives in 1 of 200 groups of four and in none of eight; not where it rises as well
//! with another part of the reward, which length may follow (empty answers, steps that were solved), and where tokens
//! have advantages of their own (a critic's guesses) only where the reward rises with length, too. Likely above 5 % of the groups,
//! possible above 1 % (lower end, 99.9 %), over the run or on one side of a step. Brevity may be paid for; and where
//! longer is better among wrong answers alone, right ones have the higher advantage in most groups that have both (lower
//! end) and responses do not become longer, it is only possible: a reward may punish a long try less.

use crate::causes::shared::bounds::share_bounds;
use crate::causes::shared::lasting::{Counts, Share};
use crate::causes::shared::siblings::{is_mixed, more_where};
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::responses::within_groups::{Feature, MAX_PARTS, OwnedFeature, part};
use stapo_base::stats::sustained::Direction;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence, SignalName};

/// Shares of groups whose advantage is length although their answers do not differ.
const SOME: f64 = 0.05;
const FEW: f64 = 0.01;
/// Responses of a group that can tell a line from chance, and the correlation of a line.
const FEWEST: usize = 4;
const ALL_BUT: f64 = 0.99;
/// Groups in which right answers have the higher advantage, where they are paid.
const MOST: f64 = 0.5;
/// The mean of equal advantages is the largest of them, but for rounding.
const ONE_VALUE: f32 = 0.999;

/// Groups whose answers do not differ, and whose advantage is the length of the response.
pub fn paid_among_equals(patient: &Patient<'_>) -> Finding {
    let Some(right) = patient.right().filter(|right| right.part.is_some()) else { return Finding::Absent };
    // Parts that may explain it as well: then length merely follows.
    let names = patient.plan.reward_parts.iter().take(MAX_PARTS).enumerate();
    let others: Vec<OwnedFeature> =
        names.filter(|(_, name)| !measures_length(name)).map(|(index, _)| part(index)).collect();
    let advantage = |f: &ResponseFact| f64::from(f.advantage);
    let reward = |f: &ResponseFact| f64::from(f.reward);
    let mut by_length = Counts::default();
    // Of groups with right answers only, by step: whether longer is better, or worse.
    let mut of_right: Vec<(i64, [bool; 2])> = Vec::new();
    // Groups with right and wrong answers in which the right ones have the higher advantage, and all of them.
    let mut paid = [0, 0];
    for group in patient.groups() {
        let is_known = group.iter().all(|f| right.of(f).is_some() && f.advantage.is_finite());
        if is_known && group.len() >= FEWEST && group.iter().any(|f| f.signs != [false; 2]) {
            let equal = !is_mixed(group, |fact| right.of(fact));
            let of_length = |f: &ResponseFact| f64::from(f.length);
            let rises = |of: Feature<'_>| correlation(group, &advantage, of) > ALL_BUT;
            let is_length = equal
                && rises(&of_length)
                && !others.iter().any(|other| rises(other.as_ref()))
                && (!is_by_token(group) || correlation(group, &reward, &of_length) > ALL_BUT);
            by_length.add(group[0].step, is_length);
            if !equal {
                let more = more_where(group, |fact| right.of(fact), |fact| fact.advantage);
                paid = [paid[0] + u64::from(more > 0.0), paid[1] + 1];
            }
            if equal && right.of(&group[0]) == Some(true) {
                let worse = correlation(group, &advantage, &of_length) < -ALL_BUT;
                of_right.push((group[0].step, [is_length, worse]));
            }
        }
    }
    let Some(share) = by_length.share(SOME).filter(|share| share.lower() > FEW) else {
        return Finding::Absent;
    };
    let there = of_right.iter().filter(|(step, _)| share.side.holds(*step));
    let [better, worse] = there.fold([0, 0], |sum, (_, [better, worse])| {
        [sum[0] + usize::from(*better), sum[1] + usize::from(*worse)]
    });
    let longer = patient.changes_of(&SignalName::Length).any(|change| change.direction == Direction::Up);
    let is_paid = share_bounds(paid[0], paid[1])[0] > MOST;
    among_equals(&share, right.name, better > 0, better > worse || longer || !is_paid)
}

/// `of_right` where longer is better among right answers, too. Of wrong ones alone it may be meant: a long try is
/// punished less, and right answers are paid for brevity (cosine rewards).
fn among_equals(share: &Share, name: &str, of_right: bool, is_gamed: bool) -> Finding {
    let (answers, hint) = match of_right {
        true => (
            "all right or all wrong",
            "see whether responses become longer without becoming better; where answers do not differ, pay for \
             nothing, or for brevity",
        ),
        false => (
            "all wrong",
            "see whether responses become longer without becoming better; where no answer is right, pay for nothing, or \
             bound what a long try earns",
        ),
    };
    found(
        CauseCode::RewardHacking,
        if is_gamed && share.lower() > SOME { Confidence::Likely } else { Confidence::Possible },
        Some(share.from_step),
        format!(
            "in {} of {} groups that teach{}, answers are {answers} ({name}) and the advantage is the length of \
             the response: longer is better",
            share.hits,
            share.tries,
            share.side.told(),
        ),
        hint,
        share.evidence("share of groups whose advantage is length", "groups that teach"),
    )
    .before(share.side.end())
}

/// Whether the name of a part says that it pays for length, or for brevity.
fn measures_length(name: &str) -> bool {
    ["len", "long", "short", "brev", "token"].iter().any(|word| name.to_lowercase().contains(word))
}

/// Whether tokens of a response have advantages of their own, as a critic gives them: the mean follows its guesses.
fn is_by_token(group: &[ResponseFact]) -> bool {
    group.iter().any(|f| f.largest * ONE_VALUE > f.advantage.abs())
}

/// The correlation of two quantities; 0 where either does not differ, or is not known.
fn correlation(group: &[ResponseFact], of: Feature<'_>, with: Feature<'_>) -> f64 {
    let n = group.len() as f64;
    let pairs = || group.iter().map(|f| (with(f), of(f)));
    let (x, a) = pairs().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0 / n, sum.1 + pair.1 / n));
    let (xx, aa, xa) = pairs()
        .map(|pair| (pair.0 - x, pair.1 - a))
        .fold((0.0, 0.0, 0.0), |sum, (x, a)| (sum.0 + x * x, sum.1 + a * a, sum.2 + x * a));
    let size: f64 = xx * aa;
    if size > 0.0 { xa / size.sqrt() } else { 0.0 }
}
