//! Spurious vocabularies side by side.

use super::arms::{Chosen, chosen, left_out};
use super::look::label;
use crate::charts::{Chart, Drawn, Missing};
use crate::draw::{Anchor, Axis, Canvas, Entry, Ink, Key, Plot, Scene, Scenes, font, ticks};
use crate::text::token_or_id;
use stapo_compare::Comparison;
use stapo_compare::result::SpuriousToken;

const TITLE: &str = "Spurious tokens side by side";
/// Arms whose bars have room for their counts.
const COUNTED: usize = 4;

/// Tokens that are drawn at most.
const ROWS: usize = 12;

/// A row of bars for each token string.
pub fn draw(comparison: &Comparison) -> Drawn {
    let rows: Vec<&SpuriousToken> = comparison.spurious_vocabulary.iter().take(ROWS).collect();
    if rows.is_empty() {
        return Err(Missing::new(TITLE, "silenced tokens with an id (`token_ids`)"));
    }
    let mut notes: Vec<String> = left_out(comparison).into_iter().collect();
    if comparison.spurious_vocabulary.len() > rows.len() {
        notes.push(format!("The {} silenced most, of all runs together.", rows.len()));
    }
    Ok(Chart {
        name: "compare_spurious",
        title: TITLE.into(),
        reading: "Which strings the same rule silences in each run: a string that one run no longer says has been unlearned there, one that only it says is new.".into(),
        notes,
        scenes: Scenes::draw(|width| ink(comparison, &rows, width)),
        table: comparison.spurious_frame(),
    })
}

#[allow(clippy::cast_precision_loss)]
fn ink(comparison: &Comparison, rows: &[&SpuriousToken], width: u32) -> Scene {
    let drawn = chosen(comparison);
    let arms = drawn.len();
    let tokens = |of: &Chosen<'_>| {
        let runs = comparison.runs.iter().filter(|r| r.arm == of.arm.name);
        runs.map(|r| r.tokens).sum::<u64>().max(1) as f64
    };
    let rate = |t: &SpuriousToken, of: &Chosen<'_>| 1e6 * t.silenced[of.index] as f64 / tokens(of);
    let row_height = 10.0 + 11.0 * arms as f64;
    let mut canvas = Canvas::new(width, 88 + (row_height * rows.len() as f64) as u32, TITLE);
    let key = |of: &Chosen<'_>| Entry::new(Key::Area(of.pen.alpha(0.85)), label(&of.arm.name));
    let legend: Vec<Entry> = drawn.iter().map(key).collect();
    canvas.legend(&legend);
    let labels: Vec<String> =
        rows.iter().map(|t| font::fit(&token_or_id(t.token.as_deref(), t.token_id), 12.0, 150.0)).collect();
    let wide = labels.iter().map(|l| font::width(l, 12.0, false)).fold(30.0, f64::max);
    let rect = [wide + 24.0, canvas.top() + 4.0, canvas.width() - 30.0, canvas.height() - 46.0];
    let most = rows.iter().flat_map(|t| drawn.iter().map(|of| rate(t, of))).fold(1e-9, f64::max) * 1.1;
    let x = Axis::new("", 0.0..most, ticks::linear(0.0, most, width as usize / 100));
    let plot = Plot::inside(&canvas, rect, &x, &Axis::new("", 0.0..rows.len() as f64, Vec::new()));
    for (index, t) in rows.iter().enumerate() {
        let top = rows.len() as f64 - index as f64 - 0.12;
        let height = 0.76 / arms as f64;
        for (place, of) in drawn.iter().enumerate() {
            let y = top - height * place as f64;
            plot.bar((0.0, y - height * 0.86), (rate(t, of), y), of.pen.alpha(0.85));
            let (px, py) = plot.pixel(rate(t, of), y - height * 0.43);
            if arms <= COUNTED {
                canvas.text(&t.silenced[of.index].to_string(), (px + 5.0, py), Anchor::Left, Ink::Muted);
            }
        }
        let middle = plot.pixel(0.0, rows.len() as f64 - index as f64 - 0.5).1;
        canvas.text(&labels[index], (rect[0] - 8.0, middle), Anchor::Right, Ink::Text);
    }
    let counted = if arms <= COUNTED { " (numbers: how many)" } else { "" };
    canvas.x_label(&format!("silenced tokens a million{counted}"), (rect[0] + rect[2]) / 2.0);
    canvas.finish()
}
