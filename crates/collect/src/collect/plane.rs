//! Tokens and energy over the probability × entropy plane.

use super::by_sign::BySign;
use stapo_result::{AxisSpec, Plane, PlaneCell};

const PROBABILITY_BINS: usize = 80;
const DECADES: f32 = 8.0;
const ENTROPY_BINS: usize = 120;
const LARGEST_ENTROPY: f32 = 12.0;
/// Cells a probability bin, as a power of two: a number of a cell is a shift and an addition in lanes of tokens,
/// where two coordinates of an array would be taken apart and checked.
const STRIDE: usize = 128;
/// Numbers of cells are below this.
pub const CELLS: usize = PROBABILITY_BINS * STRIDE;

/// The cell of a token; both values must be finite. Values within 3e-5 of a bin's edge may fall to
/// either side.
#[inline(always)]
pub fn cell(logprob: f32, entropy: f32) -> u32 {
    const PER_NAT: f32 = PROBABILITY_BINS as f32 / DECADES * std::f32::consts::LOG10_E;
    let x = logprob * PER_NAT + PROBABILITY_BINS as f32;
    let y = entropy * (ENTROPY_BINS as f32 / LARGEST_ENTROPY);
    floor_within(x, PROBABILITY_BINS) * STRIDE as u32 + floor_within(y, ENTROPY_BINS)
}

/// Bins of log10 p and of the entropy.
pub fn place(cell: usize) -> (u16, u16) {
    ((cell / STRIDE) as u16, (cell % STRIDE) as u16)
}

/// The largest whole number not above `value`, within 0 and `bins` − 1, by rounding to the
/// mantissa's last bit: conversions to integers do not vectorise.
#[inline(always)]
fn floor_within(value: f32, bins: usize) -> u32 {
    const ROUNDER: f32 = 12_582_912.0; // 1.5 · 2^23
    const HALF: f32 = 0.5 - 1.0 / 32_768.0;
    let floored = if value > 0.0 { value } else { 0.0 };
    let last = (bins - 1) as f32;
    let capped = if floored < last { floored } else { last };
    (capped - HALF + ROUNDER).to_bits() - ROUNDER.to_bits()
}

/// The cells that hold tokens.
pub fn finish(counts: &BySign) -> Plane {
    let cells = (0..counts.len()).filter_map(|cell| {
        let tally = counts.at(cell);
        let (x, y) = place(cell);
        (tally.count() > 0).then_some(PlaneCell {
            x,
            y,
            positive: tally.positive.count,
            negative: tally.negative.count,
            zero: tally.zero,
            positive_energy: tally.positive.energy,
            negative_energy: tally.negative.energy,
        })
    });
    Plane {
        log10_prob: AxisSpec { low: -f64::from(DECADES), high: 0.0, bins: PROBABILITY_BINS },
        entropy: AxisSpec { low: 0.0, high: f64::from(LARGEST_ENTROPY), bins: ENTROPY_BINS },
        cells: cells.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_follow_the_axes() {
        let at = |p: f64, h: f32| {
            let cell = cell(p.ln() as f32, h) as usize;
            (cell / STRIDE, cell % STRIDE)
        };
        assert_eq!(at(1.0, 0.0), (79, 0));
        assert_eq!(at(0.5, 0.65), (76, 6));
        assert_eq!(at(0.002, 1.0), (53, 10));
        assert_eq!(at(1e-12, 99.0), (0, 119));
    }
}
