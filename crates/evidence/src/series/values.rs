//! The distinct values of a group, by series.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How often each value of each series came. A map, not a list: a group may be a whole step of unequal values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Values(BTreeMap<(u16, u32), u32>);

impl Values {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds a value; NaN and infinities are missing.
    pub fn add(&mut self, series: u16, value: f32, count: u32) {
        if value.is_finite() {
            let known = self.0.entry((series, ordered(value))).or_default();
            *known = known.saturating_add(count);
        }
    }

    pub fn merge(&mut self, other: &Self) {
        for (key, count) in &other.0 {
            let known = self.0.entry(*key).or_default();
            *known = known.saturating_add(*count);
        }
    }

    pub fn rename(&mut self, renamed: impl Fn(&u16) -> u16) {
        self.0 = std::mem::take(&mut self.0)
            .into_iter()
            .map(|((series, value), count)| ((renamed(&series), value), count))
            .collect();
    }

    /// The values of a series, ascending.
    pub fn of<'a>(&'a self, series: usize) -> impl Iterator<Item = (f32, u32)> + use<'a> {
        let series = u16::try_from(series).unwrap_or(u16::MAX);
        self.0.range((series, 0)..=(series, u32::MAX)).map(|((_, value), count)| (number(*value), *count))
    }
}

/// Bits that stand in the order of the numbers; −0 is 0.
fn ordered(value: f32) -> u32 {
    let bits = (value + 0.0).to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

fn number(ordered: u32) -> f32 {
    f32::from_bits(if ordered >> 31 == 1 { ordered & !(1 << 31) } else { !ordered })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_order_and_bits() {
        let numbers = [f32::MIN, -2.5, -1e-40, 0.0, f32::MIN_POSITIVE, 0.1, 1.0, f32::MAX];
        assert!(numbers.map(ordered).is_sorted());
        for value in numbers {
            assert_eq!(number(ordered(value)).to_bits(), value.to_bits());
        }
        assert_eq!(ordered(-0.0), ordered(0.0));
    }
}
