//! The answer in plain words.

use super::series::{FEWEST_STEPS, ends, series};
use crate::analyze::result::{RunCore, Verdict, VerdictState, Warning, WarningCode};
use crate::format::grouped;

/// Strings that the verdict names.
const NAMED: usize = 5;
/// Shares of the energy from which on silencing is noticeable, and from which on it is large.
const NOTICEABLE: f64 = 0.001;
const LARGE: f64 = 0.01;

/// The verdict on an analysis with these warnings.
pub fn verdict(analysis: &RunCore, warnings: &[Warning]) -> Verdict {
    let serious = warnings.iter().find(|warning| warning.code.is_serious());
    let suspicious = |code: WarningCode| {
        matches!(code, WarningCode::EnergySpike | WarningCode::MaskTooWide | WarningCode::Infeasible)
    };
    let mostly_dead = || {
        let dead = warnings.iter().find(|w| w.code == WarningCode::DeadBatches);
        dead.and_then(|w| w.evidence.last()).is_some_and(|e| e.value > 0.5)
    };
    let state = if serious.is_some() {
        VerdictState::Collapsed
    } else if warnings.iter().any(|w| suspicious(w.code)) || mostly_dead() {
        VerdictState::Suspicious
    } else if analysis.steps.len() < FEWEST_STEPS {
        VerdictState::Unknown
    } else {
        VerdictState::Healthy
    };
    let bad = serious.or_else(|| warnings.iter().find(|w| suspicious(w.code)));
    Verdict {
        state,
        health: health(analysis, state, serious),
        spurious: spurious(analysis),
        fraction: analysis.s2t.fraction,
        energy_share: analysis.s2t.energy_share,
        mean_norm_ratio: analysis.s2t.mean_norm_ratio,
        first_bad_step: bad.and_then(|w| w.evidence.iter().rev().find_map(|e| e.step)),
        top_tokens: top_tokens(analysis),
    }
}

fn health(analysis: &RunCore, state: VerdictState, serious: Option<&Warning>) -> String {
    if let Some(warning) = serious {
        return format!("This run collapsed: {}.", warning.message);
    }
    let entropy = series(&analysis.steps, |row| row.mean_entropy);
    let reward = series(&analysis.steps, |row| row.mean_reward);
    let course = |name: &str, series: &super::series::Series, unit: &str| {
        let (first, last) = (series.first()?, ends(series).1);
        Some(format!("{name} {:.3} → {last:.3}{unit}", first.1))
    };
    let courses = [course("entropy", &entropy, " nats"), course("reward", &reward, "")];
    let courses: Vec<String> = courses.into_iter().flatten().collect();
    let steps = analysis.steps.len();
    let trend = match steps {
        1 => "1 step is too few to tell a trend".to_owned(),
        n if n < FEWEST_STEPS => format!("{n} steps are too few to tell a trend"),
        n => format!("No collapse over {n} steps"),
    };
    let warned = if state == VerdictState::Suspicious { ", but see the warnings" } else { "" };
    format!("{trend} ({}){warned}.", courses.join(", "))
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
