//! The series that is judged, and what it did: fall, dip, gain, damage.

use super::blocks::{Blocks, Drop, Gain};
use super::critical::Critical;
use super::range::{Range, learned};
use super::trends::BlowUp;
use super::verdict::{CurveGain, Event};
use super::words::{short, significant};
use crate::curves::{CurveRun, Series};
use crate::math::{greatest, least, median};
use crate::names::CanonicalName;
use stapo_result::RunState;

/// The series that is judged: the reward; where none is logged, a held-out score or a goal.
pub(crate) struct Judged<'a> {
    /// `reward`, or the column.
    pub who: &'a str,
    /// As a sentence names it.
    pub name: &'a str,
    pub series: &'a Series,
    /// Whether the greatest reward of a response is logged.
    pub top_is_logged: bool,
    pub blocks: Blocks<'a>,
    pub range: Range,
    pub gains: Vec<Gain>,
    /// Gains beyond chance.
    pub rises: Vec<Gain>,
    /// Start and end of the best of them.
    pub start: f64,
    pub end: f64,
    pub learned: bool,
}

impl<'a> Judged<'a> {
    pub fn new(run: &'a CurveRun, series: &'a Series, is_reward: bool) -> Self {
        let who = if is_reward { "reward" } else { &series.column };
        let blocks = Blocks::new(&series.steps, &series.values);
        let range = Range::of(series, &blocks, is_reward.then_some(run));
        let gains = blocks.gains();
        let (rises, learned) = learned(&gains, blocks.rows(), range);
        let best = rises.iter().copied().reduce(|a, b| if b.difference > a.difference { b } else { a });
        let best = best.unwrap_or(gains[0]);
        Self {
            who,
            name: last_segment(who),
            series,
            top_is_logged: is_reward && run.series.contains_key(&CanonicalName::RewardMax),
            blocks,
            range,
            start: best.start,
            end: best.end,
            gains,
            rises,
            learned,
        }
    }

    /// The fall that stays, and the dip that may come back, beyond chance among so many series. A dip that did not
    /// come back is a fall.
    pub fn falls(&self, series: usize) -> (Option<Drop>, Option<Drop>) {
        let (floor, size) = (self.range.floor, 0.05 * self.range.size());
        let (fall, dip) = (self.blocks.fall(floor, size), self.blocks.dip(floor, size));
        let rows = self.blocks.rows();
        let end = self.blocks.end();
        if fall.t > Critical::Fall.of_series(rows, series) {
            return (Some(fall), None);
        }
        let lost = dip.before - end > size.max(0.2 * (dip.before - floor));
        if dip.t > Critical::Dip.of_series(rows, series) && lost {
            return (Some(Drop { after: end, ..dip }), None);
        }
        (None, (dip.t > Critical::Dip.value(rows)).then_some(dip))
    }

    pub fn damage(&self, drop: &Drop) -> Damage {
        Damage { who: self.who.to_owned(), drop: *drop, onset: self.blocks.onset(drop), range: self.range }
    }

    pub fn gain(&self) -> CurveGain {
        let first = self.gains[0];
        CurveGain {
            series: self.who.to_owned(),
            rows: self.blocks.rows(),
            start: first.start,
            end: first.end,
            error: first.error,
            floor: self.range.floor,
            top: self.range.top,
        }
    }

    pub fn steps(&self) -> f64 {
        let x = &self.series.steps;
        let intervals: Vec<f64> = x.windows(2).map(|w| w[1] - w[0]).collect();
        x[x.len() - 1] - x[0] + median(&intervals)
    }

    /// Whether the greatest value is one of the scale, not of the rows.
    pub fn top_is_known(&self) -> bool {
        greatest(&self.series.values) <= 1.1 || self.top_is_logged
    }

    /// Near a top that is known, throughout.
    pub fn is_at_top(&self) -> bool {
        let y = &self.series.values;
        let in_unit = least(y) >= 0.0 && greatest(y) <= 1.1;
        let whole = self.blocks.window(0, self.blocks.count()).0;
        (in_unit || self.top_is_logged) && self.range.top - whole < 0.1 * self.range.size()
    }

    pub fn learned_sentence(&self) -> String {
        let count = self.blocks.count();
        let width = (count / 8).max(2);
        let windows: Vec<f64> = (0..=count - width).map(|k| self.blocks.window(k, k + width).0).collect();
        let (best, name) = (greatest(&windows), self.name);
        let (start, end) = (short(self.start), short(self.end));
        if best - self.end < 0.15 * (best - self.start) {
            format!("The {name} rose from {start} to {end} and held.")
        } else {
            format!("The {name} rose from {start} to {} and ended at {end}.", short(best))
        }
    }
}

/// The last segment of a column, with the one before it where it only says that it is a mean: `acc/mean@1`.
fn last_segment(column: &str) -> &str {
    let Some(last) = column.rfind('/') else { return column };
    let from = if column[last + 1..].starts_with("mean") { column[..last].rfind('/') } else { Some(last) };
    from.map_or(column, |from| &column[from + 1..])
}

/// A fall that does not come back.
pub(crate) struct Damage {
    pub who: String,
    pub drop: Drop,
    pub onset: f64,
    pub range: Range,
}

impl Damage {
    /// The state and the event.
    pub fn told(self, kl: Option<&BlowUp>) -> (RunState, Event) {
        let Self { who, drop, onset, range } = self;
        let name = last_segment(&who);
        let of_kl = kl.map_or(String::new(), |kl| format!(", with a KL of {}", significant(kl.peak, 2)));
        let (before, after, from) = (short(drop.before), short(drop.after), significant(onset, 6));
        let sentence = format!("The {name} fell from {before} to {after} from step {from} on{of_kl}.");
        let (high, low) = (drop.before - range.floor, drop.after - range.floor);
        // At its floor, from well above it or with nine tenths of its height lost.
        let at_floor = low < 0.1 * range.size() && (high > 0.2 * range.size() || low < 0.1 * high);
        let state = if at_floor { RunState::Collapsed } else { RunState::Damaged };
        let event = Event {
            series: who,
            first_step: onset,
            last_step: None,
            before: drop.before,
            lowest: drop.after,
            kl: kl.map(|kl| kl.peak),
            recovered_by: None,
            sentence,
        };
        (state, event)
    }
}
