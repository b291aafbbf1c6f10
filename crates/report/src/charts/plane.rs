//! The probability × entropy plane.

use ndarray::Array2;

use super::{Chart, Drawn, Missing};
use crate::candidates::{by_batch, thinned};
use crate::draw::{Anchor, Axis, Canvas, Dash, Entry, Ink, Key, Mark, Pen, Plot, Scene, Scenes, ticks};
use stapo_base::format::{grouped as count, number};
use stapo_base::tables::DataFrame;
use stapo_result::RunAnalysis;
use stapo_result::{CandidatePoint, Plane};

const TITLE: &str = "Probability × entropy plane";
/// Marks of a kind that are drawn at most.
pub const MARKS: usize = 350;
/// Columns and rows of the density at most.
const CELLS: [usize; 2] = [80, 56];
/// Opacities of the density, from one token to the fullest cell.
const LEVELS: usize = 7;

/// The density of all tokens, and marks for candidates.
pub fn draw(analysis: &RunAnalysis) -> Drawn {
    let plane = &analysis.plane;
    if plane.cells.is_empty() {
        return Err(Missing::new(TITLE, "the columns `logprob` and `entropy`"));
    }
    let cells = binned(plane);
    let all: Vec<Marked> = by_batch(analysis).into_iter().flat_map(|(_, points)| points).collect();
    let marks: Vec<Marked> = [false, true]
        .into_iter()
        .flat_map(|silenced| {
            let kind: Vec<Marked> = all.iter().filter(|p| p.1 == silenced).copied().collect();
            thinned(&kind, MARKS)
        })
        .collect();
    Ok(Chart {
        name: "plane",
        title: TITLE.into(),
        reading: "Spurious tokens sit at the bottom left: improbable although the policy was sure; on the curve a token is as surprising as the entropy says, left of it more so, and there the paper's lemma turns from lowering to raising entropy.".into(),
        notes: notes(analysis, &cells, marks.len() as u64, all.len() as u64),
        scenes: Scenes::draw(|width| ink(analysis, &cells, &marks, width)),
        table: table(analysis),
    })
}

fn notes(analysis: &RunAnalysis, cells: &[DrawnCell], shown: u64, total: u64) -> Vec<String> {
    let mut notes = vec![format!(
        "{} tokens in {} cells; marks are the {} candidates of the run.",
        count(cells.iter().map(|c| c.tokens).sum()),
        count(cells.len() as u64),
        count(total)
    )];
    if shown < total {
        notes.push(format!("{} of them are drawn, evenly spread.", count(shown)));
    }
    if let Some(tau_h) = analysis.s2t.median_tau_h {
        notes.push(format!(
            "τₕ differs from batch to batch; the line is its median, {} nats, so a mark may lie across it.",
            number(tau_h)
        ));
    }
    notes
}

/// A candidate, and whether it is silenced.
type Marked = (CandidatePoint, bool);

fn ink(analysis: &RunAnalysis, cells: &[DrawnCell], marks: &[Marked], width: u32) -> Scene {
    let fullest = cells.iter().map(|c| c.tokens).max().unwrap_or(1);
    let density = Pen::new(Ink::Density);
    let cut = Pen::new(Ink::Text).dash(Dash::Long).width(1.3);
    let curve = Pen::new(Ink::Green).width(1.8);
    let mut canvas = Canvas::new(width, 440, TITLE);
    canvas.legend(&[
        Entry::new(Key::Mark(Pen::new(Ink::Spurious), Mark::Diamond), "spurious (silenced)"),
        Entry::new(Key::Mark(Pen::new(Ink::Exploratory), Mark::Ring), "exploratory (kept)"),
        Entry::new(Key::Line(curve), "ln p = −H"),
        Entry::new(Key::Line(cut), "τₚ and median τₕ"),
        Entry::new(Key::Area(density.alpha(opacity(1, fullest))), "1 token a cell"),
        Entry::new(Key::Area(density.alpha(opacity(fullest, fullest))), count(fullest)),
    ]);
    let left = analysis.plane.log10_prob.low.max(cells.iter().map(|c| c.rect[0]).fold(0.0, f64::min));
    let top = cells.iter().map(|c| c.rect[3]).fold(0.0, f64::max).max(0.5);
    let x = Axis::new("probability p of the sampled token (log)", left..0.0, ticks::decades(left, 0.0, 8));
    let y = Axis::new("entropy H (nats)", 0.0..top, ticks::linear(0.0, top, 7));
    let plot = Plot::new(&canvas, &x, &y);
    for level in 0..LEVELS {
        let alpha = alpha_of(level);
        for cell in cells.iter().filter(|c| level_of(c.tokens, fullest) == level) {
            let [x0, y0, x1, y1] = cell.rect;
            plot.bar((x0, y0), (x1, y1), density.alpha(alpha));
        }
    }
    plot.line(&bend(left, top), curve);
    canvas.layer("cuts");
    let tau_p = analysis.s2t.tau_p.log10().max(left);
    plot.upright(tau_p, cut);
    let (x, y) = plot.pixel(tau_p, top);
    canvas.text("τₚ", (x + 6.0, y + 8.0), Anchor::Left, Ink::Text);
    if let Some(tau_h) = analysis.s2t.median_tau_h.filter(|t| *t <= top) {
        plot.level(tau_h, cut);
        let (x, y) = plot.pixel(left, tau_h);
        canvas.text("τₕ", (x + 5.0, y - 9.0), Anchor::Left, Ink::Text);
    }
    canvas.layer("marks");
    for (point, silenced) in marks {
        let x = f64::from(point.logprob) / std::f64::consts::LN_10;
        let (mark, ink) =
            if *silenced { (Mark::Diamond, Ink::Spurious) } else { (Mark::Ring, Ink::Exploratory) };
        plot.mark(x, f64::from(point.entropy), mark, 3.2, Pen::new(ink).alpha(0.9));
    }
    canvas.layer("live");
    let ((x0, y0), (x1, y1)) = (plot.pixel(left, 0.0), plot.pixel(0.0, top));
    canvas.data("frame", format!("{x0} {y0} {x1} {y1}"));
    canvas.data("range", format!("{left} 0 0 {top}"));
    canvas.finish()
}

/// The curve ln p = −H.
fn bend(left: f64, top: f64) -> Vec<(f64, f64)> {
    (0..=60)
        .map(|i| left * f64::from(i) / 60.0)
        .map(|x| (x, -x * std::f64::consts::LN_10))
        .filter(|p| p.1 <= top)
        .chain([(-top / std::f64::consts::LN_10, top)])
        .filter(|p| p.0 >= left)
        .collect()
}

/// A cell of the drawn density: left, bottom, right, top.
struct DrawnCell {
    rect: [f64; 4],
    tokens: u64,
}

/// The plane with at most [`CELLS`] columns and rows over the part that holds tokens.
fn binned(plane: &Plane) -> Vec<DrawnCell> {
    let first = plane.cells.iter().map(|c| usize::from(c.x)).min().unwrap_or(0);
    let last = plane.cells.iter().map(|c| usize::from(c.y)).max().unwrap_or(0);
    let wide = (plane.log10_prob.bins - first.min(plane.log10_prob.bins)).div_ceil(CELLS[0]).max(1);
    let high = (last + 1).div_ceil(CELLS[1]).max(1);
    let columns = plane.log10_prob.bins.div_ceil(wide).max(1);
    let mut sums = Array2::<u64>::zeros((columns, last / high + 1));
    for cell in &plane.cells {
        // Columns are counted from the right end, p = 1, which is always there.
        let column = (plane.log10_prob.bins - 1 - usize::from(cell.x).min(plane.log10_prob.bins - 1)) / wide;
        sums[[column, usize::from(cell.y) / high]] += cell.positive + cell.negative + cell.zero;
    }
    let from_right =
        |columns: usize| plane.log10_prob.edge(plane.log10_prob.bins.saturating_sub(columns * wide));
    sums.indexed_iter()
        .filter(|(_, tokens)| **tokens > 0)
        .map(|((x, y), tokens)| DrawnCell {
            rect: [
                from_right(x + 1),
                plane.entropy.edge(y * high),
                from_right(x),
                plane.entropy.edge((y + 1) * high),
            ],
            tokens: *tokens,
        })
        .collect()
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
fn level_of(tokens: u64, fullest: u64) -> usize {
    let share = (tokens.max(1) as f64).ln() / (fullest.max(2) as f64).ln();
    ((share * LEVELS as f64) as usize).min(LEVELS - 1)
}

fn alpha_of(level: usize) -> f64 {
    0.10 + 0.68 * level as f64 / (LEVELS - 1) as f64
}

fn opacity(tokens: u64, fullest: u64) -> f64 {
    alpha_of(level_of(tokens, fullest))
}

/// The cells of the plane, not only of the drawn density.
fn table(analysis: &RunAnalysis) -> DataFrame {
    let mut table = analysis.plane_frame();
    for (name, shown) in [("log10_prob_from", "log10_p_from"), ("log10_prob_to", "log10_p_to")] {
        // Fails only where there is no such column.
        let _ = table.rename(name, shown.into());
    }
    table
}
