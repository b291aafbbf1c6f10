//! Where a difference of log-probabilities sits: by probability, entropy, place, turn and token id.

use std::collections::BTreeMap;

use super::Asked;
use super::difference::TokenDifferences;
use super::difference_bins::{BinTable, DifferenceBin, NO_BIN, Terms};
use super::slice_keys::DECILES;
use crate::analyze::collect::columns::Columns;
use crate::analyze::collect::vocabulary::DENSE_IDS;
use crate::ingest::MISSING_ID;
use crate::simd::{Work, widest};

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
/// Neighbours, of which most are in one bin of ln p and of H, are added to as many by turns: each addition waits
/// for the last one to the same.
const TURNS_OF_BINS: usize = 2;
/// Where the bins of H, of first tokens, of deciles and of ids begin in a [`BinTable`]; those of ln p come first.
const ENTROPY_FROM: usize = PROBABILITY_BINS * TURNS_OF_BINS;
const FIRST_FROM: usize = ENTROPY_FROM + ENTROPY_BINS * TURNS_OF_BINS;
const DECILES_FROM: usize = FIRST_FROM + FIRST_TOKENS;
const IDS_FROM: usize = DECILES_FROM + DECILES;

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
    ((-logprob) as i32).clamp(0, PROBABILITY_BINS as i32 - 1) as usize
}

#[inline(always)]
fn entropy_bin(entropy: f32) -> usize {
    let bits = if entropy > 0.0 { entropy.to_bits() } else { 0 };
    (bits >> ENTROPY_SHIFT).saturating_sub(ENTROPY_BASE).min(ENTROPY_BINS as u32 - 1) as usize
}

/// The lower end of an entropy bin.
pub fn entropy_from(bin: usize) -> f64 {
    if bin == 0 { 0.0 } else { f64::from(f32::from_bits((ENTROPY_BASE + bin as u32) << ENTROPY_SHIFT)) }
}

/// How many of ascending places, of which the first satisfy `is`, do.
fn partition(range: std::ops::Range<usize>, is: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low.midpoint(high);
        if is(middle) { low = middle + 1 } else { high = middle }
    }
    low - range.start
}

/// The bins of a response's trained tokens; reused.
#[derive(Clone, Debug, Default)]
pub struct TokenBins {
    probability: Vec<u32>,
    entropy: Vec<u32>,
    /// None of tokens without an id, and of ids that are too large.
    id: Vec<u32>,
    /// Ids that bins are needed for.
    ids: usize,
}

impl TokenBins {
    /// Finds them.
    pub fn fill(&mut self, trained: &Columns<'_>) {
        let n = trained.len();
        self.probability.resize(n, 0);
        self.entropy.resize(n, 0);
        self.id.resize(n, NO_BIN);
        if trained.token_id.is_empty() {
            self.id.fill(NO_BIN);
        }
        let largest = widest(Finding { bins: self, trained });
        self.ids = if trained.token_id.is_empty() { 0 } else { largest as usize + 1 };
    }

    /// Those of a token.
    #[inline(always)]
    fn of(&self, token: usize) -> [u32; 3] {
        [self.probability[token], self.entropy[token], self.id[token]]
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
        let by_turns = |bin: usize, i: usize| (bin * TURNS_OF_BINS + i % TURNS_OF_BINS) as u32;
        for (i, (bin, logprob)) in self.bins.probability.iter_mut().zip(logprob).enumerate() {
            *bin = by_turns(probability_bin(*logprob), i);
        }
        for (i, (bin, entropy)) in self.bins.entropy.iter_mut().zip(entropy).enumerate() {
            *bin = ENTROPY_FROM as u32 + by_turns(entropy_bin(*entropy), i);
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

fn add_turns_of_bins(into: &mut [DifferenceBin], from: &[DifferenceBin]) {
    for (into, from) in into.iter_mut().zip(from.chunks(TURNS_OF_BINS)) {
        from.iter().for_each(|bin| into.merge(bin));
    }
}

/// What one worker collects for a [`Breakdown`].
#[derive(Clone, Debug)]
pub struct BreakdownCollector {
    bins: BinTable,
    places: Breakdown,
    terms: Terms,
}

impl Default for BreakdownCollector {
    fn default() -> Self {
        Self { bins: BinTable::new(IDS_FROM), places: Breakdown::default(), terms: Terms::default() }
    }
}

impl BreakdownCollector {
    /// Adds the tokens of a response that have a difference; `bins` are those of its trained tokens.
    pub fn add(&mut self, asked: &Asked<'_>, differences: &TokenDifferences, bins: &TokenBins) {
        let n = differences.value.len();
        self.terms.fill(differences);
        self.bins.reserve(IDS_FROM + bins.ids);
        match &differences.tokens {
            None => self.bins.add(&self.terms, n, |i| bins.of(i)),
            Some(known) => self.bins.add(&self.terms, n, |i| bins.of(known[i] as usize)),
        }
        self.add_places(asked, differences);
        self.add_turns(asked.trained.turn, differences);
    }

    /// Adds the tokens of a response by their place in it.
    fn add_places(&mut self, asked: &Asked<'_>, differences: &TokenDifferences) {
        let place = |i: usize| asked.token(differences.token(i));
        let n = differences.value.len();
        let early = partition(0..n.min(FIRST_TOKENS), |i| place(i) < FIRST_TOKENS);
        self.bins.add(&self.terms, early, |i| [(FIRST_FROM + place(i)) as u32]);
        let length = asked.source.range(asked.index).len();
        let mut first = 0;
        for decile in 0..DECILES {
            let next = ((decile + 1) * length).div_ceil(DECILES);
            let end = match (asked.picks, &differences.tokens) {
                (None, None) => next.min(n),
                _ => first + partition(first..n, |i| place(i) < next),
            };
            self.bins.add_stretch(DECILES_FROM + decile, &self.terms, first..end);
            first = end;
        }
    }

    fn add_turns(&mut self, turns: &[i32], differences: &TokenDifferences) {
        let n = if turns.is_empty() { 0 } else { differences.value.len() };
        let mut first = 0;
        while first < n {
            let open = turns[differences.token(first)];
            let mut rest = first..n;
            let end = match &differences.tokens {
                None => turns[rest].iter().position(|turn| *turn != open).map_or(n, |at| first + at),
                Some(known) => rest.find(|i| turns[known[*i] as usize] != open).unwrap_or(n),
            };
            self.places.add_turn(open, &self.terms.sum(first..end));
            first = end;
        }
    }

    /// What was collected.
    pub fn finish(self) -> Breakdown {
        let (bins, mut all) = (self.bins.finish(), self.places);
        add_turns_of_bins(&mut all.probability, &bins[..ENTROPY_FROM]);
        add_turns_of_bins(&mut all.entropy, &bins[ENTROPY_FROM..FIRST_FROM]);
        all.first.copy_from_slice(&bins[FIRST_FROM..DECILES_FROM]);
        all.deciles.copy_from_slice(&bins[DECILES_FROM..IDS_FROM]);
        all.ids = bins[IDS_FROM..].to_vec();
        all
    }
}

impl Breakdown {
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
