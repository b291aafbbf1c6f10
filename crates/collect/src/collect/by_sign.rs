//! Tokens and energy of numbered places (cells, ids), by the sign of the advantage.

use super::banded_bins::{BandedBins, Bin, Counted};
use super::energy::{Band, Sign};
use super::place_counts::PlaceCounts;

/// What is counted of one place.
#[derive(Clone, Copy, Debug, Default)]
pub struct SignTally {
    /// A > 0.
    pub positive: Counted,
    /// A < 0.
    pub negative: Counted,
    /// A = 0.
    pub zero: u64,
}

impl SignTally {
    /// Tokens.
    pub fn count(&self) -> u64 {
        self.positive.count + self.negative.count + self.zero
    }
}

/// What is counted of all places.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct BySign {
    signed: [BandedBins; 2],
    zero: PlaceCounts,
}

impl BySign {
    /// Empty places.
    pub fn new(places: usize) -> Self {
        let mut all = Self::default();
        all.grow(places);
        all
    }

    /// The number of places.
    pub fn len(&self) -> usize {
        self.zero.len()
    }

    /// Makes room for so many places at least.
    pub fn grow(&mut self, places: usize) {
        if places > self.len() {
            self.signed.iter_mut().for_each(|bins| bins.grow(places));
            self.zero.grow(places);
        }
    }

    /// The places of a sign other than zero, to add tokens of a block to.
    #[inline]
    pub fn signed(&mut self, sign: Sign, band: Option<Band>) -> &mut [Bin] {
        self.signed[usize::from(sign == Sign::Negative)].of_band(band)
    }

    /// The counts of A = 0, to add so many tokens to.
    #[inline]
    pub fn zero(&mut self, tokens: usize) -> &mut [u32] {
        self.zero.adding(tokens)
    }

    /// Takes the counts of A = 0 from those of all signs, where these were counted elsewhere.
    pub fn set_zero(&mut self, all: &[u64]) {
        self.grow(all.len());
        let zero = (0..self.len()).map(|place| {
            let signed = self.signed.iter().map(|bins| bins.count(place)).sum();
            all.get(place).copied().unwrap_or(0).saturating_sub(signed)
        });
        self.zero = zero.collect::<Vec<u64>>().into();
    }

    /// Puts what may come in any order into one.
    pub fn settle(&mut self) {
        self.signed.iter_mut().for_each(BandedBins::settle);
    }

    /// Whether all tables have the same places.
    pub fn fits(&self) -> bool {
        self.signed.iter().all(|bins| bins.fits(self.len()))
    }

    /// Adds the tokens of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.grow(other.len());
        self.signed.iter_mut().zip(&other.signed).for_each(|(into, from)| into.merge(from));
        self.zero.merge(&other.zero);
    }

    /// What is counted of a place.
    pub fn at(&self, place: usize) -> SignTally {
        let [positive, negative] = &self.signed;
        SignTally { positive: positive.at(place), negative: negative.at(place), zero: self.zero.at(place) }
    }
}
