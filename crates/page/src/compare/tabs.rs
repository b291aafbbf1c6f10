//! What stands behind the first screen.

use stapo_compare::Comparison;
use stapo_compare::result::{Movers, ShareChange};

use super::{first, intervals, short};
use crate::chart::{Chart, Panel};
use crate::document::{Block, Figure, Fold, Place, Row, Section, Tab, Table, Text};
use crate::words;

/// Curves of trainers that are drawn.
const PANELS: usize = 12;

/// All tabs.
pub fn sections(comparison: &Comparison) -> Vec<Section> {
    let section = |id, title: &'static str, tab, blocks| Section {
        id,
        title: title.into(),
        place: Place::Tab(tab),
        blocks,
        in_terminal: false,
    };
    vec![
        section("all-intervals", "All intervals", Tab::Signals, all_intervals(comparison)),
        section("causes", "Causes side by side", Tab::Signals, causes(comparison)),
        section("said", "All that is said", Tab::Signals, said(comparison)),
        section("trainer", "What the trainers logged", Tab::Signals, trainer(comparison)),
        section("movers", "Tokens that gained or lost most", Tab::Tokens, movers(comparison, tokens)),
        section(
            "plane",
            "Regions of the plane that gained or lost most",
            Tab::Tokens,
            movers(comparison, regions),
        ),
        section("spurious", "Silenced tokens side by side", Tab::S2t, spurious(comparison)),
    ]
}

fn all_intervals(comparison: &Comparison) -> Vec<Block> {
    let note = "Steps are held fixed; what is random is which prompts and responses were drawn. Each interval holds for all \
                tests of its pair together. “Matters from” is a judgement: about half of what another seed changes.";
    let methods = intervals::methods(comparison).map(Block::Table);
    methods.into_iter().chain([Block::plain(note), Block::Table(intervals::all(comparison))]).collect()
}

fn causes(comparison: &Comparison) -> Vec<Block> {
    if comparison.causes.is_empty() {
        return Vec::new();
    }
    let names = comparison.arms.iter().map(|arm| short(&arm.name));
    let head: Vec<String> = std::iter::once("cause".to_owned()).chain(names).collect();
    let mut table = Table::new(&head).of_file("compare_causes");
    let mut found = Vec::new();
    for row in &comparison.causes {
        let name = words::capital(&first::cause(row.code.name()));
        let cells = row.arms.iter().map(|arm| Text::from(arm.told()));
        table.rows.push(Row {
            cells: std::iter::once(Text::quoting(name.clone())).chain(cells).collect(),
            strong: row.arms.iter().any(|arm| arm.likely > 0),
            ..Row::default()
        });
        for arm in row.arms.iter().filter(|arm| arm.message.is_some()) {
            let message = arm.message.clone().unwrap_or_default();
            found.push(Block::plain(Text::quoting(format!("{}, {name}: {message}", arm.name))));
        }
    }
    let fold = Fold { id: None, summary: "What was found".into(), blocks: found, open: false };
    vec![Block::Table(table), Block::Fold(fold)]
}

fn said(comparison: &Comparison) -> Vec<Block> {
    let lines = comparison.said.iter().flat_map(|said| &said.lines);
    let warnings =
        comparison.warnings.iter().map(|warning| format!("{}: {}.", warning.message, warning.hint));
    lines.cloned().chain(warnings).map(|line| Block::plain(Text::quoting(line))).collect()
}

/// Curves as they were logged: nothing is tested.
fn trainer(comparison: &Comparison) -> Vec<Block> {
    let panel = |series: &stapo_compare::result::Series| {
        let points: Vec<(f64, f64)> =
            series.points.iter().map(|point| (point.step as f64, point.value)).collect();
        let ends = points.first().zip(points.last());
        Panel {
            name: format!("{} {}", short(&series.run), short(&series.metric)),
            ends: ends.map_or_else(String::new, |(a, b)| {
                format!("{} to {}", words::sig(a.1, 2), words::sig(b.1, 2))
            }),
            points,
            ..Panel::default()
        }
    };
    let mut series: Vec<_> = comparison.trainer.iter().filter(|series| series.points.len() > 1).collect();
    // The same curve of all runs side by side.
    series.sort_by(|a, b| a.metric.cmp(&b.metric));
    if series.is_empty() {
        return Vec::new();
    }
    vec![Block::Figure(Figure {
        title: Text::new(),
        note: "as logged, not tested".into(),
        label: "curves of the trainers".into(),
        chart: Chart::Panels(series.into_iter().take(PANELS).map(panel).collect()),
        file: Some("compare_trainer"),
    })]
}

/// A table an arm.
fn movers(comparison: &Comparison, table: fn(&Movers, &str) -> Table) -> Vec<Block> {
    let first = comparison.arms.first().map_or("", |arm| arm.name.as_str());
    let tables = comparison.movers.iter().map(|movers| (movers, table(movers, first)));
    let several = comparison.movers.len() > 1;
    let block = |(movers, table): (&Movers, Table)| match several {
        false => Block::Table(table),
        true => Block::Fold(Fold {
            id: None,
            summary: Text::new().log(movers.run.clone()),
            blocks: vec![Block::Table(table)],
            open: false,
        }),
    };
    tables.filter(|(_, table)| !table.rows.is_empty()).map(block).collect()
}

fn head(what: &[&str], movers: &Movers, first: &str) -> Vec<String> {
    let names =
        [format!("#{}", short(first)), format!("#{}", short(&movers.run)), "#difference, 95 %".into()];
    what.iter().map(|name| (*name).to_owned()).chain(names).collect()
}

fn tokens(movers: &Movers, first: &str) -> Table {
    let mut table = Table::new(&head(&["token", "#id"], movers, first)).of_file("compare_tokens");
    for row in &movers.tokens {
        let text = row.token.clone().map_or_else(Text::new, |token| Text::new().log_code(token));
        let cells = [text, row.token_id.to_string().into()].into_iter().chain(share(&row.share)).collect();
        table.rows.push(Row { cells, strong: row.share.is_sure(), ..Row::default() });
    }
    table
}

fn regions(movers: &Movers, first: &str) -> Table {
    let mut table = Table::new(&head(&["#p from", "#to", "#entropy from", "#to"], movers, first));
    for row in &movers.regions {
        let p = row.log10_prob.map(|log| Text::from(words::sig(10f64.powf(log), 2)));
        let entropy = row.entropy.map(|h| Text::from(words::sig(h, 2)));
        let cells = p.into_iter().chain(entropy).chain(share(&row.share)).collect();
        table.rows.push(Row { cells, strong: row.share.is_sure(), ..Row::default() });
    }
    table.of_file("compare_regions")
}

/// Both shares, and their difference with its interval, in per cent and points.
fn share(share: &ShareChange) -> [Text; 3] {
    let points = |value: f64| words::percent(value).trim_end_matches(" %").to_owned();
    let difference = format!(
        "{}{} ({} to {})",
        if share.difference > 0.0 { "+" } else { "" },
        points(share.difference),
        points(share.ci_low),
        points(share.ci_high)
    );
    [words::percent(share.baseline).into(), words::percent(share.other).into(), difference.into()]
}

fn spurious(comparison: &Comparison) -> Vec<Block> {
    if comparison.spurious_vocabulary.is_empty() {
        return Vec::new();
    }
    let names = comparison.arms.iter().map(|arm| format!("#{}", short(&arm.name)));
    let head: Vec<String> = ["token".to_owned(), "#id".to_owned()].into_iter().chain(names).collect();
    let mut table = Table::new(&head).of_file("compare_spurious");
    for row in &comparison.spurious_vocabulary {
        let text = row.token.clone().map_or_else(Text::new, |token| Text::new().log_code(token));
        let counts = row.silenced.iter().zip(&row.occurrences);
        let counts = counts.map(|(silenced, all)| {
            Text::from(format!("{} of {}", words::count(*silenced as f64), words::count(*all as f64)))
        });
        let cells = [text, row.token_id.to_string().into()].into_iter().chain(counts).collect();
        table.rows.push(Row { cells, ..Row::default() });
    }
    vec![Block::plain("Silenced by S2T, of all occurrences."), Block::Table(table)]
}
