//! All differences with their intervals, relative to the baseline.

use super::{label, left_out, look};
use crate::compare::Comparison;
use crate::compare::result::MetricRow;
use crate::compare::verdict::{level, shown_difference, shown_p};
use crate::report::charts::{Chart, Drawn, Missing, WIDTH};
use crate::report::csv::{Cell, Table};
use crate::report::draw::{Anchor, Axis, Canvas, Entry, Ink, Key, Mark, Pen, Plot, font, ticks};
use crate::report::text::prose;

const TITLE: &str = "Differences from the baseline";
/// Rows that are drawn at most.
const ROWS: usize = 24;

/// A row relative to its baseline: estimate, lower and upper end.
fn relative(row: &MetricRow) -> Option<[f64; 3]> {
    let size = row.baseline.abs();
    let (low, high) = row.ci_low.zip(row.ci_high)?;
    (size > 0.0).then(|| [row.difference, low, high].map(|v| 100.0 * v / size))
}

/// Draws it.
pub fn draw(comparison: &Comparison) -> Drawn {
    let rows: Vec<(&MetricRow, [f64; 3])> = comparison
        .metrics
        .iter()
        .filter(|row| row.family != "classes")
        .filter_map(|row| Some((row, relative(row)?)))
        .collect();
    let mut names: Vec<&str> = rows.iter().map(|(row, _)| row.name.as_str()).collect();
    names.dedup();
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(*name));
    if names.is_empty() {
        return Err(Missing::new(TITLE, "metrics with an interval"));
    }
    let drawn = &names[..names.len().min(ROWS)];
    let arms: Vec<&str> =
        comparison.arms[1..].iter().map(|arm| arm.name.as_str()).take(super::RUNS - 1).collect();
    let lines = arms.len().max(1);
    let row_height = 26.0 + 9.0 * (lines - 1) as f64;
    let mut canvas = Canvas::new(WIDTH, 84 + (row_height * drawn.len() as f64) as u32, TITLE);
    let baseline = label(&comparison.arms[0].name);
    let mut legend: Vec<Entry> = arms
        .iter()
        .enumerate()
        .map(|(i, arm)| {
            let (pen, mark) = look(i + 1);
            Entry::new(Key::Mark(pen, mark), format!("{} against {baseline}", label(arm)))
        })
        .collect();
    legend.push(Entry::new(Key::Mark(Pen::new(Ink::Neutral), Mark::Ring), "not beyond noise"));
    canvas.legend(&legend);
    let text = |name: &str| {
        rows.iter().find(|(row, _)| row.name == name).map_or(String::new(), |r| prose(&r.0.label))
    };
    let labels: Vec<String> = drawn.iter().map(|name| font::fit(&text(name), 12.0, 210.0)).collect();
    let wide = labels.iter().map(|l| font::width(l, 12.0, false)).fold(60.0, f64::max);
    let right = if lines == 1 { 168.0 } else { 20.0 };
    let rect = [wide + 24.0, canvas.top() + 4.0, canvas.width() - right, canvas.height() - 46.0];
    let reach = reach(&rows);
    let x = Axis::new("", -reach..reach, ticks::linear(-reach, reach, 6));
    let y = Axis::new("", 0.0..drawn.len() as f64, Vec::new());
    let plot = Plot::inside(&canvas, rect, &x, &y);
    plot.upright(0.0, Pen::new(Ink::Axis).width(1.4));
    for (index, name) in drawn.iter().enumerate() {
        let middle = drawn.len() as f64 - index as f64 - 0.5;
        let (_, text_y) = plot.pixel(0.0, middle);
        canvas.text(&labels[index], (rect[0] - 8.0, text_y), Anchor::Right, Ink::Text);
        for (arm, arm_name) in arms.iter().enumerate() {
            let found = rows.iter().find(|(row, _)| row.name == *name && row.run == *arm_name);
            let Some((row, [value, low, high])) = found else { continue };
            let place = middle + 0.34 * (lines as f64 - 1.0 - 2.0 * arm as f64) / lines as f64;
            let (pen, mark) = look(arm + 1);
            let (pen, mark) =
                if row.significant { (pen, mark) } else { (Pen::new(Ink::Neutral), Mark::Ring) };
            plot.line(&[(*low, place), (*high, place)], Pen::new(pen.ink).width(2.0));
            plot.mark(*value, place, mark, 4.2, pen);
            for (end, out) in [(*low, *low < -reach), (*high, *high > reach)] {
                if out {
                    // Beyond the axis: an open end.
                    let (px, py) = plot.pixel(end.clamp(-reach, reach), place);
                    canvas.text(if end < 0.0 { "‹" } else { "›" }, (px, py - 1.0), Anchor::Middle, pen.ink);
                }
            }
            if lines == 1 {
                let p = row.p_adjusted.map_or(String::new(), |p| format!(", p {}", shown_p(p)));
                let value = format!("{}{p}", shown_difference(row, row.difference));
                let at = (rect[2] + 10.0, text_y);
                if row.significant {
                    canvas.strong(&value, at, Anchor::Left, Ink::Text);
                } else {
                    canvas.text(&value, at, Anchor::Left, Ink::Muted);
                }
            }
        }
    }
    canvas.text(
        "difference in % of the baseline’s value",
        ((rect[0] + rect[2]) / 2.0, canvas.height() - 12.0),
        Anchor::Middle,
        Ink::Muted,
    );
    let mut notes = vec![format!(
        "Lines are {} % intervals; p is corrected for the number of metrics.",
        level(comparison.settings.confidence)
    )];
    notes.extend(left_out(comparison.arms.len()));
    if names.len() > drawn.len() {
        notes.push(format!("{} of {} metrics are drawn.", drawn.len(), names.len()));
    }
    Ok(Chart {
        name: "compare_differences",
        title: TITLE.into(),
        reading: "Each line is where the difference may lie: one that crosses the middle is no difference that these logs can show, and a short one that crosses it says that there is hardly any.".into(),
        notes,
        scene: canvas.finish(),
        table: table(comparison),
    })
}

/// Half of the axis: wide enough for most, so that one wild interval does not flatten the rest.
fn reach(rows: &[(&MetricRow, [f64; 3])]) -> f64 {
    let mut ends: Vec<f64> = rows.iter().map(|(_, [_, low, high])| low.abs().max(high.abs())).collect();
    ends.sort_by(f64::total_cmp);
    let largest = rows.iter().map(|(_, [value, ..])| value.abs()).fold(0.0, f64::max);
    let most = ends.last().copied().unwrap_or(1.0);
    let usual = ends.get(ends.len() * 3 / 4).copied().unwrap_or(1.0) * 2.0;
    (most.min(usual.max(largest.min(200.0))) * 1.06).clamp(0.5, 400.0)
}

fn table(comparison: &Comparison) -> Table {
    let mut table = Table::new(&[
        "name",
        "family",
        "run",
        "baseline",
        "other",
        "difference",
        "ci_low",
        "ci_high",
        "test",
        "n",
        "p_value",
        "p_adjusted",
        "effect",
        "significant",
    ]);
    for r in &comparison.metrics {
        table.push([
            Cell::from(r.name.as_str()),
            r.family.as_str().into(),
            r.run.as_str().into(),
            r.baseline.into(),
            r.other.into(),
            r.difference.into(),
            r.ci_low.into(),
            r.ci_high.into(),
            r.test.as_str().into(),
            r.n.into(),
            r.p_value.into(),
            r.p_adjusted.into(),
            r.effect.into(),
            Cell::Count(u64::from(r.significant)),
        ]);
    }
    table
}
