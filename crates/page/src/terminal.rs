//! The document as lines of a terminal.

use crate::chart::{Chart, Series};
use crate::document::{
    Block, Column, Document, Facts, FactsKind, Figure, MIND, Place, Role, Section, Style, Table, Text,
    Tokens, Tone,
};

/// Columns of a terminal that says none.
pub const COLUMNS: usize = 80;
/// Lines at most, of a run with something to mend and of one without.
pub const LINES: [usize; 2] = [20, 8];

/// How a terminal shows the document.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// Columns.
    pub columns: usize,
    /// Whether it has colours.
    pub colours: bool,
    /// Whether all of the document is asked for.
    pub verbose: bool,
}

/// The lines, each with its end.
#[must_use]
pub fn terminal(document: &Document, how: Terminal) -> String {
    let mut page = Page { how, tone: document.tone, lines: Vec::new() };
    page.headline(document);
    let shown = |place: Place| {
        let wanted = move |section: &&crate::document::Section| how.verbose || section.in_terminal;
        document.sections.iter().filter(move |section| section.place == place).filter(wanted)
    };
    if !how.verbose {
        for section in shown(Place::Headline) {
            page.section("", &section.blocks);
        }
    }
    for place in [Place::Charts, Place::Proof, Place::Action, Place::Shown, Place::Notes] {
        for section in shown(place) {
            // Nothing to mend: what is cheaper stands on the page.
            let brief = !how.verbose && place == Place::Action && document.tone == Tone::Healthy;
            let blocks = if brief { section.blocks.get(..1).unwrap_or_default() } else { &section.blocks };
            page.section(&heading(section, how), blocks);
        }
    }
    if !how.verbose {
        page.mind(document);
    }
    for tab in crate::document::Tab::ALL {
        for section in shown(Place::Tab(tab)) {
            page.blank();
            page.section(&heading(section, how), &section.blocks);
        }
    }
    let most = LINES[usize::from(document.tone == Tone::Healthy)];
    if !how.verbose && page.lines.len() > most {
        page.lines.truncate(most - 1);
        page.lines.push("… all of it with --verbose".into());
    }
    page.lines.into_iter().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// A word at the left where the terminal is short, else the heading.
fn heading(section: &crate::document::Section, how: Terminal) -> String {
    let word = match section.place {
        Place::Proof => "proof",
        Place::Action if section.id == "shows" => "means",
        Place::Action => "to do",
        Place::Shown => "tokens",
        _ => "",
    };
    if how.verbose || word.is_empty() { section.title.flat() } else { word.into() }
}

/// Columns of the names at the left.
const NAMES: usize = 10;

struct Page {
    how: Terminal,
    tone: Tone,
    lines: Vec<String>,
}

impl Page {
    fn headline(&mut self, document: &Document) {
        let word = format!("{} {}", document.tone.sign(), document.word);
        let says = document.sections.iter().filter(|section| section.place == Place::Headline);
        let says: Vec<String> = says.map(|section| section.title.flat()).collect();
        let lead = self.coloured(&word);
        let lines = wrap(&format!("{word}  {}", says.join(" ")), self.how.columns, 2);
        for (i, line) in lines.into_iter().enumerate() {
            // The colour has no width.
            self.lines.push(if i == 0 { line.replacen(&word, &lead, 1) } else { line });
        }
    }

    /// Of the notes only what a reader must not miss.
    fn mind(&mut self, document: &Document) {
        let is_hidden = |section: &&Section| section.place == Place::Notes && !section.in_terminal;
        let notes = document.sections.iter().filter(is_hidden);
        for block in notes.flat_map(|section| &section.blocks) {
            let Block::Facts(facts) = block else { continue };
            for row in facts.rows.iter().filter(|row| row.name.flat() == MIND) {
                self.say("mind", &format!("{} (--verbose)", row.value.flat()));
            }
        }
    }

    fn coloured(&self, text: &str) -> String {
        let code = match self.tone {
            Tone::Healthy => "32",
            Tone::Suspicious => "33",
            Tone::Bad => "31",
            Tone::Flat => "35",
            Tone::Open => "37",
            Tone::Different => "34",
        };
        if self.how.colours { format!("\u{1b}[1;{code}m{text}\u{1b}[0m") } else { text.into() }
    }

    fn blank(&mut self) {
        if self.how.verbose {
            self.lines.push(String::new());
        }
    }

    /// A section: its short name at the left of its first line.
    fn section(&mut self, title: &str, blocks: &[Block]) {
        let mut number = 0;
        let mut name = title.to_owned();
        if self.how.verbose && !title.is_empty() {
            self.lines.extend(wrap(&name.to_uppercase(), self.how.columns, 0));
            name.clear();
        }
        for block in blocks {
            match block {
                Block::Sentence(sentence) if sentence.role == Role::Step => {
                    number += 1;
                    self.say(&std::mem::take(&mut name), &format!("{number}. {}", sentence.text.flat()));
                }
                // Links lead to places of the page.
                Block::Sentence(sentence)
                    if !self.how.verbose && (sentence.role == Role::Note || links(&sentence.text)) => {}
                Block::Sentence(sentence) => self.say(&std::mem::take(&mut name), &sentence.text.flat()),
                Block::Facts(facts) => self.facts(&mut name, facts),
                Block::Figure(figure) => self.figure(figure),
                Block::Table(table) => {
                    for row in rows(table, self.how.columns.saturating_sub(NAMES)) {
                        self.say(&std::mem::take(&mut name), &row);
                    }
                }
                Block::Fold(fold) => {
                    self.say(&std::mem::take(&mut name), &fold.summary.flat());
                    self.section("", &fold.blocks);
                }
                Block::Tokens(Tokens::Excerpts(list)) => {
                    for of in list {
                        let before = of.before.visible(200);
                        let start = before.chars().count().saturating_sub(24);
                        let before: String = before.chars().skip(start).collect();
                        let line = format!("{before}⟦{}⟧{}", of.token.visible(40), of.after.visible(16));
                        self.say(&std::mem::take(&mut name), &format!("{line}: {}", of.facts.flat()));
                    }
                }
                Block::Tokens(Tokens::Responses(responses)) => self.say("", &responses.command.flat()),
                Block::Tokens(Tokens::Thresholds(_)) => {}
            }
        }
    }

    fn facts(&mut self, name: &mut String, facts: &Facts) {
        for row in &facts.rows {
            let (of, value) = (row.name.flat(), row.value.flat());
            match (facts.kind, &row.healthy) {
                (FactsKind::Proof, healthy) => {
                    let healthy = healthy.as_ref().map(|healthy| format!(" (healthy {})", healthy.flat()));
                    let line = format!("{value}{}: {of}", healthy.unwrap_or_default());
                    self.say(&std::mem::take(name), &line);
                }
                // One option a line: it is copied.
                (FactsKind::Options, _) => self.say("", &format!("   {of}: {}", typed(&row.value))),
                (FactsKind::Notes, _) => self.say(&of, &value),
            }
        }
    }

    /// The first line as a row of blocks.
    fn figure(&mut self, figure: &Figure) {
        let Chart::Lines(lines) = &figure.chart else { return };
        let Some(series) = lines.series.first() else { return };
        let bars = sparkline(series, lines.range.as_ref().map(|range| (range.start, range.end)), 40);
        self.say(&figure.title.flat(), &format!("{bars}  {}", figure.label));
    }

    fn say(&mut self, name: &str, words: &str) {
        let mut lead: String = name.chars().take(NAMES - 1).collect();
        lead.extend(std::iter::repeat_n(' ', NAMES - lead.chars().count()));
        let numbered =
            words.split_once(". ").is_some_and(|parts| parts.0.chars().all(|c| c.is_ascii_digit()));
        let indent = if numbered { 3 } else { words.len() - words.trim_start().len() };
        for (i, line) in
            wrap(words, self.how.columns.saturating_sub(NAMES).max(20), indent).into_iter().enumerate()
        {
            let lead = if i == 0 { lead.clone() } else { " ".repeat(NAMES) };
            self.lines.push(lead + &line);
        }
    }
}

/// Rows of a table under its head, in columns; where these do not fit, one cell after the other.
fn rows(table: &Table, columns: usize) -> Vec<String> {
    let head: Vec<String> = table.head.iter().map(|column| column.name.flat()).collect();
    let cells = table.rows.iter().map(|row| row.cells.iter().map(Text::flat).collect::<Vec<String>>());
    let all: Vec<Vec<String>> = std::iter::once(head).chain(cells).collect();
    let width = |column: usize| {
        all.iter().filter_map(|row| row.get(column)).map(|cell| wide(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..table.head.len()).map(width).collect();
    if widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1) > columns {
        let joined = |row: &Vec<String>| {
            row.iter().map(|cell| cell.trim()).filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join("  ")
        };
        return all.iter().skip(1).map(joined).collect();
    }
    let cell = |(text, (width, column)): (&String, (&usize, &Column))| {
        let room = " ".repeat(width.saturating_sub(wide(text)));
        if column.number { room + text } else { text.clone() + &room }
    };
    let row = |row: &Vec<String>| {
        row.iter().zip(widths.iter().zip(&table.head)).map(cell).collect::<Vec<_>>().join("  ")
    };
    all.iter().map(row).collect()
}

fn links(text: &Text) -> bool {
    text.spans().iter().any(|span| matches!(span.style, Style::Link(_)))
}

/// Options without what stands between them.
fn typed(text: &Text) -> String {
    let has_code = text.spans().iter().any(|span| span.style == Style::Code);
    let options = text.spans().iter().filter(|span| !has_code || span.style == Style::Code);
    options.map(|span| span.words.visible().into_owned()).collect::<Vec<_>>().join(", ")
}

/// Eight heights of blocks; gaps stay gaps; of many points the mean of neighbours.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn sparkline(series: &Series, range: Option<(f64, f64)>, most: usize) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let values: Vec<f64> = series.points.iter().map(|point| point.1).collect();
    let each = values.len().div_ceil(most).max(1);
    let mean = |part: &[f64]| {
        let fine: Vec<f64> = part.iter().copied().filter(|v| v.is_finite()).collect();
        if fine.is_empty() { f64::NAN } else { fine.iter().sum::<f64>() / fine.len() as f64 }
    };
    let values: Vec<f64> = values.chunks(each).map(mean).collect();
    let fine = values.iter().copied().filter(|v| v.is_finite());
    let (low, high) = range
        .unwrap_or_else(|| fine.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v))));
    let block = |v: &f64| match v.is_finite() {
        true if high > low => BLOCKS[((v - low) / (high - low) * 7.99).clamp(0.0, 7.0) as usize],
        true => BLOCKS[3],
        false => ' ',
    };
    values.iter().map(block).collect()
}

/// Lines of at most so many columns; words longer than a line are broken.
fn wrap(text: &str, columns: usize, indent: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    let fresh = || (" ".repeat(indent), indent);
    for word in text.split_inclusive(' ') {
        let width = wide(word.trim_end());
        if used > indent && used + width > columns {
            let (line, at) = fresh();
            lines.push(line);
            used = at;
        }
        for c in word.chars() {
            if used + wide_char(c) > columns && c != ' ' {
                let (line, at) = fresh();
                lines.push(line);
                used = at;
            }
            if let Some(line) = lines.last_mut() {
                line.push(c);
            }
            used += wide_char(c);
        }
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// Columns that a text takes.
pub(crate) fn wide(text: &str) -> usize {
    text.chars().map(wide_char).sum()
}

/// Ideographs and pictures take two columns, marks over a letter none.
fn wide_char(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36F | 0x200D | 0xFE0F => 0,
        0x1100..=0x115F
        | 0x2E80..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE4F
        | 0xFF00..=0xFF60
        | 0x1F300..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit() {
        for text in ["a bb ccc dddd eeeee", &"x".repeat(100), "日本語の長い文章です and more"] {
            assert!(wrap(text, 10, 2).iter().all(|line| wide(line) <= 10), "{text}");
        }
        assert_eq!(wrap("one two three", 8, 0), ["one two", "three"]);
    }

    #[test]
    fn a_line_is_a_row_of_blocks() {
        let series = Series::new("", vec![(0.0, 0.0), (1.0, f64::NAN), (2.0, 0.5), (3.0, 1.0)]);
        assert_eq!(sparkline(&series, None, 40), "▁ ▄█");
        assert_eq!(sparkline(&series, Some((0.0, 2.0)), 2), "▁▃");
    }
}
