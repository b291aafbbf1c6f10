//! Where a difference of log-probabilities sits: by probability, entropy, place, turn and token id.
//!
//! Sums are whole multiples of a unit, so that they add up in any order.

use std::collections::BTreeMap;

use super::Asked;
use super::difference::TokenDifferences;
use super::slice_keys::DECILES;
use crate::analyze::collect::vocabulary::DENSE_IDS;
use crate::ingest::MISSING_ID;

/// Bins of ln p, of one nat each; the last takes all below.
pub const PROBABILITY_BINS: usize = 16;
/// First tokens of a response that are looked at one by one.
pub const FIRST_TOKENS: usize = 32;
/// Turns that are told apart; of more, the first.
const TURNS: usize = 64;
/// Bins of H: 16 an octave from 2^−14 to 2^4.
const ENTROPY_SHIFT: u32 = 23 - 4;
const ENTROPY_BASE: u32 = (127 - 14) << 4;
const ENTROPY_BINS: usize = 18 * 16;

const UNITS: f64 = 1_099_511_627_776.0; // 2^40
/// A token's term is at most this.
const LARGEST: f64 = 4_194_304.0; // 2^22: below 2^62 units

#[inline(always)]
#[allow(clippy::cast_possible_truncation)]
fn to_fixed(value: f64) -> i64 {
    (value.clamp(-LARGEST, LARGEST) * UNITS) as i64
}

/// The differences of some tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DifferenceBin {
    /// Tokens.
    pub tokens: u64,
    /// Tokens with a ratio outside of [0.5, 2].
    pub outside: u64,
    sum: i128,
    absolute: i128,
    k3: i128,
}

impl DifferenceBin {
    #[inline(always)]
    fn add(&mut self, term: &Term) {
        self.tokens += 1;
        self.outside += u64::from(term.outside);
        self.sum += i128::from(term.d);
        self.absolute += i128::from(term.d.abs());
        self.k3 += i128::from(term.k3);
    }

    /// Adds other tokens.
    pub fn merge(&mut self, other: &Self) {
        self.tokens += other.tokens;
        self.outside += other.outside;
        self.sum += other.sum;
        self.absolute += other.absolute;
        self.k3 += other.k3;
    }

    /// Σ d.
    pub fn sum(&self) -> f64 {
        self.sum as f64 / UNITS
    }

    /// Σ |d|.
    pub fn absolute(&self) -> f64 {
        self.absolute as f64 / UNITS
    }

    /// Σ (e^d − 1 − d).
    pub fn k3(&self) -> f64 {
        self.k3 as f64 / UNITS
    }
}

struct Term {
    d: i64,
    k3: i64,
    outside: bool,
}

/// Where a difference sits.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Breakdown {
    /// By ln p.
    pub probability: [DifferenceBin; PROBABILITY_BINS],
    /// By H; see [`entropy_from`].
    pub entropy: Vec<DifferenceBin>,
    /// By decile of the response.
    pub deciles: [DifferenceBin; DECILES],
    /// The first tokens of responses.
    pub first: [DifferenceBin; FIRST_TOKENS],
    /// By turn.
    pub turns: BTreeMap<i32, DifferenceBin>,
    /// By token id.
    pub ids: Vec<DifferenceBin>,
}

impl Default for Breakdown {
    fn default() -> Self {
        Self {
            probability: Default::default(),
            entropy: vec![DifferenceBin::default(); ENTROPY_BINS],
            deciles: Default::default(),
            first: [DifferenceBin::default(); FIRST_TOKENS],
            turns: BTreeMap::new(),
            ids: Vec::new(),
        }
    }
}

/// The bin of a log-probability.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn probability_bin(logprob: f32) -> usize {
    ((-logprob) as usize).min(PROBABILITY_BINS - 1)
}

#[inline(always)]
fn entropy_bin(entropy: f32) -> usize {
    let bits = if entropy > 0.0 { entropy.to_bits() } else { 0 };
    ((bits >> ENTROPY_SHIFT).saturating_sub(ENTROPY_BASE) as usize).min(ENTROPY_BINS - 1)
}

/// The lower end of an entropy bin.
pub fn entropy_from(bin: usize) -> f64 {
    if bin == 0 { 0.0 } else { f64::from(f32::from_bits((ENTROPY_BASE + bin as u32) << ENTROPY_SHIFT)) }
}

impl Breakdown {
    /// Adds the tokens of a response.
    pub fn add(&mut self, asked: &Asked<'_>, differences: &TokenDifferences) {
        let trained = asked.trained;
        let length = asked.source.range(asked.index).len().max(1);
        let largest = trained.token_id.iter().copied().filter(|id| (*id as usize) < DENSE_IDS).max();
        if let Some(largest) =
            largest.and_then(|id| usize::try_from(id).ok()).filter(|l| *l >= self.ids.len())
        {
            self.ids.resize((largest + 1).next_power_of_two().max(1024), DifferenceBin::default());
        }
        let mut turn: Option<(i32, DifferenceBin)> = None;
        let (mut decile, mut decile_end) = (0, length.div_ceil(DECILES));
        let mut in_decile = DifferenceBin::default();
        for (i, (d, k3)) in differences.value.iter().zip(&differences.k3).enumerate() {
            let t = differences.token(i);
            let ratio = differences.ratio[i];
            let term = Term { d: to_fixed(*d), k3: to_fixed(*k3), outside: !(0.5..=2.0).contains(&ratio) };
            self.probability[probability_bin(trained.logprob[t])].add(&term);
            self.entropy[entropy_bin(trained.entropy[t])].add(&term);
            let place = asked.token(t);
            while place >= decile_end {
                self.deciles[decile].merge(&std::mem::take(&mut in_decile));
                decile += 1;
                decile_end = ((decile + 1) * length).div_ceil(DECILES);
            }
            in_decile.add(&term);
            if place < FIRST_TOKENS {
                self.first[place].add(&term);
            }
            if let Some(bin) = trained.token_id.get(t).and_then(|id| self.ids.get_mut(*id as usize)) {
                bin.add(&term);
            }
            if let Some(number) = trained.turn.get(t) {
                match &mut turn {
                    Some((open, bin)) if open == number => bin.add(&term),
                    _ => {
                        let mut bin = DifferenceBin::default();
                        bin.add(&term);
                        if let Some((open, bin)) = turn.replace((*number, bin)) {
                            self.add_turn(open, &bin);
                        }
                    }
                }
            }
        }
        self.deciles[decile].merge(&in_decile);
        if let Some((open, bin)) = turn {
            self.add_turn(open, &bin);
        }
    }

    fn add_turn(&mut self, turn: i32, bin: &DifferenceBin) {
        if turn != MISSING_ID {
            self.turns.entry(turn).or_default().merge(bin);
            if self.turns.len() > TURNS {
                self.turns.pop_last();
            }
        }
    }

    /// Whether its tables are of the right sizes.
    pub fn fits(&self) -> bool {
        self.entropy.len() == ENTROPY_BINS && self.ids.len() <= DENSE_IDS && self.turns.len() <= TURNS
    }

    /// Adds what another worker collected.
    pub fn merge(&mut self, other: &Self) {
        if self.ids.len() < other.ids.len() {
            self.ids.resize(other.ids.len(), DifferenceBin::default());
        }
        let pairs = [
            (&mut self.probability[..], &other.probability[..]),
            (&mut self.entropy[..], &other.entropy[..]),
            (&mut self.deciles[..], &other.deciles[..]),
            (&mut self.first[..], &other.first[..]),
            (&mut self.ids[..], &other.ids[..]),
        ];
        for (into, from) in pairs {
            into.iter_mut().zip(from).for_each(|(a, b)| a.merge(b));
        }
        other.turns.iter().for_each(|(turn, bin)| self.add_turn(*turn, bin));
    }
}
