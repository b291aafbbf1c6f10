//! Counts of positive numbers by size: sixteen rungs for each factor of two, over the whole range.

/// Leading bits of the mantissa that tell the rungs of one power of two apart.
const RUNG_BITS: u32 = 4;
const SHIFT: u32 = 52 - RUNG_BITS;
/// Rungs that are made room for at once.
const STRETCH: usize = 8 << RUNG_BITS;

/// Counts by size.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Ladder {
    /// Number of the first rung in `counts`.
    first: usize,
    counts: Vec<u64>,
}

/// The number of the rung of a positive number.
#[inline(always)]
fn rung(value: f64) -> usize {
    (value.to_bits() >> SHIFT) as usize
}

/// The lower edge of a rung.
fn edge(rung: usize) -> f64 {
    f64::from_bits((rung as u64) << SHIFT)
}

impl Ladder {
    /// Counts a number above 0.
    #[inline]
    pub fn add(&mut self, value: f64) {
        let rung = rung(value);
        match self.counts.get_mut(rung.wrapping_sub(self.first)) {
            Some(count) => *count += 1,
            None => self.add_at(rung, 1),
        }
    }

    #[cold]
    fn add_at(&mut self, rung: usize, more: u64) {
        let start = rung / STRETCH * STRETCH;
        if self.counts.is_empty() {
            self.first = start;
        }
        if start < self.first {
            let missing = self.first - start;
            self.counts.splice(0..0, std::iter::repeat_n(0, missing));
            self.first = start;
        }
        if self.counts.len() <= rung - self.first {
            self.counts.resize(start + STRETCH - self.first, 0);
        }
        self.counts[rung - self.first] += more;
    }

    /// Adds the counts of another ladder.
    pub fn merge(&mut self, other: &Self) {
        for (at, count) in other.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            self.add_at(other.first + at, *count);
        }
    }

    /// Count, smallest and largest possible value of every rung, largest first.
    pub fn descending(&self) -> impl Iterator<Item = (u64, f64, f64)> {
        let rungs = self.counts.iter().enumerate().rev().filter(|(_, count)| **count > 0);
        rungs.map(|(at, count)| (*count, edge(self.first + at), edge(self.first + at + 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rung_counts_as_many_as_there_are() {
        let mut ladder = Ladder::default();
        ladder.add(2.0);
        for _ in 0..33 {
            let same = ladder.clone();
            ladder.merge(&same);
        }
        assert_eq!(ladder.descending().map(|(count, ..)| count).collect::<Vec<_>>(), [1 << 33]);
    }

    #[test]
    fn numbers_of_any_size_have_a_rung() {
        let mut ladder = Ladder::default();
        let values = [1e-60, 1e60, 1.0, 1.01, 1.5, 3e-7, 1e-60];
        values.iter().for_each(|value| ladder.add(*value));
        let found: Vec<(u64, f64, f64)> = ladder.descending().collect();
        assert_eq!(found.iter().map(|rung| rung.0).collect::<Vec<_>>(), [1, 1, 2, 1, 2]);
        assert!(found.iter().all(|(_, low, high)| high / low < 1.07));
        assert!(found.windows(2).all(|pair| pair[0].1 > pair[1].1));
        let (mut left, mut right) = (Ladder::default(), Ladder::default());
        values[..3].iter().for_each(|value| left.add(*value));
        values[3..].iter().for_each(|value| right.add(*value));
        right.merge(&left);
        assert!(right.descending().eq(ladder.descending()));
    }
}
