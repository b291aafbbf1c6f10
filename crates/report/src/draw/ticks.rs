//! Where ticks go, and what is written beside them.

use stapo_base::format::{fixed, power_of_ten};

/// Axes that end below this are labelled in powers of ten.
const SMALLEST: f64 = 1e-4;

/// Round steps: about `count` ticks inside [low, high].
#[must_use]
pub fn linear(low: f64, high: f64, count: usize) -> Vec<(f64, String)> {
    let step = nice_step((high - low) / count.max(1) as f64);
    if !(step.is_finite() && step > 0.0 && low.is_finite() && high.is_finite()) {
        return Vec::new();
    }
    let first = (low / step - 1e-9).ceil();
    let values: Vec<f64> = (0..=count * 3)
        .map(|i| (first + i as f64) * step)
        .take_while(|value| *value <= high + step * 1e-9)
        .map(|value| if value.abs() < step * 1e-9 { 0.0 } else { value })
        .collect();
    let largest = values.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
    // Rows of zeros behind the point cannot be read.
    if largest > 0.0 && largest < SMALLEST {
        return in_powers(values, largest, step);
    }
    let decimals = decimals_of(step);
    values.into_iter().map(|value| (value, fixed(value, decimals))).collect()
}

/// Labels such as `1.5·10⁻⁸`, all with the power of the largest.
#[allow(clippy::cast_possible_truncation)]
fn in_powers(values: Vec<f64>, largest: f64, step: f64) -> Vec<(f64, String)> {
    let exponent = largest.log10().floor() as i32;
    let unit = 10_f64.powi(exponent);
    let (decimals, power) = (decimals_of(step / unit), power_of_ten(exponent));
    let label = |value: f64| match value {
        0.0 => "0".into(),
        _ => format!("{}·{power}", fixed(value / unit, decimals)),
    };
    values.into_iter().map(|value| (value, label(value))).collect()
}

/// Whole numbers only, for steps of a run.
#[must_use]
pub fn whole(low: f64, high: f64, count: usize) -> Vec<(f64, String)> {
    let step = nice_step((high - low) / count.max(1) as f64).max(1.0).ceil();
    linear_with_step(low, high, step)
}

fn linear_with_step(low: f64, high: f64, step: f64) -> Vec<(f64, String)> {
    let first = (low / step - 1e-9).ceil();
    (0..64)
        .map(|i| (first + f64::from(i)) * step)
        .take_while(|value| *value <= high + step * 1e-9)
        .map(|value| (value, fixed(value, 0)))
        .collect()
}

/// Powers of ten between two exponents, thinned to about `count`.
#[must_use]
#[allow(clippy::cast_possible_truncation)]
pub fn decades(low: f64, high: f64, count: usize) -> Vec<(f64, String)> {
    let (first, last) = ((low - 1e-9).ceil() as i32, (high + 1e-9).floor() as i32);
    let stride = usize::try_from(last - first).unwrap_or(0) / count.max(1) + 1;
    (first..=last).step_by(stride).map(|e| (f64::from(e), power_of_ten(e))).collect()
}

/// The next of 1, 2, 2.5, 5 times a power of ten.
fn nice_step(rough: f64) -> f64 {
    if !(rough.is_finite() && rough > 0.0) {
        return 1.0;
    }
    let power = 10_f64.powf(rough.log10().floor());
    let mantissa = rough / power;
    let nice = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|m| mantissa <= m * 1.2).unwrap_or(10.0);
    nice * power
}

/// Decimals that tell ticks of this step apart.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn decimals_of(step: f64) -> usize {
    let whole = |d: &i32| {
        let scaled = step * 10_f64.powi(*d);
        scaled > 0.5 && (scaled.round() - scaled).abs() < 1e-6
    };
    (0..12).find(whole).unwrap_or(12) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: Vec<(f64, String)>) -> Vec<String> {
        ticks.into_iter().map(|t| t.1).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(linear(0.0, 1.0, 5)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(linear(-0.13, 0.31, 4)), ["−0.1", "0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(labels(whole(0.0, 3.0, 8)), ["0", "1", "2", "3"]);
        assert_eq!(labels(whole(0.0, 120.0, 6)), ["0", "20", "40", "60", "80", "100", "120"]);
        assert_eq!(labels(decades(-5.2, -1.9, 6)), ["10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²"]);
        assert_eq!(linear(f64::NAN, 1.0, 5), []);
    }

    #[test]
    fn small_values_are_told_apart() {
        assert_eq!(labels(linear(0.0, 2.1e-8, 4)), ["0", "0.5·10⁻⁸", "1.0·10⁻⁸", "1.5·10⁻⁸", "2.0·10⁻⁸"]);
        assert_eq!(labels(linear(-2e-5, 1e-5, 3)), ["−2·10⁻⁵", "−1·10⁻⁵", "0", "1·10⁻⁵"]);
        assert_eq!(labels(linear(0.5, 0.500_000_3, 3)), ["0.5000000", "0.5000001", "0.5000002", "0.5000003"]);
    }

    #[test]
    fn no_range_gives_endless_ticks() {
        assert!(linear(1.0, 1.0, 5).len() < 20);
        assert!(whole(-1e18, 1e18, 5).len() < 70);
        assert!(decades(-300.0, 300.0, 6).len() < 10);
    }
}
