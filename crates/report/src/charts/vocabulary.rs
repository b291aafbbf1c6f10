//! Which token strings are spurious, beside exploratory, by the sign of the advantage.

use super::{Chart, Drawn, Missing};
use crate::draw::{Anchor, Axis, Canvas, Entry, Ink, Key, Mark, Pen, Plot, Scene, Scenes, font, ticks};
use crate::text::token_or_id;
use stapo_base::format::{grouped as count, percent};
use stapo_result::RunAnalysis;
use stapo_result::VocabularyRow;

const TITLE: &str = "Which tokens are spurious";
/// Token ids that are drawn at most.
const ROWS: usize = 12;
/// Token ids in the numbers behind the chart at most; all are in `tables/vocabulary.parquet`.
const TABLE_ROWS: usize = 2_000;

/// Bars for each token string: flagged on the left, all on the right.
pub fn draw(analysis: &RunAnalysis) -> Drawn {
    let vocabulary = &analysis.vocabulary;
    let flagged = ranked(if vocabulary.rows.is_empty() { &vocabulary.top } else { &vocabulary.rows });
    if flagged.is_empty() {
        let needs = if vocabulary.distinct.is_none() {
            "the column `token_ids`"
        } else {
            "candidates (A > 0 and p < τₚ); this run has none"
        };
        return Err(Missing::new(TITLE, needs));
    }
    let rows = &flagged[..flagged.len().min(ROWS)];
    let mut notes = Vec::new();
    if let Some(c) = &analysis.vocabulary.silenced {
        notes.push(format!(
            "{} silenced tokens are of {} ids; the most frequent takes {}, the top ten {} of them.",
            count(c.tokens),
            count(c.distinct),
            percent(c.top1_share),
            percent(c.top10_share)
        ));
    }
    if flagged.len() > rows.len() {
        notes.push(format!("{} of {} flagged ids are drawn.", rows.len(), count(flagged.len() as u64)));
    }
    Ok(Chart {
        name: "vocabulary",
        title: TITLE.into(),
        reading: "Flagged tokens per string (left) and how often the string occurs in answers with a positive or negative advantage (right): a mask that falls on one frequent, useful string will do harm.".into(),
        notes,
        scenes: Scenes::draw(|width| ink(rows, width)),
        table: VocabularyRow::frame(&flagged[..flagged.len().min(TABLE_ROWS)]),
    })
}

#[allow(clippy::cast_precision_loss)]
fn ink(rows: &[&VocabularyRow], width: u32) -> Scene {
    let (spurious, exploratory) = (Pen::new(Ink::Spurious), Pen::new(Ink::Exploratory));
    let (positive, negative) = (Pen::new(Ink::Green), Pen::new(Ink::Purple));
    let row_height = 25.0;
    let mut canvas = Canvas::new(width, 92 + 25 * rows.len() as u32, TITLE);
    canvas.legend(&[
        Entry::new(Key::Area(spurious), "spurious"),
        Entry::new(Key::Area(exploratory.alpha(0.75)), "exploratory"),
        Entry::new(Key::Mark(positive, Mark::Up), "occurrences with A > 0"),
        Entry::new(Key::Mark(negative, Mark::Down), "with A < 0"),
    ]);
    let labels: Vec<String> =
        rows.iter().map(|r| font::fit(&label(r), 12.0, f64::from(width) * 0.2)).collect();
    let wide = labels.iter().map(|l| font::width(l, 12.0, false)).fold(30.0, f64::max);
    let (top, bottom) = (canvas.top() + 4.0, canvas.height() - 46.0);
    let (left, right) = (wide + 24.0, canvas.width() - 18.0);
    let split = left + (right - left) * 0.58;
    let most = rows.iter().map(|r| r.silenced.max(r.exploratory)).max().unwrap_or(1).max(1) as f64;
    let height = rows.len() as f64;
    let counts = Axis::new("", 0.0..most * 1.12, ticks::whole(0.0, most, 5));
    let none = Axis::new("", 0.0..height, Vec::new());
    let bars = Plot::inside(&canvas, [left, top, split - 10.0, bottom], &counts, &none);
    let often = rows.iter().map(|r| r.positive.max(r.negative)).max().unwrap_or(1).max(1) as f64;
    let decades = often.log10().ceil().max(1.0);
    let log = Axis::new("", -0.25..decades + 0.1, ticks::decades(0.0, decades, 5));
    let dots = Plot::inside(&canvas, [split + 16.0, top, right, bottom], &log, &none);
    for (index, row) in rows.iter().enumerate() {
        let y = height - index as f64 - 0.5;
        let middle = bars.pixel(0.0, y).1;
        canvas.text(&labels[index], (left - 8.0, middle), Anchor::Right, Ink::Text);
        let parts =
            [(row.silenced, spurious, 0.36, 0.02), (row.exploratory, exploratory.alpha(0.75), -0.02, -0.30)];
        for (value, pen, high, low) in parts {
            if value > 0 {
                bars.bar((0.0, y + low), (value as f64, y + high), pen);
            }
        }
        let tip = bars.pixel(row.silenced.max(row.exploratory) as f64, y).0;
        canvas.text(&count(row.silenced), (tip + 5.0, middle - row_height * 0.14), Anchor::Left, Ink::Muted);
        dots.line(&[(-0.25, y), (decades + 0.1, y)], Pen::new(Ink::Grid));
        for (value, pen, mark) in [(row.positive, positive, Mark::Up), (row.negative, negative, Mark::Down)] {
            if value > 0 {
                dots.mark((value as f64).log10(), y, mark, 4.0, pen);
            }
        }
    }
    let middle = |a: f64, b: f64| ((a + b) / 2.0, canvas.height() - 12.0);
    canvas.text("flagged tokens", middle(left, split), Anchor::Middle, Ink::Muted);
    canvas.text("all occurrences (log)", middle(split + 16.0, right), Anchor::Middle, Ink::Muted);
    canvas.finish()
}

/// The flagged ids, the most silenced first.
fn ranked(rows: &[VocabularyRow]) -> Vec<&VocabularyRow> {
    let mut flagged: Vec<_> = rows.iter().filter(|r| r.candidates > 0).collect();
    flagged.sort_by(|a, b| {
        (b.silenced, b.exploratory).cmp(&(a.silenced, a.exploratory)).then(a.token_id.cmp(&b.token_id))
    });
    flagged
}

fn label(row: &VocabularyRow) -> String {
    token_or_id(row.token.as_deref(), row.token_id)
}
