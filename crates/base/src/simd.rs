//! Loops compiled for the widest instructions that the processor has, chosen at run time.
//!
//! Wider instructions only make them faster: nothing is fused or reordered by it, so the bits of
//! the results are the same everywhere.

// One index into many arrays of one length is what vectorises.
#![allow(clippy::needless_range_loop)]

use std::ops::Range;

pub use pulp::NullaryFnOnce as Work;

/// Does the work with the widest instructions there are. What it calls must be inlined: closures
/// of a few lines are; larger work is a type whose `call` is `#[inline(always)]`.
#[inline]
pub fn widest<W: Work>(work: W) -> W::Output {
    pulp::Arch::new().dispatch(work)
}

/// Sums that are kept side by side where a loop adds up doubles: as many as the widest registers hold.
pub const LANES: usize = 8;

/// The last values of a column as one chunk, filled up.
#[inline(always)]
pub fn filled_up<T: Copy>(rest: &[T], with: T) -> [T; LANES] {
    let mut chunk = [with; LANES];
    chunk.iter_mut().zip(rest).for_each(|(into, value)| *into = *value);
    chunk
}

/// How many places of columns of length `n` satisfy a condition.
#[inline(always)]
pub fn count(n: usize, is: impl Fn(usize) -> bool) -> u64 {
    // In stretches, so that 32 bits, which are wider, cannot wrap.
    let stretch = |first: usize| count_within(first..n.min(first + (1 << 20)), &is);
    (0..n).step_by(1 << 20).map(stretch).sum()
}

/// The same of fewer than 2³² places, such as those of a block.
#[inline(always)]
pub fn count_few(n: usize, is: impl Fn(usize) -> bool) -> u64 {
    count_within(0..n, is)
}

#[inline(always)]
fn count_within(places: Range<usize>, is: impl Fn(usize) -> bool) -> u64 {
    places.map(|i| u32::from(is(i))).sum::<u32>().into()
}

/// Sums kept side by side as one. They are written down first: where the compiler sees them added up in pairs,
/// it keeps them in pairs, and the loop before is a quarter as wide.
#[inline(always)]
pub fn sum_of_lanes(lanes: [f64; LANES]) -> f64 {
    let [sum] = sums_of_lanes(&[lanes]);
    sum
}

/// The same of several sums.
#[inline(always)]
pub fn sums_of_lanes<const N: usize>(lanes: &[[f64; LANES]; N]) -> [f64; N] {
    let lanes = std::hint::black_box(lanes);
    let mut sums = [0.0; N];
    for i in 0..N {
        let [a, b, c, d, e, f, g, h] = lanes[i];
        sums[i] = ((a + e) + (c + g)) + ((b + f) + (d + h));
    }
    sums
}

/// The sum of values in double precision, [`LANES`] side by side.
pub fn sum<T: Copy + Default + Into<f64>>(values: &[T]) -> f64 {
    struct Sum<'a, T>(&'a [T]);
    impl<T: Copy + Default + Into<f64>> Work for Sum<'_, T> {
        type Output = f64;

        #[inline(always)]
        fn call(self) -> f64 {
            let (chunks, rest) = self.0.as_chunks::<LANES>();
            let mut lanes = [0.0; LANES];
            let mut add = |chunk: &[T; LANES]| {
                for lane in 0..LANES {
                    lanes[lane] += chunk[lane].into();
                }
            };
            chunks.iter().for_each(&mut add);
            add(&filled_up(rest, T::default()));
            sum_of_lanes(lanes)
        }
    }
    widest(Sum(values))
}

/// Whether all values satisfy a condition, counted without branches so that it vectorises.
#[inline]
pub fn all<T: Copy>(values: &[T], good: impl Fn(T) -> bool) -> bool {
    /// Values that are counted side by side.
    const AT_ONCE: usize = 16;
    struct Bad<'a, T, F>(&'a [T], F);
    impl<T: Copy, F: Fn(T) -> bool> Bad<'_, T, F> {
        #[inline(always)]
        fn count(&self, values: &[T]) -> u32 {
            values.iter().map(|value| u32::from(!(self.1)(*value))).sum()
        }
    }
    impl<T: Copy, F: Fn(T) -> bool> Work for Bad<'_, T, F> {
        type Output = u32;

        #[inline(always)]
        fn call(self) -> u32 {
            // The last ones are counted again with those before them: one by one they would take longer than all others.
            match self.0.last_chunk::<AT_ONCE>() {
                Some(last) => self.count(&self.0[..self.0.len() & !(AT_ONCE - 1)]) + self.count(last),
                None => self.count(self.0),
            }
        }
    }
    // In stretches, so that the count of bad values cannot wrap to zero.
    values.chunks(1 << 20).all(|stretch| widest(Bad(stretch, &good)) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bad_value_is_enough() {
        let mut values = vec![1.0_f32; 1003];
        assert!(all(&values, f32::is_finite));
        assert!(all(&[] as &[f32], f32::is_finite));
        for length in [1, 15, 16, 17, 64, 1003] {
            for at in [0, length / 2, length - 1] {
                values[at] = f32::NAN;
                assert!(!all(&values[..length], f32::is_finite), "{at} of {length}");
                values[at] = 1.0;
            }
        }
    }

    #[test]
    fn all_values_are_summed() {
        for n in [0_u8, 1, 7, 8, 9, 100] {
            let values: Vec<f32> = (0..n).map(f32::from).collect();
            assert_eq!(sum(&values), f64::from(n) * (f64::from(n) - 1.0) / 2.0);
        }
    }

    #[test]
    fn chunks_are_filled_up() {
        assert_eq!(filled_up(&[1, 2, 3], 9), [1, 2, 3, 9, 9, 9, 9, 9]);
    }
}
