//! The tab of signals: causes with their evidence, the order of events, all quantities over the steps.

use super::charts::unit;
use super::{Run, in_words, proof};
use crate::causes;
use crate::chart::{Chart, Event, Events, Panel, Unit};
use crate::document::{Block, Fact, Figure, Fold, Place, Section, Tab, Table, Text};
use crate::hostile::visible;
use crate::told::{Cause, Sure, fifth};
use crate::words;
use stapo_result::{Warning, WarningCode};

/// Panels at most.
const PANELS: usize = 16;

pub(super) fn sections(run: &Run<'_>) -> Vec<Section> {
    let section = |id, title: &'static str, blocks| Section {
        id,
        title: title.into(),
        place: Place::Tab(Tab::Signals),
        blocks,
        in_terminal: false,
    };
    let mut all = Vec::new();
    if let Some(blocks) = order(run) {
        all.push(section("order", "Order of events", blocks));
    }
    all.push(section("causes", "Causes", found(run)));
    if let Some(block) = panels(run) {
        all.push(section("quantities", "Over the steps", vec![block]));
    }
    all.push(section("reading", "How it was read", reading(run)));
    all
}

/// Causes as bars to the end, changes as triangles.
fn order(run: &Run<'_>) -> Option<Vec<Block>> {
    let first = run.told.first_cause().map(|cause| cause.code.as_str());
    let mut events: Vec<Event> = Vec::new();
    for cause in run.told.causes.iter().filter(|cause| cause.sure == Sure::Likely) {
        let Some(step) = cause.onset else { continue };
        events.push(Event {
            name: format!("{}, from step {step}", causes::name(&cause.code)),
            from: step as f64,
            to: Some(run.last_step()),
            proof: Some(cause.code.as_str()) == first,
        });
    }
    for change in run.told.changes.iter().take(14) {
        let name = visible(&in_words(&change.name), 24);
        let way = if change.up { "up" } else { "down" };
        events.push(Event {
            name: format!("{name} {way}, step {}", change.step),
            from: change.step as f64,
            to: None,
            proof: false,
        });
    }
    if events.is_empty() {
        return None;
    }
    events.sort_by(|a, b| a.from.total_cmp(&b.from).then(a.to.is_none().cmp(&b.to.is_none())));
    let says = if first.is_some() {
        "What stands above may have brought about what stands below, not the other way."
    } else {
        "No cause found; the signs in the order they appeared."
    };
    let label = events.iter().map(|event| event.name.as_str()).collect::<Vec<_>>().join(", ");
    let steps = run.steps.iter().map(|step| *step as f64).collect();
    Some(vec![
        Block::plain(says),
        Block::Figure(Figure {
            title: Text::new(),
            note: "Bars are causes, triangles are changes for good.".into(),
            label,
            chart: Chart::Events(Events { events, steps }),
            file: None,
        }),
    ])
}

fn found(run: &Run<'_>) -> Vec<Block> {
    let told = &run.told;
    let mut blocks: Vec<Block> = told.causes.iter().map(|cause| cause_fold(run, cause)).collect();
    if blocks.is_empty() {
        blocks.push(Block::plain("No cause was found."));
    }
    if !told.not_checked.is_empty() {
        let mut table = Table::new(&["Not checked", "what to log"]);
        for (code, needs) in &told.not_checked {
            table.push(vec![words::capital(&causes::name(code)).into(), Text::quoting(needs.as_str())]);
        }
        blocks.push(Block::Table(table));
    }
    let found = |code: &str| {
        told.causes.iter().any(|cause| cause.code == code) || told.not_checked.iter().any(|not| not.0 == code)
    };
    let passed: Vec<&str> =
        causes::all().iter().filter(|cause| !found(cause.code)).map(|cause| cause.name).collect();
    blocks.push(Block::Fold(Fold {
        id: Some("passed".into()),
        summary: format!("{} causes ruled out", passed.len()).into(),
        blocks: vec![Block::plain(words::capital(&words::stopped(&passed.join(", "))))],
        open: false,
    }));
    blocks
}

/// What was found, its numbers, its page.
fn cause_fold(run: &Run<'_>, cause: &Cause) -> Block {
    let is_first = run.told.first_cause().is_some_and(|first| first.code == cause.code);
    let mut table = Table::new(&["Measured", "#this run", "#healthy"]);
    for evidence in &cause.evidence {
        let (value, healthy) = proof::shown(evidence);
        table.push(vec![Text::quoting(words::capital(&evidence.what)), value.into(), healthy]);
    }
    let mut blocks = vec![Block::plain(Text::quoting(words::capital(&words::stopped(&cause.sentence))))];
    if !cause.evidence.is_empty() {
        blocks.push(Block::Table(table));
    }
    if let Some(from) = &cause.follows_from {
        blocks.push(Block::plain(format!("It may follow from {}.", causes::name(from))));
    }
    if let Some(slice) = &cause.slice {
        blocks.push(Block::plain(Text::from("Only in ").log(slice.as_str()).say(".")));
    }
    match causes::plain(&cause.code) {
        Some(plain) => blocks.push(Block::Fold(Fold {
            id: Some(format!("page-{}", cause.code)),
            summary: "About this cause: why, what looks alike, what to do".into(),
            blocks: plain.page(),
            open: false,
        })),
        None => blocks.push(Block::plain(Text::quoting(words::capital(&words::stopped(&cause.advice))))),
    }
    let name = causes::plain(&cause.code)
        .map_or_else(|| causes::name(&cause.code), |plain| plain.sentence.trim_end_matches('.').into());
    let since = cause.onset.map(|step| format!(", from step {step}")).unwrap_or_default();
    Block::Fold(Fold {
        id: Some(format!("about-{}", cause.code)),
        summary: Text::from(words::capital(&name)).say(format!(" ({}{since})", cause.sure.word())),
        blocks,
        open: is_first,
    })
}

/// One figure of at most 16 small charts.
fn panels(run: &Run<'_>) -> Option<Block> {
    let panel = |signal: &crate::told::Signal| {
        let (first, last) = (signal.points.first()?.1, fifth(&signal.points, true)?);
        let of =
            |v: f64| if unit(&signal.name) == Unit::Percent { words::percent(v) } else { words::sig(v, 2) };
        Some(Panel {
            name: visible(&in_words(&signal.name), 26),
            ends: format!("{} → {}", of(first), of(last)),
            points: signal.points.clone(),
            healthy: None,
            onset: run.told.change(&signal.name).map(|change| change.step as f64),
        })
    };
    let panels: Vec<Panel> = run.told.signals.iter().filter_map(panel).take(PANELS).collect();
    (!panels.is_empty()).then(|| {
        Block::Figure(Figure {
            title: Text::new(),
            note: "First value → mean of the last fifth; a dashed line is where it changed for good.".into(),
            label: String::new(),
            chart: Chart::Panels(panels),
            file: Some("steps"),
        })
    })
}

/// Files, columns, what was missing, what is approximate.
fn reading(run: &Run<'_>) -> Vec<Block> {
    let provenance = run.provenance;
    let mut rows = vec![
        Fact::new(
            "Written by",
            Text::quoting(provenance.framework.as_str()).say(", read as ").log(provenance.layout.as_str()),
        ),
        Fact::new("Tokens' texts", Text::quoting(provenance.token_text.as_deref().unwrap_or("not known"))),
    ];
    if let Some(count) = provenance.evaluation_responses {
        rows.push(Fact::new("Held out", format!("{} answers, not trained on", words::count(count as f64))));
    }
    if let Some((columns, hint)) = &run.missing {
        rows.push(Fact::new("Missing", Text::quoting(format!("{columns}: {hint}"))));
    }
    for question in run.answers.not_answered.iter().take(6) {
        rows.push(Fact::new(
            "Not told",
            Text::quoting(question.part.replace('_', " ")).say(": ").log(question.needs.replace('`', "")),
        ));
    }
    let mut blocks = vec![Block::notes(rows)];
    let mut columns = Table::new(&["Column", "from"]);
    for mapped in &provenance.mapping {
        columns.push(vec![
            Text::new().log_code(mapped.column.as_str()),
            Text::new().log_code(mapped.from.as_str()),
        ]);
    }
    let mut statements: Vec<Block> = provenance
        .statements
        .iter()
        .map(|say| Block::plain(Text::quoting(words::capital(&words::stopped(say)))))
        .collect();
    if !run.told.certainty.is_empty() {
        statements.push(Block::plain(Text::quoting(words::capital(&words::stopped(&run.told.certainty)))));
    }
    let fold = |id: Option<&str>, summary: &'static str, blocks| {
        Block::Fold(Fold { id: id.map(str::to_owned), summary: summary.into(), blocks, open: false })
    };
    blocks.push(fold(None, "Columns", vec![Block::Table(columns)]));
    blocks.push(fold(None, "What is approximate, and by how much", statements));
    blocks.extend(warnings(run).map(|blocks| fold(Some("warnings"), "Warnings", blocks)));
    blocks
}

/// Warnings that repeat neither a cause nor what the page says of costs.
pub(super) fn told_warnings<'a>(run: &'a Run<'_>) -> Vec<&'a Warning> {
    use WarningCode::{DeadBatches, EstimatedGradients, Infeasible};
    let repeated = |code| [DeadBatches, EstimatedGradients, Infeasible].contains(&code);
    run.warnings.iter().filter(|warning| !repeated(warning.code)).collect()
}

fn warnings(run: &Run<'_>) -> Option<Vec<Block>> {
    let say = |warning: &Warning| {
        let message = words::capital(&words::stopped(&warning.message));
        Block::plain(Text::quoting(message).say(" ").log(words::capital(&words::stopped(&warning.hint))))
    };
    let blocks: Vec<Block> = told_warnings(run).into_iter().map(say).collect();
    (!blocks.is_empty()).then_some(blocks)
}
