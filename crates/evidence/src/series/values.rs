//! The distinct values of a group, by series.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// More than these go into a map: a group may be a whole step of unequal values.
const FEW: usize = 16;

/// A series and the ordered bits of a value.
type Key = (u16, u32);

/// How often each value of each series came. Groups are many and their values few: a list takes a third of a map.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Values {
    /// Ascending; empty once there is a map.
    few: Vec<(Key, u32)>,
    many: BTreeMap<Key, u32>,
}

impl Values {
    pub fn len(&self) -> usize {
        self.few.len() + self.many.len()
    }

    /// Adds a value; NaN and infinities are missing.
    pub fn add(&mut self, series: u16, value: f32, count: u32) {
        if value.is_finite() {
            self.add_key((series, ordered(value)), count);
        }
    }

    pub fn merge(&mut self, other: &Self) {
        other.iter().for_each(|(key, count)| self.add_key(key, count));
    }

    pub fn rename(&mut self, renamed: impl Fn(&u16) -> u16) {
        let before = std::mem::take(self);
        before.iter().for_each(|((series, value), count)| self.add_key((renamed(&series), value), count));
    }

    /// The values of a series, ascending.
    pub fn of<'a>(&'a self, series: usize) -> impl Iterator<Item = (f32, u32)> + use<'a> {
        let series = u16::try_from(series).unwrap_or(u16::MAX);
        let begin = self.few.partition_point(|((of, _), _)| *of < series);
        let few = self.few[begin..].iter().take_while(move |((of, _), _)| *of == series).copied();
        let many = self.many.range((series, 0)..=(series, u32::MAX)).map(|(key, count)| (*key, *count));
        few.chain(many).map(|((_, value), count)| (number(value), count))
    }

    fn iter(&self) -> impl Iterator<Item = (Key, u32)> {
        self.few.iter().copied().chain(self.many.iter().map(|(key, count)| (*key, *count)))
    }

    fn add_key(&mut self, key: Key, count: u32) {
        if self.many.is_empty() {
            match self.few.binary_search_by_key(&key, |(key, _)| *key) {
                Ok(at) => return add(&mut self.few[at].1, count),
                Err(at) if self.few.len() < FEW => return self.few.insert(at, (key, count)),
                Err(_) => self.many = std::mem::take(&mut self.few).into_iter().collect(),
            }
        }
        add(self.many.entry(key).or_default(), count);
    }
}

fn add(known: &mut u32, count: u32) {
    *known = known.saturating_add(count);
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

    #[test]
    fn few_and_many_are_counted_alike() {
        for distinct in [3_u16, 15, 16, 17, 100] {
            let [mut whole, mut first, mut second] = [(); 3].map(|()| Values::default());
            for i in 0..500_u16 {
                let (series, value) = (i % 2, f32::from(i * 7 % distinct) - 8.0);
                whole.add(series, value, 1);
                if i % 3 == 0 { &mut first } else { &mut second }.add(series, value, 1);
            }
            first.merge(&second);
            assert_eq!(first, whole);
            for series in [0, 1] {
                let values: Vec<(f32, u32)> = whole.of(series).collect();
                assert!(values.is_sorted());
                assert_eq!(values.iter().map(|(_, count)| count).sum::<u32>(), 250);
            }
        }
    }
}
