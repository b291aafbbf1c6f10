//! Sums in a fixed number of lanes: fast, and the same order of additions on every machine.

pub use stapo_base::simd::LANES as WIDTH;
use stapo_base::simd::sum_of_lanes;

/// Eight partial sums.
#[derive(Clone, Copy, Default)]
pub struct Lanes([f64; WIDTH]);

impl Lanes {
    /// Adds one term to every lane.
    #[inline(always)]
    pub fn add(&mut self, terms: [f64; WIDTH]) {
        for (lane, term) in self.0.iter_mut().zip(terms) {
            *lane += term;
        }
    }

    /// The sum of all lanes.
    #[inline(always)]
    pub fn total(self) -> f64 {
        sum_of_lanes(self.0)
    }
}

/// Eight terms from eight indices.
#[inline(always)]
pub fn terms(of: impl Fn(usize) -> f64) -> [f64; WIDTH] {
    std::array::from_fn(of)
}

/// The sum of a column whose length is a multiple of the lanes.
#[inline(always)]
pub fn sum(column: &[f64]) -> f64 {
    let mut lanes = Lanes::default();
    column.as_chunks::<WIDTH>().0.iter().for_each(|chunk| lanes.add(*chunk));
    lanes.total()
}

/// The same of single precision; `room` must be as long at least.
#[inline(always)]
pub fn sum_f32(column: &[f32], room: &mut [f64]) -> f64 {
    // Widened in a pass of its own, since conversions inside of the lanes do not vectorise.
    let terms = &mut room[..column.len()];
    for (term, value) in terms.iter_mut().zip(column) {
        *term = f64::from(*value);
    }
    sum(terms)
}

/// The largest of a column of non-negative numbers whose length is a multiple of the lanes.
#[inline(always)]
pub fn largest(column: &[f64]) -> f64 {
    largest_of(column, |value| value)
}

/// The largest size in a column whose length is a multiple of the lanes.
#[inline(always)]
pub fn largest_size(column: &[f32]) -> f32 {
    largest_of(column, f32::abs)
}

/// The largest that `of` makes of a value; 0 where nothing is larger.
#[inline(always)]
fn largest_of<T: Copy + Default + PartialOrd>(column: &[T], of: impl Fn(T) -> T) -> T {
    let larger = |a: T, b: T| if b > a { b } else { a };
    let mut lanes = [T::default(); WIDTH];
    for chunk in column.as_chunks::<WIDTH>().0 {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = larger(*lane, of(*value));
        }
    }
    lanes.into_iter().fold(T::default(), larger)
}
