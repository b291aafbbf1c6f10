//! Where a difference of log-probabilities sits: by probability, entropy, first tokens, turn and token id.

use std::collections::BTreeMap;

use super::Asked;
use super::difference::TokenDifferences;
use super::difference_bins::{BinTable, NO_BIN};
use super::difference_sums::DifferenceBin;
use super::difference_terms::Terms;
use super::places::{FIRST_TOKENS, Places};
use crate::collect::columns::Columns;
use crate::collect::vocabulary::DENSE_IDS;
use stapo_base::simd::{Work, widest};
use stapo_batch::batch::MISSING_ID;

/// Bins of ln p, of one nat each; the last takes all below.
pub const PROBABILITY_BINS: usize = 16;
/// Turns that are told apart; of more, the first.
const TURNS: usize = 64;
/// Bins of H: 16 an octave from 2^−14 to 2^4.
const ENTROPY_SHIFT: u32 = 23 - 4;
const ENTROPY_BASE: u32 = (127 - 14) << 4;
const ENTROPY_BINS: usize = 18 * 16;
/// Neighbours, of which most are in one cell, are added to as many by turns: each addition waits for the last one to
/// the same.
const TAKING_TURNS: usize = 2;
/// Cells of ln p and H: one addition for both.
const CELLS: usize = PROBABILITY_BINS * ENTROPY_BINS;
/// Where the bins of first tokens and of ids begin in a [`BinTable`]; the cells come first.
const FIRST_FROM: usize = CELLS * TAKING_TURNS;
const IDS_FROM: usize = FIRST_FROM + FIRST_TOKENS;

/// Where a difference sits.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct BreakdownTally {
    /// By ln p.
    pub probability: [DifferenceBin; PROBABILITY_BINS],
    /// By H; see [`entropy_from`].
    pub entropy: Vec<DifferenceBin>,
    /// The first tokens of responses.
    pub first: [DifferenceBin; FIRST_TOKENS],
    /// By turn.
    pub turns: BTreeMap<i32, DifferenceBin>,
    /// By token id.
    pub ids: Vec<DifferenceBin>,
}

impl Default for BreakdownTally {
    fn default() -> Self {
        Self {
            probability: Default::default(),
            entropy: vec![DifferenceBin::default(); ENTROPY_BINS],
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
    ((-logprob) as i32).clamp(0, PROBABILITY_BINS as i32 - 1) as usize
}

#[inline(always)]
fn entropy_bin(entropy: f32) -> u32 {
    let bits = if entropy > 0.0 { entropy.to_bits() } else { 0 };
    (bits >> ENTROPY_SHIFT).saturating_sub(ENTROPY_BASE).min(ENTROPY_BINS as u32 - 1)
}

/// The lower end of an entropy bin.
pub fn entropy_from(bin: usize) -> f64 {
    if bin == 0 { 0.0 } else { f64::from(f32::from_bits((ENTROPY_BASE + bin as u32) << ENTROPY_SHIFT)) }
}

/// The bins of a response's trained tokens; reused.
#[derive(Clone, Debug, Default)]
pub struct TokenBins {
    /// Cell of ln p and H.
    cell: Vec<u32>,
    /// None of tokens without an id, and of ids that are too large.
    id: Vec<u32>,
    /// Ids that bins are needed for.
    ids: usize,
}

impl TokenBins {
    /// Finds them.
    pub fn fill(&mut self, trained: &Columns<'_>) {
        let n = trained.len();
        self.cell.resize(n, 0);
        self.id.resize(n, NO_BIN);
        if trained.token_id.is_empty() {
            self.id.fill(NO_BIN);
        }
        let largest = widest(Finding { bins: self, trained });
        self.ids = if trained.token_id.is_empty() { 0 } else { largest as usize + 1 };
    }
}

struct Finding<'a> {
    bins: &'a mut TokenBins,
    trained: &'a Columns<'a>,
}

impl Work for Finding<'_> {
    /// The largest id that has a bin; 0 without any.
    type Output = u32;

    #[inline(always)]
    fn call(self) -> u32 {
        let Columns { logprob, entropy, token_id, .. } = *self.trained;
        for (i, ((cell, logprob), entropy)) in self.bins.cell.iter_mut().zip(logprob).zip(entropy).enumerate()
        {
            let both = entropy_bin(*entropy) * PROBABILITY_BINS as u32 + probability_bin(*logprob) as u32;
            *cell = both * TAKING_TURNS as u32 + i as u32 % TAKING_TURNS as u32;
        }
        let mut largest = 0;
        for (bin, id) in self.bins.id.iter_mut().zip(token_id) {
            // A missing id is negative, and so beyond all others.
            let id = id.cast_unsigned();
            let is_dense = id < DENSE_IDS as u32;
            largest = largest.max(if is_dense { id } else { 0 });
            *bin = if is_dense { IDS_FROM as u32 + id } else { NO_BIN };
        }
        largest
    }
}

/// What one worker collects for a [`BreakdownTally`].
#[derive(Clone, Debug, Default)]
pub struct BreakdownCollector {
    bins: BinTable,
    places: BreakdownTally,
    terms: Terms,
}

impl BreakdownCollector {
    /// Adds the tokens of a response that have a difference; `bins` and `places` are of its trained tokens.
    pub fn add(
        &mut self,
        asked: &Asked<'_>,
        differences: &TokenDifferences,
        bins: &TokenBins,
        places: &Places,
    ) {
        let n = differences.value.len();
        self.terms.fill(differences);
        self.bins.reserve(IDS_FROM + bins.ids);
        let (cell, id) = (&bins.cell[..], &bins.id[..]);
        let place = |i: usize| [(FIRST_FROM + asked.token(differences.token(i))) as u32];
        let first = differences.before(places.first);
        match &differences.tokens {
            None => self.bins.add(&self.terms, n, |i| [cell[i], id[i]]),
            Some(known) => {
                self.bins.add(&self.terms, n, |i| [cell[known[i] as usize], id[known[i] as usize]])
            }
        }
        self.bins.add(&self.terms, first, place);
        if places.turns.is_empty() {
            return;
        }
        let sums = self.terms.up_to();
        let mut first = 0;
        for (turn, end) in &places.turns {
            let end = differences.before(*end);
            self.places.add_turn(*turn, &sums.of(first..end));
            first = end;
        }
    }

    /// What was collected.
    pub fn finish(self) -> BreakdownTally {
        let (bins, mut all) = (self.bins.finish(), self.places);
        if bins.is_empty() {
            return all;
        }
        for (at, cell) in bins[..FIRST_FROM].iter().enumerate() {
            let both = at / TAKING_TURNS;
            all.probability[both % PROBABILITY_BINS].merge(cell);
            all.entropy[both / PROBABILITY_BINS].merge(cell);
        }
        all.first.copy_from_slice(&bins[FIRST_FROM..IDS_FROM]);
        all.ids = bins[IDS_FROM..].to_vec();
        all
    }
}

impl BreakdownTally {
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
            (&mut self.first[..], &other.first[..]),
            (&mut self.ids[..], &other.ids[..]),
        ];
        for (into, from) in pairs {
            into.iter_mut().zip(from).for_each(|(a, b)| a.merge(b));
        }
        other.turns.iter().for_each(|(turn, bin)| self.add_turn(*turn, bin));
    }
}
