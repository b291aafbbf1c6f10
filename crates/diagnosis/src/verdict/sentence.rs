//! The answer in plain words.

use super::stood_still::StoodStill;
use crate::causes::is_sickness;
use crate::damage::changes::Changes;
use crate::damage::same_prompts::SamePrompts;
use crate::steps::values_at;
use crate::words::{measured, percent};
use stapo_base::format::{fixed_percent, grouped, token_of_id, words};
use stapo_base::stats::sustained::{Change, FEWEST_STEPS};
use stapo_collect::plan::Plan;
use stapo_result::{
    Cause, CauseCode, Confidence, Damage, Diagnosis, RunCore, RunState, RunVerdict, SignalName, VerdictState,
};

/// Strings that the verdict names.
const NAMED: usize = 5;
/// Damaged signals that the sentence names.
const DAMAGED: usize = 3;
/// Shares of the energy from which on silencing is noticeable, and from which on it is large.
const NOTICEABLE: f64 = 0.001;
const LARGE: f64 = 0.1;

/// The verdict on an analysis with this diagnosis.
pub fn verdict(analysis: &RunCore, diagnosis: &Diagnosis) -> RunVerdict {
    let first_damage = diagnosis.damage.first().map(|damage| damage.from_step);
    let likely = diagnosis.causes.iter().filter(|c| c.confidence == Confidence::Likely && is_sickness(c));
    RunVerdict {
        state: match diagnosis.state {
            RunState::Healthy => VerdictState::Healthy,
            RunState::Suspicious => VerdictState::Suspicious,
            RunState::Damaged => VerdictState::Damaged,
            RunState::Collapsed => VerdictState::Collapsed,
            RunState::Untrained => VerdictState::Untrained,
            RunState::Unknown => VerdictState::Unknown,
        },
        health: diagnosis.sentence.clone(),
        spurious: spurious(analysis),
        fraction: analysis.s2t.fraction,
        energy_share: analysis.s2t.energy_share,
        mean_norm_ratio: analysis.s2t.mean_norm_ratio,
        first_bad_step: first_damage.or_else(|| likely.filter_map(|cause| cause.from_step).min()),
        top_tokens: top_tokens(analysis),
    }
}

/// The first cause that is a sickness.
fn main_cause(diagnosis: &Diagnosis) -> Option<&Cause> {
    diagnosis.causes.iter().find(|cause| is_sickness(cause))
}

/// What the sentence is told of beside the result.
pub struct BesideResult<'a> {
    /// Resolved settings.
    pub plan: &'a Plan,
    /// Lasting changes.
    pub changes: &'a Changes,
    /// The signal of what is right.
    pub right: Option<&'a SignalName>,
    /// Whether no step has an advantage.
    pub untrained: bool,
    /// The last step at which anything says how well responses do.
    pub rewarded_to: Option<i64>,
    /// What was looked at where a healthy run did not learn.
    pub stood_still: Option<StoodStill>,
    /// The share of responses that are those of an earlier step, where it is large.
    pub hidden: Option<f64>,
}

/// Signals whose change says where to look; the others follow from these or from the reward.
const TELLING: [SignalName; 5] = [
    SignalName::Entropy,
    SignalName::ReferenceK3,
    SignalName::EngineK3,
    SignalName::UpdateK3,
    SignalName::Length,
];

/// The answer: damage, first cause, the number behind it, what to do. A likely cause comes first where
/// nothing is damaged yet: who reads “no damage” reads no further.
pub fn sentence(analysis: &RunCore, diagnosis: &Diagnosis, told: &BesideResult<'_>) -> String {
    let damaged = match diagnosis.state {
        RunState::Damaged => Some(format!("This run is damaged: {}.", damage(&diagnosis.damage))),
        RunState::Collapsed if diagnosis.exploded => {
            Some(format!("The entropy of this run exploded: {}.", damage(&diagnosis.damage)))
        }
        RunState::Collapsed => Some(format!("This run collapsed: {}.", damage(&diagnosis.damage))),
        _ => None,
    };
    let cause = main_cause(diagnosis).filter(|c| c.confidence == Confidence::Likely || damaged.is_some());
    let named = cause.map(|cause| {
        let sure = if cause.confidence == Confidence::Likely { "Likely" } else { "Possible" };
        format!("{sure} cause, {}: {}.", words(cause.code.name()), cause.message)
    });
    let next = cause.map(|cause| format!("Do: {}.", cause.hint));
    let dead = diagnosis.causes.iter().find(|cause| cause.code == CauseCode::DeadGroups);
    let cost = dead.filter(|_| cause.is_none()).map(|dead| format!("A cost: {}.", dead.message));
    let unexplained = || unexplained(diagnosis, told);
    let trend = || match told.untrained {
        true => nothing_learned(analysis),
        false => trend(analysis, cause.is_some(), told),
    };
    let regraded = told.changes.regraded.as_ref().map(|regraded| format!("{}.", regraded.sentence()));
    let came_in = told.changes.came_in.as_ref().map(|said| format!("{said}."));
    let taken_back = told.changes.harder_prompts();
    let price = told.changes.price.as_ref().map(|price| format!("{}.", price.sentence()));
    let still = told.stood_still.as_ref().map(StoodStill::sentence);
    let innocent = came_in.or(regraded).or_else(|| taken_back.map(SamePrompts::harder)).or(price).or(still);
    let said = match damaged {
        Some(damaged) => [Some(damaged), Some(named.unwrap_or_else(unexplained)), innocent, next, cost],
        None => [named, Some(trend()), innocent, next, cost],
    };
    said.into_iter().flatten().collect::<Vec<String>>().join(" ")
}

/// What to say of damage without a cause: harder prompts lower rewards as damage does, but right answers, too.
fn unexplained(diagnosis: &Diagnosis, told: &BesideResult<'_>) -> String {
    let damaged = |signal: &SignalName| diagnosis.damage.iter().any(|d| d.signal == *signal);
    let is_reward = |d: &Damage| d.signal.says_how_well();
    let stood = told
        .right
        .filter(|right| **right != SignalName::Reward && damaged(&SignalName::Reward) && !damaged(right));
    let same = told.changes.same_prompts.as_ref().filter(|same| damaged(&same.fall.signal));
    let harder = match stood {
        _ if !diagnosis.damage.iter().all(is_reward) => String::new(),
        None if same.is_some() => same.iter().map(|same| format!(" {}", same.told())).collect(),
        Some(right) => format!(
            " {right} did not fall for good, as harder prompts would make it: look for a change of the reward's scale, \
             of its weights, or of a term that is not logged."
        ),
        None => {
            " See whether the prompts changed. Harder prompts from there on would look the same, and too few come again \
             (or prompt_ids are not logged) to tell."
                .into()
        }
    };
    let see = if diagnosis.not_checked.is_empty() { "" } else { ": see what could not be checked" };
    let unseen = match damaged(&SignalName::Entropy) {
        true => {
            " No column shows what moves entropy apart from advantages: look at an entropy bonus, and at the sign and the \
             weight of a KL term."
        }
        false => "",
    };
    format!("No cause was found in what is logged{see}.{}{unseen}{harder}", signs(diagnosis, told))
}

/// What changed for good up to the first damage and is none itself: where to look, where no cause was found.
fn signs(diagnosis: &Diagnosis, told: &BesideResult<'_>) -> String {
    let first = diagnosis.damage.first().map_or(i64::MIN, |damage| damage.from_step);
    let is_damage = |name: &SignalName| diagnosis.damage.iter().any(|damage| damage.signal == *name);
    let is_sign = |(name, change): &&(SignalName, Change)| {
        TELLING.contains(name) && change.onset <= first && !is_damage(name)
    };
    let one =
        |(name, change): &(SignalName, Change)| moved(name, [change.before, change.after], change.onset);
    let mut found: Vec<&(SignalName, Change)> = told.changes.found.iter().filter(is_sign).collect();
    found.sort_by_key(|(_, change)| change.onset);
    match found.is_empty() {
        true => String::new(),
        false => {
            format!(" Signs up to there: {}.", found.into_iter().map(one).collect::<Vec<_>>().join(", "))
        }
    }
}

fn moved(signal: &SignalName, [before, after]: [f64; 2], from_step: i64) -> String {
    let word = if after < before { "fell" } else { "rose" };
    let [before, after] = [before, after].map(|level| measured(level, 2));
    format!("{signal} {word} from {before} to {after} (from step {from_step})")
}

fn damage(damage: &[Damage]) -> String {
    let one = |d: &Damage| moved(&d.signal, [d.before, d.after], d.from_step);
    let named: Vec<String> = damage.iter().take(DAMAGED).map(one).collect();
    let more = match damage.len().saturating_sub(DAMAGED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("{}{more}", named.join(", "))
}

/// Why nothing was learned in a run without any advantage.
fn nothing_learned(analysis: &RunCore) -> String {
    match analysis.totals.tokens {
        0 => "No token is trained: the mask leaves none, so nothing can be told.".into(),
        _ => "No step has an advantage: nothing is learned, and nothing can be told of damage.".into(),
    }
}

/// How the run went without damage; where a cause is there, damage may still come.
fn trend(analysis: &RunCore, has_cause: bool, told: &BesideResult<'_>) -> String {
    let plan = told.plan;
    let unseen = match (told.rewarded_to, analysis.steps.last()) {
        (None, _) => Some(": no reward is logged, and a loss of it could not be seen".to_owned()),
        (Some(last), Some(end)) if last < end.step => Some(format!(
            ": no reward is logged after step {last}, and a loss of it from there on could not be seen"
        )),
        _ => told.hidden.map(|share| {
            format!(
                ": {} of the responses (or more) are those of an earlier step again, and damage after it could not be seen in them",
                percent(share)
            )
        }),
    };
    let entropy = values_at(&analysis.steps, |row| row.mean_entropy.filter(|_| !plan.stand_in.entropy));
    let reward = values_at(&analysis.steps, |row| row.mean_reward);
    let course = |name: &SignalName, series: &[(i64, f64)], unit: &str| {
        let ((first, began), (last, ended)) = (series.first()?, series.last()?);
        let [began, ended] = [*began, *ended].map(|value| measured(value, 3));
        if first == last {
            return Some(format!("{name} {ended}{unit} at step {last}"));
        }
        Some(format!("{name} {began} at step {first} → {ended}{unit} at step {last}"))
    };
    let courses = [course(&SignalName::Entropy, &entropy, " nats"), course(&SignalName::Reward, &reward, "")];
    let courses: Vec<String> = courses.into_iter().flatten().collect();
    let trend = match analysis.steps.len() {
        1 => "1 step is too few to tell a trend".to_owned(),
        n if n < FEWEST_STEPS => format!("{n} steps are too few to tell a trend"),
        n if has_cause => format!("No damage seen yet over {} steps", grouped(n as u64)),
        n if plan.stand_in.any() || unseen.is_some() => {
            format!("No damage in what could be checked over {} steps", grouped(n as u64))
        }
        n => format!("No damage over {} steps", grouped(n as u64)),
    };
    let courses = if courses.is_empty() { String::new() } else { format!(" ({})", courses.join(", ")) };
    format!("{trend}{courses}{}.", unseen.unwrap_or_default())
}

fn spurious(analysis: &RunCore) -> String {
    let (s2t, totals) = (&analysis.s2t, &analysis.totals);
    if s2t.silenced == 0 {
        return format!("No spurious tokens among {}: there is nothing to silence.", grouped(totals.tokens));
    }
    let estimated = if totals.estimated_norms > 0 { " (estimated)" } else { "" };
    let energy = s2t.energy_share.unwrap_or(0.0);
    let worth = match energy {
        e if e >= LARGE => "removes a large part of the gradient energy",
        e if e >= NOTICEABLE => "is a small but noticeable change",
        _ => "hardly changes the gradient",
    };
    let (verb, subject, object) = match s2t.silenced {
        1 => ("is", "it carries", "it"),
        _ => ("are", "they carry", "them"),
    };
    format!(
        "{} of {} tokens {verb} spurious ({}); {subject} {} of the gradient energy{estimated}, {:.1} times the \
         mean norm: silencing {object} {worth}.",
        grouped(s2t.silenced),
        grouped(totals.tokens),
        fixed_percent(s2t.fraction, 4),
        fixed_percent(energy, 2),
        s2t.mean_norm_ratio.unwrap_or(0.0),
    )
}

fn top_tokens(analysis: &RunCore) -> Vec<String> {
    let rows = analysis.vocabulary.top.iter().filter(|row| row.silenced > 0).take(NAMED);
    rows.map(|row| row.token.clone().unwrap_or_else(|| token_of_id(row.token_id))).collect()
}
