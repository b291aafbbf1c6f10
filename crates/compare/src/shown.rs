//! How values, differences and p-values of a comparison are written.

use super::result::{MetricRow, Unit};
use stapo_base::format::{number, percent};

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
pub(super) fn p_phrase(p: f64) -> String {
    let text = shown_p(p);
    if text.starts_with('<') { format!("p {text}") } else { format!("p = {text}") }
}

/// A level of confidence in per cent: `95`, `97.5`.
#[must_use]
pub fn level(confidence: f64) -> String {
    let text = format!("{:.1}", confidence * 100.0);
    text.trim_end_matches(".0").to_owned()
}

/// Baseline and other, shares with as many digits as tell them apart: not “100 % against 100 %”.
pub(super) fn told_apart(row: &MetricRow) -> [String; 2] {
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

/// The unit of a difference, after its numbers.
pub(super) fn unit(row: &MetricRow) -> &'static str {
    match row.unit {
        Unit::Share => " points",
        Unit::Nats => " nats",
        Unit::Tokens | Unit::Number => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_that_differ_are_told_apart() {
        let row = |baseline, other| MetricRow { unit: Unit::Share, baseline, other, ..MetricRow::default() };
        assert_eq!(told_apart(&row(0.999_993_2, 0.999_996_6)), ["99.9993 %", "99.9997 %"]);
        assert_eq!(told_apart(&row(0.2, 0.3)), ["20.0 %", "30.0 %"]);
        assert_eq!(told_apart(&row(1.0, 1.0)), ["100 %", "100 %"]);
    }
}
