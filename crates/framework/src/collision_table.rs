//! The bounds of [`collision`](super::collision) as a table, for loops over millions of tokens.
//!
//! Both bounds depend on H' alone once V is known. Each cell of H' holds straight lines that lie
//! outside the exact curves, so an interval read here always contains the exact one:
//! * C'_min consists of concave arcs that meet at H' = ln k. Over a concave arc the distance to
//!   a line is smallest at an end, so a line under every arc end in the cell is under the curve.
//! * C'_max: on a cell where the slope stays within [a, b], a curve exceeds its chord of slope d
//!   and width δ by at most (b − d)(d − a)δ/(b − a).
//! * ln x_max is concave, so it lies under its tangents.
//!
//! It widens C' by less than [`TABLE_SLACK`] at either end, far below the interval's own width.

use rayon::prelude::*;

use super::collision::{CollisionBounds, least_concentrated, most_concentrated, steepest_most_concentrated};

/// Most that the table adds to either end of the interval of C'; typically it is 1e-5, and only
/// the cells where two arcs of C'_min meet come near it.
pub const TABLE_SLACK: f64 = 1.5e-3;

/// Error of H' that the table allows for: reading it at an H' that is off by this much still gives
/// bounds of the true one.
pub const ENTROPY_ERROR: f64 = 2e-5;

/// log2 of the cells per octave of H' + OFFSET.
const CELL_BITS: u32 = 7;
const INDEX_SHIFT: u32 = f32::MANTISSA_DIGITS - 1 - CELL_BITS;
/// Shifts H' so that the logarithmic grid reaches 0; the first cells are OFFSET/128 wide.
const OFFSET: f32 = 1.0 / 16.0;
/// Cells with more arcs than this use e^{−H'}, which the arcs touch from above.
const MOST_ARCS: u32 = 16;

/// The lines of one cell, `intercepts[i] + slopes[i]·H'`: C'_min, C'_max, ln x_max, and one unused
/// that makes each array a vector register.
#[derive(Debug, Clone, Copy)]
struct Cell {
    intercepts: [f32; 4],
    slopes: [f32; 4],
}

/// Outward-rounded bounds on C' and ln x_max for one vocabulary.
#[derive(Debug, Clone)]
pub struct CollisionTable {
    cells: Vec<Cell>,
    outcomes: u32,
    max_entropy: f64,
}

impl CollisionTable {
    /// Builds the table of a vocabulary of `vocab_size` tokens (at least 2); takes a few milliseconds of
    /// all processors.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)]
    pub fn new(vocab_size: u32) -> Self {
        let outcomes = vocab_size.max(2) - 1;
        let max_entropy = f64::from(outcomes).ln();
        let steepest = steepest_most_concentrated(outcomes);
        let cells = (0..=index_of((max_entropy + ENTROPY_ERROR) as f32))
            .into_par_iter()
            .map(|index| {
                let start = cell_start(index).min(max_entropy);
                let end = cell_start(index + 1).min(max_entropy);
                Cell::covering(start, end, outcomes, steepest)
            })
            .collect();
        Self { cells, outcomes, max_entropy }
    }

    /// ln(V − 1), the largest possible H'.
    #[must_use]
    pub fn max_entropy(&self) -> f64 {
        self.max_entropy
    }

    /// V − 1, the number of tokens that were not sampled.
    #[must_use]
    pub fn outcomes(&self) -> u32 {
        self.outcomes
    }

    /// Bounds at a conditional entropy in [0, ln(V − 1)]; each end is at or outside the exact one.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)]
    pub fn bounds(&self, entropy: f64) -> CollisionBounds {
        let [min, max, ln_heaviest, _] = self.lines()(entropy as f32).map(f64::from);
        CollisionBounds { min, max: max.min(1.0), ln_heaviest: ln_heaviest.min(0.0) }
    }

    /// C'_min, C'_max and ln x_max (and a filler) at H', in one vector operation; the last two may exceed
    /// 1 and 0 by rounding. The cells are found once, not for every token of a loop.
    #[inline(always)]
    pub fn lines(&self) -> impl Fn(f32) -> [f32; 4] {
        let cells = self.cells.as_slice();
        #[inline(always)]
        move |entropy| match cells.get(index_of(entropy)) {
            Some(cell) => std::array::from_fn(|i| cell.intercepts[i] + cell.slopes[i] * entropy),
            None => [0.0, 1.0, 0.0, 0.0],
        }
    }
}

/// The exponent and leading mantissa bits of H' + OFFSET: a logarithmic grid for one shift.
#[inline(always)]
fn index_of(entropy: f32) -> usize {
    let base = OFFSET.to_bits() >> INDEX_SHIFT;
    ((entropy + OFFSET).to_bits() >> INDEX_SHIFT).wrapping_sub(base) as usize
}

#[allow(clippy::cast_possible_truncation)]
fn cell_start(index: usize) -> f64 {
    let bits = (OFFSET.to_bits() >> INDEX_SHIFT) + index as u32;
    f64::from(f32::from_bits(bits << INDEX_SHIFT) - OFFSET)
}

impl Cell {
    fn covering(start: f64, end: f64, outcomes: u32, steepest: (f64, f64)) -> Self {
        // An H' that is a little off may fall into the neighbouring cell.
        let (start, end) = ((start - ENTROPY_ERROR).max(0.0), end + ENTROPY_ERROR);
        let end = end.min(f64::from(outcomes).ln());
        let lines = [
            line_under_min(start, end, outcomes),
            line_over_max(start, end, outcomes, steepest),
            line_over_ln_heaviest(start, end, outcomes),
            Line { intercept: 0.0, slope: 0.0 },
        ];
        Self { intercepts: lines.map(|line| line.intercept), slopes: lines.map(|line| line.slope) }
    }
}

/// A line over one cell, rounded outward to f32.
#[derive(Debug, Clone, Copy)]
struct Line {
    intercept: f32,
    slope: f32,
}

fn line_under_min(start: f64, end: f64, outcomes: u32) -> Line {
    let first_arc = start.exp().floor() + 1.0;
    let last_arc = end.exp().floor();
    if last_arc - first_arc >= f64::from(MOST_ARCS) {
        // e^{−H'} is convex: a tangent is under it, and C' ≥ e^{−H'} always.
        let middle = 0.5 * (start + end);
        let value = (-middle).exp();
        return line_under(-value, &[(middle, value)]);
    }
    let [left, right] = [start, end].map(|h| (h, least_concentrated(h, outcomes).collision));
    let mut arc_ends = vec![left, right];
    let mut arc = first_arc;
    while arc <= last_arc {
        arc_ends.push((arc.ln(), 1.0 / arc));
        arc += 1.0;
    }
    line_under(chord_slope(left, right), &arc_ends)
}

/// The slope of C'_max falls to `steepest`, attained at the entropy given first, then rises.
fn line_over_max(start: f64, end: f64, outcomes: u32, steepest: (f64, f64)) -> Line {
    let (left, right) = (most_concentrated(start, outcomes), most_concentrated(end, outcomes));
    let (left_slope, right_slope) = (left.slope(), right.slope());
    let mut lowest = left_slope.min(right_slope);
    if start <= steepest.0 && steepest.0 <= end {
        lowest = lowest.min(steepest.1);
    }
    let highest = left_slope.max(right_slope);
    let chord = chord_slope((start, left.collision), (end, right.collision));
    let spread = highest - lowest;
    let bulge = if spread > 0.0 {
        ((highest - chord) * (chord - lowest) * (end - start) / spread).max(0.0)
    } else {
        0.0
    };
    line_over(chord, &[(start, left.collision + bulge), (end, right.collision + bulge)])
}

/// ln x_max is concave in H' (its slope −1/(x ln(x/y)) only falls), so a tangent is above it.
fn line_over_ln_heaviest(start: f64, end: f64, outcomes: u32) -> Line {
    let middle = 0.5 * (start + end);
    let extreme = most_concentrated(middle, outcomes);
    let slope = -1.0 / (extreme.heavy * (extreme.heavy / extreme.light).ln());
    if slope.is_finite() {
        line_over(slope, &[(middle, extreme.heavy.ln())])
    } else {
        line_over(0.0, &[(start, most_concentrated(start, outcomes).heavy.ln())])
    }
}

fn chord_slope(left: (f64, f64), right: (f64, f64)) -> f64 {
    if right.0 > left.0 { (right.1 - left.1) / (right.0 - left.0) } else { 0.0 }
}

fn line_under(slope: f64, points: &[(f64, f64)]) -> Line {
    let upside_down: Vec<_> = points.iter().map(|&(h, value)| (h, -value)).collect();
    let line = line_over(-slope, &upside_down);
    Line { intercept: -line.intercept, slope: -line.slope }
}

/// The line of this slope over all points, raised by what an error of H' and of evaluating it in
/// f32 can take away.
#[allow(clippy::cast_possible_truncation)]
fn line_over(slope: f64, points: &[(f64, f64)]) -> Line {
    let slope = slope as f32;
    let steepness = f64::from(slope.abs());
    let offset = |&(h, value): &(f64, f64)| value - f64::from(slope) * h;
    let highest = points.iter().map(offset).fold(f64::NEG_INFINITY, f64::max);
    let reach = points.iter().map(|point| point.0).fold(1.0, f64::max);
    let evaluation = f64::from(f32::EPSILON) * (highest.abs() + 2.0 * steepness * reach);
    let raised = highest + steepness * ENTROPY_ERROR + evaluation;
    Line { intercept: (raised as f32).next_up(), slope }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::super::collision::collision_bounds;
    use super::*;
    use proptest::prelude::*;

    fn assert_contains_exact(table: &CollisionTable, entropy: f64) {
        let exact = collision_bounds(entropy, table.outcomes());
        let read = table.bounds(entropy);
        let at = format!("V-1 = {}, H' = {entropy}: {read:?} {exact:?}", table.outcomes());
        assert!(read.min <= exact.min && read.min >= exact.min - TABLE_SLACK, "{at}");
        assert!(read.max >= exact.max && read.max <= exact.max + TABLE_SLACK, "{at}");
        assert!(read.ln_heaviest >= exact.ln_heaviest, "{at}");
    }

    #[test]
    fn dense_sweep_stays_outside_the_exact_bounds() {
        for vocab_size in [2, 3, 4, 10, 256, 32_000, 151_936, 200_000] {
            let table = CollisionTable::new(vocab_size);
            for step in 0..=5_000 {
                let fraction = f64::from(step) / 5_000.0;
                assert_contains_exact(&table, table.max_entropy() * fraction);
                assert_contains_exact(&table, table.max_entropy() * fraction.powi(4));
            }
        }
    }

    #[test]
    fn edges_of_cells_and_arcs() {
        let table = CollisionTable::new(151_936);
        for index in 1..table.cells.len() {
            let edge = cell_start(index).min(table.max_entropy());
            for h in [edge.next_down(), edge, edge.next_up().min(table.max_entropy())] {
                assert_contains_exact(&table, h);
            }
        }
        for arc in 1..2_000 {
            let h = f64::from(arc).ln();
            assert_contains_exact(&table, h);
            assert_contains_exact(&table, h.next_up());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 100, ..ProptestConfig::default() })]
        #[test]
        fn any_vocabulary(vocab_size in 2..200_000_u32, fractions in prop::collection::vec(0.0..=1.0_f64, 50)) {
            let table = CollisionTable::new(vocab_size);
            for fraction in fractions {
                assert_contains_exact(&table, table.max_entropy() * fraction);
            }
        }
    }
}
