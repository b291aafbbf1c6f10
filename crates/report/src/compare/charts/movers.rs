//! Token ids that gained or lost most.

use super::look::label;
use crate::charts::{Chart, Drawn, Missing};
use crate::draw::{Anchor, Axis, Canvas, Entry, Ink, Key, Pen, Plot, Scene, Scenes, font, ticks};
use crate::text::token_or_id;
use stapo_base::format::number;
use stapo_base::tables::{Columns, DataFrame};
use stapo_compare::result::{DistributionChange, TokenChange};
use stapo_compare::shown::shown_p;

const TITLE: &str = "Tokens that gained or lost most";
const NAMES: [&str; 3] = ["compare_tokens", "compare_tokens_2", "compare_tokens_3"];
/// Tokens that are drawn at most.
const ROWS: usize = 14;

/// Draws it for an arm other than the baseline, the one that has charts of its own at this place.
pub fn draw(change: &DistributionChange, place: usize) -> Drawn {
    let rows: Vec<&TokenChange> = change.tokens.iter().take(ROWS).collect();
    if rows.is_empty() {
        return Err(Missing::new(TITLE, "token ids (`token_ids`) that are not equally frequent"));
    }
    let title = format!("{TITLE}: {}", label(&change.run));
    let mut notes = Vec::new();
    if let Some(distance) = &change.vocabulary {
        notes.push(format!(
            "Jensen–Shannon distance of the vocabularies {} (swapped labels give {} in the middle, {} at the 95 % quantile; p = {}).",
            number(distance.distance),
            number(distance.noise),
            number(distance.noise_high),
            shown_p(distance.p_value)
        ));
    }
    notes.push("Picked for their size: some of many would look like this by chance.".into());
    Ok(Chart {
        name: NAMES[place.min(NAMES.len() - 1)],
        title: title.clone(),
        reading: "What a run says more or less often than the baseline: words of reasoning, formatting or filler that moved.".into(),
        notes,
        scenes: Scenes::draw(|width| ink(&rows, &label(&change.run), Canvas::new(width, 88 + 23 * rows.len() as u32, &title))),
        table: table(&change.tokens),
    })
}

fn ink(rows: &[&TokenChange], name: &str, mut canvas: Canvas) -> Scene {
    let (gained, lost) = (Pen::new(Ink::Exploratory), Pen::new(Ink::Spurious));
    canvas.legend(&[
        Entry::new(Key::Area(gained.alpha(0.8)), format!("more in {}", name)),
        Entry::new(Key::Area(lost.alpha(0.8)), "fewer"),
        Entry::new(Key::Area(Pen::new(Ink::Neutral).alpha(0.6)), "may be noise"),
        Entry::new(Key::Line(Pen::new(Ink::Text).width(1.4)), "interval"),
    ]);
    let labels: Vec<String> = rows
        .iter()
        .map(|t| font::fit(&token_or_id(t.token.as_deref(), t.token_id), 12.0, canvas.width() * 0.2))
        .collect();
    let wide = labels.iter().map(|l| font::width(l, 12.0, false)).fold(30.0, f64::max);
    let rect = [wide + 24.0, canvas.top() + 4.0, canvas.width() - 118.0, canvas.height() - 46.0];
    let reach =
        rows.iter().map(|t| t.share.ci_low.abs().max(t.share.ci_high.abs())).fold(1e-9, f64::max) * 102.0;
    let x = Axis::new("", -reach..reach, ticks::linear(-reach, reach, 5));
    let plot = Plot::inside(&canvas, rect, &x, &Axis::new("", 0.0..rows.len() as f64, Vec::new()));
    plot.upright(0.0, Pen::new(Ink::Axis).width(1.4));
    for (index, t) in rows.iter().enumerate() {
        let y = rows.len() as f64 - index as f64 - 0.5;
        let sure = t.share.is_sure();
        let pen = match (sure, t.share.difference > 0.0) {
            (false, _) => Pen::new(Ink::Neutral).alpha(0.6),
            (true, true) => gained.alpha(0.8),
            (true, false) => lost.alpha(0.8),
        };
        plot.bar((0.0, y - 0.3), (t.share.difference * 100.0, y + 0.3), pen);
        let line = Pen::new(Ink::Text).width(1.4);
        plot.line(&[(t.share.ci_low * 100.0, y), (t.share.ci_high * 100.0, y)], line);
        let middle = plot.pixel(0.0, y).1;
        canvas.text(&labels[index], (rect[0] - 8.0, middle), Anchor::Right, Ink::Text);
        let shares = format!("{} → {}", number(t.share.baseline * 100.0), number(t.share.other * 100.0));
        canvas.text(&shares, (rect[2] + 8.0, middle), Anchor::Left, Ink::Muted);
    }
    canvas.x_label(
        "difference in percentage points of all tokens (right: share in %, baseline → run)",
        canvas.width() / 2.0,
    );
    canvas.finish()
}

fn table(tokens: &[TokenChange]) -> DataFrame {
    Columns::of(tokens)
        .int("token_id", |t| t.token_id)
        .text("token", |t| &t.token)
        .float("baseline", |t| t.share.baseline)
        .float("other", |t| t.share.other)
        .float("difference", |t| t.share.difference)
        .float("ci_low", |t| t.share.ci_low)
        .float("ci_high", |t| t.share.ci_high)
        .frame()
}
