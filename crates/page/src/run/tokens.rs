//! The tab of tokens: what drives the update, what S2T flags, responses to browse.

use stapo_result::FlagKind;

use super::responses::Store;
use super::{Run, shown};
use crate::document::{Block, Excerpt, Fold, Place, Section, Tab, Table, Text, Tokens};
use crate::words;

/// Rows that are seen, and rows that unfold.
const SEEN: usize = 6;
const FOLDED: usize = 30;

pub(super) fn sections(run: &Run<'_>, store: Store) -> Vec<Section> {
    let section = |id, title: &'static str, blocks| Section {
        id,
        title: title.into(),
        place: Place::Tab(Tab::Tokens),
        blocks,
        in_terminal: false,
    };
    let Some(full) = run.full else { return Vec::new() };
    let mut all = Vec::new();
    let gap = full.cases.separator;
    let drivers: Vec<Excerpt> =
        full.drivers.top.iter().map(|driver| shown::of_driver(driver, gap, &store)).collect();
    if !drivers.is_empty() {
        let mut blocks = vec![Block::plain(concentration(run))];
        blocks.extend(lists(drivers, "largest"));
        blocks.push(more("drivers"));
        all.push(section("drivers", "What drives the update", blocks));
    }
    let spurious = full.cases.top.iter().filter(|case| case.kind == FlagKind::Spurious);
    let flagged: Vec<Excerpt> = spurious.take(FOLDED).map(|case| shown::of_case(case, gap, &store)).collect();
    if !flagged.is_empty() {
        let says = format!(
            "{} rare tokens of rewarded answers lie below S2T's cut-off in entropy; the most surprising first.",
            words::count(full.cases.spurious as f64)
        );
        let mut blocks = vec![Block::plain(says)];
        blocks.extend(lists(flagged, "most surprising"));
        blocks.push(most_silenced(run));
        blocks.push(more("flagged"));
        all.push(section("flagged", "What S2T would silence", blocks));
    }
    // It opens where the sickness is.
    let first = full.drivers.top.first().map(|driver| driver.row);
    let responses = store.responses(run, first);
    if !responses.list.is_empty() {
        all.push(section("browser", "Answers", vec![Block::Tokens(Tokens::Responses(responses))]));
    }
    all
}

/// A few rows, and the rest to unfold.
fn lists(mut rows: Vec<Excerpt>, which: &str) -> Vec<Block> {
    let rest = rows.split_off(rows.len().min(SEEN));
    let count = rest.len().min(FOLDED - SEEN);
    let mut blocks = vec![Block::Tokens(Tokens::Excerpts(rows))];
    if count > 0 {
        blocks.push(Block::Fold(Fold {
            id: None,
            summary: format!("The next {count} of the {which}").into(),
            blocks: vec![Block::Tokens(Tokens::Excerpts(rest.into_iter().take(count).collect()))],
            open: false,
        }));
    }
    blocks
}

fn more(file: &'static str) -> Block {
    Block::note(Text::new().link("All of them, with every number", format!("tables/{file}.parquet")))
}

/// How few tokens carry the update.
fn concentration(run: &Run<'_>) -> String {
    let Some(full) = run.full else { return String::new() };
    let of = &full.drivers.concentration;
    let top = of.shares.map(|shares| {
        format!(
            "The largest carries {} of the gradient, the largest 1 % {}.",
            words::percent(shares.top_1),
            words::percent(shares.top_1_percent)
        )
    });
    let spread = of.effective_number.map(|n| {
        format!(
            " It is spread as over {} equal tokens of {}.",
            words::count(n),
            words::count(of.tokens as f64)
        )
    });
    top.unwrap_or_default() + &spread.unwrap_or_default()
}

fn most_silenced(run: &Run<'_>) -> Block {
    let mut table = Table::new(&["Token", "#silenced", "#all occurrences"]).of_file("vocabulary");
    for row in run.full.iter().flat_map(|full| &full.vocabulary.top).take(FOLDED) {
        let text = row.token.clone().unwrap_or_else(|| stapo_base::format::token_of_id(row.token_id));
        let all = row.positive + row.negative + row.zero;
        table.push(vec![
            Text::new().log_code(text),
            words::count(row.silenced as f64).into(),
            words::count(all as f64).into(),
        ]);
    }
    Block::Fold(Fold {
        id: None,
        summary: "Which strings it takes most often".into(),
        blocks: vec![Block::Table(table)],
        open: false,
    })
}
