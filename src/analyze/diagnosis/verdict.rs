//! The answer in plain words.

use super::series::{ends, series};
use crate::analyze::result::{
    Cause, CauseCode, Confidence, Damage, Diagnosis, RunCore, RunState, RunVerdict, VerdictState,
};
use crate::format::grouped;
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
    let likely = main_cause(diagnosis).filter(|c| c.confidence == Confidence::Likely);
    RunVerdict {
        state: match diagnosis.state {
            RunState::Healthy => VerdictState::Healthy,
            RunState::Suspicious => VerdictState::Suspicious,
            RunState::Damaged => VerdictState::Damaged,
            RunState::Collapsed => VerdictState::Collapsed,
            RunState::Unknown => VerdictState::Unknown,
        },
        health: diagnosis.sentence.clone(),
        spurious: spurious(analysis),
        fraction: analysis.s2t.fraction,
        energy_share: analysis.s2t.energy_share,
        mean_norm_ratio: analysis.s2t.mean_norm_ratio,
        first_bad_step: first_damage.or_else(|| likely.and_then(|cause| cause.from_step)),
        top_tokens: top_tokens(analysis),
    }
}

/// The first cause that is a sickness.
fn main_cause(diagnosis: &Diagnosis) -> Option<&Cause> {
    diagnosis.causes.iter().find(|cause| cause.code != CauseCode::DeadGroups)
}

/// One sentence: damage, first cause, the number behind it, what to do.
pub fn sentence(analysis: &RunCore, diagnosis: &Diagnosis) -> String {
    let opening = match diagnosis.state {
        RunState::Damaged => format!("This run is damaged: {}.", damage(&diagnosis.damage)),
        RunState::Collapsed => format!("This run collapsed: {}.", damage(&diagnosis.damage)),
        _ => trend(analysis),
    };
    let cause = main_cause(diagnosis);
    let named = match cause {
        Some(cause) if cause.confidence == Confidence::Likely => {
            format!(" Likely cause ({}): {}. Do: {}.", cause.code.name(), cause.message, cause.hint)
        }
        Some(cause) if !diagnosis.damage.is_empty() => {
            format!(" Possible cause ({}): {}. Do: {}.", cause.code.name(), cause.message, cause.hint)
        }
        None if !diagnosis.damage.is_empty() => {
            " No cause was found in what is logged: see what could not be checked.".into()
        }
        _ => String::new(),
    };
    let dead = diagnosis.causes.iter().find(|cause| cause.code == CauseCode::DeadGroups);
    let cost = match dead.filter(|_| named.is_empty()) {
        Some(dead) => format!(" A cost: {}.", dead.message),
        None => String::new(),
    };
    format!("{opening}{named}{cost}")
}

fn damage(damage: &[Damage]) -> String {
    let one = |d: &Damage| {
        let word = if d.after < d.before { "fell" } else { "rose" };
        format!("{} {word} from {:.2} to {:.2} (from step {})", d.signal, d.before, d.after, d.from_step)
    };
    let named: Vec<String> = damage.iter().take(DAMAGED).map(one).collect();
    let more = match damage.len().saturating_sub(DAMAGED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("{}{more}", named.join(", "))
}

fn trend(analysis: &RunCore) -> String {
    let entropy = series(&analysis.steps, |row| row.mean_entropy);
    let reward = series(&analysis.steps, |row| row.mean_reward);
    let course = |name: &str, series: &super::series::Series, unit: &str| {
        let (first, last) = (series.first()?, ends(series).1);
        Some(format!("{name} {:.3} → {last:.3}{unit}", first.1))
    };
    let courses = [course("entropy", &entropy, " nats"), course("reward", &reward, "")];
    let courses: Vec<String> = courses.into_iter().flatten().collect();
    let trend = match analysis.steps.len() {
        1 => "1 step is too few to tell a trend".to_owned(),
        n if n < FEWEST_STEPS => format!("{n} steps are too few to tell a trend"),
        n => format!("No damage over {n} steps"),
    };
    format!("{trend} ({}).", courses.join(", "))
}

fn spurious(analysis: &RunCore) -> String {
    let (s2t, totals) = (&analysis.s2t, &analysis.totals);
    if s2t.silenced == 0 {
        return format!("No spurious tokens among {}: there is nothing to silence.", grouped(totals.tokens));
    }
    let estimated = if totals.estimated_norms > 0 { " (estimated)" } else { "" };
    let energy = s2t.energy_share.unwrap_or(0.0);
    let worth = match energy {
        e if e >= LARGE => "silencing them removes a large part of the gradient energy",
        e if e >= NOTICEABLE => "silencing them is a small but noticeable change",
        _ => "silencing them hardly changes the gradient",
    };
    format!(
        "{} of {} tokens are spurious ({:.4} %); they carry {:.2} % of the gradient energy{estimated}, \
         {:.1} times the mean norm: {worth}.",
        grouped(s2t.silenced),
        grouped(totals.tokens),
        100.0 * s2t.fraction,
        100.0 * energy,
        s2t.mean_norm_ratio.unwrap_or(0.0),
    )
}

fn top_tokens(analysis: &RunCore) -> Vec<String> {
    let rows = analysis.vocabulary.top.iter().filter(|row| row.silenced > 0).take(NAMED);
    rows.map(|row| row.token.clone().unwrap_or_else(|| format!("⟨{}⟩", row.token_id))).collect()
}
