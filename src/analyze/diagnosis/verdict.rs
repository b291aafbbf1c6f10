//! The answer in plain words.

use super::patient::measured;
use super::series::series;
use super::signals::PASS_RATE;
use crate::analyze::plan::Plan;
use crate::analyze::result::{
    Cause, CauseCode, Confidence, Damage, Diagnosis, RunCore, RunState, RunVerdict, VerdictState,
};
use crate::format::{fixed_percent, grouped};
use crate::stats::sustained::FEWEST_STEPS;

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

/// Whether a cause can damage a run: groups that teach nothing only cost, and spurious tokens of a few hundredths
/// of the energy, which S2T's own sentence tells of, do little.
fn is_sickness(cause: &Cause) -> bool {
    let is_small = cause.code == CauseCode::SpuriousTokens && cause.confidence != Confidence::Likely;
    cause.code != CauseCode::DeadGroups && !is_small
}

/// The answer: damage, first cause, the number behind it, what to do. A likely cause comes first where
/// nothing is damaged yet: who reads “no damage” reads no further.
pub fn sentence(analysis: &RunCore, diagnosis: &Diagnosis, plan: &Plan, untrained: bool) -> String {
    let damaged = match diagnosis.state {
        RunState::Damaged => Some(format!("This run is damaged: {}.", damage(&diagnosis.damage))),
        RunState::Collapsed => Some(format!("This run collapsed: {}.", damage(&diagnosis.damage))),
        _ => None,
    };
    let cause = main_cause(diagnosis).filter(|c| c.confidence == Confidence::Likely || damaged.is_some());
    let named = cause.map(|cause| {
        let sure = if cause.confidence == Confidence::Likely { "Likely" } else { "Possible" };
        format!("{sure} cause ({}): {}.", cause.code.name(), cause.message)
    });
    let next = cause.map(|cause| format!("Do: {}.", cause.hint));
    let dead = diagnosis.causes.iter().find(|cause| cause.code == CauseCode::DeadGroups);
    let cost = dead.filter(|_| cause.is_none()).map(|dead| format!("A cost: {}.", dead.message));
    let unexplained = || unexplained(&diagnosis.damage);
    let trend = || match untrained {
        true => nothing_learned(analysis),
        false => trend(analysis, cause.is_some(), plan),
    };
    let said = match damaged {
        Some(damaged) => [Some(damaged), Some(named.unwrap_or_else(unexplained)), next, cost],
        None => [named, Some(trend()), next, cost],
    };
    said.into_iter().flatten().collect::<Vec<String>>().join(" ")
}

/// What to say of damage without a cause: harder prompts lower rewards as damage does.
fn unexplained(damage: &[Damage]) -> String {
    let is_reward = |d: &Damage| d.signal.starts_with("reward") || d.signal == PASS_RATE;
    let harder = match damage.iter().all(is_reward) {
        true => {
            " Harder prompts from there on would look the same, and the log does not tell how hard they are: \
                 hold rewards of the same prompts against each other."
        }
        false => "",
    };
    format!("No cause was found in what is logged: see what could not be checked.{harder}")
}

fn damage(damage: &[Damage]) -> String {
    let one = |d: &Damage| {
        let word = if d.after < d.before { "fell" } else { "rose" };
        let [before, after] = [d.before, d.after].map(|level| measured(level, 2));
        format!("{} {word} from {before} to {after} (from step {})", d.signal, d.from_step)
    };
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
fn trend(analysis: &RunCore, has_cause: bool, plan: &Plan) -> String {
    let entropy = series(&analysis.steps, |row| row.mean_entropy.filter(|_| !plan.stand_in.entropy));
    let reward = series(&analysis.steps, |row| row.mean_reward);
    let course = |name: &str, series: &super::series::Series, unit: &str| {
        let ((first, began), (last, ended)) = (series.first()?, series.last()?);
        let [began, ended] = [*began, *ended].map(|value| measured(value, 3));
        if first == last {
            return Some(format!("{name} {ended}{unit} at step {last}"));
        }
        Some(format!("{name} {began} at step {first} → {ended}{unit} at step {last}"))
    };
    let courses = [course("entropy", &entropy, " nats"), course("reward", &reward, "")];
    let courses: Vec<String> = courses.into_iter().flatten().collect();
    let trend = match analysis.steps.len() {
        1 => "1 step is too few to tell a trend".to_owned(),
        n if n < FEWEST_STEPS => format!("{n} steps are too few to tell a trend"),
        n if has_cause => format!("No damage seen yet over {n} steps"),
        n if plan.stand_in.any() => format!("No damage in what could be checked over {n} steps"),
        n => format!("No damage over {n} steps"),
    };
    let courses = if courses.is_empty() { String::new() } else { format!(" ({})", courses.join(", ")) };
    format!("{trend}{courses}.")
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
    rows.map(|row| row.token.clone().unwrap_or_else(|| format!("⟨{}⟩", row.token_id))).collect()
}
