//! How far the rules touch the same tokens.

use super::matrix::Grid;
use super::{Chart, Drawn, Missing};
use crate::analyze::RunAnalysis;
use crate::analyze::result::RuleOverlap;
use crate::report::draw::{Anchor, Canvas, Ink, Scene, Scenes, font};
use crate::report::numbers::amount;
use crate::tables::{Columns, DataFrame};

const TITLE: &str = "Do the rules touch the same tokens?";

/// A cell for each pair of rules.
pub fn draw(analysis: &RunAnalysis) -> Drawn {
    let overlap = &analysis.rule_overlap;
    if overlap.rules.is_empty() || overlap.touched.iter().all(|t| *t <= 0.0) {
        return Err(Missing::new(TITLE, "tokens with an advantage other than 0"));
    }
    let mut notes = vec![
        "A rule touches a token where it changes its gradient by more than 1 %: silences, damps or amplifies it."
            .to_owned(),
    ];
    if !overlap.exact {
        notes.push("Estimated from a uniform sample of the tokens.".into());
    }
    Ok(Chart {
        name: "rules_overlap",
        title: TITLE.into(),
        reading: "Each cell is the number of tokens that both rules touch over those that either does: 1 means the same tokens, 0 means none in common.".into(),
        notes,
        scenes: Scenes::draw(|width| ink(overlap, width)),
        table: table(overlap),
    })
}

fn ink(overlap: &RuleOverlap, width: u32) -> Scene {
    let size = overlap.rules.len();
    let wide = overlap.rules.iter().map(|r| font::width(r.name(), 12.0, false)).fold(0.0, f64::max);
    let touched: Vec<String> = overlap.touched.iter().map(|t| amount(t.round())).collect();
    let counts = touched.iter().map(|t| font::width(t, 12.0, false)).fold(50.0, f64::max);
    let row_height = 27.0;
    let canvas = Canvas::new(width, (row_height * size as f64 + wide) as u32 + 38, TITLE);
    let left = wide + 24.0;
    let top = canvas.top() + wide + 16.0;
    let cell = (canvas.width() - left - counts - 30.0) / size as f64;
    let grid = Grid { left, top, width: cell, height: row_height };
    for row in 0..size {
        let middle = grid.middle(row, row);
        canvas.text(overlap.rules[row].name(), (left - 8.0, middle.1), Anchor::Right, Ink::Text);
        canvas.text(
            overlap.rules[row].name(),
            (middle.0, top - wide / 2.0 - 8.0),
            Anchor::Upwards,
            Ink::Text,
        );
        let at = (canvas.width() - 16.0, middle.1);
        canvas.text(touched.get(row).map_or("", String::as_str), at, Anchor::Right, Ink::Muted);
        for column in 0..size {
            let share = overlap.jaccard.get([row, column]).copied().flatten();
            let text = share.map_or("–".to_owned(), two_digits);
            let text =
                if font::width(&text, 12.0, false) < cell - 3.0 { text } else { text.replace("<.01", "~0") };
            grid.cell(&canvas, (row, column), share.unwrap_or(0.0), &text);
        }
    }
    canvas.text("touched", (canvas.width() - 16.0, top - 12.0), Anchor::Right, Ink::Muted);
    canvas.finish()
}

fn table(overlap: &RuleOverlap) -> DataFrame {
    let count = overlap.rules.len();
    let pairs: Vec<(usize, usize)> = (0..count).flat_map(|i| (0..count).map(move |j| (i, j))).collect();
    Columns::of(&pairs)
        .text("rule", |p| overlap.rules[p.0].name())
        .text("other", |p| overlap.rules[p.1].name())
        .float("touched", |p| overlap.touched.get(p.0).copied())
        .float("touched_other", |p| overlap.touched.get(p.1).copied())
        .float("both", |p| overlap.both.get(*p).copied())
        .float("jaccard", |p| overlap.jaccard.get(*p).copied().flatten())
        .frame()
}

/// `0.42`; what is not zero is never written as zero.
fn two_digits(share: f64) -> String {
    if share > 0.0 && share < 0.005 {
        "<.01".into()
    } else if share >= 0.9995 {
        "1".into()
    } else if share == 0.0 {
        "0".into()
    } else {
        format!("{share:.2}").trim_start_matches('0').to_owned()
    }
}
