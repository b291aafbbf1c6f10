//! One axis for all charts: linear, logarithmic or named, with its own ticks.
//!
//! Plotters' own axes lose decades of a logarithm, give none within one, and overflow on large values. This one clamps
//! to its range and holds its ticks with their words.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

/// How the values of an axis are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// As a number.
    #[default]
    Plain,
    /// As a share: 0.25 is `25 %`.
    Percent,
    /// As a ratio: `1.5×`.
    Times,
}

/// An axis with its ticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    range: Range<f64>,
    log: bool,
    ticks: Vec<(f64, String)>,
}

/// Where the largest value is so many times the smallest, an axis is logarithmic.
const DECADES: f64 = 50.0;

/// A logarithmic axis ends here (e^20): a ratio beyond it says that two policies have nothing in common, not by how much.
const LARGEST: f64 = 4.852e8;
/// And begins this many times below its end: one value next to zero would press all others together.
const WIDEST: f64 = 1e12;

impl Axis {
    /// With these ticks.
    #[must_use]
    pub fn named(range: Range<f64>, ticks: Vec<(f64, String)>) -> Self {
        Self { range, log: false, ticks }
    }

    /// Places in a row: 0, 1, 2, … with their names.
    #[must_use]
    pub fn places(names: impl IntoIterator<Item = String>) -> Self {
        let ticks: Vec<_> = names.into_iter().enumerate().map(|(i, name)| (i as f64, name)).collect();
        Self { range: 0.0..ticks.len().saturating_sub(1).max(1) as f64, log: false, ticks }
    }

    /// From one value to another, with about so many ticks.
    #[must_use]
    pub fn linear(range: Range<f64>, unit: Unit, count: usize) -> Self {
        Self { ticks: linear_ticks(range.start, range.end, unit, count), range, log: false }
    }

    /// Its ends and its middle, where the whole range is to be seen.
    #[must_use]
    pub fn whole(range: Range<f64>, unit: Unit) -> Self {
        let (low, high) = (range.start, range.end);
        let middle = low + (high - low) / 2.0;
        let scale = if unit == Unit::Percent { 100.0 } else { 1.0 };
        let word =
            |v: f64| with_unit(&format!("{}", (scale * v * 1e4).round() / 1e4 + 0.0), unit).replace('-', "−");
        Self { ticks: [low, middle, high].map(|v| (v, word(v))).into(), range, log: false }
    }

    /// Steps of training: the first and the last that are logged, and about two between them.
    #[must_use]
    pub fn steps(logged: &[f64]) -> Self {
        let (Some(first), Some(last)) = (logged.first(), logged.last()) else {
            return Self::named(0.0..1.0, vec![]);
        };
        let thirds = if logged.len() > 6 { 3 } else { logged.len().saturating_sub(1).max(1) };
        let mut ticks: Vec<(f64, String)> = (0..=thirds)
            .filter_map(|third| logged.get((logged.len() - 1) * third / thirds))
            .map(|step| (*step, format!("{step}")))
            .collect();
        ticks.dedup();
        Self { range: *first..last.max(first + 1.0), log: false, ticks }
    }

    /// Of what is drawn: logarithmic where it spans decades, from zero where zero is near, with some room.
    #[must_use]
    pub fn fitting(values: impl Iterator<Item = f64>, unit: Unit, count: usize) -> Self {
        let fold = |(low, high): (f64, f64), v: f64| (low.min(v), high.max(v));
        let (low, high) = values.filter(|v| v.is_finite()).fold((f64::INFINITY, f64::NEG_INFINITY), fold);
        if low > high {
            return Self::linear(0.0..1.0, unit, count);
        }
        if low > 0.0 && high / low > DECADES {
            let high = if low < LARGEST { high.min(LARGEST) } else { high };
            return Self::log(low.max(high / WIDEST)..high, unit, count);
        }
        let room = ((high - low) * 0.08).max(1e-9 + high.abs() * 0.02);
        let start = if low >= 0.0 && low < 0.5 * high { 0.0 } else { low - room };
        Self::linear(start..high + room, unit, count)
    }

    /// Logarithmic, with some room; the range has to be above zero.
    #[must_use]
    pub fn log(range: Range<f64>, unit: Unit, count: usize) -> Self {
        let low = range.start.max(f64::MIN_POSITIVE);
        let high = range.end.max(low);
        let room = (high / low).powf(0.06).clamp(1.05, 1e6);
        let range = low / room..high * room;
        Self { ticks: log_ticks(range.start, range.end, unit, count), range, log: true }
    }

    /// The words at its ticks.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.ticks.iter().map(|tick| tick.1.as_str())
    }

    /// The part of the axis that lies before a value, from 0 to 1.
    fn share(&self, v: f64) -> f64 {
        let f = |v: f64| if self.log { v.max(f64::MIN_POSITIVE).ln() } else { v };
        let (a, b) = (f(self.range.start), f(self.range.end));
        if a == b || v.is_nan() { 0.5 } else { ((f(v) - a) / (b - a)).clamp(0.0, 1.0) }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    #[allow(clippy::cast_possible_truncation)]
    fn map(&self, v: &f64, (from, to): (i32, i32)) -> i32 {
        from + (f64::from(to - from) * self.share(*v)).round() as i32
    }

    fn key_points<H: KeyPointHint>(&self, hint: H) -> Vec<f64> {
        let light = hint.weight().allow_light_points();
        if light { vec![] } else { self.ticks.iter().map(|tick| tick.0).collect() }
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, v: &f64) -> String {
        self.ticks.iter().find(|tick| tick.0 == *v).map(|tick| tick.1.clone()).unwrap_or_default()
    }
}

/// A round number of about this size.
fn nice(rough: f64) -> f64 {
    if !(rough > 0.0 && rough.is_finite()) {
        return 1.0;
    }
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|m| rough / power <= m * 1.2).unwrap_or(10.0) * power
}

fn multiples(range: &Range<f64>, step: f64) -> impl Iterator<Item = f64> {
    let (first, end) = ((range.start / step - 1e-9).ceil(), range.end + step * 1e-9);
    let tick = move |i: i32| (first + f64::from(i)) * step;
    (0..40).map(tick).take_while(move |v| *v <= end).map(move |v| if v.abs() < step * 1e-9 { 0.0 } else { v })
}

fn linear_ticks(low: f64, high: f64, unit: Unit, count: usize) -> Vec<(f64, String)> {
    let scale = if unit == Unit::Percent { 100.0 } else { 1.0 };
    let step = nice((high - low) / count.max(1) as f64);
    let largest = scale * low.abs().max(high.abs());
    // Powers where zeros could not be read.
    let in_powers = !(1e-3..1e5).contains(&largest);
    let power = if in_powers { whole(largest.log10().floor()) } else { 0 };
    let one = 10f64.powi(power);
    let is_whole = |decimals: &i32| {
        let scaled = scale * step / one * 10f64.powi(*decimals);
        (scaled.round() - scaled).abs() < 1e-6 && scaled > 0.5
    };
    let decimals = usize::try_from((0..12).find(is_whole).unwrap_or(12)).unwrap_or(0);
    let words = |v: f64| match power {
        _ if v == 0.0 && unit == Unit::Plain => "0".into(),
        0 => with_unit(&format!("{:.decimals$}", scale * v), unit),
        _ => with_unit(&format!("{:.decimals$}·{}", scale * v / one, ten(power)), unit),
    };
    multiples(&(low..high), step).map(|v| (v, words(v).replace('-', "−"))).collect()
}

/// Powers of ten; 1, 2, 5 where there are few; round steps within a decade.
fn log_ticks(low: f64, high: f64, unit: Unit, count: usize) -> Vec<(f64, String)> {
    let (first, last) = (whole(low.log10().floor()), whole(high.log10().ceil()));
    let inside = |v: &f64| *v >= low * (1.0 - 1e-9) && *v <= high * (1.0 + 1e-9);
    let of = |m: &[f64]| -> Vec<f64> {
        (first..=last).flat_map(|e| m.iter().map(move |m| m * 10f64.powi(e))).filter(inside).collect()
    };
    let tens = of(&[1.0]);
    if tens.len() >= 3 {
        let stride = tens.len().div_ceil(count.max(1));
        return tens.into_iter().step_by(stride).map(|v| (v, with_unit(&plain(v), unit))).collect();
    }
    match [of(&[1.0, 3.0]), of(&[1.0, 2.0, 5.0])].into_iter().find(|ticks| ticks.len() >= 3) {
        Some(ticks) => ticks.into_iter().map(|v| (v, with_unit(&plain(v), unit))).collect(),
        None => linear_ticks(low, high, unit, count.min(4)),
    }
}

fn with_unit(number: &str, unit: Unit) -> String {
    match unit {
        Unit::Plain => number.into(),
        Unit::Percent => format!("{number} %"),
        Unit::Times => format!("{number}×"),
    }
}

fn plain(v: f64) -> String {
    let power = whole(v.log10().round());
    if (1e-2..1e5).contains(&v) {
        format!("{}", (v * 1e6).round() / 1e6)
    } else if (v / 10f64.powi(power) - 1.0).abs() < 1e-9 {
        ten(power)
    } else {
        let e = whole(v.log10().floor());
        format!("{}·{}", (v / 10f64.powi(e)).round(), ten(e))
    }
}

fn ten(e: i32) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raise = |c: char| c.to_digit(10).and_then(|d| RAISED.get(d as usize)).copied().unwrap_or('⁻');
    if e == 0 { "1".into() } else { format!("10{}", e.to_string().chars().map(raise).collect::<String>()) }
}

#[allow(clippy::cast_possible_truncation)]
fn whole(v: f64) -> i32 {
    v.clamp(-400.0, 400.0) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(axis: &Axis) -> Vec<&str> {
        axis.labels().collect()
    }

    #[test]
    fn logarithms_are_bounded() {
        let of = |values: [f64; 3]| Axis::fitting(values.into_iter(), Unit::Times, 3).range();
        assert!(of([1.0, 2.0, 9.2e18]).end < 10.0 * LARGEST);
        assert!(of([1e-300, 1.0, 2.0]).start > 1e-13);
        assert_eq!(Axis::fitting([1.0, 9.2e18].into_iter(), Unit::Plain, 3).share(1e18), 1.0);
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(words(&Axis::linear(0.0..1.2, Unit::Plain, 3)), ["0", "0.5", "1.0"]);
        assert_eq!(words(&Axis::linear(0.0..0.5, Unit::Percent, 3)), ["0 %", "20 %", "40 %"]);
        assert_eq!(words(&Axis::linear(0.0..2e-8, Unit::Plain, 2)), ["0", "1·10⁻⁸", "2·10⁻⁸"]);
        assert_eq!(words(&Axis::whole(-1.0..1.2, Unit::Plain)), ["−1", "0.1", "1.2"]);
    }

    #[test]
    fn steps_are_those_of_the_log() {
        let every_third: Vec<f64> = (0..10).map(|i| f64::from(3 * i)).collect();
        assert_eq!(words(&Axis::steps(&every_third)), ["0", "9", "18", "27"]);
        assert_eq!(words(&Axis::steps(&[5.0])), ["5"]);
        assert_eq!(words(&Axis::steps(&[])), [""; 0]);
    }

    #[test]
    fn a_logarithm_has_ticks_over_decades_and_within_one() {
        assert_eq!(words(&Axis::log(1e-3..2.0, Unit::Plain, 4)), ["10⁻³", "0.01", "0.1", "1"]);
        assert_eq!(words(&Axis::log(1.2..8.0, Unit::Times, 4)), ["2×", "4×", "6×", "8×"]);
        assert!(words(&Axis::log(1e-8..1e9, Unit::Plain, 5)).len() <= 5);
    }

    #[test]
    fn nothing_leaves_the_range() {
        for axis in [Axis::linear(0.0..1.0, Unit::Plain, 3), Axis::log(1e-3..2.0, Unit::Plain, 3)] {
            for v in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e300, 0.0, 1e300] {
                assert!((10..=90).contains(&axis.map(&v, (10, 90))), "{v}");
            }
        }
        assert_eq!(Axis::fitting([f64::NAN].into_iter(), Unit::Plain, 3).range(), 0.0..1.0);
    }
}
