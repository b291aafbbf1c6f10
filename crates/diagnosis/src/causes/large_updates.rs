//! The policy moves too far within a step.
//!
//! Statistic: k3 of ln π_θ − ln π_old with ratios cut at 10, the mean over a step's tokens without the one that
//! rose most. A mean of e^d is made by its largest terms: a few tokens with huge ratios, also of values that
//! an engine filled in, are another cause. Cut, it takes one token of 200 to reach the edge.
//! Threshold: the k3 of a ratio at the edge of the clip (0.033 at 1.28), at most that of a ratio of 2: beyond it the mean
//! token has moved farther than the clip means any token to. One step beyond it is what the first update
//! of a fresh optimizer does in healthy runs; likely are two steps beyond it with one beyond three
//! times the edge, most steps beyond it, any step beyond ten times, or one beyond three times before
//! something was damaged.
//! A run is its own measure, too: k3 that rose tenfold, to a tenth of the edge or more, no later than the damage, is
//! likely (k3 goes with the square of the learning rate: tenfold is three times). It rose for good, or up to the
//! damage: a policy that has collapsed cannot move.
//! Without ratios, a jump of a nat a token away from the reference between two logged steps says
//! the same.
//! Advantages that became ten times as large for good make it possible, whatever ratios say: updates grow with them
//! unless gradients are clipped, and the optimizer's measure of their size lags behind.

use super::shared::lasting::Counts;
use crate::evidence::{at, at_the_end, number};
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::words::measured;
use stapo_base::stats::sustained::{Change, Direction, FEWEST_STEPS};
use stapo_batch::columns::Column;
use stapo_collect::collect::questions::difference::far_k3;
use stapo_result::offpolicy::Difference;
use stapo_result::{CauseCode, Confidence, Evidence, SignalName, StepRow};

const FAR_BEYOND: f64 = 3.0;
const WAY_BEYOND: f64 = 10.0;
/// Nats a token from the reference within one logged step.
const JUMP: f64 = 1.0;
const SHOWN: usize = 6;

const HINT: &str = "lower the learning rate, use fewer epochs or larger batches, warm the optimizer up, \
                    or stop a step's updates at a target KL; where the loss has a KL or an entropy term, check its sign \
                    and its weight";

const NEEDS_RATIOS: &str = "logprob_new (log-probabilities at the loss, after updates of the step)";
const NEEDS_MOVED: &str = "logprob_new after updates of the step: the logged one is logprob throughout";
const HINT_ADVANTAGES: &str = "see what changed there: how advantages are normalised, the scale of the reward, or what a \
                               restart set anew";

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    match by_ratios(patient) {
        Finding::Found(cause) => Finding::Found(cause),
        not_found => larger_advantages(patient).unwrap_or(not_found),
    }
}

/// Advantages that became ten times as large for good.
fn larger_advantages(patient: &Patient<'_>) -> Option<Finding> {
    let is_rise = |change: &&Change| change.after > WAY_BEYOND * change.before;
    let rise = patient.changes_of(&SignalName::AdvantageSize).find(is_rise)?;
    let times = rise.after / rise.before.max(f64::MIN_POSITIVE);
    Some(found(
        CauseCode::LargeUpdates,
        Confidence::Possible,
        Some(rise.onset),
        format!(
            "from step {} on advantages are {} times as large ({} → {}): updates grow with them unless gradients are \
             clipped",
            rise.onset,
            measured(times, 0),
            measured(rise.before, 2),
            measured(rise.after, 2)
        ),
        HINT_ADVANTAGES,
        vec![
            number("times as large as before", times),
            number("|A| before", rise.before),
            at_the_end("|A|", rise.after),
        ],
    ))
}

fn by_ratios(patient: &Patient<'_>) -> Finding {
    let steps = &patient.analysis.steps;
    let ledger = patient.analysis.answers.offpolicy.as_ref().map_or(&[][..], |ledger| &ledger.steps);
    let differences = ledger.iter().filter_map(|row| Some((row.step, row.differences.update.as_ref()?)));
    let largest = |step: i64| at_step(steps, step).and_then(|row| row.largest_ratio);
    let moved: Vec<(i64, f64)> =
        differences.map(|(step, update)| (step, of_many(update, largest(step)))).collect();
    // Where the loss sees the policy that was logged, ratios are all 1 and say nothing.
    if moved.iter().all(|(_, k3)| *k3 < 1e-12) {
        return by_reference(patient);
    }
    let edge = patient.clip_edge();
    let beyond = |times: f64| moved.iter().filter(move |(_, k3)| *k3 > times * edge);
    let count = beyond(1.0).count();
    if let Some(rise) = rise_before_damage(patient, edge).filter(|_| beyond(FAR_BEYOND).next().is_none()) {
        return risen(rise, edge);
    }
    if count == 0 {
        return Finding::Absent;
    }
    let before_damage =
        patient.damaged_from().is_some_and(|from| beyond(FAR_BEYOND).any(|(s, _)| *s <= from));
    let repeated = count > 1 && beyond(FAR_BEYOND).next().is_some();
    let mostly = count >= FEWEST_STEPS && 2 * count > moved.len();
    let likely = repeated || mostly || beyond(WAY_BEYOND).next().is_some() || before_damage;
    // Steps are judged without what is far out, and told as the table of steps has them.
    let logged = |step: i64| at_step(steps, step).and_then(|row| row.update_k3).unwrap_or(0.0);
    let most = beyond(1.0).map(|(step, _)| logged(*step)).fold(0.0, f64::max);
    let is_beyond = |times: f64| move |(_, k3): &(i64, f64)| *k3 > times * edge;
    let first = moved.iter().position(is_beyond(if likely && !mostly { FAR_BEYOND } else { 1.0 }));
    // It began with the first of the steps beyond the edge that lead there.
    let began =
        |at: usize| moved[..at].iter().rposition(|step| !is_beyond(1.0)(step)).map_or(0, |last| last + 1);
    let from = first.map(|at| moved[began(at)].0);
    let mut evidence: Vec<Evidence> =
        beyond(1.0).take(SHOWN).map(|(step, _)| at(*step, "update k3", logged(*step))).collect();
    evidence.push(number("k3 at the edge of the clip", edge));
    evidence.push(number("steps beyond it", count as f64));
    // What is cut depends on the sign of the advantage.
    let signed = steps.iter().filter(|_| !patient.plan.stand_in.advantage);
    let clipped = signed.filter_map(|row| Some((row.step, row.clipped_share?)));
    if let Some((step, share)) = clipped.max_by(|a, b| a.1.total_cmp(&b.1)) {
        evidence.push(at(step, "clipped share", share));
    }
    let first_alone = first_alone(patient, &moved, edge);
    let end = first_alone.or_else(|| last_of_them(&moved, edge));
    let up_to = match (first_alone, end) {
        (Some(_), _) => ", the first one".into(),
        (None, Some(end)) => format!(", all before step {end}"),
        (None, None) => String::new(),
    };
    // A reader of the table counts others where a few huge ratios make the mean of a step.
    let in_table = moved.iter().filter(|(step, _)| logged(*step) > edge).count();
    let counted =
        if in_table == count { "" } else { " (ratios counted up to 10, without each step's largest)" };
    let message = format!(
        "within a step the policy moves by up to {} nats a token (update k3); {}, exceeded in {count} of {} logged \
         steps{up_to}{counted}",
        measured(most, 3),
        patient.clip_edge_told(),
        moved.len()
    );
    let confidence = if likely { Confidence::Likely } else { Confidence::Possible };
    found(CauseCode::LargeUpdates, confidence, from, message, HINT, evidence).before(end)
}

/// The step from which on no step is beyond the edge, where that is not chance.
fn last_of_them(moved: &[(i64, f64)], edge: f64) -> Option<i64> {
    let mut beyond = Counts::default();
    moved.iter().for_each(|(step, k3)| beyond.add(*step, *k3 > edge));
    let share = beyond.share(0.0)?;
    share.side.end().filter(|_| share.hits == share.of_run[0])
}

/// The second step, where the first alone is beyond the edge and the run went on unharmed.
fn first_alone(patient: &Patient<'_>, moved: &[(i64, f64)], edge: f64) -> Option<i64> {
    let [(_, first), later @ ..] = moved else { return None };
    let is_over = later.len() >= FEWEST_STEPS && patient.damaged_from().is_none();
    let is_alone = *first > edge && later.iter().all(|(_, k3)| *k3 <= edge);
    later.first().filter(|_| is_over && is_alone).map(|(next, _)| *next)
}

fn at_step(steps: &[StepRow], step: i64) -> Option<&StepRow> {
    steps.binary_search_by_key(&step, |row| row.step).ok().map(|at| &steps[at])
}

/// k3 of a step's update with ratios cut at 10, without the token whose probability rose most.
fn of_many(update: &Difference, largest: Option<f64>) -> f64 {
    let largest = largest.filter(|ratio| *ratio > 1.0).map_or(0.0, |ratio| far_k3(ratio.ln()));
    (update.k3_bounded - largest / update.tokens.max(1) as f64).max(0.0)
}

/// A rise of update k3, over the run or up to the damage, that began no later than it: each is dated to a logged step
/// or so.
fn rise_before_damage(patient: &Patient<'_>, edge: f64) -> Option<Change> {
    let first = patient.damaged_from()?;
    let after = patient.analysis.steps.iter().map(|row| row.step).find(|step| *step > first);
    let damaged = after.unwrap_or(first);
    let up_to_damage = || {
        let mut series = patient.series(&SignalName::UpdateK3)?.clone();
        series.points.retain(|point| point.step <= damaged);
        series.change(Direction::Up)
    };
    let is_rise = |change: &Change| {
        let multiplied = change.after > WAY_BEYOND * change.before && WAY_BEYOND * change.after > edge;
        change.direction == Direction::Up && multiplied && change.onset <= damaged
    };
    patient
        .changes_of(&SignalName::UpdateK3)
        .copied()
        .find(is_rise)
        .or_else(|| up_to_damage().filter(is_rise))
}

fn risen(rise: Change, edge: f64) -> Finding {
    // For small steps k3 goes with the square of how far the policy moves.
    let times = (rise.after / rise.before.max(f64::MIN_POSITIVE)).sqrt();
    found(
        CauseCode::LargeUpdates,
        Confidence::Likely,
        Some(rise.onset),
        format!(
            "within a step the policy moves {:.1} times as far as before (update k3, which goes with the \
             square, {:.1e} → {:.1e}), and the damage follows",
            times, rise.before, rise.after
        ),
        HINT,
        vec![
            number("times as far as before", times),
            number("update k3 before", rise.before),
            at_the_end("update k3", rise.after),
            number("k3 at the edge of the clip", edge),
        ],
    )
}

fn by_reference(patient: &Patient<'_>) -> Finding {
    let steps = patient.analysis.answers.kl_reference.iter().flat_map(|kl| &kl.steps);
    let distance: Vec<(i64, f64)> = steps.map(|row| (row.step, row.k1)).collect();
    let jump = distance.windows(2).map(|w| (w[1].0, w[1].1 - w[0].1)).max_by(|a, b| a.1.total_cmp(&b.1));
    match jump.filter(|(_, jump)| *jump > JUMP) {
        // Updates that are far too large may stay below a nat a token and logged step.
        None if patient.has(Column::LogprobNew) => Finding::NotChecked(NEEDS_MOVED),
        None => Finding::NotChecked(NEEDS_RATIOS),
        Some((step, jump)) => found(
            CauseCode::LargeUpdates,
            if patient.damaged_from().is_some() { Confidence::Likely } else { Confidence::Possible },
            Some(step),
            format!(
                "by step {step} the policy has moved {} nats a token away from the reference since the step \
                 logged before",
                measured(jump, 2)
            ),
            HINT,
            vec![at(step, "KL to the reference, rise", jump)],
        ),
    }
}
