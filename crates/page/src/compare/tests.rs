//! The document of a comparison that was made up: what is on the first screen, and what is only behind it.

use stapo_compare::result::{
    Arm, Comparison, Level, MetricRow, Pair, RunSummary, Said, Series, SettingChange,
};
use stapo_compare::{Metric, NotTested, StepValue, Verdict, Window};

use crate::document::{Block, Place, Tone};
use crate::terminal::{Terminal, terminal};
use crate::{html, markdown};

fn row(metric: Metric, window: Window, [baseline, other]: [f64; 2], half: Option<f64>) -> MetricRow {
    let difference = other - baseline;
    let differs = half.is_some_and(|half| difference.abs() - half > 0.02);
    let end = if window == Window::End { "_end" } else { "" };
    MetricRow {
        name: format!("{}{end}", metric.name()),
        metric,
        window,
        run: "<b>two</b>".into(),
        against: "one".into(),
        steps: 10,
        baseline: Some(baseline),
        other: Some(other),
        difference: Some(difference),
        ci_low: half.map(|half| difference - half),
        ci_high: half.map(|half| difference + half),
        freedom: Some(100.0),
        margin: Some(0.02),
        detectable: Some(0.05),
        clusters: None,
        lacking: [0, 0],
        verdict: if differs { Verdict::Differs } else { Verdict::Open },
        differs,
        reason: half.is_none().then_some(NotTested::FewGroups),
    }
}

fn comparison() -> Comparison {
    let names = ["one", "<b>two</b>"];
    let points = |level: f64| {
        (0..10).map(|step| StepValue { step, value: level + 0.01 * step as f64, error: Some(0.02) }).collect()
    };
    let series = names.into_iter().zip([0.5, 0.2]).flat_map(|(run, level)| {
        ["reward", "entropy", "length"].map(|metric| Series {
            run: run.into(),
            metric: metric.into(),
            points: points(level),
        })
    });
    let said = |level, lines: &[&str]| Said {
        level,
        run: None,
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
    };
    Comparison {
        runs_differ: true,
        said: vec![said(
            Level::Runs,
            &["one and <b>two</b> differ: reward 0.50 against 0.20.", "One run each."],
        )],
        runs: names.map(|name| RunSummary { name: name.into(), ..RunSummary::default() }).into(),
        arms: names.map(|name| Arm { name: name.into(), runs: vec![name.into()] }).into(),
        pairs: vec![Pair {
            name: names[1].into(),
            against: names[0].into(),
            steps: 10,
            settings: vec![SettingChange {
                name: "learning_rate".into(),
                baseline: Some("1e-5".into()),
                other: None,
            }],
            ..Pair::default()
        }],
        metrics: vec![
            row(Metric::Reward, Window::Level, [0.5, 0.2], Some(0.04)),
            row(Metric::Reward, Window::End, [0.6, 0.59], Some(0.05)),
            row(Metric::Entropy, Window::Level, [1.0, 1.1], None),
        ],
        series: series.collect(),
        ..Comparison::default()
    }
}

#[test]
fn the_first_screen_has_charts_intervals_and_what_they_show() {
    let document = super::compare(&comparison());
    assert_eq!((document.tone, document.word), (Tone::Different, "Different"));
    let of =
        |place: Place| document.sections.iter().find(|section| section.place == place).map(|s| &s.blocks[..]);
    let figures = of(Place::Charts).unwrap_or_default();
    assert_eq!(figures.iter().filter(|block| matches!(block, Block::Figure(_))).count(), 3);
    let [Block::Table(table), Block::Sentence(_)] = of(Place::Proof).unwrap_or_default() else {
        unreachable!("a table and what is bold in it")
    };
    let strong: Vec<bool> = table.rows.iter().map(|row| row.strong).collect();
    assert_eq!(strong, [true, false, false]);
    let last: Vec<String> = table.rows.iter().filter_map(|row| Some(row.cells.last()?.flat())).collect();
    assert_eq!(last, ["−0.30 ± 0.04", "−0.01 ± 0.05", "+0.10, not tested"]);
}

#[test]
fn names_are_inert_everywhere() {
    let document = super::compare(&comparison());
    let page = html::page(&document);
    assert!(page.contains("&lt;b&gt;two") && !page.contains("<b>two"), "names are escaped");
    assert!(page.contains("learning_") && page.contains("not logged"));
    let markdown = markdown::markdown(&document);
    assert!(!markdown.contains("<b>two"), "{markdown}");
}

#[test]
fn the_terminal_is_short() {
    let how = Terminal { columns: 80, colours: false, verbose: false };
    let text = terminal(&super::compare(&comparison()), how);
    assert!(text.starts_with("≠ Different  one and <b>two</b> differ: reward 0.50 against 0.20."), "{text}");
    assert!(text.lines().count() <= 20 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("means     One run each."), "{text}");
}
