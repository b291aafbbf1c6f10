//! How far an update moves the tokens of a response: ln ρ, where both log-probabilities are known.

// One index into many arrays of one length is what vectorises.
#![allow(clippy::needless_range_loop)]

use stapo_base::simd::{LANES, Work, filled_up, sums_of_lanes};

/// ln π_θ and ln π_old of some tokens; gives Σ ln ρ with the number of tokens, and the largest ln ρ (−∞ of none).
pub struct Rises<'a>(pub &'a [f32], pub &'a [f32]);

impl Work for Rises<'_> {
    type Output = ([f64; 2], f32);

    #[inline(always)]
    fn call(self) -> Self::Output {
        let ((new, new_rest), (old, old_rest)) = (self.0.as_chunks(), self.1.as_chunks());
        let (mut sums, mut most) = ([[0.0; LANES]; 2], [f32::NEG_INFINITY; LANES]);
        for (new, old) in new.iter().zip(old) {
            add(&mut sums, &mut most, new, old);
        }
        if !new_rest.is_empty() {
            add(&mut sums, &mut most, &filled_up(new_rest, f32::NAN), &filled_up(old_rest, f32::NAN));
        }
        (sums_of_lanes(&sums), most.into_iter().fold(f32::NEG_INFINITY, f32::max))
    }
}

#[inline(always)]
fn add(sums: &mut [[f64; LANES]; 2], most: &mut [f32; LANES], new: &[f32; LANES], old: &[f32; LANES]) {
    let [sum, known] = sums;
    for lane in 0..LANES {
        let rise = new[lane] - old[lane];
        let is = rise.is_finite();
        most[lane] = if is & (rise > most[lane]) { rise } else { most[lane] };
        sum[lane] += f64::from(if is { rise } else { 0.0 });
        known[lane] += if is { 1.0 } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stapo_base::simd::widest;

    #[test]
    fn what_is_missing_is_left_out() {
        for n in 0..30_u8 {
            let old: Vec<f32> = (0..n).map(|i| -f32::from(i)).collect();
            let new: Vec<f32> = (0..n)
                .map(|i| if i % 5 == 3 { f32::NAN } else { -f32::from(i) + f32::from(i % 4) })
                .collect();
            let known: Vec<f32> =
                new.iter().zip(&old).map(|(n, o)| n - o).filter(|d| d.is_finite()).collect();
            let ([sum, count], most) = widest(Rises(&new, &old));
            assert_eq!((sum, count), (f64::from(known.iter().sum::<f32>()), known.len() as f64));
            assert_eq!(most, known.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        }
        assert_eq!(widest(Rises(&[], &[-1.0])), ([0.0; 2], f32::NEG_INFINITY));
    }
}
