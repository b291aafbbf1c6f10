//! The answer in plain words.

use std::cmp::Ordering;

use super::correction::{self, could_find_nothing, has_few_left, includes_zero};
use super::result::{Arm, ComparisonVerdict, Drawn, Family, Finding, MetricRow, Unit};
use crate::format::{few_names, number, percent};
use crate::stats::serial::FEWEST_STEPS;

/// Metrics that a reader asks for first; of others only those that differ are named.
const FIRST: [&str; 6] =
    ["reward", "pass_rate", "entropy", "length", "silenced_ratio", "spurious_energy_share"];

/// The value of a metric in its unit.
#[must_use]
pub fn shown(row: &MetricRow, value: f64) -> String {
    shown_value(row.unit, value)
}

/// A value in its unit.
#[must_use]
pub fn shown_value(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Share => percent(value),
        Unit::Nats => format!("{} nats", number(value)),
        Unit::Tokens if value.fract() == 0.0 && value.abs() < 1e15 => format!("{value}"),
        Unit::Tokens | Unit::Number => number(value),
    }
}

/// A difference in its unit, with its sign; shares differ by percentage points.
#[must_use]
pub fn shown_difference(row: &MetricRow, value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    match row.unit {
        Unit::Share => format!("{sign}{} points", percent(value).trim_end_matches(" %")),
        Unit::Nats => format!("{sign}{} nats", number(value)),
        Unit::Tokens | Unit::Number => format!("{sign}{}", number(value)),
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
pub fn verdict(rows: &[MetricRow], arms: &[Arm], confidence: f64) -> ComparisonVerdict {
    let Some(baseline) = arms.first() else { return ComparisonVerdict::default() };
    let mut found: Vec<&MetricRow> = rows.iter().filter(|row| row.significant).collect();
    let rank = |row: &MetricRow| {
        let family = Family::ALL.iter().position(|f| *f == row.family);
        (family, place(row), rows.iter().position(|other| other.name == row.name))
    };
    // Of several arms that differ in the same metric the clearest comes first.
    let clearer = |a: &MetricRow, b: &MetricRow| {
        let p = |row: &MetricRow| [row.p_adjusted, row.p_value].map(|p| p.unwrap_or(1.0));
        let [adjusted, own] = [0, 1].map(|at| p(a)[at].total_cmp(&p(b)[at]));
        adjusted.then(own).then(b.difference.abs().total_cmp(&a.difference.abs()))
    };
    found.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| clearer(a, b)));
    let mut sentences: Vec<String> =
        found.iter().map(|row| difference(row, &baseline.name, confidence)).collect();
    let names: Vec<&str> = arms[1..].iter().map(|arm| arm.name.as_str()).collect();
    let headline = if sentences.is_empty() {
        nothing_found(rows, &baseline.name, &few_names(&names), confidence)
    } else {
        sentences.remove(0)
    };
    ComparisonVerdict {
        differs: !found.is_empty(),
        decided: !found.is_empty() || rows.iter().any(is_decidable),
        headline,
        differences: sentences,
        alike: names.iter().flat_map(|name| undecided(rows, name, confidence)).collect(),
        scope: scope(arms),
    }
}

fn place(row: &MetricRow) -> usize {
    FIRST.iter().position(|name| *name == row.name).unwrap_or(FIRST.len())
}

fn difference(row: &MetricRow, baseline: &str, confidence: f64) -> String {
    let interval = shown_interval(row)
        .map_or(String::new(), |text| format!("; {} % interval {text}", level(confidence)));
    format!(
        "{} has a {} {}{} than {baseline}: {} against {} ({}{interval}; {} after correction).",
        row.run,
        if row.difference > 0.0 { "higher" } else { "lower" },
        if row.unit == Unit::Share { "share of " } else { "" },
        row.label,
        told_apart(row)[1],
        told_apart(row)[0],
        shown_difference(row, row.difference),
        row.p_adjusted.map_or(String::new(), p_phrase),
    )
}

/// Both values, shares with as many digits as tell them apart: not “100 % against 100 %”.
fn told_apart(row: &MetricRow) -> [String; 2] {
    let values = [row.baseline, row.other];
    let [baseline, other] = values.map(|value| shown(row, value));
    if row.unit != Unit::Share || baseline != other {
        return [baseline, other];
    }
    let with = |decimals: usize| values.map(|value| format!("{:.decimals$} %", 100.0 * value));
    let differ = |decimals: &usize| with(*decimals)[0] != with(*decimals)[1];
    // One digit more: 100.000 % may not be all.
    (2..9).find(differ).map_or([baseline, other], |decimals| with(decimals + 1))
}

/// The verdict in a few words.
#[must_use]
pub fn word(verdict: &ComparisonVerdict) -> &'static str {
    match verdict {
        ComparisonVerdict { differs: true, .. } => "Differs beyond noise",
        ComparisonVerdict { decided: true, .. } => "No difference beyond noise",
        _ => "Cannot tell",
    }
}

/// Whether a difference could have been found.
fn is_decidable(row: &MetricRow) -> bool {
    row.p_value.is_some() && matches!(row.finding, Finding::NoDifference | Finding::Unclear)
}

/// The headline where nothing is significant: "no difference" only where one could have been found.
fn nothing_found(rows: &[MetricRow], baseline: &str, others: &str, confidence: f64) -> String {
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
    open.sort_by_key(|row| (Family::ALL.iter().position(|family| *family == row.family), place(row)));
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

/// The unit of a difference, after its numbers.
fn unit(row: &MetricRow) -> &'static str {
    match row.unit {
        Unit::Share => " points",
        Unit::Nats => " nats",
        Unit::Tokens | Unit::Number => "",
    }
}

/// What is not called different, one sentence for each reason.
fn undecided(rows: &[MetricRow], run: &str, confidence: f64) -> Vec<String> {
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

fn scope(arms: &[Arm]) -> String {
    if arms.iter().all(|arm| arm.runs.len() > 1) {
        let counts: Vec<String> =
            arms.iter().map(|arm| format!("{} of {}", arm.runs.len(), arm.name)).collect();
        return format!(
            "Runs are what is counted ({}), their means taken as about normal (Welch's t): the tests speak of the methods as far as these seeds stand for them.",
            counts.join(", ")
        );
    }
    "One run on a side: the tests speak of these runs only, not of the methods that trained them. Another seed could differ as much."
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_arms_the_clearest_comes_first() {
        let row = |run: &str, name: &str, difference: f64, p: f64| MetricRow {
            run: run.into(),
            name: name.into(),
            label: name.into(),
            difference,
            p_value: Some(p / 4.0),
            p_adjusted: Some(p),
            significant: true,
            ..MetricRow::default()
        };
        let rows = [
            row("b", "reward", 0.1, 0.049),
            row("b", "entropy", 0.1, 1e-9),
            row("c", "reward", 0.3, 0.002),
            row("d", "reward", 0.4, 0.002),
            row("e", "reward", 0.4, 0.019),
        ];
        let arms = ["a", "b", "c", "d", "e"].map(|name| Arm { name: name.into(), runs: vec![name.into()] });
        let said = verdict(&rows, &arms, 0.95);
        let all: Vec<&str> = std::iter::once(&said.headline)
            .chain(&said.differences)
            .map(|sentence| &sentence[..sentence.find(" than").unwrap_or(0)])
            .collect();
        let higher = |run: &str, name: &str| format!("{run} has a higher {name}");
        let expected = [("d", "reward"), ("c", "reward"), ("e", "reward"), ("b", "reward"), ("b", "entropy")];
        assert_eq!(all, expected.map(|(run, name)| higher(run, name)));
    }

    #[test]
    fn shares_that_differ_are_told_apart() {
        let row = |baseline, other| MetricRow { unit: Unit::Share, baseline, other, ..MetricRow::default() };
        assert_eq!(told_apart(&row(0.999_993_2, 0.999_996_6)), ["99.9993 %", "99.9997 %"]);
        assert_eq!(told_apart(&row(0.2, 0.3)), ["20.0 %", "30.0 %"]);
        assert_eq!(told_apart(&row(1.0, 1.0)), ["100 %", "100 %"]);
    }

    #[test]
    fn a_headline_says_what_was_not_decided() {
        let row = |name: &str, finding: Finding| MetricRow {
            run: "b".into(),
            name: name.into(),
            label: format!("mean {name}"),
            p_value: Some(0.5),
            finding,
            ..MetricRow::default()
        };
        let arms = ["a", "b"].map(|name| Arm { name: name.into(), runs: vec![name.into()] });
        let said = |rows: &[MetricRow]| verdict(rows, &arms, 0.95).headline;
        let mut rows = vec![row("length", Finding::NoDifference)];
        assert_eq!(said(&rows), "No metric differs beyond noise between a and b.");
        rows.extend([
            row("risk", Finding::TooWide),
            row("reward", Finding::TooFew),
            row("risk", Finding::TooFew),
        ]);
        let both = "No metric differs beyond noise between a and b; not decided: mean reward, mean risk.";
        assert_eq!(said(&rows), both);
        let class = |name: &str| MetricRow { family: Family::Classes, ..row(name, Finding::TooFew) };
        let classes = [class("first"), class("second")];
        let of_classes = [&rows[..1], &classes].concat();
        assert!(said(&of_classes).ends_with(" and b; not decided: shares of the classes of tokens."));
        rows.extend(classes);
        rows.extend(["s", "t", "u"].map(|name| row(name, Finding::TooFew)));
        assert!(said(&rows).ends_with("; not decided: mean reward, mean risk, mean s, mean t and others."));
    }

    #[test]
    fn a_headline_of_many_arms_counts_them() {
        let arms: Vec<Arm> =
            (0..14).map(|n| Arm { name: format!("arm{n}"), runs: vec![format!("arm{n}")] }).collect();
        let said = |arms: &[Arm]| verdict(&[], arms, 0.95).headline;
        assert_eq!(said(&arms), "Nothing could be tested between arm0 and 13 others.");
        assert_eq!(said(&arms[..3]), "Nothing could be tested between arm0 and arm1, arm2.");
    }
}
