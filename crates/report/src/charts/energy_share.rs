//! Share of the gradient energy per class over steps: one small panel a class.

use super::series::{over_steps, smallest, step_axis, stride_note};
use super::{Chart, Drawn, Missing};
use crate::draw::{Anchor, Axis, Canvas, Entry, Ink, Key, Mark, Pen, Plot, Scene, Scenes, font};
use stapo_base::tables::{Columns, DataFrame};
use stapo_framework::taxonomy::TokenClass;
use stapo_result::RunAnalysis;
use stapo_result::StepRow;

const TITLE: &str = "Gradient energy per class over steps";
const COLUMNS: [&str; 4] = ["high p, high H", "high p, low H", "low p, high H", "low p, low H"];

/// A panel for each class.
pub fn draw(analysis: &RunAnalysis) -> Drawn {
    let steps = &analysis.steps;
    if !steps.iter().any(has_energy) {
        return Err(Missing::new(TITLE, "tokens with an advantage other than 0"));
    }
    let share = |class: usize| -> Vec<(f64, f64)> {
        over_steps(steps, |s| has_energy(s).then_some(s.class_energy_shares[class]))
            .into_iter()
            .map(|(x, y)| (x, if y > 0.0 { y.log10() } else { f64::NAN }))
            .collect()
    };
    let series: Vec<_> = (0..8).map(share).collect();
    let mut notes = vec![
        "Energy is the sum of squared token norms: it ignores cross terms and is not the norm of the batch gradient. Steps in which a class has none, or no token an advantage beyond rounding, are left out; less than 0.001 % is drawn at the lower end.".to_owned(),
    ];
    notes.extend(stride_note(steps));
    Ok(Chart {
        name: "energy_share",
        title: TITLE.into(),
        reading: "Which kinds of tokens drive the update: compare the panels' heights (each gridline is a factor of ten) and look for classes that grow.".into(),
        notes,
        scenes: Scenes::draw(|width| ink(steps, &series, width)),
        table: table(steps),
    })
}

/// What rounding leaves of an advantage has no classes.
fn has_energy(step: &StepRow) -> bool {
    step.gradient_energy > 0.0 && step.teaches()
}

fn ink(steps: &[StepRow], series: &[Vec<(f64, f64)>], width: u32) -> Scene {
    let low = smallest(series.iter().flatten().map(|p| p.1)).unwrap_or(-3.0).clamp(-5.0, -2.0).floor();
    let y = Axis::new("", low..0.0, percent_decades(low));
    let bare = Axis::new("", low..0.0, y.ticks.iter().map(|t| (t.0, String::new())).collect());
    // Side by side where there is room for it, else two and two.
    let columns = if width < 600 { 2 } else { 4 };
    let lines = series.len().div_ceil(columns);
    let mut canvas = Canvas::new(width, if columns == 4 { 390 } else { 640 }, TITLE);
    canvas.legend(&[
        Entry::new(Key::Line(Pen::new(Ink::Spurious).width(2.2)), "spurious"),
        Entry::new(Key::Line(Pen::new(Ink::Exploratory).width(2.2)), "exploratory"),
        Entry::new(Key::Line(Pen::new(Ink::Neutral).width(2.2)), "other classes"),
    ]);
    let ticks = y.ticks.iter().map(|t| font::width(&t.1, 12.0, false)).fold(0.0, f64::max);
    let (left, gap, top) = (ticks + 36.0, 14.0, canvas.top() + 16.0);
    let panel = (canvas.width() - left - 16.0 - (columns - 1) as f64 * gap) / columns as f64;
    let height = (canvas.height() - top - 46.0 - 34.0 * (lines - 1) as f64) / lines as f64;
    let x = step_axis(steps, 3);
    let unlabelled = Axis::new("", x.range.clone(), x.ticks.iter().map(|t| (t.0, String::new())).collect());
    for (class, points) in series.iter().enumerate() {
        let (column, line) = (class % columns, class / columns);
        let (x0, y0) = (left + column as f64 * (panel + gap), top + line as f64 * (height + 34.0));
        let vertical = if column == 0 { &y } else { &bare };
        let horizontal = if line + 1 == lines { &x } else { &unlabelled };
        let plot = Plot::inside(&canvas, [x0, y0, x0 + panel, y0 + height], horizontal, vertical);
        canvas.strong(heading(class), (x0, y0 - 13.0), Anchor::Left, Ink::Text);
        if class.is_multiple_of(columns) {
            let sign = if class < 4 { "A > 0" } else { "A < 0" };
            canvas.strong(sign, (left - 7.0, y0 - 13.0), Anchor::Right, Ink::Muted);
        }
        let ink = match class {
            3 => Ink::Spurious,
            2 => Ink::Exploratory,
            _ => Ink::Neutral,
        };
        plot.line(points, Pen::new(ink).width(2.2));
        if points.len() <= 40 {
            points.iter().for_each(|(x, y)| plot.mark(*x, *y, Mark::Dot, 2.6, Pen::new(ink)));
        }
    }
    canvas.x_label("training step", (left + canvas.width() - 16.0) / 2.0);
    let centre = (top + canvas.height() - 46.0) / 2.0;
    canvas.text("share of gradient energy (log)", (14.0, centre), Anchor::Upwards, Ink::Muted);
    canvas.finish()
}

/// What a panel shows; the sign stands before its row.
fn heading(class: usize) -> &'static str {
    COLUMNS[class % COLUMNS.len()]
}

fn table(steps: &[StepRow]) -> DataFrame {
    let rows: Vec<(&StepRow, TokenClass)> =
        steps.iter().flat_map(|s| TokenClass::ALL.map(|class| (s, class))).collect();
    Columns::of(&rows)
        .int("step", |r| r.0.step)
        .text("class", |r| r.1.name())
        .count("tokens", |r| r.0.class_tokens[r.1 as usize])
        .float("energy_share", |r| r.0.class_energy_shares[r.1 as usize])
        .frame()
}

/// Powers of ten down from 100 %, as percentages.
#[allow(clippy::cast_possible_truncation)]
fn percent_decades(low: f64) -> Vec<(f64, String)> {
    (low as i32..=0)
        .map(|e| {
            let decimals = usize::try_from(-e - 2).unwrap_or(0);
            (f64::from(e), format!("{:.decimals$} %", 10_f64.powi(e + 2)))
        })
        .collect()
}
