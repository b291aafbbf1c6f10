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
/// Where the bins of H, of first tokens and of ids begin in a [`BinTable`]; those of ln p come first.
const ENTROPY_FROM: usize = PROBABILITY_BINS;
const FIRST_FROM: usize = ENTROPY_FROM + ENTROPY_BINS;
const IDS_FROM: usize = FIRST_FROM + FIRST_TOKENS;

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
    ((bits >> ENTROPY_SHIFT).saturating_sub(ENTROPY_BASE) as usize).min(ENTROPY_BINS - 1)
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

/// The bins of a response's trained tokens by ln p, H and id; reused.
#[derive(Clone, Debug, Default)]
pub struct TokenBins {
    of: Vec<[u32; 3]>,
    /// Ids that bins are needed for.
    ids: usize,
}

impl TokenBins {
    /// Finds them.
    pub fn fill(&mut self, trained: &Columns<'_>) {
        self.of.resize(trained.len(), [0; 3]);
        let largest = widest(Finding { bins: &mut self.of, trained });
        self.ids = if trained.token_id.is_empty() { 0 } else { largest as usize + 1 };
    }
}

struct Finding<'a> {
    bins: &'a mut [[u32; 3]],
    trained: &'a Columns<'a>,
}

impl Work for Finding<'_> {
    /// The largest id that has a bin; 0 without any.
    type Output = u32;

    #[inline(always)]
    fn call(self) -> u32 {
        let Columns { logprob, entropy, token_id, .. } = *self.trained;
        for ((bins, logprob), entropy) in self.bins.iter_mut().zip(logprob).zip(entropy) {
            let by_entropy = (ENTROPY_FROM + entropy_bin(*entropy)) as u32;
            *bins = [probability_bin(*logprob) as u32, by_entropy, NO_BIN];
        }
        let mut largest = 0;
        for (bins, id) in self.bins.iter_mut().zip(token_id) {
            // A missing id is negative, and so beyond all others.
            let id = id.cast_unsigned();
            if id < DENSE_IDS as u32 {
                largest = largest.max(id);
                bins[2] = IDS_FROM as u32 + id;
            }
        }
        largest
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
            None => self.bins.add(&self.terms, n, |i| bins.of[i]),
            Some(known) => self.bins.add(&self.terms, n, |i| bins.of[known[i] as usize]),
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
        for (decile, bin) in self.places.deciles.iter_mut().enumerate() {
            let next = ((decile + 1) * length).div_ceil(DECILES);
            let end = match (asked.picks, &differences.tokens) {
                (None, None) => next.min(n),
                _ => first + partition(first..n, |i| place(i) < next),
            };
            bin.merge(&self.terms.sum(first..end));
            first = end;
        }
    }

    fn add_turns(&mut self, turns: &[i32], differences: &TokenDifferences) {
        let n = if turns.is_empty() { 0 } else { differences.value.len() };
        let turn = |i: usize| turns[differences.token(i)];
        let mut first = 0;
        while first < n {
            let open = turn(first);
            let end = (first..n).find(|i| turn(*i) != open).unwrap_or(n);
            self.places.add_turn(open, &self.terms.sum(first..end));
            first = end;
        }
    }

    /// What was collected.
    pub fn finish(self) -> Breakdown {
        let (bins, mut all) = (self.bins.finish(), self.places);
        all.probability.copy_from_slice(&bins[..ENTROPY_FROM]);
        all.entropy.copy_from_slice(&bins[ENTROPY_FROM..FIRST_FROM]);
        all.first.copy_from_slice(&bins[FIRST_FROM..IDS_FROM]);
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
