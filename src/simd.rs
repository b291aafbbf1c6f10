//! Loops compiled for the widest instructions that the processor has, chosen at run time.
//!
//! Wider instructions only make them faster: nothing is fused or reordered by it, so the bits of
//! the results are the same everywhere.

pub use pulp::NullaryFnOnce as Work;

/// Does the work with the widest instructions there are. What it calls must be inlined: closures
/// of a few lines are; larger work is a type whose `call` is `#[inline(always)]`.
#[inline]
pub fn widest<W: Work>(work: W) -> W::Output {
    pulp::Arch::new().dispatch(work)
}

/// Sums that are kept side by side where a loop adds up doubles: as many as the widest registers hold.
pub const LANES: usize = 8;

/// Sums kept side by side as one.
#[inline(always)]
pub fn sum_of_lanes([a, b, c, d, e, f, g, h]: [f64; LANES]) -> f64 {
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Whether all values satisfy a condition, counted without branches so that it vectorises.
#[inline]
pub fn all<T: Copy>(values: &[T], good: impl Fn(T) -> bool) -> bool {
    struct Bad<'a, T, F>(&'a [T], F);
    impl<T: Copy, F: Fn(T) -> bool> Work for Bad<'_, T, F> {
        type Output = u32;

        #[inline(always)]
        fn call(self) -> u32 {
            self.0.iter().map(|value| u32::from(!(self.1)(*value))).sum()
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
        values[1002] = f32::NAN;
        assert!(!all(&values, f32::is_finite));
    }
}
