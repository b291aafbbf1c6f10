//! Differences with their intervals.

use stapo_base::format::fixed;
use stapo_compare::result::MetricRow;
use stapo_compare::{Comparison, Contrast, Metric, Window, decimals};

use super::{has_methods, short};
use crate::document::{Block, Row, Style, Table, Text};
use crate::words;

/// Runs that stand side by side.
const SIDE_BY_SIDE: usize = 3;

/// What the table of the first screen holds.
pub fn title(comparison: &Comparison) -> Text {
    if has_methods(comparison) {
        return "Difference of methods, 95 %".into();
    }
    match &comparison.pairs[..] {
        [pair] => Text::new().log(short(&pair.name)).say(" minus ").log(short(&pair.against)),
        _ => Text::new()
            .say("Minus ")
            .log(comparison.runs.first().map_or_else(String::new, |run| short(&run.name))),
    }
}

/// The table of the first screen.
pub fn first(comparison: &Comparison) -> Vec<Block> {
    if has_methods(comparison) {
        return methods_side_by_side(comparison);
    }
    match &comparison.pairs[..] {
        [] => Vec::new(),
        [_] => two_runs(comparison),
        _ => runs_side_by_side(comparison),
    }
}

/// Both values and their difference, over all steps and at the end.
fn two_runs(comparison: &Comparison) -> Vec<Block> {
    let names = comparison.runs.iter().take(2).map(|run| format!("#{}", short(&run.name)));
    let head: Vec<String> =
        std::iter::once(String::new()).chain(names).chain(["#difference".into()]).collect();
    let mut table = Table::new(&head).of_file("compare_metrics");
    for row in &comparison.metrics {
        let digits = decimals(row.metric, row.half().unwrap_or(1.0));
        let value = |value: Option<f64>| value.map_or_else(|| "–".into(), |v| Text::from(fixed(v, digits)));
        let cells =
            vec![name(row.metric, row.window), value(row.baseline), value(row.other), difference(row)];
        table.rows.push(Row { cells, strong: row.differs, ..Row::default() });
    }
    vec![Block::Table(table), note(comparison)]
}

/// The difference of each run, over all steps.
fn runs_side_by_side(comparison: &Comparison) -> Vec<Block> {
    let shown: Vec<&str> =
        comparison.pairs.iter().take(SIDE_BY_SIDE).map(|pair| pair.name.as_str()).collect();
    let head: Vec<String> =
        std::iter::once(String::new()).chain(shown.iter().map(|name| format!("#{}", short(name)))).collect();
    let mut table = Table::new(&head).of_file("compare_metrics");
    for metric in Metric::ALL {
        let of_run = |run: &&str| {
            comparison
                .metrics
                .iter()
                .find(|row| row.run == *run && row.metric == metric && row.window == Window::Level)
        };
        let rows: Vec<Option<&MetricRow>> = shown.iter().map(of_run).collect();
        if rows.iter().any(Option::is_some) {
            let cells = rows.iter().map(|row| row.map_or_else(|| "–".into(), difference));
            let cells = std::iter::once(name(metric, Window::Level)).chain(cells).collect();
            let strong = rows.iter().flatten().any(|row| row.differs);
            table.rows.push(Row { cells, strong, ..Row::default() });
        }
    }
    vec![Block::Table(table), note(comparison)]
}

/// What is called different.
fn note(comparison: &Comparison) -> Block {
    let differs = comparison.metrics.iter().filter(|row| row.differs).count();
    let tested = comparison.metrics.iter().filter(|row| row.ci_low.is_some()).count();
    Block::note(format!("Bold: {differs} of {tested} differ by more than what matters."))
}

/// Methods against the baseline and against the random mask.
fn methods_side_by_side(comparison: &Comparison) -> Vec<Block> {
    let Some(methods) = &comparison.methods else { return Vec::new() };
    let level = |c: &&Contrast| c.metric == methods.primary && c.window == Window::Level;
    let shown: Vec<[&str; 2]> = methods
        .contrasts
        .iter()
        .filter(level)
        .take(2)
        .map(|c| [c.arm.as_str(), c.against.as_str()])
        .collect();
    let names = shown.iter().map(|[arm, against]| format!("#{} − {}", short(arm), short(against)));
    let head: Vec<String> = std::iter::once(String::new()).chain(names).collect();
    let mut table = Table::new(&head).of_file("compare_methods");
    for metric in Metric::ALL {
        for window in Window::ALL {
            let of = |pair: &[&str; 2]| {
                methods.contrasts.iter().find(|c| {
                    (c.metric, c.window) == (metric, window) && [&c.arm[..], &c.against[..]] == *pair
                })
            };
            let found: Vec<Option<&Contrast>> = shown.iter().map(of).collect();
            if found.iter().flatten().any(|c| c.interval.is_some()) {
                let cells = found.iter().map(|c| c.map_or_else(|| "–".into(), plus_minus));
                let cells = std::iter::once(name(metric, window)).chain(cells).collect();
                let strong = found.iter().flatten().any(|c| c.significant);
                table.rows.push(Row { cells, strong, ..Row::default() });
            }
        }
    }
    let tested = methods.primary.words();
    vec![
        Block::Table(table),
        Block::note(format!("Tested: {tested} over all steps, after Holm. Of all else, intervals alone.")),
    ]
}

/// Every metric of every pair.
pub fn all(comparison: &Comparison) -> Table {
    let head =
        ["", "metric", "#first run", "#this run", "#difference", "#matters from", "#would be seen from", ""];
    let mut table = Table::new(&head).of_file("compare_metrics");
    for row in &comparison.metrics {
        let digits = decimals(row.metric, row.half().unwrap_or(1.0));
        let value = |value: Option<f64>| value.map_or_else(|| "–".into(), |v| Text::from(fixed(v, digits)));
        let verdict = row.reason.map_or_else(|| words_of(row), |reason| Text::from(reason.words()));
        let cells = vec![
            Text::new().log(short(&row.run)),
            whole_name(row.metric, row.window),
            value(row.baseline),
            value(row.other),
            difference(row),
            value(row.margin),
            value(row.detectable),
            verdict,
        ];
        table.rows.push(Row { cells, strong: row.differs, ..Row::default() });
    }
    table
}

/// Every contrast of methods.
pub fn methods(comparison: &Comparison) -> Option<Table> {
    let methods = comparison.methods.as_ref()?;
    let mut table = Table::new(&["", "metric", "#difference, 95 %", "#p after Holm", "#would be seen from"]);
    for c in &methods.contrasts {
        let number =
            |value: Option<f64>, digits| value.map_or_else(|| "–".into(), |v| Text::from(fixed(v, digits)));
        let cells = vec![
            Text::new().log(short(&c.arm)).say(" − ").log(short(&c.against)),
            whole_name(c.metric, c.window),
            contrast(c),
            number(c.adjusted, 3),
            number(c.detectable, decimals(c.metric, c.detectable.unwrap_or(1.0))),
        ];
        table.rows.push(Row { cells, strong: c.significant, ..Row::default() });
    }
    Some(table.of_file("compare_methods"))
}

fn words_of(row: &MetricRow) -> Text {
    row.verdict.name().to_owned().into()
}

fn name(metric: Metric, window: Window) -> Text {
    match window {
        Window::Level => words::capital(metric.words()).into(),
        Window::End => Text::new().with(Style::Muted, "at the end"),
    }
}

fn whole_name(metric: Metric, window: Window) -> Text {
    match window {
        Window::Level => name(metric, window),
        Window::End => format!("{}, end", words::capital(metric.words())).into(),
    }
}

/// `−0.56 ± 0.04`.
fn difference(row: &MetricRow) -> Text {
    let Some(difference) = row.difference else { return "–".into() };
    let half = row.half();
    let digits = decimals(row.metric, half.unwrap_or(1.0));
    let signed = signed(difference, digits);
    half.map_or_else(|| format!("{signed}, not tested"), |half| format!("{signed} ± {}", fixed(half, digits)))
        .into()
}

/// `+0.02 ± 0.11`.
fn plus_minus(contrast: &Contrast) -> Text {
    let Some((difference, [low, high])) = contrast.difference.zip(contrast.interval) else {
        return "–".into();
    };
    let half = (high - low) / 2.0;
    let digits = decimals(contrast.metric, half);
    format!("{} ± {}", signed(difference, digits), fixed(half, digits)).into()
}

/// `+0.02 (−0.09 to +0.14)`.
fn contrast(contrast: &Contrast) -> Text {
    let Some(difference) = contrast.difference else { return "–".into() };
    let Some([low, high]) = contrast.interval else {
        return signed(difference, decimals(contrast.metric, 1.0)).into();
    };
    let digits = decimals(contrast.metric, (high - low) / 2.0);
    format!("{} ({} to {})", signed(difference, digits), signed(low, digits), signed(high, digits)).into()
}

fn signed(value: f64, digits: usize) -> String {
    let text = fixed(value, digits);
    if value > 0.0 { format!("+{text}") } else { text }
}
