//! Lines over steps, a name each.

use crate::charts::series::{POINTS, draw_series, largest, smallest};
use crate::charts::{Chart, HEIGHT};
use crate::draw::{Axis, Canvas, Dash, Entry, Ink, Key, Mark, Pen, Plot, Scene, Scenes, ticks};
use crate::text::prose;
use stapo_base::tables::Columns;

/// Lines of one chart at most.
const LINES: usize = 8;
const LOOKS: [(Ink, Dash, Mark); LINES] = [
    (Ink::Exploratory, Dash::Solid, Mark::Dot),
    (Ink::Spurious, Dash::Solid, Mark::Diamond),
    (Ink::Green, Dash::Solid, Mark::Ring),
    (Ink::Purple, Dash::Solid, Mark::Cross),
    (Ink::Orange, Dash::Solid, Mark::Dot),
    (Ink::Exploratory, Dash::Short, Mark::Ring),
    (Ink::Spurious, Dash::Short, Mark::Cross),
    (Ink::Green, Dash::Short, Mark::Diamond),
];

/// A line: its name and its values by step.
pub struct Line {
    /// Name in the legend.
    pub name: String,
    /// Step and value.
    pub points: Vec<(i64, f64)>,
}

/// A line with the points that are drawn.
type Shown<'a> = (&'a Line, Vec<(f64, f64)>);

/// What a chart of lines says.
pub struct Lines {
    /// Name of its files.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// How to read it.
    pub reading: &'static str,
    /// What the lines measure.
    pub axis: &'static str,
    /// The lines.
    pub lines: Vec<Line>,
}

impl Lines {
    /// The chart; `None` without points.
    pub fn chart(mut self) -> Option<Chart> {
        self.lines.retain(|line| !line.points.is_empty());
        if self.lines.is_empty() {
            return None;
        }
        let left_out = self.lines.len().saturating_sub(LINES);
        let mut notes = Vec::new();
        if left_out > 0 {
            notes.push(format!("{left_out} more lines are in the numbers."));
        }
        let longest = self.lines.iter().map(|line| line.points.len()).max().unwrap_or(0);
        let stride = longest.div_ceil(POINTS).max(1);
        if stride > 1 {
            notes.push(format!("Each point is the mean of {stride} logged steps."));
        }
        let rows: Vec<(&str, i64, f64)> = self
            .lines
            .iter()
            .flat_map(|line| line.points.iter().map(|(step, value)| (line.name.as_str(), *step, *value)))
            .collect();
        let table =
            Columns::of(&rows).text("line", |r| r.0).int("step", |r| r.1).float("value", |r| r.2).frame();
        Some(Chart {
            name: self.name,
            title: self.title.into(),
            reading: self.reading.into(),
            notes,
            scenes: Scenes::draw(|width| self.ink(stride, width)),
            table,
        })
    }

    fn ink(&self, stride: usize, width: u32) -> Scene {
        let averaged = |line: &Line| -> Vec<(f64, f64)> {
            let mean = |values: &mut dyn Iterator<Item = f64>, n: usize| values.sum::<f64>() / n as f64;
            let point = |chunk: &[(i64, f64)]| {
                let (x, y) = (&mut chunk.iter().map(|p| p.0 as f64), &mut chunk.iter().map(|p| p.1));
                (mean(x, chunk.len()), mean(y, chunk.len()))
            };
            line.points.chunks(stride).map(point).collect()
        };
        let shown: Vec<Shown<'_>> =
            self.lines.iter().take(LINES).map(|line| (line, averaged(line))).collect();
        let values = || shown.iter().flat_map(|(_, points)| points.iter().map(|p| p.1));
        let (low, high) = (smallest(values()).unwrap_or(0.0), largest(values()).unwrap_or(1.0));
        let low = if low >= 0.0 { 0.0 } else { low * 1.08 };
        let high = if high > low { high + (high - low) * 0.06 } else { low + 1.0 };
        let steps = || shown.iter().flat_map(|(_, points)| points.iter().map(|p| p.0));
        let (first, last) = (smallest(steps()).unwrap_or(0.0), largest(steps()).unwrap_or(1.0));
        let margin = ((last - first) * 0.02).max(if last > first { 0.0 } else { 1.0 });
        let look = |i: usize| {
            let (ink, dash, mark) = LOOKS[i % LINES];
            (Pen::new(ink).width(2.0).dash(dash), mark)
        };
        let mut canvas = Canvas::new(width, HEIGHT, self.title);
        let entry = |(i, (line, _)): (usize, &Shown<'_>)| {
            let (pen, mark) = look(i);
            Entry::new(Key::Marked(pen, mark), prose(&line.name))
        };
        canvas.legend(&shown.iter().enumerate().map(entry).collect::<Vec<_>>());
        let x = Axis::new("training step", first - margin..last + margin, ticks::whole(first, last, 8));
        let plot = Plot::new(&canvas, &x, &Axis::new(self.axis, low..high, ticks::linear(low, high, 6)));
        for (i, (_, points)) in shown.iter().enumerate() {
            let (pen, mark) = look(i);
            draw_series(&plot, points, pen, mark);
        }
        canvas.finish()
    }
}
