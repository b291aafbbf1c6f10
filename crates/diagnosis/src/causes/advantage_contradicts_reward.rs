//! Within groups the advantage does not rise with the reward.
//!
//! Statistic: the sign of the covariance of advantage and reward in every group in which both
//! differ (in every step, where there are no siblings: then it can be found and, but where most
//! steps are all but a line, not be ruled out); and the groups whose rewards differ while all
//! advantages are 0.
//! Threshold: any baseline and any scale leave the sign positive, so healthy runs have none. Likely
//! where the lower end of the share (Wilson, 99.9 %) is above 5 %, possible above 1 %, over the run or
//! on one side of the step at which the share changed (`lasting`); likely above 1 %, too, where advantages are all but a line
//! of the rewards, up or down, in nineteen groups of twenty: nothing but a wrong sign turns such a group; for advantages of
//! 0, which filters give on purpose, likely above one half. So it is where tokens of one response have advantages of both signs: a
//! learned value is taken off, or a penalty of tokens, and its errors turn the order in healthy groups.
//! Where advantages belong to some other responses, most groups still agree on the whole. So, where each
//! response has one advantage: groups in which an answer is pushed up (A > 0) while one whose reward is higher
//! by half of the group's range or more is pushed down (A < 0). Any baseline of the group, of the batch or
//! of the past and any positive scale leave none. The same thresholds.
//! Rewards of the wrong sign are in `punished_answers`, advantages of other groups in `other_groups`, and what a KL term in
//! the reward turns in `penalised_reward`.

mod crossed_signs;
mod other_groups;
mod penalised_reward;
mod punished_answers;

use self::crossed_signs::{Crossed, have_one_advantage};
use self::penalised_reward::Penalty;
use super::shared::lasting::{Counts, Side};
use crate::evidence::{at, number};
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::words::{percent, shell_word, short};
use stapo_batch::columns::Column;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence};

const LIKELY: f64 = 0.05;
const POSSIBLE: f64 = 0.01;
const MOST: f64 = 0.5;
/// A step whose advantages are all but a line of its rewards has no group that is turned.
const IN_LINE: f64 = 0.99;
const NEARLY_ALL: f64 = 0.95;

/// Groups that are named.
const NAMED: usize = 3;

const LOOK_FOR: &str = "look for a sign, a shuffled join of rewards and responses, or another reward than the \
                        logged one in the advantage";

enum Kind {
    /// Nothing to compare.
    Silent,
    /// Rewards differ, advantages are all 0.
    Zeroed,
    /// The advantage rises with the reward: their correlation.
    Agrees(f64),
    /// It falls: their correlation.
    Contradicts(f64),
}

fn kind(group: &[ResponseFact]) -> Kind {
    let known = || group.iter().filter(|f| f.reward.is_finite() && f.advantage.is_finite());
    let n = known().count() as f64;
    let mean = |of: fn(&ResponseFact) -> f32| known().map(|f| f64::from(of(f))).sum::<f64>() / n.max(1.0);
    let (reward, advantage) = (mean(|f| f.reward), mean(|f| f.advantage));
    let (mut rr, mut aa, mut ra) = (0.0, 0.0, 0.0);
    for fact in known() {
        let (r, a) = (f64::from(fact.reward) - reward, f64::from(fact.advantage) - advantage);
        rr += r * r;
        aa += a * a;
        ra += r * a;
    }
    let size = known().map(|f| f64::from(f.reward).abs()).fold(0.0, f64::max);
    if rr <= 1e-10 * n * size * size {
        return Kind::Silent;
    }
    match ra {
        _ if known().all(|f| f.advantage == 0.0 && f.signs == [false; 2]) => Kind::Zeroed,
        _ if aa <= 0.0 => Kind::Silent,
        ra if ra < -1e-6 * (rr * aa).sqrt() => Kind::Contradicts(ra / (rr * aa).sqrt()),
        _ => Kind::Agrees(ra / (rr * aa).sqrt()),
    }
}

/// Whether the advantages of a group are all but a line of its rewards, up or down, which two responses always are.
fn is_exact(kind: &Kind, group: &[ResponseFact]) -> bool {
    let (Kind::Agrees(correlation) | Kind::Contradicts(correlation)) = kind else { return false };
    group.len() > 2 && correlation.abs() > IN_LINE
}

/// A group that shows it.
struct Example {
    step: i64,
    group: u64,
    /// What of it is told; the smaller, the plainer it is.
    value: f64,
}

/// The groups on that side that contradict most plainly, with their names.
fn clearest(patient: &Patient<'_>, side: Side, mut all: Vec<Example>) -> Vec<(String, Example)> {
    all.retain(|example| side.holds(example.step));
    all.sort_by(|a, b| a.value.total_cmp(&b.value).then_with(|| (a.step, a.group).cmp(&(b.step, b.group))));
    all.truncate(NAMED);
    let hashes: Vec<u64> = all.iter().map(|example| example.group).collect();
    let names = patient.names_of(&hashes);
    all.into_iter().filter_map(|example| Some((names.get(&example.group)?.clone(), example))).collect()
}

/// ", as in group 7 of step 12, …".
fn examples(told: &[(String, Example)]) -> String {
    let named: Vec<String> = told
        .iter()
        .map(|(name, example)| format!("group {} of step {}", short(name), example.step))
        .collect();
    match named.split_last() {
        None => String::new(),
        Some((one, [])) => format!(", as in {one}"),
        Some((last, others)) => format!(", as in {} and {last}", others.join(", ")),
    }
}

fn hint(told: &[(String, Example)]) -> String {
    let command = told.iter().find_map(|(name, example)| {
        let name = shell_word(name)?;
        Some(format!("stapo-analyze show RUN --step {} --group={name}", example.step))
    });
    match command {
        None => format!("compare the order of rewards and advantages in such a step; {LOOK_FOR}"),
        Some(command) => format!("compare the order of rewards and advantages ({command}); {LOOK_FOR}"),
    }
}

/// Groups (or steps) whose advantage falls with the reward; likely from a share of `enough` on.
fn falls(
    patient: &Patient<'_>,
    (against, enough): (&Counts, f64),
    contradicting: Vec<Example>,
    unit: &str,
) -> Option<Finding> {
    let share = against.share(enough).filter(|share| share.lower() > POSSIBLE)?;
    let low = share.lower();
    let mut evidence = share.evidence(
        &format!("share of {unit} whose advantage falls with the reward"),
        &format!("{unit} in which both differ"),
    );
    if share.side != Side::Whole {
        evidence.push(number("the share over the run", share.value_of_run()));
    }
    let told = if patient.has_siblings() {
        clearest(patient, share.side, contradicting)
    } else {
        Default::default()
    };
    evidence.extend(told.iter().map(|(name, example)| {
        at(
            example.step,
            &format!("correlation of advantage and reward in group {}", short(name)),
            example.value,
        )
    }));
    Some(
        found(
            CauseCode::AdvantageContradictsReward,
            if low > enough { Confidence::Likely } else { Confidence::Possible },
            Some(share.from_step),
            format!(
                "in {} of the {unit}{} ({} of {}) the better answers have the lower advantage{}: the update \
             pushes against the reward",
                percent(share.value()),
                share.side.told(),
                share.hits,
                share.tries,
                examples(&told)
            ),
            &hint(&told),
            evidence,
        )
        .before(share.side.end()),
    )
}

/// Whether siblings have one advantage each.
fn has_one_advantage(patient: &Patient<'_>) -> bool {
    patient.has_siblings() && have_one_advantage(patient.signs.facts.responses.iter())
}

/// Groups whose order is turned on the whole, or by some of their responses: the likely one, of equals the first.
fn turned(
    patient: &Patient<'_>,
    counts: (&Counts, f64),
    contradicting: Vec<Example>,
    unit: &str,
) -> Option<Finding> {
    match falls(patient, counts, contradicting, unit) {
        Some(found) if found.is_likely() => Some(found),
        whole => crossed(patient).filter(|found| found.is_likely() || whole.is_none()).or(whole),
    }
}

/// Groups in which an answer is pushed up while a clearly better one is pushed down.
fn crossed(patient: &Patient<'_>) -> Option<Finding> {
    if !has_one_advantage(patient) {
        return None;
    }
    let (counts, found_groups) = crossed_signs::crossed(patient.groups());
    let share = counts.share(LIKELY).filter(|share| share.lower() > POSSIBLE)?;
    let example =
        |crossed: Crossed| Example { step: crossed.step, group: crossed.group, value: -crossed.gap };
    let told = clearest(patient, share.side, found_groups.into_iter().map(example).collect());
    let mut evidence =
        share.evidence("share of groups whose signs are crossed", "groups with advantages of both signs");
    evidence.extend(told.iter().map(|(name, example)| {
        let better = "reward by which the answer that is pushed down is better";
        let what = format!("{better} in group {}", short(name));
        at(example.step, &what, -example.value)
    }));
    Some(found(
        CauseCode::AdvantageContradictsReward,
        if share.lower() > LIKELY { Confidence::Likely } else { Confidence::Possible },
        Some(share.from_step),
        format!(
            "in {} of the groups{} ({} of {}) an answer is pushed up while one with a clearly higher reward is \
             pushed down{}: advantages are of other responses, or of another reward",
            percent(share.value()),
            share.side.told(),
            share.hits,
            share.tries,
            examples(&told)
        ),
        &hint(&told),
        evidence,
    )
    .before(share.side.end()))
}

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    if !patient.has(Column::Reward) {
        return Finding::NotChecked("reward");
    }
    let (mut judged, mut by_token, mut in_line, mut exact) = (0, 0, 0, 0);
    let (mut against, mut zeroed) = (Counts::default(), Counts::default());
    let mut contradicting: Vec<Example> = Vec::new();
    let mut note = |group: &[ResponseFact]| {
        let kind = kind(group);
        if !matches!(kind, Kind::Silent) {
            zeroed.add(group[0].step, matches!(kind, Kind::Zeroed));
        }
        match kind {
            Kind::Silent | Kind::Zeroed => {}
            Kind::Agrees(_) | Kind::Contradicts(_) => {
                judged += 1;
                in_line += u64::from(matches!(kind, Kind::Agrees(correlation) if correlation > IN_LINE));
                exact += u64::from(is_exact(&kind, group));
                by_token += u64::from(group.iter().any(|fact| fact.signs == [true; 2]));
                let correlation =
                    if let Kind::Contradicts(correlation) = kind { Some(correlation) } else { None };
                against.add(group[0].step, correlation.is_some());
                let (step, group) = (group[0].step, group[0].group);
                contradicting.extend(correlation.map(|value| Example { step, group, value }));
            }
        }
    };
    patient.units().for_each(&mut note);
    let Some(zeroed) = zeroed.share(MOST) else { return Finding::Absent };
    let unit = if patient.has_siblings() { "groups" } else { "steps" };
    let enough = match exact as f64 >= NEARLY_ALL * judged as f64 {
        _ if 2 * by_token > judged => MOST,
        true => POSSIBLE,
        false => LIKELY,
    };
    let penalty = Some(patient.groups()).filter(|_| has_one_advantage(patient)).and_then(Penalty::of);
    let first = match &penalty {
        Some(penalty) => penalty.finding(),
        None => turned(patient, (&against, enough), contradicting, unit),
    };
    let first = first.or_else(|| punished_answers::examine(patient));
    let first = match first {
        Some(found) if found.is_likely() => Some(found),
        other if penalty.is_some() => other,
        // What advantages were made of comes before what became of them.
        other => other_groups::look(patient).or(other),
    };
    if let Some(found) = first {
        return found;
    }
    if zeroed.lower() > MOST {
        return found(
            CauseCode::AdvantageContradictsReward,
            Confidence::Likely,
            Some(zeroed.from_step),
            format!(
                "rewards differ but all advantages are 0 in {} of {} {unit}{}: nothing is learned from them",
                zeroed.hits,
                zeroed.tries,
                zeroed.side.told()
            ),
            "look at how advantages are made from rewards, and at filters that set them to 0",
            vec![number(&format!("share of {unit}"), zeroed.value())],
        )
        .before(zeroed.side.end());
    }
    match 2 * in_line > judged {
        true => Finding::Absent,
        // A fault of some groups leaves the sign of a whole step.
        false => patient.nothing_among_siblings(),
    }
}
