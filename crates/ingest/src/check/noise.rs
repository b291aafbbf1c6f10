//! What chance alone does to the numbers that verdicts rest on.

use stapo_base::stats::correlation::PearsonSums;

/// Tokens of a response depend on each other: so many of them tell as much as one alone would.
const DEPENDENCE: f64 = 4.0;
/// Standard errors beyond which a difference is not chance: a log is checked fifteen ways, and a
/// wrong verdict costs more than a late one.
const ERRORS: f64 = 4.0;

/// A correlation on Fisher's scale, where its noise does not depend on its size.
#[derive(Clone, Copy, Debug)]
pub struct Noisy {
    /// The correlation.
    pub r: f64,
    z: f64,
    error: f64,
}

impl Noisy {
    /// The correlation of some pairs; `None` where a variable does not vary or pairs are too few.
    pub fn of(sums: &PearsonSums) -> Option<Self> {
        let r = sums.correlation()?;
        let pairs = sums.count() as f64 / DEPENDENCE;
        (pairs > 3.0).then(|| Self {
            r,
            z: r.clamp(-0.999_999, 0.999_999).atanh(),
            error: (pairs - 3.0).sqrt().recip(),
        })
    }

    /// Whether it is surely below `bound`.
    pub fn is_below(&self, bound: f64) -> bool {
        self.z + ERRORS * self.error < bound.atanh()
    }

    /// Whether it is surely above `other`.
    pub fn is_above(&self, other: &Self) -> bool {
        self.z - other.z > ERRORS * self.error.hypot(other.error)
    }

    /// Whether it is surely not zero.
    pub fn is_something(&self) -> bool {
        self.z.abs() > ERRORS * self.error
    }
}

/// Whether a mean is surely not zero: of `n` tokens with this sum and sum of squares.
pub fn is_mean_something(sum: f64, squares: f64, n: u64) -> bool {
    let n = n as f64;
    let variance = (squares / n - (sum / n).powi(2)).max(0.0);
    (sum / n).abs() > ERRORS * (variance * DEPENDENCE / n).sqrt()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn sums(n: u32, slope: f64) -> PearsonSums {
        let mut sums = PearsonSums::new(0.0, 0.0);
        for i in 0..n {
            let x = f64::from(i.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24);
            let noise = f64::from(i.wrapping_mul(2_246_822_519).wrapping_add(7) >> 8) / f64::from(1 << 24);
            sums.add(x, slope * x + noise);
        }
        sums
    }

    #[test]
    fn small_logs_and_small_correlations_tell_nothing() {
        let (weak, strong) = (Noisy::of(&sums(320, 0.03)).unwrap(), Noisy::of(&sums(320, 3.0)).unwrap());
        assert!(!weak.is_something() && !weak.is_below(0.1));
        assert!(strong.is_something() && strong.is_above(&weak) && !weak.is_above(&strong));
        assert!(Noisy::of(&sums(100_000, 0.0)).unwrap().is_below(0.1));
        assert!(Noisy::of(&sums(8, 1.0)).is_none());
    }

    #[test]
    fn a_mean_is_told_from_zero_by_its_spread() {
        assert!(is_mean_something(50.0, 26.0, 100));
        assert!(!is_mean_something(5.0, 100.0, 100));
    }
}
