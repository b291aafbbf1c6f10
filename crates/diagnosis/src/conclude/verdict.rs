//! The answer for the first screen.

use stapo_base::format::{fixed_percent, grouped, token_of_id};
use stapo_result::{Diagnosis, RunCore, RunVerdict};

/// Strings that the verdict names.
const NAMED: usize = 5;
/// Shares of the energy from which on silencing is noticeable, and from which on it is large.
const NOTICEABLE: f64 = 0.001;
const LARGE: f64 = 0.1;

/// The verdict on an analysis with this diagnosis.
pub fn verdict(analysis: &RunCore, diagnosis: &Diagnosis) -> RunVerdict {
    let first_damage = diagnosis.damage.iter().map(|damage| damage.from_step).min();
    let likely = diagnosis.causes.iter().filter(|cause| cause.is_root());
    RunVerdict {
        state: diagnosis.state,
        health: diagnosis.sentence.clone(),
        spurious: spurious(analysis),
        fraction: analysis.s2t.fraction,
        energy_share: analysis.s2t.energy_share,
        mean_norm_ratio: analysis.s2t.mean_norm_ratio,
        first_bad_step: first_damage.or_else(|| likely.filter_map(|cause| cause.from_step).min()),
        top_tokens: top_tokens(analysis),
    }
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
