//! The document as Markdown: for an issue, a chat, a notebook.

use std::fmt::Write as _;

use crate::chart::{Chart, Series};
use crate::document::{
    Block, Document, FactsKind, Figure, Fold, Place, Role, Span, Style, Tab, Table, Text, Tokens,
};

/// All of the document.
#[must_use]
pub fn markdown(document: &Document) -> String {
    let mut out = headline(document);
    for place in [Place::Proof, Place::Action, Place::Charts, Place::Shown, Place::Notes] {
        sections(document, place, "##", &mut out);
    }
    for tab in Tab::ALL {
        if document.sections.iter().any(|section| section.place == Place::Tab(tab)) {
            let _ = writeln!(out, "## {}\n", escape(tab.name()));
            sections(document, Place::Tab(tab), "###", &mut out);
        }
    }
    out
}

/// What the button of the page copies: the state, its proof, what to do.
#[must_use]
pub fn first_screen(document: &Document) -> String {
    let mut out = headline(document);
    for place in [Place::Proof, Place::Action, Place::Shown, Place::Notes] {
        sections(document, place, "##", &mut out);
    }
    out
}

fn headline(document: &Document) -> String {
    let name = escape(&document.name.visible(crate::hostile::NAME));
    let mut out = format!("# {name}\n\n**{} {}.**", document.tone.sign(), document.word);
    for section in document.sections.iter().filter(|section| section.place == Place::Headline) {
        if !section.title.is_empty() {
            let _ = write!(out, " {}", text(&section.title));
        }
    }
    let size: Vec<String> = document.size.iter().map(text).collect();
    let _ = writeln!(out, "\n\n{}\n", size.join(" · "));
    out
}

fn sections(document: &Document, place: Place, heading: &str, out: &mut String) {
    for section in document.sections.iter().filter(|section| section.place == place) {
        if !section.title.is_empty() {
            let _ = writeln!(out, "{heading} {}\n", text(&section.title));
        }
        blocks(&section.blocks, out);
    }
}

fn blocks(blocks: &[Block], out: &mut String) {
    let mut number = 0;
    for block in blocks {
        match block {
            Block::Sentence(sentence) if sentence.role == Role::Step => {
                number += 1;
                let _ = writeln!(out, "{number}. {}\n", text(&sentence.text));
            }
            // Links lead to places of the page.
            Block::Sentence(sentence) if leads_to_page(&sentence.text) => {}
            Block::Sentence(sentence) => {
                let _ = writeln!(out, "{}\n", text(&sentence.text));
            }
            Block::Facts(facts) => {
                for row in &facts.rows {
                    let healthy = row.healthy.as_ref().map(|healthy| format!(" (healthy {})", text(healthy)));
                    let indent = if facts.kind == FactsKind::Options { "   " } else { "" };
                    let healthy = healthy.unwrap_or_default();
                    let name = text(&row.name);
                    let lead = if name.is_empty() { name } else { format!("{name}: ") };
                    let _ = writeln!(out, "{indent}- {lead}{}{healthy}", text(&row.value));
                }
                out.push('\n');
            }
            Block::Table(of) => table(of, out),
            Block::Figure(figure) => {
                let note =
                    if figure.note.is_empty() { String::new() } else { format!(" ({})", text(&figure.note)) };
                let title = text(&figure.title);
                let title = if title.is_empty() { "Chart".into() } else { format!("**{title}**") };
                let _ = writeln!(out, "{title}{note}: {}\n", escape(&in_words(figure)));
            }
            Block::Fold(fold) => folded(fold, out),
            Block::Tokens(Tokens::Excerpts(list)) => {
                for of in list {
                    let around = |text: &crate::hostile::Hostile| text.visible(80);
                    let line = format!("{}⟦{}⟧{}", around(&of.before), around(&of.token), around(&of.after));
                    let _ = writeln!(out, "- {}: {}", code(&line), text(&of.facts));
                }
                out.push('\n');
            }
            Block::Tokens(Tokens::Responses(responses)) => {
                let _ = writeln!(out, "{}\n", text(&responses.command));
            }
            Block::Tokens(Tokens::Thresholds(_)) => {}
        }
    }
}

fn folded(fold: &Fold, out: &mut String) {
    let _ = writeln!(out, "**{}**\n", text(&fold.summary));
    blocks(&fold.blocks, out);
}

fn table(table: &Table, out: &mut String) {
    let mut line = |cells: Vec<String>| {
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    };
    line(table.head.iter().map(|column| text(&column.name)).collect());
    line(table.head.iter().map(|column| if column.number { "---:" } else { "---" }.into()).collect());
    for row in &table.rows {
        line(row.cells.iter().map(text).collect());
    }
    out.push('\n');
}

/// A chart in words: those of a line are its label, which names the same start and end as all sentences.
fn in_words(figure: &Figure) -> String {
    match &figure.chart {
        Chart::Lines(_) if figure.label.contains(|c: char| c.is_ascii_digit()) => figure.label.clone(),
        chart => chart_in_words(chart),
    }
}

fn chart_in_words(chart: &Chart) -> String {
    let ends = |series: &Series| {
        let mut fine = series.points.iter().filter(|point| point.1.is_finite());
        let first = fine.next()?;
        let last = fine.next_back().unwrap_or(first);
        Some(format!("{} to {}", crate::words::sig(first.1, 2), crate::words::sig(last.1, 2)))
    };
    match chart {
        Chart::Lines(lines) => {
            let words = |series: &Series| ends(series).map(|ends| format!("{} {ends}", series.name));
            lines.series.iter().filter_map(words).collect::<Vec<_>>().join(", ")
        }
        Chart::Bars(bars) => {
            bars.bars.iter().map(|bar| format!("{} {}", bar.name, bar.words)).collect::<Vec<_>>().join(", ")
        }
        Chart::Intervals(intervals) => {
            let sig = |v| crate::words::sig(v, 2);
            let words = intervals
                .rows
                .iter()
                .map(|row| format!("{} {} to {}", row.name, sig(row.low), sig(row.high)));
            words.collect::<Vec<_>>().join(", ")
        }
        Chart::Events(events) => {
            events.events.iter().map(|event| event.name.clone()).collect::<Vec<_>>().join(", ")
        }
        Chart::Panels(panels) => {
            panels.iter().map(|panel| format!("{} {}", panel.name, panel.ends)).collect::<Vec<_>>().join(", ")
        }
        Chart::Plane(_) => "on the page".into(),
    }
}

fn leads_to_page(text: &Text) -> bool {
    matches!(text.spans().first(), Some(Span { style: Style::Link(to), .. }) if to.starts_with('#'))
}

fn text(text: &Text) -> String {
    text.spans().iter().map(span).collect()
}

fn span(span: &Span) -> String {
    let words = span.words.visible();
    match &span.style {
        Style::Code => code(&words),
        Style::Strong | Style::Mark => format!("**{}**", escape(&words)),
        Style::Link(to) if to.starts_with("http") => format!("[{}]({to})", escape(&words)),
        Style::Link(to) if to.starts_with('#') && words == "More" => String::new(),
        Style::Plain | Style::Muted | Style::Term(_) | Style::Link(_) => escape(&words),
    }
}

/// As code: nothing in it is markup, a link or a mention.
fn code(words: &str) -> String {
    let fence = "`".repeat(1 + words.split(|c| c != '`').map(str::len).max().unwrap_or(0));
    let pad = if words.starts_with('`') || words.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{}{pad}{fence}", words.replace('|', "\\|"))
}

/// What could be markup is escaped.
fn escape(words: &str) -> String {
    let mut out = String::with_capacity(words.len() + 8);
    for c in words.chars() {
        match c {
            '\\' | '`' | '*' | '[' | ']' | '|' | '#' | '~' | '@' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            _ => out.push(c),
        }
    }
    out
}
