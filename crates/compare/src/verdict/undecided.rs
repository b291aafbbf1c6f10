//! What a verdict says of metrics that are not called different.

use std::cmp::Ordering;

use super::order::{place, place_in_families};
use crate::correction;
use crate::correction::{could_find_nothing, has_few_left, includes_zero};
use crate::result::{Drawn, Family, Finding, MetricRow};
use crate::shown::{level, p_phrase, shown_interval, shown_p, unit};
use stapo_base::format::percent;
use stapo_base::stats::serial::FEWEST_STEPS;

/// Whether a difference could have been found.
pub fn is_decidable(row: &MetricRow) -> bool {
    row.p_value.is_some() && matches!(row.finding, Finding::NoDifference | Finding::Unclear)
}

/// The headline where nothing is significant: "no difference" only where one could have been found.
pub fn nothing_found(rows: &[MetricRow], baseline: &str, others: &str, confidence: f64) -> String {
    let tested: Vec<&MetricRow> = rows.iter().filter(|row| row.p_value.is_some()).collect();
    if tested.is_empty() {
        return format!("Nothing could be tested between {baseline} and {others}.");
    }
    if !tested.iter().copied().any(is_decidable) {
        let few = tested.iter().filter(|row| row.finding == Finding::TooFew);
        if let Some(row) =
            few.min_by(|a, b| a.smallest_p.partial_cmp(&b.smallest_p).unwrap_or(Ordering::Equal))
        {
            return format!("{baseline} and {others} cannot be told apart: {}.", too_few(row, confidence));
        }
        return format!("{baseline} and {others} cannot be told apart by what was tested.");
    }
    format!("No metric differs beyond noise between {baseline} and {others}{}.", not_decided(&tested))
}

/// Metrics that a headline names of those that were not decided.
const NAMED: usize = 4;

/// `; not decided: mean reward, mean entropy`: what the headline does not speak of.
fn not_decided(tested: &[&MetricRow]) -> String {
    let is_open = |row: &&&MetricRow| matches!(row.finding, Finding::TooFew | Finding::TooWide);
    let mut open: Vec<&MetricRow> = tested.iter().filter(is_open).copied().collect();
    open.sort_by_key(|row| place_in_families(row));
    let mut labels: Vec<&str> = Vec::new();
    for row in open {
        // A dozen classes share one part of the level: in short runs none of them can be decided.
        let label =
            if row.family == Family::Classes { "shares of the classes of tokens" } else { &row.label };
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    match labels.len() {
        0 => String::new(),
        1..=NAMED => format!("; not decided: {}", labels.join(", ")),
        _ => format!("; not decided: {} and others", labels[..NAMED].join(", ")),
    }
}

/// `too few steps (5): the smallest p that these could give is 0.062, 0.50 after correction`.
fn too_few(row: &MetricRow, confidence: f64) -> String {
    if has_few_left(row) && row.n >= FEWEST_STEPS as u64 {
        return format!(
            "steps near each other differ alike: they are worth fewer than {FEWEST_STEPS} independent ones"
        );
    }
    let unit = match row.test_unit {
        Drawn::None => "values".to_owned(),
        unit => unit.to_string(),
    };
    let side = if row.test_unit == Drawn::Seeds { " a side" } else { "" };
    if !could_find_nothing(row, correction::level(confidence)) {
        return format!("too few {unit} ({}{side}) for an interval", row.n);
    }
    let smallest = row.smallest_p.map_or(String::new(), shown_p);
    let corrected = row.smallest_p_adjusted.map_or(String::new(), shown_p);
    format!(
        "too few {unit} ({}{side}): the smallest p that these could give is {smallest}, {corrected} after correction",
        row.n
    )
}

/// What is not called different, one sentence for each reason.
pub fn undecided(rows: &[MetricRow], run: &str, confidence: f64) -> Vec<String> {
    let is_said = |row: &&MetricRow| {
        row.family == Family::Framework || row.finding == Finding::Unclear && includes_zero(row)
    };
    let mut known: Vec<&MetricRow> = rows.iter().filter(|row| row.run == run).filter(is_said).collect();
    known.sort_by_key(|row| place(row));
    let of = |finding: Finding| known.iter().copied().filter(move |row| row.finding == finding);
    let with_interval = |row: &MetricRow| match shown_interval(row) {
        Some(_) if row.difference == 0.0 && row.ci_low == Some(0.0) && row.ci_high == Some(0.0) => {
            format!("{} (equal)", row.label)
        }
        Some(text) => format!("{} ({text}{})", row.label, unit(row)),
        None => row.label.clone(),
    };
    let list = |rows: Vec<&MetricRow>| rows.into_iter().map(with_interval).collect::<Vec<_>>().join(", ");
    let mut sentences = Vec::new();
    let none: Vec<&MetricRow> = of(Finding::NoDifference).collect();
    if !none.is_empty() {
        sentences.push(format!(
            "No difference beyond noise for {run} in {}. In brackets: what the difference may be.",
            list(none)
        ));
    }
    let (wide, unclear): (Vec<&MetricRow>, Vec<&MetricRow>) =
        of(Finding::Unclear).partition(|row| includes_zero(row));
    if !wide.is_empty() {
        let item = |row: &MetricRow| {
            let (label, p) = (&row.label, row.p_adjusted.map_or(String::new(), p_phrase));
            let interval = shown_interval(row).unwrap_or_default();
            format!("{label} (the {} differ, {p} after correction; {interval}{})", row.test_unit, unit(row))
        };
        sentences.push(format!(
            "Not called different for {run}, since the {} % interval of the mean, in which large steps weigh more, includes 0: {}.",
            level(confidence),
            wide.into_iter().map(item).collect::<Vec<_>>().join(", ")
        ));
    }
    if !unclear.is_empty() {
        sentences.push(format!(
            "Not significant after correction for {run}, but the {} % interval excludes 0: {}.",
            level(confidence),
            list(unclear)
        ));
    }
    let wide: Vec<&MetricRow> = of(Finding::TooWide).collect();
    if !wide.is_empty() {
        sentences.push(format!(
            "Cannot be told for {run}: {}. In brackets: what the difference may be. That is too wide to say that nothing differs.",
            list(wide)
        ));
    }
    // Those that are too few in the same way are said together.
    let mut few: Vec<(String, Vec<&MetricRow>)> = Vec::new();
    for row in of(Finding::TooFew) {
        let reason = too_few(row, confidence);
        match few.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, rows)) => rows.push(row),
            None => few.push((reason, vec![row])),
        }
    }
    sentences.extend(
        few.into_iter().map(|(reason, rows)| format!("Not decided for {run}: {}; {reason}.", list(rows))),
    );
    let unseen: Vec<String> = of(Finding::NoneSeen)
        .map(|row| match row.at_most {
            Some(most) => format!("{} (at most {} of the tokens)", row.label, percent(most)),
            None => row.label.clone(),
        })
        .collect();
    if !unseen.is_empty() {
        sentences.push(format!("None seen on either side for {run}: {}.", unseen.join(", ")));
    }
    sentences
}
