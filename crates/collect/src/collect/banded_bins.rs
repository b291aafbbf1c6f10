//! Tokens and energy of numbered places (entropies, cells, ids), in integers: the same in any order.

use super::energy::Band;

/// Bands that are kept: the highest that occur. Energies under them are below 2^−48 of the largest.
const KEPT_BANDS: usize = 4;
/// The bits of [`Bin::packed`] that count tokens: 2^38 of at most 2^51 units carry at most 2^25
/// times.
const COUNT_BITS: u32 = 38;

/// Tokens of one place and their energy in units of a band.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Bin {
    /// Tokens, and above them how often `low` wrapped around.
    packed: u64,
    low: u64,
}

impl Bin {
    /// Adds a token.
    #[inline(always)]
    pub fn add(&mut self, units: u64) {
        let (low, carry) = self.low.overflowing_add(units);
        self.low = low;
        self.packed += 1 + (u64::from(carry) << COUNT_BITS);
    }

    #[inline]
    fn merge(&mut self, other: &Self) {
        let (low, carry) = self.low.overflowing_add(other.low);
        self.low = low;
        self.packed += other.packed + (u64::from(carry) << COUNT_BITS);
    }

    fn count(&self) -> u64 {
        self.packed & ((1 << COUNT_BITS) - 1)
    }

    fn units(&self) -> f64 {
        match self.packed >> COUNT_BITS {
            // As nearly all are, and a conversion of one instruction.
            0 => self.low as f64,
            high => ((u128::from(high) << 64) | u128::from(self.low)) as f64,
        }
    }
}

/// Tokens and energy of one place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counted {
    /// Tokens.
    pub count: u64,
    /// Energy.
    pub energy: f64,
}

/// Bins of all places, a table for each band of energies that occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BandedBins {
    places: usize,
    /// The highest band first.
    tables: Vec<(Band, Vec<Bin>)>,
    /// Tokens whose energy is too small to matter, or nothing; their units mean nothing.
    rest: Vec<Bin>,
}

impl BandedBins {
    /// Empty bins.
    pub fn new(places: usize) -> Self {
        Self { places, ..Self::default() }
    }

    /// Whether nothing was ever added.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.rest.is_empty()
    }

    /// Makes room for so many places at least.
    pub fn grow(&mut self, places: usize) {
        if places > self.places {
            self.places = places;
            let tables = self.tables.iter_mut().map(|(_, bins)| bins);
            for bins in tables.chain([&mut self.rest]).filter(|bins| !bins.is_empty()) {
                bins.resize(places, Bin::default());
            }
        }
    }

    /// The bins of all places, to add tokens of a block to whose energies are in units of `band`.
    #[inline]
    pub fn of_band(&mut self, band: Option<Band>) -> &mut [Bin] {
        // Without energy, any table will do.
        let found = self.tables.iter().position(|(known, _)| band.is_none_or(|band| *known == band));
        match found {
            Some(at) => &mut self.tables[at].1,
            None => self.open(band),
        }
    }

    #[cold]
    fn open(&mut self, band: Option<Band>) -> &mut [Bin] {
        let at = band.map_or(KEPT_BANDS, |band| self.tables.partition_point(|(known, _)| *known > band));
        match band.filter(|_| at < KEPT_BANDS) {
            Some(band) => {
                self.tables.insert(at, (band, vec![Bin::default(); self.places]));
                self.drop_lowest();
                &mut self.tables[at].1
            }
            None => self.rest(),
        }
    }

    fn rest(&mut self) -> &mut [Bin] {
        self.rest.resize(self.places, Bin::default());
        &mut self.rest
    }

    /// Tokens of bands beyond the highest are only counted.
    fn drop_lowest(&mut self) {
        while self.tables.len() > KEPT_BANDS {
            if let Some((_, bins)) = self.tables.pop() {
                self.rest().iter_mut().zip(&bins).for_each(|(a, b)| a.merge(b));
            }
        }
    }

    /// Adds other tokens of the same places.
    pub fn merge(&mut self, other: &Self) {
        self.grow(other.places);
        for (band, bins) in &other.tables {
            self.of_band(Some(*band)).iter_mut().zip(bins).for_each(|(a, b)| a.merge(b));
        }
        if !other.rest.is_empty() {
            self.rest().iter_mut().zip(&other.rest).for_each(|(a, b)| a.merge(b));
        }
    }

    /// Counts all tokens in one table, so that what is written does not depend on the order in which
    /// tokens came. Units of the rest mean nothing and go.
    pub fn settle(&mut self) {
        let Some((place_for_counts, others)) = self.tables.split_first_mut() else {
            self.rest.iter_mut().for_each(|bin| *bin = Bin { packed: bin.count(), low: 0 });
            return;
        };
        let rest = std::mem::take(&mut self.rest);
        for bins in others.iter_mut().map(|(_, bins)| bins) {
            for (into, bin) in place_for_counts.1.iter_mut().zip(bins) {
                let count = bin.count();
                into.packed += count;
                bin.packed -= count;
            }
        }
        for (into, bin) in place_for_counts.1.iter_mut().zip(&rest) {
            into.packed += bin.count();
        }
    }

    /// Whether all tables have so many places, and bands descend.
    pub fn fits(&self, places: usize) -> bool {
        self.places == places
            && self.tables.len() <= KEPT_BANDS
            && self.tables.is_sorted_by(|a, b| a.0 > b.0)
            && self.tables.iter().all(|(_, bins)| bins.len() == places)
            && (self.rest.is_empty() || self.rest.len() == places)
    }

    /// Takes pairs of neighbouring places together.
    pub fn fold_pairs(&mut self) {
        self.places /= 2;
        let tables = self.tables.iter_mut().map(|(_, bins)| bins);
        for bins in tables.chain([&mut self.rest]) {
            let folded = |pair: &[Bin; 2]| {
                let mut folded = pair[0];
                folded.merge(&pair[1]);
                folded
            };
            *bins = bins.as_chunks::<2>().0.iter().map(folded).collect();
        }
    }

    /// Adds the tokens of every place to `counts`.
    pub fn add_counts(&self, counts: &mut [u64]) {
        for bins in self.tables.iter().map(|(_, bins)| bins).chain([&self.rest]) {
            counts.iter_mut().zip(bins).for_each(|(all, bin)| *all += bin.count());
        }
    }

    /// Tokens and energy of every place: table by table, which is how they lie.
    pub fn all(&self) -> Vec<Counted> {
        let mut all = vec![Counted::default(); self.places];
        for (band, bins) in &self.tables {
            for (counted, bin) in all.iter_mut().zip(bins) {
                counted.count += bin.count();
                counted.energy += bin.units() * band.unit();
            }
        }
        all.iter_mut().zip(&self.rest).for_each(|(counted, bin)| counted.count += bin.count());
        all
    }

    /// Tokens of a place.
    pub fn count(&self, place: usize) -> u64 {
        let bin = |bins: &Vec<Bin>| bins.get(place).map_or(0, Bin::count);
        self.tables.iter().map(|(_, bins)| bin(bins)).sum::<u64>() + bin(&self.rest)
    }

    /// Tokens and energy of a place.
    pub fn at(&self, place: usize) -> Counted {
        let energy =
            |(band, bins): &(Band, Vec<Bin>)| bins.get(place).map_or(0.0, |bin| bin.units() * band.unit());
        // An empty sum would be a negative zero.
        Counted { count: self.count(place), energy: self.tables.iter().map(energy).sum::<f64>() + 0.0 }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::collect::energy::to_units;
    use proptest::prelude::*;
    use stapo_base::stats::random::Random;

    const PLACES: usize = 8;

    /// Adds a block of tokens as the collector does.
    fn add(bins: &mut BandedBins, block: &[(usize, f64)]) {
        let band = Band::of(block.iter().map(|(_, energy)| *energy).fold(0.0, f64::max));
        let table = bins.of_band(band);
        for (place, energy) in block {
            table[*place].add(band.map_or(0, |band| to_units(*energy, band.units())));
        }
    }

    fn block(random: &mut Random, scale: i32) -> Vec<(usize, f64)> {
        let energy = |random: &mut Random| random.unit() * 10_f64.powi(scale);
        (0..20).map(|_| (random.below(PLACES), energy(random))).collect()
    }

    #[test]
    fn sums_carry_beyond_64_bits() {
        let mut bins = BandedBins::new(1);
        let band = Band::of(63.0).unwrap();
        let table = bins.of_band(Some(band));
        (0..100_000).for_each(|_| table[0].add(to_units(63.0, band.units())));
        assert_eq!(bins.at(0), Counted { count: 100_000, energy: 6_300_000.0 });
    }

    #[test]
    fn blocks_without_energy_are_counted() {
        let mut bins = BandedBins::new(2);
        assert!(bins.at(0).energy.is_sign_positive());
        add(&mut bins, &[(0, 0.0), (1, 0.0)]);
        add(&mut bins, &[(0, 3.0)]);
        add(&mut bins, &[(0, 0.0)]);
        assert_eq!((bins.at(0).count, bins.at(1).count, bins.at(0).energy), (3, 1, 3.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]
        #[test]
        fn any_scale_and_any_order_give_the_same(
            seed in any::<u64>(),
            scales in prop::collection::vec(-70..70_i32, 1..4),
            cut in 0..40_usize,
        ) {
            let mut random = Random::new(seed, 0);
            let mut blocks: Vec<_> =
                (0..40).map(|_| { let scale = scales[random.below(scales.len())]; block(&mut random, scale) }).collect();
            let all = |blocks: &[Vec<(usize, f64)>]| {
                let mut bins = BandedBins::new(PLACES);
                blocks.iter().for_each(|block| add(&mut bins, block));
                bins
            };
            let whole = all(&blocks);
            random.shuffle(&mut blocks);
            let mut merged = all(&blocks[..cut]);
            merged.merge(&all(&blocks[cut..]));
            for place in 0..PLACES {
                prop_assert_eq!(merged.at(place), whole.at(place));
                prop_assert_eq!(whole.all()[place], whole.at(place));
                let expected: f64 = blocks.iter().flatten().filter(|t| t.0 == place).map(|t| t.1).sum();
                prop_assert!((whole.at(place).energy - expected).abs() <= 1e-8 * expected);
            }
        }
    }
}
