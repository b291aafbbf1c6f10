//! The reward rises while a part of it falls.
//!
//! Statistic: lasting changes of the total and of its parts (see `stats::sustained` for their false
//! alarms), and how much of the advantage length explains within groups.
//! Threshold: a part that was damaged while the total rose for good is likely; while the total did
//! neither it is only possible: then something else may have taken the part away. A part with which the total fell, in as
//! many steps from there on as before, five at the most (three standard errors), was not given up for it.
//! Without a rise, before any damage or after it: in groups with right and wrong answers, what is right explains less than a
//! quarter of the advantage while length or another part explains more than half (both ends three
//! standard errors away), and a right answer raises the advantage by less than half of what that other does
//! over its usual range in a group (beyond three standard errors): the update pays for something
//! else. The last, since right answers that are rare explain little, however well they are paid. A reward
//! that is chance is another cause. Only possible by a part whose name has words that are not understood: it may not
//! be what is right.
//! Where answers do not differ (all right, or all wrong) nothing should be learned: among the groups that teach, of
//! four responses or more, those whose answers are equal and whose advantage rises with length, correlation
//! above 0.99, which chance gives in 1 of 200 groups of four and in none of eight; not where it rises as well
//! with another part of the reward, which length may follow (empty answers, steps that were solved), and where tokens
//! have advantages of their own (a critic's guesses) only where the reward rises with length, too. Likely above 5 % of the groups,
//! possible above 1 % (lower end, 99.9 %), over the run or on one side of a step. Brevity may be paid for; and where
//! longer is better among wrong answers alone, right ones have the higher advantage in most groups that have both (lower
//! end) and responses do not become longer, it is only possible: a reward may punish a long try less.
//! Without parts: the reward rose for good while responses were cut or looped, and before that length
//! explained more than half of the advantage: it was paid for. So it was where cut responses have the higher
//! mean advantage in most groups that have cut and finished ones (lower end, 99.9 %). Else it is possible: the
//! reward does not see what happens. So it is where parts are logged and none of them fell. Possible is, too, that
//! responses became less than half as long, or more than twice, while the reward rose, where being short (long) explains
//! more than a quarter of the advantage (lower end); and a part that fell while what is right rose with the reward: it was given up.

use super::super::damage::NOTICED;
use super::super::patient::{Finding, Patient, at, found, number, percent, share_bounds};
use super::super::within_groups::{Feature, MAX_PARTS, OwnedFeature, Slopes, explained, part};
use super::lasting::{Counts, Share};
use super::paid_length::{HINT, LENGTH_EXPLAINS};
use super::siblings::{is_mixed, more_where};
use super::{paid_length, uninformative_reward};
use crate::analyze::collect::signs::facts::ResponseFact;
use crate::analyze::result::{CauseCode, Confidence, Damage, Evidence};
use crate::ingest::Column;
use crate::stats::sustained::{Change, Direction};

/// What is right explains less than this of the advantage, …
const LITTLE: f64 = 0.25;
/// … and something else more than this.
const MOST: f64 = 0.5;
/// Shares of groups whose advantage is length although their answers do not differ.
const SOME: f64 = 0.05;
const FEW: f64 = 0.01;
/// Responses of a group that can tell a line from chance, and the correlation of a line.
const FEWEST: usize = 4;
/// A right answer that is paid less than this part of another quantity, by so many standard errors.
const HALF: f64 = 0.5;
const ERRORS: f64 = 3.0;
const ALL_BUT: f64 = 0.99;
/// The mean of equal advantages is the largest of them, but for rounding.
const ONE_VALUE: f32 = 0.999;

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    let needs = Finding::NotChecked("the parts of the reward, as columns reward/<name>");
    if !patient.has(Column::Reward) && !patient.plan.reward_parts.is_empty() {
        return Finding::NotChecked("reward, the whole of it beside its parts");
    }
    if !patient.has(Column::Reward) {
        return needs;
    }
    if patient.plan.reward_parts.is_empty() {
        return paid_length::by_length(patient).or_else(|| paid_length::by_course(patient)).unwrap_or(needs);
    }
    let is_part = |damage: &&Damage| damage.signal.starts_with("reward/");
    let is_alone = |damage: &&Damage| !fell_with(patient, damage.from_step);
    let parts: Vec<&Damage> = patient.changes.damage.iter().filter(is_part).collect();
    let fallen: Vec<&Damage> = parts.iter().copied().filter(is_alone).collect();
    let paid = || [paid_for_something_else, paid_among_equals].into_iter().map(|look| look(patient));
    let Some(first) = fallen.first() else {
        if !parts.is_empty() {
            return paid().find(Finding::is_likely).unwrap_or(Finding::Absent);
        }
        let found = paid().find(|finding| !matches!(finding, Finding::Absent));
        return found.or_else(|| paid_length::by_length(patient)).unwrap_or(Finding::Absent);
    };
    let total_fell = patient.changes_of("reward").any(|change| change.direction == Direction::Down);
    let rise = patient.changes_of("reward").find(|change| change.direction == Direction::Up);
    if total_fell {
        return Finding::Absent;
    }
    let advantage = |f: &ResponseFact| f64::from(f.advantage);
    let length = |f: &ResponseFact| f64::from(f.length);
    let by_length = explained(patient.groups(), &advantage, &[&length]).map_or(0.0, |e| e.share);
    let mut evidence: Vec<_> = fallen.iter().map(|d| at(d.from_step, &d.signal, d.after)).collect();
    evidence.extend(rise.map(|rise| number("reward before", rise.before)));
    evidence.push(number("share of the advantage that length explains within groups", by_length));
    let named = |d: &&Damage| {
        let word = if d.after < d.before { "fell" } else { "rose" };
        format!("{} {word} {:.2} → {:.2}", d.signal, d.before, d.after)
    };
    let names: Vec<String> = fallen.iter().map(named).collect();
    let because = match by_length {
        share if share > LENGTH_EXPLAINS => {
            format!("; length alone explains {} of the advantage", percent(share))
        }
        _ => String::new(),
    };
    let Some(rise) = rise else {
        if let Some(likely) = paid().find(Finding::is_likely) {
            return likely;
        }
        let (course, levels) = course_of_reward(patient);
        evidence.extend(levels);
        return found(
            CauseCode::RewardHacking,
            Confidence::Possible,
            Some(first.from_step),
            format!("{} while {course}{because}", names.join(", ")),
            "look at what the total is made of: a part that is lost should cost reward",
            evidence,
        );
    };
    evidence.push(at(rise.onset, "reward", rise.after));
    let (confidence, too, hint) = match right_rose(patient) {
        Some((name, right)) => {
            evidence.push(at(right.onset, &name, right.after));
            let too = format!(" and {name} {:.2} → {:.2}", right.before, right.after);
            (
                Confidence::Possible,
                too,
                "see whether you need what was given up: weigh it more; or leave it out",
            )
        }
        None => (Confidence::Likely, String::new(), HINT),
    };
    found(
        CauseCode::RewardHacking,
        confidence,
        Some(first.from_step.min(rise.onset)),
        format!(
            "the reward rose {:.2} → {:.2}{too} while {}{because}",
            rise.before,
            rise.after,
            names.join(", ")
        ),
        hint,
        evidence,
    )
}

/// Whether the reward fell at a step, however it went before and long after: what fell with it was not given up for it.
fn fell_with(patient: &Patient<'_>, step: i64) -> bool {
    let around = patient.series("reward").and_then(|series| series.around(step));
    around
        .is_some_and(|[before, after]| before.value - after.value > ERRORS * before.error.hypot(after.error))
}

/// What is right, apart from the reward, where it rose for good and did nothing else.
fn right_rose(patient: &Patient<'_>) -> Option<(String, Change)> {
    let name = patient.right().filter(|right| right.part.is_some())?.signal();
    let mut changes = patient.changes_of(&name);
    let only = changes.next().filter(|change| change.direction == Direction::Up).copied();
    only.filter(|_| changes.next().is_none()).map(|change| (name.clone(), change))
}

/// How the reward went where neither a fall nor a rise is beyond chance: it stood still only where a noticeable
/// change is out of reach.
fn course_of_reward(patient: &Patient<'_>) -> (String, Vec<Evidence>) {
    let course = patient.series("reward").and_then(|series| Some((series.ends()?, series.range?)));
    let Some(([began, ended], [.., deviation])) = course else {
        return ("the reward did not rise".into(), Vec::new());
    };
    let levels = vec![
        number("reward over the first quarter of the steps", began.value),
        number("reward over the last quarter of the steps", ended.value),
    ];
    let farthest = (ended.value - began.value).abs() + ERRORS * began.error.hypot(ended.error);
    if farthest < NOTICED * deviation {
        return ("the reward stood still".into(), levels);
    }
    let steps = patient.analysis.steps.len();
    let told = format!("{:.2} → {:.2} (not beyond chance in {steps} steps)", began.value, ended.value);
    (format!("the reward went {told}"), levels)
}

/// Groups whose answers do not differ, and whose advantage is the length of the response.
fn paid_among_equals(patient: &Patient<'_>) -> Finding {
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
    let longer = patient.changes_of("length").any(|change| change.direction == Direction::Up);
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

/// What the advantage follows in groups in which answers differ.
fn paid_for_something_else(patient: &Patient<'_>) -> Finding {
    let Some(right) = patient.right().filter(|right| right.part.is_some()) else { return Finding::Absent };
    let mixed = |group: &&[ResponseFact]| is_mixed(group, |fact| right.of(fact));
    let advantage = |f: &ResponseFact| f64::from(f.advantage);
    let share = |of: Feature<'_>| explained(patient.groups().filter(mixed), &advantage, &[of]);
    let is_right = |f: &ResponseFact| right.of(f).map_or(f64::NAN, |right| f64::from(u8::from(right)));
    let Some(by_right) = share(&is_right).filter(|e| e.upper < LITTLE) else { return Finding::Absent };
    let names = &patient.plan.reward_parts;
    let others = (0..names.len().min(MAX_PARTS)).filter(|index| Some(*index) != right.part);
    let mut rivals: Vec<(String, OwnedFeature)> = vec![("length".into(), Box::new(|f| f64::from(f.length)))];
    rivals.extend(others.map(|index| (format!("reward/{}", names[index]), part(index))));
    let shares = rivals.iter().filter_map(|(name, of)| Some((name, of, share(of.as_ref())?)));
    let Some((name, rival_of, rival)) =
        shares.filter(|(_, _, e)| e.lower > MOST).max_by(|a, b| a.2.share.total_cmp(&b.2.share))
    else {
        return Finding::Absent;
    };
    let Some([paid, paid_rival]) = paid(patient.groups().filter(mixed), &is_right, rival_of.as_ref()) else {
        return Finding::Absent;
    };
    if matches!(uninformative_reward::examine(patient), Finding::Found(_)) {
        return Finding::Absent;
    }
    found(
        CauseCode::RewardHacking,
        if right.is_plain() { Confidence::Likely } else { Confidence::Possible },
        patient.analysis.steps.first().map(|row| row.step),
        format!(
            "where answers differ, {name} explains {} of the advantage and what is right ({}) {}: the update \
             pays for something else",
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
    )
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
