//! Loops compiled for the widest instructions that the processor has, chosen at run time.
//!
//! Wider instructions only make them faster: nothing is fused or reordered, so the bits of the
//! results are the same everywhere.

/// Work that is compiled once for every set of instructions. Implementations of `run` must be
/// `#[inline(always)]`, and so must be what they call.
pub trait Wide {
    /// What it gives.
    type Output;

    /// Does the work.
    fn run(self) -> Self::Output;
}

/// Does the work with the widest instructions there are.
#[inline]
pub fn widest<W: Wide>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
            // SAFETY: the processor has the instructions that the function is compiled for.
            return unsafe { with_avx512(work) };
        }
        if has!("avx2") {
            // SAFETY: the processor has the instructions that the function is compiled for.
            return unsafe { with_avx2(work) };
        }
    }
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn with_avx512<W: Wide>(work: W) -> W::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<W: Wide>(work: W) -> W::Output {
    work.run()
}

/// Whether all values satisfy a condition, counted without branches so that it vectorises.
#[inline]
pub fn all<T: Copy>(values: &[T], good: impl Fn(T) -> bool) -> bool {
    struct Bad<'a, T, F>(&'a [T], F);
    impl<T: Copy, F: Fn(T) -> bool> Wide for Bad<'_, T, F> {
        type Output = u32;

        #[inline(always)]
        fn run(self) -> u32 {
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
