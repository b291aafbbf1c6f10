//! Critical values: the greatest t of a flat series by its number of rows.
//!
//! Simulated (`benches/curves`, `calibrate`), 99.9 % points of the greatest t over all windows and tails: falls, dips
//! and bounds with noise of autocorrelation 0.3, gains with 0.1. The normal law would be far too low: the error is
//! estimated from few rows, and many windows are searched.

use super::blocks::Blocks;

/// What is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Critical {
    /// A tail below an earlier window.
    Fall,
    /// A window below an earlier one.
    Dip,
    /// The end above the start.
    Gain,
    /// The 99 % point of one difference: what a gain is at most.
    Bound,
}

const ROWS: [f64; 14] = [6., 8., 10., 12., 16., 20., 24., 32., 48., 64., 100., 200., 400., 1000.];
const FALL: [f64; 14] = [17.8, 12.7, 12.5, 10.9, 7.4, 7.8, 7.3, 6.5, 5.7, 5.6, 5.1, 5.0, 4.95, 4.8];
const DIP: [f64; 14] = [10.8, 10.7, 10.5, 9.8, 7.3, 7.2, 7.0, 6.8, 5.9, 5.8, 5.4, 5.5, 5.4, 5.4];
const GAIN: [f64; 14] = [10., 7.6, 6.6, 6.0, 4.4, 4.35, 4.2, 3.7, 3.4, 3.3, 3.3, 3.3, 3.3, 3.3];
const BOUND: [f64; 14] = [6.0, 5.0, 4.6, 4.2, 3.3, 3.1, 3.05, 2.95, 2.7, 2.6, 2.45, 2.35, 2.3, 2.3];

/// Where several series are searched: a quarter of the chance, at the tails that were simulated.
const SEVERAL: f64 = 1.15;

impl Critical {
    /// The critical value for so many rows, straight lines in ln n between those that were simulated.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn value(self, rows: usize) -> f64 {
        let table = match self {
            Self::Fall => &FALL,
            Self::Dip => &DIP,
            Self::Gain => &GAIN,
            Self::Bound => &BOUND,
        };
        let rows = (rows as f64).clamp(ROWS[0], ROWS[13]);
        let above = ROWS.iter().position(|n| *n >= rows).unwrap_or(13).max(1);
        let part = (rows.ln() - ROWS[above - 1].ln()) / (ROWS[above].ln() - ROWS[above - 1].ln());
        table[above - 1] + part * (table[above] - table[above - 1])
    }

    /// The critical value where so many series are searched.
    #[must_use]
    pub(crate) fn of_series(self, rows: usize, series: usize) -> f64 {
        self.value(rows) * if series > 1 { SEVERAL } else { 1.0 }
    }
}

/// The greatest t of a series: fall, dip, gain, and the first tenth against the last fifth. The table above holds their
/// quantiles over flat series.
#[must_use]
pub fn greatest_t(values: &[f64]) -> Option<[f64; 4]> {
    if values.len() < 4 {
        return None;
    }
    let steps: Vec<f64> = (0..u32::MAX).take(values.len()).map(f64::from).collect();
    let blocks = Blocks::new(&steps, values);
    let gains: Vec<f64> = blocks.gains().iter().map(|gain| gain.difference / gain.error).collect();
    let (fall, dip) = (blocks.fall(f64::NEG_INFINITY, 0.0).t, blocks.dip(f64::NEG_INFINITY, 0.0).t);
    Some([fall, dip, crate::math::greatest(&gains), gains[0].abs()])
}
