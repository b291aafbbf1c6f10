//! The scatter of seeds, and how many of them would show a difference.

use stapo_base::stats::bootstrap::squares_about_mean;

use crate::metric::Metric;
use crate::result::SeedsNeeded;
use crate::student::{POWER, detectable, deviation_factors, power};

/// More is given as this.
const MOST_SEEDS: u64 = 100_000;
/// The differences that seeds are counted for: of a reward whose range is about 1, and of the mean of length and entropy.
const WANTED: [f64; 2] = [0.05, 0.1];

/// The standard deviation of seeds within arms, or of differences within pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    pub deviation: f64,
    pub freedom: f64,
    /// Whether it is that of differences of pairs.
    pub paired: bool,
}

impl Scatter {
    /// Pooled over samples; `None` where no sample has two values, or nothing scatters.
    pub fn of<'a>(samples: impl Iterator<Item = &'a [f64]>, paired: bool) -> Option<Self> {
        let (mut squares, mut freedom) = (0.0, 0.0);
        for sample in samples.filter(|sample| sample.len() > 1) {
            squares += squares_about_mean(sample);
            freedom += sample.len() as f64 - 1.0;
        }
        let deviation = (squares / freedom).sqrt();
        (freedom > 0.0 && deviation > 0.0 && deviation.is_finite()).then_some(Self {
            deviation,
            freedom,
            paired,
        })
    }

    /// Degrees of freedom of a test with `seeds` a side.
    fn freedom_with(self, seeds: u64) -> f64 {
        (seeds - 1) as f64 * if self.paired { 1.0 } else { 2.0 }
    }

    /// The error of a difference of means with `seeds` a side.
    fn error_with(self, seeds: u64) -> f64 {
        self.deviation * (if self.paired { 1.0 } else { 2.0 } / seeds as f64).sqrt()
    }

    /// The smallest difference that seeds like these show with a chance of [`POWER`].
    pub fn detectable(self, seeds: [u64; 2]) -> f64 {
        if self.paired {
            return self.error_with(seeds[0]) * detectable(self.freedom_with(seeds[0]));
        }
        let [a, b] = seeds.map(|n| n as f64);
        self.deviation * (1.0 / a + 1.0 / b).sqrt() * detectable(a + b - 2.0)
    }

    /// Seeds a side that show the difference with a chance of [`POWER`].
    fn seeds_for(self, difference: f64) -> u64 {
        let shows = |n: u64| power(difference / self.error_with(n), self.freedom_with(n)) >= POWER;
        let (mut low, mut high) = (1, 2);
        while !shows(high) {
            if high >= MOST_SEEDS {
                return MOST_SEEDS;
            }
            (low, high) = (high, 2 * high);
        }
        while high - low > 1 {
            let middle = u64::midpoint(low, high);
            if shows(middle) { high = middle } else { low = middle }
        }
        high.min(MOST_SEEDS)
    }

    /// Seeds for each of the wanted differences, with what the uncertainty of the scatter makes of them.
    pub fn needed(self, unit: f64) -> Vec<SeedsNeeded> {
        let Some(factors) = deviation_factors(self.freedom) else { return Vec::new() };
        let needed = |share: f64| {
            let at =
                |factor: f64| Self { deviation: factor * self.deviation, ..self }.seeds_for(share * unit);
            SeedsNeeded {
                difference: share * unit,
                paired: self.paired,
                seeds: at(1.0),
                interval: factors.map(at),
            }
        };
        WANTED.map(needed).to_vec()
    }
}

/// What the wanted differences are shares of: the power of ten next to the range of rewards, else the mean.
pub fn unit(metric: Metric, range: f64, mean: f64) -> f64 {
    match metric {
        Metric::Reward | Metric::HeldOut if range > 0.0 => 10.0_f64.powi(power_of_ten(range)),
        Metric::Reward | Metric::HeldOut | Metric::RightAnswers => 1.0,
        Metric::Length | Metric::Entropy => mean.abs(),
    }
}

#[allow(clippy::cast_possible_truncation)]
fn power_of_ten(range: f64) -> i32 {
    range.log10().round() as i32
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Textbook figures: a difference of one deviation takes 17 a side, of half of one 64, of one in pairs 10.
    #[test]
    fn seeds_are_those_of_textbooks() {
        let of = |paired| Scatter { deviation: 1.0, freedom: 10.0, paired };
        assert_eq!([1.0, 0.5].map(|d| of(false).seeds_for(d)), [17, 64]);
        assert_eq!(of(true).seeds_for(1.0), 10);
        assert_eq!(of(false).seeds_for(1e-9), MOST_SEEDS);
        assert!(of(false).detectable([17, 17]) <= 1.0 && of(false).detectable([16, 16]) > 1.0);
    }

    #[test]
    fn equal_seeds_have_no_scatter() {
        assert_eq!(Scatter::of([&[1.0, 1.0][..], &[2.0]].into_iter(), false), None);
        let scatter = Scatter::of([&[1.0, 3.0][..], &[5.0, 7.0, 9.0]].into_iter(), false).unwrap();
        assert!((scatter.deviation - (10.0_f64 / 3.0).sqrt()).abs() < 1e-12 && scatter.freedom == 3.0);
    }
}
