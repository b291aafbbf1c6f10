//! Blocks as HTML. `maud` escapes whatever stands in parentheses.

use maud::{Markup, PreEscaped, html};

use crate::chart::Chart;
use crate::document::{
    Block, Excerpt, Facts, FactsKind, Figure, Fold, Role, Row, Sentence, Span, Style, Table, Text,
};
use crate::hostile::{Hostile, visible};

/// Blocks in their order; steps to do, each with the options that stand under it, are one list.
pub fn all(blocks: &[Block], percent: usize) -> Markup {
    let is_step = |block: &Block| matches!(block, Block::Sentence(Sentence { role: Role::Step, .. }));
    let is_option = |block: &Block| matches!(block, Block::Facts(Facts { kind: FactsKind::Options, .. }));
    let figures = blocks.iter().filter(|block| matches!(block, Block::Figure(_))).count();
    html! {
        @for run in blocks.chunk_by(|a, b| (is_step(a) || is_option(a)) && (is_step(b) || is_option(b))) {
            @if run.first().is_some_and(is_step) {
                ol {
                    @for step in run.chunk_by(|_, next| is_option(next)) { li { @for part in step { (block(part, percent)) } } }
                }
            } @else {
                @for part in run { (block(part, percent)) }
            }
        }
        @if figures > 1 { span.figures {} }
    }
}

fn block(block: &Block, percent: usize) -> Markup {
    match block {
        Block::Sentence(sentence) => match sentence.role {
            Role::Step => text(&sentence.text),
            Role::Plain => html! { p { (text(&sentence.text)) } "\n" },
            Role::Note => html! { p.note { (text(&sentence.text)) } "\n" },
        },
        Block::Facts(of) => facts(of),
        Block::Table(of) => table(of),
        Block::Figure(of) => figure(of),
        Block::Fold(of) => fold(of, percent),
        Block::Tokens(of) => super::tokens(of, percent),
    }
}

pub fn text(text: &Text) -> Markup {
    html! { @for part in text.spans() { (span(part)) } }
}

fn span(span: &Span) -> Markup {
    let words = span.words.visible();
    match &span.style {
        Style::Plain => html! { (words) },
        Style::Code => code(&words),
        Style::Strong => html! { b { (words) } },
        Style::Muted => html! { span.muted { (words) } },
        Style::Mark => html! { mark { (words) } },
        Style::Link(to) => html! { a href=(to) { (words) } },
        Style::Term(id) => html! { button type="button" popovertarget={ "term-" (id) } { (words) } },
    }
}

/// Long names of options break at their joints.
fn code(words: &str) -> Markup {
    let parts = words.split_inclusive(['.', '_', '=', '/']);
    html! { code { @for (i, part) in parts.enumerate() { @if i > 0 { wbr; } (part) } } }
}

fn facts(facts: &Facts) -> Markup {
    let rows = &facts.rows;
    match facts.kind {
        FactsKind::Proof => html! {
            table.proof {
                thead { tr { th {} th { "this run" } @if rows.iter().any(|row| row.healthy.is_some()) { th { "healthy" } } } }
                tbody {
                    @for row in rows {
                        tr {
                            td { (text(&row.name)) }
                            td { (text(&row.value)) }
                            @if let Some(healthy) = &row.healthy { td { (text(healthy)) } }
                        }
                    }
                }
            }
        },
        FactsKind::Options => {
            html! { @for row in rows { span.opt { i { (text(&row.name)) } " " (text(&row.value)) } } }
        }
        FactsKind::Notes => html! {
            dl { @for row in rows { dt { (text(&row.name)) } dd { (text(&row.value)) } "\n" } }
        },
    }
}

fn table(table: &Table) -> Markup {
    let class = |column: usize| table.head.get(column).filter(|c| !c.number).map(|_| "t");
    let row = |row: &Row| {
        html! {
            tr id=[row.id.as_deref()] class=[row.strong.then_some("hot")] {
                @for (column, cell) in row.cells.iter().enumerate() { td class=[class(column)] { (text(cell)) } }
            }
        }
    };
    html! {
        div.wide {
            table.list {
                thead { tr { @for (i, column) in table.head.iter().enumerate() { th class=[class(i)] { (text(&column.name)) } } } }
                tbody { @for of in &table.rows { (row(of)) "\n" } }
            }
        }
        (file(table.file))
    }
}

fn file(file: Option<&str>) -> Markup {
    html! { @if let Some(file) = file { p.note { a href={ "tables/" (file) ".parquet" } { "All numbers" } } } }
}

fn figure(figure: &Figure) -> Markup {
    let svgs = figure.chart.svgs(&figure.label);
    html! {
        figure class=[matches!(figure.chart, Chart::Panels(_)).then_some("panels")] {
            figcaption {
                b { (text(&figure.title)) }
                " " span { (text(&figure.note)) }
                @if let Some(file) = figure.file { " " a href={ "tables/" (file) ".parquet" } { "Numbers" } }
            }
            @if svgs.len() == 1 { @for svg in &svgs { (PreEscaped(svg)) } }
            @else { div.grid { @for svg in &svgs { (PreEscaped(svg)) } } }
        }
        "\n"
    }
}

fn fold(fold: &Fold, percent: usize) -> Markup {
    html! {
        details id=[fold.id.as_deref()] open[fold.open] {
            summary { (text(&fold.summary)) }
            (all(&fold.blocks, percent))
        }
        "\n"
    }
}

/// Tokens in their context.
pub fn excerpts(list: &[Excerpt]) -> Markup {
    html! { ul.tokens { @for excerpt in list { li { (one(excerpt)) } "\n" } } }
}

/// Characters of context on either side.
const CONTEXT: usize = 60;

fn one(excerpt: &Excerpt) -> Markup {
    let quote = |text: &Hostile| visible_in_order(text, CONTEXT);
    html! {
        q {
            (start_of(&excerpt.before))
            @if !excerpt.token.is_empty() { mark { (quote(&excerpt.token)) } }
            // A response without a token of interest has two lines for itself.
            (visible_in_order(&excerpt.after, if excerpt.token.is_empty() { 3 * CONTEXT } else { CONTEXT }))
        }
        small {
            (text(&excerpt.facts))
            @if let Some((id, words)) = &excerpt.link { " · " a href={ "#" (id) } { (words) } }
        }
    }
}

/// The last words of what stands before a token.
fn start_of(text: &Hostile) -> String {
    let words = visible(&text.visible(4 * CONTEXT), 8 * CONTEXT);
    let skip = words.chars().count().saturating_sub(CONTEXT);
    let tail: String = words.chars().skip(skip).collect();
    if skip > 0 { in_order(&format!("…{tail}")) } else { in_order(&tail) }
}

fn visible_in_order(text: &Hostile, limit: usize) -> String {
    in_order(&text.visible(limit))
}

/// Words of scripts that are written from right to left would change places with their neighbours: marks of
/// direction keep them where they were sampled.
fn in_order(text: &str) -> String {
    let from_right = |c: char| matches!(u32::from(c), 0x590..=0x8FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFC | 0x10800..=0x10FFF | 0x1E800..=0x1EFFF);
    if text.chars().any(from_right) { format!("\u{200E}{text}\u{200E}") } else { text.into() }
}
