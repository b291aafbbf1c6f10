//! The answer in plain words.

use super::result::{Arm, Family, MetricRow, Unit, Verdict};
use crate::format::{number, percent};

/// Metrics that a reader asks for first; of others only those that differ are named.
const FIRST: [&str; 5] = ["reward", "entropy", "length", "silenced_ratio", "spurious_energy_share"];

/// A value in its unit.
#[must_use]
pub fn shown(row: &MetricRow, value: f64) -> String {
    match row.unit {
        Unit::Share => percent(value),
        Unit::Nats => format!("{} nats", number(value)),
        _ => number(value),
    }
}

/// A difference in its unit, with its sign; shares differ by percentage points.
#[must_use]
pub fn shown_difference(row: &MetricRow, value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    match row.unit {
        Unit::Share => format!("{sign}{} points", percent(value).trim_end_matches(" %")),
        Unit::Nats => format!("{sign}{} nats", number(value)),
        _ => format!("{sign}{}", number(value)),
    }
}

/// The interval of a difference, where there is one.
#[must_use]
pub fn shown_interval(row: &MetricRow) -> Option<String> {
    let (low, high) = row.ci_low.zip(row.ci_high)?;
    let plain = |v: f64| match row.unit {
        Unit::Share => percent(v).trim_end_matches(" %").to_owned(),
        _ => number(v),
    };
    Some(format!("{} to {}", plain(low), plain(high)))
}

/// A p-value.
#[must_use]
pub fn shown_p(p: f64) -> String {
    if p >= 0.0995 {
        format!("{p:.2}")
    } else if p >= 0.000_95 {
        format!("{p:.3}")
    } else {
        "< 0.001".into()
    }
}

/// `p = 0.01` or `p < 0.001`.
fn p_phrase(p: f64) -> String {
    let text = shown_p(p);
    if text.starts_with('<') { format!("p {text}") } else { format!("p = {text}") }
}

/// A level of confidence in per cent: `95`, `97.5`.
#[must_use]
pub fn level(confidence: f64) -> String {
    let text = format!("{:.1}", confidence * 100.0);
    text.trim_end_matches(".0").to_owned()
}

/// The verdict on all rows.
#[must_use]
pub fn verdict(rows: &[MetricRow], arms: &[Arm], confidence: f64) -> Verdict {
    let Some(baseline) = arms.first() else { return Verdict::default() };
    let mut found: Vec<&MetricRow> = rows.iter().filter(|row| row.significant).collect();
    let rank = |row: &MetricRow| {
        let family = Family::ALL.iter().position(|f| *f == row.family);
        let place = FIRST.iter().position(|name| *name == row.name).unwrap_or(FIRST.len());
        (family, place)
    };
    found.sort_by_key(|row| rank(row));
    let sentence = |row: &&MetricRow| {
        let interval = shown_interval(row)
            .map_or(String::new(), |text| format!("; {} % interval {text}", level(confidence)));
        format!(
            "{} has a {} {}{} than {}: {} against {} ({}{interval}; {} after correction).",
            row.run,
            if row.difference > 0.0 { "higher" } else { "lower" },
            if row.unit == Unit::Share { "share of " } else { "" },
            row.label,
            baseline.name,
            shown(row, row.other),
            shown(row, row.baseline),
            shown_difference(row, row.difference),
            row.p_adjusted.map_or(String::new(), p_phrase),
        )
    };
    let mut sentences: Vec<String> = found.iter().map(sentence).collect();
    let names: Vec<&str> = arms[1..].iter().map(|arm| arm.name.as_str()).collect();
    let headline = if sentences.is_empty() {
        format!("No metric differs beyond noise between {} and {}.", baseline.name, names.join(", "))
    } else {
        sentences.remove(0)
    };
    Verdict {
        differs: !found.is_empty(),
        headline,
        differences: sentences,
        alike: names.iter().filter_map(|name| alike(rows, name)).collect(),
        scope: scope(arms),
    }
}

/// The unit of a difference, after its numbers.
fn unit(row: &MetricRow) -> &'static str {
    match row.unit {
        Unit::Share => " points",
        Unit::Nats => " nats",
        _ => "",
    }
}

/// What does not differ, with how much it could.
fn alike(rows: &[MetricRow], run: &str) -> Option<String> {
    let of_run = |row: &&MetricRow| row.run == run && !row.significant && row.p_value.is_some();
    let mut known: Vec<&MetricRow> =
        rows.iter().filter(of_run).filter(|r| r.family == Family::Framework).collect();
    known.sort_by_key(|row| FIRST.iter().position(|name| *name == row.name).unwrap_or(FIRST.len()));
    let one = |row: &&MetricRow| match shown_interval(row) {
        Some(_) if row.difference == 0.0 && row.ci_low == Some(0.0) && row.ci_high == Some(0.0) => {
            format!("{} (equal)", row.label)
        }
        Some(text) => format!("{} ({text}{})", row.label, unit(row)),
        None => row.label.clone(),
    };
    let parts: Vec<String> = known.iter().map(one).collect();
    (!parts.is_empty()).then(|| {
        format!(
            "No difference beyond noise for {run} in {}. In brackets: what the difference may be.",
            parts.join(", ")
        )
    })
}

fn scope(arms: &[Arm]) -> String {
    if arms.iter().all(|arm| arm.runs.len() > 1) {
        let counts: Vec<String> =
            arms.iter().map(|arm| format!("{} of {}", arm.runs.len(), arm.name)).collect();
        return format!(
            "Runs are what is counted ({}): the tests speak of the methods as far as these seeds stand for them.",
            counts.join(", ")
        );
    }
    "One run on a side: the tests speak of these runs only, not of the methods that trained them. Another seed could differ as much."
        .into()
}
