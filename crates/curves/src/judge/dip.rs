//! A fall that came back, told with its steps, its depth and the KL there.

use super::blocks::Blocks;
use super::critical::Critical;
use super::range::Range;
use super::trends::BlowUp;
use super::verdict::Event;
use super::words::{short, significant};
use crate::curves::Series;
use crate::math::mean;
use stapo_base::stats::neighbours::variance;

/// Mean before a dip, and its blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dip {
    pub before: f64,
    pub blocks: (usize, usize),
}

/// Where the KL blew up is known: one comparison before and during, planned and without a search.
pub(crate) fn where_kl_blew_up(
    series: &Series,
    blocks: &Blocks<'_>,
    range: Range,
    kl: &BlowUp,
) -> Option<Dip> {
    let rows = |from: f64, to: f64| {
        let of = series.steps.iter().zip(&series.values).filter(|(x, _)| **x >= from && **x <= to);
        of.map(|(_, y)| *y).collect::<Vec<f64>>()
    };
    let before = rows(f64::NEG_INFINITY, kl.first.next_down());
    let during = rows(kl.first, kl.last);
    if before.len().min(during.len()) < 4 {
        return None;
    }
    #[allow(clippy::cast_precision_loss)]
    let per_row = 1.0 / before.len() as f64 + 1.0 / during.len() as f64;
    let error = (variance(&series.values) * per_row).sqrt();
    let (high, low) = (mean(&before), mean(&during));
    let least = (0.05 * range.size())
        .max(0.2 * (high - range.floor))
        .max(Critical::Gain.value(blocks.rows()) * error);
    let first = blocks.begun_by(kl.first).saturating_sub(1);
    (high - low > least)
        .then(|| Dip { before: high, blocks: (first, blocks.begun_by(kl.last).max(first + 1)) })
}

impl Dip {
    /// The event: the steps below half of its loss, and by when three quarters had come back. `end` is the mean at the
    /// end, `now` how the sentence writes it.
    pub fn event(&self, who: &str, blocks: &Blocks<'_>, end: f64, now: f64, kl: Option<&BlowUp>) -> Event {
        let count = blocks.count();
        let at = |k: usize| blocks.means[k];
        let lowest = (self.blocks.0..self.blocks.1.min(count))
            .min_by(|a, b| at(*a).total_cmp(&at(*b)))
            .unwrap_or(self.blocks.0.min(count - 1));
        let loss = self.before - at(lowest);
        let (back, half) = (self.before - 0.25 * loss, self.before - 0.5 * loss);
        let from = (0..=lowest).rev().find(|k| at(*k) >= half).map_or(0, |k| k + 1);
        let to = (lowest..count).find(|k| at(*k) >= half).unwrap_or(count);
        let recovered = (lowest..count).find(|k| blocks.window(*k, (k + 2).min(count)).0 >= back);
        let recovered_by = recovered.filter(|_| end >= back).map(|block| blocks.step(block));
        let (first, last) = (blocks.step(from), blocks.last_step_before(to));
        let kl =
            kl.filter(|kl| kl.first <= 2.0 * last - first && kl.last >= 2.0 * first - last).map(|kl| kl.peak);
        let of_kl = kl.map_or(String::new(), |kl| format!(" with a KL of {}", significant(kl, 2)));
        let then = match recovered_by {
            Some(step) => format!("recovered by {}", significant(step, 6)),
            None => format!("since at {}", short(now)),
        };
        let sentence = format!(
            "The {who} fell {} → {} at steps {}–{}{of_kl}, {then}.",
            short(self.before),
            short(at(lowest)),
            significant(first, 6),
            significant(last, 6),
        );
        Event {
            series: who.to_owned(),
            first_step: first,
            last_step: Some(last),
            before: self.before,
            lowest: at(lowest),
            kl,
            recovered_by,
            sentence,
        }
    }
}
