//! Two bars a row: a share of the tokens and another share.

use crate::charts::Chart;
use crate::draw::{Anchor, Axis, Canvas, Entry, Ink, Key, Pen, Plot, Scene, Scenes, ticks};
use crate::text::prose;
use stapo_base::tables::Columns;
use stapo_result::breakdown::BinRow;
use stapo_result::corrections::CorrectionRow;
use stapo_result::{Answers, SliceRow};

/// Rows of one chart at most.
const ROWS: usize = 32;

const TOKENS: &str = "share of the tokens";
const SHARES: [&str; 2] = ["token_share", "share"];

/// A row: its name, its share of the tokens, its share of what is looked at.
type Row = (String, f64, f64);

struct Bars {
    /// Name of its files.
    name: &'static str,
    title: String,
    reading: &'static str,
    /// What the bars are.
    bars: [&'static str; 2],
    /// Columns of the numbers.
    columns: [&'static str; 2],
    rows: Vec<Row>,
}

impl Bars {
    fn chart(mut self) -> Option<Chart> {
        self.rows.truncate(ROWS);
        if self.rows.len() < 2 {
            return None;
        }
        let table = Columns::of(&self.rows)
            .text("value", |r| &r.0)
            .float(self.columns[0], |r| r.1)
            .float(self.columns[1], |r| r.2)
            .frame();
        Some(Chart {
            name: self.name,
            title: self.title.clone(),
            reading: self.reading.into(),
            notes: Vec::new(),
            scenes: Scenes::draw(|width| self.ink(width)),
            table,
        })
    }

    fn ink(&self, width: u32) -> Scene {
        let rows = self.rows.len() as f64;
        let mut canvas = Canvas::new(width, 90 + 30 * self.rows.len() as u32, &self.title);
        let (tokens, second) = (Pen::new(Ink::Neutral), Pen::new(Ink::Exploratory));
        canvas.legend(&[
            Entry::new(Key::Area(tokens), self.bars[0]),
            Entry::new(Key::Area(second), self.bars[1]),
        ]);
        // The first row at the top.
        let names = |row: usize| (rows - row as f64 - 0.5, prose(&self.rows[row].0));
        let y = Axis::new("", 0.0..rows, (0..self.rows.len()).map(names).collect());
        let x = Axis::new("share (%)", 0.0..112.0, ticks::linear(0.0, 100.0, 6));
        let plot = Plot::new(&canvas, &x, &y);
        for (i, (_, of_tokens, share)) in self.rows.iter().enumerate() {
            let top = rows - i as f64;
            plot.bar((0.0, top - 0.46), (of_tokens * 100.0, top - 0.14), tokens);
            plot.bar((0.0, top - 0.84), (share * 100.0, top - 0.52), second);
            let (left, middle) = plot.pixel(share * 100.0, top - 0.68);
            canvas.text(&format!("{:.1}", share * 100.0), (left + 4.0, middle), Anchor::Left, Ink::Muted);
        }
        canvas.finish()
    }
}

/// Where the engine difference sits by probability.
pub fn by_probability(answers: &Answers) -> Option<Chart> {
    let rows = &answers.offpolicy.as_ref()?.breakdown.as_ref()?.by_probability;
    let row = |bin: &BinRow| Some((bin.bin.clone(), bin.token_share, bin.k3_share?));
    Bars {
        name: "mismatch_by_probability",
        title: "Trainer against sampler by probability".into(),
        reading: "How the tokens and the divergence (k3) of trainer and sampler spread over the probability of the token: where the lower bar is the longer one, the two disagree more than elsewhere.",
        bars: [TOKENS, "share of the divergence"],
        columns: SHARES,
        rows: rows.iter().filter_map(row).collect(),
    }
    .chart()
}

/// Where the engine difference sits by lag.
pub fn by_lag(answers: &Answers) -> Option<Chart> {
    let ledger = answers.offpolicy.as_ref()?;
    let of = |weight: &dyn Fn(usize) -> f64| (0..ledger.lags.len()).map(weight).sum::<f64>();
    let tokens = |i: usize| ledger.lags[i].difference.tokens as f64;
    let k3 = |i: usize| ledger.lags[i].difference.k3 * tokens(i);
    let (all_tokens, all_k3) = (of(&tokens), of(&k3));
    let what = if ledger.lag_is_version { "version" } else { "lag" };
    let row = |i: usize| (format!("{what} {}", ledger.lags[i].lag), tokens(i) / all_tokens, k3(i) / all_k3);
    Bars {
        name: "mismatch_by_lag",
        title: "Trainer against sampler by lag".into(),
        reading: "How the tokens and the divergence (k3) spread over how many steps old the sampler was.",
        bars: [TOKENS, "share of the divergence"],
        columns: SHARES,
        rows: if all_k3 > 0.0 { (0..ledger.lags.len()).map(row).collect() } else { Vec::new() },
    }
    .chart()
}

/// What each correction drops, and what it leaves effective.
pub fn corrections(answers: &Answers) -> Option<Chart> {
    let rows = &answers.offpolicy.as_ref()?.corrections;
    let row = |row: &CorrectionRow| (row.rule.clone(), row.dropped_tokens, row.ess.unwrap_or(0.0));
    Bars {
        name: "corrections",
        title: "Corrections for an off-policy sampler".into(),
        reading: "Each correction by the tokens it drops and the share of the tokens that stays effective: the best drops little and leaves much.",
        bars: ["tokens dropped (weight 0)", "effective share of the tokens"],
        columns: ["dropped_tokens", "ess"],
        rows: rows.iter().map(row).collect(),
    }
    .chart()
}

/// Files of dimensions that were asked for: their names may hold anything.
const ASKED: [&str; 8] =
    ["slices_1", "slices_2", "slices_3", "slices_4", "slices_5", "slices_6", "slices_7", "slices_8"];

/// One chart a dimension.
pub fn slices(answers: &Answers) -> Vec<Chart> {
    let mut asked = ASKED.into_iter();
    let chart = |(name, rows): (&String, &Vec<SliceRow>)| {
        let file = match name.as_str() {
            "turn" => "slices_turn",
            "lag" => "slices_lag",
            "finish_reason" => "slices_finish_reason",
            _ => asked.next()?,
        };
        let row = |slice: &SliceRow| Some((slice.value.clone(), slice.token_share, slice.energy_share?));
        Bars {
            name: file,
            title: format!("Tokens and gradient energy by {}", prose(name)),
            reading: "Where a value's share of the gradient energy is far above its share of the tokens, the update listens to these tokens most.",
            bars: [TOKENS, "share of the gradient energy"],
            columns: SHARES,
            rows: rows.iter().filter_map(row).collect(),
        }
        .chart()
    };
    answers.slices.iter().filter_map(chart).collect()
}
