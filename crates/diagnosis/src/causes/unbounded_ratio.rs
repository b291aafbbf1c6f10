//! Few tokens with a huge ratio and A < 0 carry the energy.
//!
//! Statistic: the share of the energy of tokens with A < 0 and ρ > 10, the corner that PPO's clip
//! leaves open, beyond every dual clip in use (3 to 10).
//! Threshold: likely where one such token outweighs all others of the run together, or where they
//! outweigh the rest in two steps or more: a majority needs no tuning. The first update of a fresh
//! optimizer moves rare tokens far in healthy runs, too, one of them by a thousand times: one such step is only possible,
//! and so is one such token in the first step of a training that went on from it, as far as can be seen unharmed.

use crate::evidence::{at, number};
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::words::{measured, percent};
use stapo_base::format::amount;
use stapo_base::format::counted;
use stapo_batch::columns::Column;
use stapo_collect::collect::signs::FAR_RATIO;
use stapo_result::{CauseCode, ClipCorner, Confidence, DriverToken};

const MAJORITY: f64 = 0.5;
const NEARLY_ALL: f64 = 0.9;
/// Trainings count from 0 or from 1; a log that begins later has no fresh optimizer in it.
const FIRST_STEP: i64 = 1;
/// Below this share of the run's energy they are not worth a line.
const MENTIONED: f64 = 0.1;
/// Tokens that are named.
const NAMED: usize = 3;

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    if !patient.has(Column::LogprobNew) {
        return Finding::NotChecked("logprob_new (log-probabilities at the loss)");
    }
    let steps = &patient.signs.steps;
    let is_far = |d: &&DriverToken| {
        d.corner == Some(ClipCorner::HighNegative) && d.ratio.is_some_and(|r| r > FAR_RATIO)
    };
    let drivers = &patient.analysis.drivers;
    let far = drivers.unbounded.unwrap_or_default();
    let (tokens, share) = (far.tokens, far.energy_share.unwrap_or(0.0));
    let named: Vec<&DriverToken> = drivers.top.iter().filter(is_far).take(NAMED).collect();
    let largest = drivers.top.iter().filter(is_far).filter_map(|d| d.ratio).fold(0.0, f64::max);
    let Some(first) = named.first() else { return Finding::Absent };
    let dominated: Vec<(i64, f64)> = steps
        .iter()
        .map(|(step, s)| (*step, s.far.energy.value() / s.concentration.energy.value()))
        .filter(|(_, share)| *share > MAJORITY)
        .collect();
    let past = past(patient);
    let alone = first.energy_share > MAJORITY && past.is_none();
    let often = dominated.len() > 1 && share > MAJORITY;
    if !(alone || often || share > MENTIONED || !dominated.is_empty()) {
        return Finding::Absent;
    }
    let confidence = if alone || often { Confidence::Likely } else { Confidence::Possible };
    let kept = |rule: &str| drivers.what_if.iter().find(|row| row.rule == rule);
    let effective = drivers.concentration.effective_number.unwrap_or(0.0);
    let mut evidence = vec![
        number("share of the energy, A < 0 and ratio above 10", share),
        number("tokens with A < 0 and ratio above 10", tokens as f64),
        number("effective number of tokens", effective),
    ];
    for driver in &named {
        let what = name(driver);
        evidence.push(at(driver.step, &format!("ratio of {what}"), driver.ratio.unwrap_or(0.0)));
        evidence.push(at(driver.step, &format!("energy share of {what}"), driver.energy_share));
    }
    evidence.extend(past.map(|past| at(past.step, "share of it at the first step", past.share)));
    for rule in ["dual_clip_3", "dual_clip_10"] {
        evidence.extend(kept(rule).map(|row| number(&format!("energy that {rule} keeps"), row.energy_kept)));
    }
    let message = format!(
        "{} with A < 0 and a ratio above 10 (up to {}), which the clip leaves open, carr{} {} of the \
         gradient energy{}, which is as concentrated as in {} equal tokens; a dual clip of 3 would keep {} of it",
        counted(tokens, "token", "tokens"),
        measured(largest, 0),
        if tokens == 1 { "ies" } else { "y" },
        percent(share),
        past.map(|past| format!(" ({} of it at step {})", percent(past.share), past.step))
            .unwrap_or_default(),
        amount(effective),
        kept("dual_clip_3").map_or("–".into(), |row| percent(row.energy_kept)),
    );
    let from = dominated.first().map_or(first.step, |(step, _)| *step);
    found(
        CauseCode::UnboundedRatio,
        confidence,
        Some(from),
        message,
        "bound the ratio where A < 0: a dual clip of 3 to 10, or a cap on the ratio; try it with \
         `replay --objective dapo,dual_clip`",
        evidence,
    )
    // A token that outweighs all others is told before what else is possible, over or not.
    .before(past.filter(|_| first.energy_share <= MAJORITY).map(|past| past.next))
}

/// What is over.
#[derive(Clone, Copy)]
struct Past {
    /// The first logged step, and the next.
    step: i64,
    next: i64,
    /// How much of their energy is of the first.
    share: f64,
}

/// Where nearly all of their energy is of the first step, and the run went on unharmed.
fn past(patient: &Patient<'_>) -> Option<Past> {
    let energies = || patient.signs.steps.iter().map(|(step, s)| (*step, s.far.energy.value()));
    let all: f64 = energies().map(|(_, energy)| energy).sum();
    let (step, of_first) = energies().next()?;
    let (next, _) = energies().nth(1)?;
    let share = of_first / all;
    let is_over = step <= FIRST_STEP && patient.damaged_from().is_none();
    (is_over && share >= NEARLY_ALL).then_some(Past { step, next, share })
}

/// The text of a token, its id where texts are not logged.
fn name(driver: &DriverToken) -> String {
    match (&driver.token, driver.token_id) {
        (Some(text), _) => format!("{text:?}"),
        (None, Some(id)) => format!("token {id}"),
        (None, None) => "a token".into(),
    }
}
