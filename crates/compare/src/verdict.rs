//! The answer in plain words.

mod order;
mod undecided;

use self::order::place_in_families;
use self::undecided::{is_decidable, nothing_found, undecided};
use super::result::{Arm, ComparisonVerdict, MetricRow, Unit};
use super::shown::{level, p_phrase, shown_difference, shown_interval, told_apart};
use stapo_base::format::few_names;

/// The verdict on all rows.
#[must_use]
pub fn verdict(rows: &[MetricRow], arms: &[Arm], confidence: f64) -> ComparisonVerdict {
    let Some(baseline) = arms.first() else { return ComparisonVerdict::default() };
    let mut found: Vec<&MetricRow> = rows.iter().filter(|row| row.significant).collect();
    let rank =
        |row: &MetricRow| (place_in_families(row), rows.iter().position(|other| other.name == row.name));
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

/// The verdict in a few words.
#[must_use]
pub fn word(verdict: &ComparisonVerdict) -> &'static str {
    match verdict {
        ComparisonVerdict { differs: true, .. } => "Differs beyond noise",
        ComparisonVerdict { decided: true, .. } => "No difference beyond noise",
        _ => "Cannot tell",
    }
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
    use crate::result::{Family, Finding};

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
