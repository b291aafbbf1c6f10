//! All differences with their intervals, relative to the baseline.

use super::arms::{Chosen, chosen, left_out};
use super::look::label;
use crate::charts::{Chart, Drawn, Missing};
use crate::compare::metrics::is_folded;
use crate::draw::{
    Anchor, Axis, Canvas, Dash, Entry, Ink, Key, Mark, Pen, Plot, SMALL, Scene, Scenes, font, ticks,
};
use crate::text::prose;
use stapo_base::tables::select;
use stapo_compare::Comparison;
use stapo_compare::metric_names::{ENTROPY, KL_REFERENCE_K3, LENGTH, REWARD};
use stapo_compare::result::MetricRow;
use stapo_compare::shown::{level, shown_difference, shown_p};

const TITLE: &str = "Differences from the baseline";
/// Rows that are drawn at most.
const ROWS: usize = 24;
/// Height of a line of a label.
const LINE: f64 = 12.5;
/// How strong a line is that is not beyond noise.
const FAINT: f64 = 0.55;

/// A row relative to its baseline: estimate, lower and upper end.
fn relative(row: &MetricRow) -> Option<[f64; 3]> {
    let size = row.baseline.abs();
    let (low, high) = row.ci_low.zip(row.ci_high)?;
    (size > 0.0).then(|| [row.difference, low, high].map(|v| 100.0 * v / size))
}

/// What people know comes first.
const KNOWN: [&str; 4] = [REWARD, ENTROPY, KL_REFERENCE_K3, LENGTH];
/// How a trainer may name them.
const WORDS: [&str; 4] = ["reward", "entropy", "kl", "length"];

/// What is drawn.
struct Data<'a> {
    /// Rows with an interval.
    rows: Vec<(&'a MetricRow, [f64; 3])>,
    /// Metrics that are drawn, from above.
    metrics: Vec<&'a str>,
    /// Arms but the baseline.
    arms: Vec<Chosen<'a>>,
    baseline: String,
}

/// An interval for each metric and arm.
pub fn draw(comparison: &Comparison) -> Drawn {
    let with_interval =
        comparison.metrics.iter().filter(|row| !is_folded(row) || KNOWN.contains(&row.name.as_str()));
    let rows: Vec<_> = with_interval.filter_map(|row| Some((row, relative(row)?))).collect();
    let mut seen = std::collections::HashSet::new();
    let mut metrics: Vec<&str> =
        rows.iter().map(|(row, _)| row.name.as_str()).filter(|name| seen.insert(*name)).collect();
    if metrics.is_empty() {
        return Err(Missing::new(TITLE, "metrics with an interval"));
    }
    metrics.sort_by_key(|name| rank(name));
    let all = metrics.len();
    metrics.truncate(ROWS);
    let mut notes = vec![format!(
        "Lines are {} % intervals; p is corrected for the number of metrics.",
        level(comparison.settings.confidence)
    )];
    notes.extend(left_out(comparison));
    if all > metrics.len() {
        notes.push(format!("{} of {all} metrics are drawn.", metrics.len()));
    }
    let arms = chosen(comparison).into_iter().skip(1).collect();
    let data = Data { rows, metrics, arms, baseline: label(&comparison.arms[0].name) };
    Ok(Chart {
        name: "compare_differences",
        title: TITLE.into(),
        reading: "Each line is where the difference may lie: one that crosses the middle is no difference that these logs can show, and a short one that crosses it says that there is hardly any.".into(),
        notes,
        scenes: Scenes::draw(|width| ink(&data, width)),
        table: select(&comparison.metrics_frame(), &COLUMNS),
    })
}

/// Where a metric stands: the known ones first, then what a trainer names after them (`train/kl`),
/// then the others as they come.
fn rank(name: &str) -> usize {
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    match KNOWN.iter().position(|known| *known == name) {
        Some(place) => place,
        None if words.any(|word| WORDS.contains(&word)) => KNOWN.len(),
        None => KNOWN.len() + 1,
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn ink(data: &Data<'_>, width: u32) -> Scene {
    let count = data.metrics.len();
    let row_height = 26.0 + 9.0 * data.arms.len().saturating_sub(1) as f64;
    let mut canvas = Canvas::new(width, 84 + (row_height * count as f64) as u32, TITLE);
    canvas.legend(&legend(data));
    let labels: Vec<Vec<String>> =
        data.metrics.iter().map(|name| lines(&data.text(name), canvas.width() * 0.33)).collect();
    let wide = labels.iter().flatten().map(|l| font::width(l, SMALL, false)).fold(60.0, f64::max);
    // One arm has its numbers beside it, where there is room.
    let numbers = data.arms.len() == 1 && width >= 600;
    let right = canvas.width() - if numbers { 168.0 } else { 20.0 };
    let rect = [wide + 24.0, canvas.top() + 4.0, right, canvas.height() - 46.0];
    let reach = reach(&data.rows);
    let x = Axis::new("", -reach..reach, ticks::linear(-reach, reach, width as usize / 100));
    let plot = Plot::inside(&canvas, rect, &x, &Axis::new("", 0.0..count as f64, Vec::new()));
    plot.upright(0.0, Pen::new(Ink::Axis).width(1.4));
    for (index, name) in data.metrics.iter().enumerate() {
        let middle = count as f64 - index as f64 - 0.5;
        let (_, text_y) = plot.pixel(0.0, middle);
        let above = LINE * (labels[index].len() as f64 - 1.0) / 2.0;
        for (line, text) in labels[index].iter().enumerate() {
            let y = text_y - above + LINE * line as f64;
            canvas.text(text, (rect[0] - 8.0, y), Anchor::Right, Ink::Text);
        }
        for (arm, row, interval) in data.of_metric(name) {
            let lines = data.arms.len() as f64;
            let place = middle + 0.34 * (lines - 1.0 - 2.0 * arm as f64) / lines;
            let chosen = &data.arms[arm];
            // Among several arms each keeps its colour: a grey line could be any of them.
            let look = match (row.significant, data.arms.len()) {
                (true, _) => (chosen.pen, chosen.mark),
                (false, 1) => (Pen::new(Ink::Neutral), Mark::Ring),
                (false, _) => (chosen.pen.alpha(FAINT), Mark::Ring),
            };
            draw_interval(&canvas, &plot, look, interval, place, reach);
            if numbers {
                write_numbers(&canvas, row, (rect[2] + 10.0, text_y));
            }
        }
    }
    let of = format!("difference in % of {}’s value", data.baseline);
    canvas.x_label(&of, (rect[0] + rect[2]) / 2.0);
    canvas.finish()
}

/// A label within a width, in two lines where one is too short.
fn lines(text: &str, limit: f64) -> Vec<String> {
    if font::width(text, SMALL, false) <= limit {
        return vec![text.to_owned()];
    }
    let (first, second) = font::halves(text);
    [first, second].iter().filter(|l| !l.is_empty()).map(|l| font::fit(l, SMALL, limit)).collect()
}

impl<'a> Data<'a> {
    /// The name of a metric for people.
    fn text(&self, name: &str) -> String {
        self.rows.iter().find(|(row, _)| row.name == name).map_or(String::new(), |r| prose(&r.0.label))
    }

    /// The rows of a metric with the place of their arm.
    fn of_metric(&self, name: &str) -> impl Iterator<Item = (usize, &'a MetricRow, [f64; 3])> {
        self.arms.iter().enumerate().filter_map(move |(arm, chosen)| {
            let found = self.rows.iter().find(|(row, _)| row.name == name && row.run == chosen.arm.name);
            found.map(|(row, interval)| (arm, *row, *interval))
        })
    }
}

fn legend(data: &Data<'_>) -> Vec<Entry> {
    let entry = |chosen: &Chosen<'_>| {
        let name = label(&chosen.arm.name);
        let text = if data.arms.len() > 1 { name } else { format!("{name} against {}", data.baseline) };
        Entry::new(Key::Mark(chosen.pen, chosen.mark), text)
    };
    let noise = Entry::new(
        Key::Mark(Pen::new(Ink::Neutral), Mark::Ring),
        match data.arms.len() {
            1 => "not beyond noise",
            _ => "faint, a ring: not beyond noise",
        },
    );
    data.arms.iter().map(entry).chain([noise]).collect()
}

fn draw_interval(
    canvas: &Canvas,
    plot: &Plot,
    (pen, mark): (Pen, Mark),
    [value, low, high]: [f64; 3],
    place: f64,
    reach: f64,
) {
    plot.line(&[(low, place), (high, place)], pen.dash(Dash::Solid).width(2.0));
    plot.mark(value, place, mark, 4.2, pen);
    for (end, sign) in [(low, "‹"), (high, "›")] {
        if end.abs() > reach {
            // Beyond the axis: an open end.
            let (px, py) = plot.pixel(end.clamp(-reach, reach), place);
            canvas.text(sign, (px, py - 1.0), Anchor::Middle, pen.ink);
        }
    }
}

fn write_numbers(canvas: &Canvas, row: &MetricRow, at: (f64, f64)) {
    let p = row.p_adjusted.map_or(String::new(), |p| format!(", p {}", shown_p(p)));
    let value = format!("{}{p}", shown_difference(row, row.difference));
    if row.significant {
        canvas.strong(&value, at, Anchor::Left, Ink::Text);
    } else {
        canvas.text(&value, at, Anchor::Left, Ink::Muted);
    }
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

/// The columns that the chart's reader may want.
const COLUMNS: [&str; 14] = [
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
];

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use stapo_compare::result::{Arm, Family};

    fn row(name: &str, family: Family) -> MetricRow {
        MetricRow {
            name: name.into(),
            label: name.into(),
            run: "b".into(),
            family,
            baseline: 1.0,
            difference: 0.1,
            ci_low: Some(-0.1),
            ci_high: Some(0.3),
            ..MetricRow::default()
        }
    }

    #[test]
    fn what_people_know_comes_first_and_the_kl_is_among_it() {
        let metrics = vec![
            row("length", Family::Framework),
            row("risk", Family::Framework),
            row("engine_k3", Family::Questions),
            row("kl_reference_k3", Family::Questions),
            row("entropy", Family::Framework),
            row("trainer.kl", Family::Trainer),
            row("reward", Family::Framework),
        ];
        let arms = ["a", "b"].map(|name| Arm { name: name.into(), runs: vec![name.into()] }).to_vec();
        let chart = draw(&Comparison { arms, metrics, ..Comparison::default() }).unwrap();
        let svg = crate::draw::svg::standalone(&chart.scenes.wide, TITLE);
        let order = ["reward", "entropy", "kl_reference_k3", "length", "trainer.kl", "risk"];
        let places = order.map(|name| svg.find(&format!(">{name}<")).unwrap());
        assert!(places.is_sorted(), "{places:?}");
        assert!(!svg.contains("engine_k3"));
    }

    #[test]
    fn on_a_phone_long_labels_are_broken_and_not_cut() {
        let metrics = vec![MetricRow {
            label: "energy of exploratory tokens".into(),
            ..row("exploratory_energy_share", Family::Framework)
        }];
        let arms = ["a", "b"].map(|name| Arm { name: name.into(), runs: vec![name.into()] }).to_vec();
        let chart = draw(&Comparison { arms, metrics, ..Comparison::default() }).unwrap();
        let svg = crate::draw::svg::standalone(&chart.scenes.narrow, TITLE);
        assert!(svg.contains(">energy of<") && svg.contains(">exploratory tokens<"), "{svg}");
    }
}
