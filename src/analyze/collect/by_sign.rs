//! Tokens and energy of numbered places (cells, ids), by the sign of the advantage.

use super::energy::Sign;
use super::entropy_histogram::Bin;

/// What is counted of one place.
#[derive(Clone, Copy, Debug, Default)]
pub struct SignTally {
    /// A > 0.
    pub positive: Bin,
    /// A < 0.
    pub negative: Bin,
    /// A = 0.
    pub zero: u64,
}

impl SignTally {
    /// Adds other tokens of the place.
    pub fn merge(&mut self, other: &Self) {
        self.positive.merge(&other.positive);
        self.negative.merge(&other.negative);
        self.zero += other.zero;
    }

    /// Adds one token.
    pub fn add(&mut self, sign: Sign, energy: u64) {
        match sign {
            Sign::Positive => self.positive.add(energy),
            Sign::Negative => self.negative.add(energy),
            Sign::Zero => self.zero += 1,
        }
    }

    /// Tokens.
    pub fn count(&self) -> u64 {
        self.positive.count + self.negative.count + self.zero
    }
}

/// What is counted of all places.
#[derive(Debug, Default)]
pub struct BySign {
    signed: [Vec<Bin>; 2],
    zero: Vec<u64>,
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
            self.signed.iter_mut().for_each(|bins| bins.resize(places, Bin::default()));
            self.zero.resize(places, 0);
        }
    }

    /// The places of a sign other than zero, to add to.
    #[inline]
    pub fn signed(&mut self, sign: Sign) -> &mut [Bin] {
        &mut self.signed[usize::from(sign == Sign::Negative)]
    }

    /// The counts of A = 0, to add to.
    #[inline]
    pub fn zero(&mut self) -> &mut [u64] {
        &mut self.zero
    }

    /// Takes the counts of A = 0 from those of all signs, where these were counted elsewhere.
    pub fn set_zero(&mut self, all: &[u64]) {
        self.grow(all.len());
        let signed = self.signed[0].iter().zip(&self.signed[1]).map(|(a, b)| a.count + b.count);
        for (zero, (all, signed)) in self.zero.iter_mut().zip(all.iter().zip(signed)) {
            *zero = all.saturating_sub(signed);
        }
    }

    /// Adds the tokens of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.grow(other.len());
        for (into, from) in self.signed.iter_mut().zip(&other.signed) {
            into.iter_mut().zip(from).for_each(|(a, b)| a.merge(b));
        }
        self.zero.iter_mut().zip(&other.zero).for_each(|(a, b)| *a += b);
    }

    /// What is counted of a place.
    pub fn at(&self, place: usize) -> SignTally {
        SignTally { positive: self.signed[0][place], negative: self.signed[1][place], zero: self.zero[place] }
    }
}
