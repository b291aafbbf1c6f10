//! Exact quantiles over all tokens of a batch when there were too many to keep: the pass leaves a
//! histogram, so only the bin that holds the quantile has to be looked at again.

use serde::{Deserialize, Serialize};

use crate::collect::energy::Sign;
use crate::collect::entropy_histogram::{EntropyHistogram, end_bits, first_bits};
use crate::collect::tally::{BatchKey, BatchTally};
use crate::plan::Plan;
use stapo_base::error::Result;
use stapo_base::stats::quantile::{interpolate, position};
use stapo_batch::batch::TokenBatch;
use stapo_batch::columns::Column;
use stapo_batch::progress::Progress;
use stapo_batch::sink::Sink;
use stapo_framework::s2t::Population;
use stapo_ingest::{Run, scan};

/// Parts that an interval is cut into where its values are too many to keep.
const PARTS: u64 = 1024;

/// The signs of a population.
pub fn signs_of(population: Population) -> &'static [Sign] {
    match population {
        Population::Candidates | Population::Positive => &[Sign::Positive],
        Population::All => &Sign::ALL,
    }
}

/// Where the order statistic below a quantile lies, as bits of non-negative f32.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Search {
    from: u32,
    to: u32,
    /// Rank of the order statistic within the interval.
    rank: u64,
    /// Values in the interval.
    inside: u64,
    /// The way from it to the next one.
    fraction: f64,
}

impl Search {
    fn new(histogram: &EntropyHistogram, signs: &[Sign], q: f64) -> Option<Self> {
        let counts = histogram.counts(signs);
        let total = counts.iter().sum::<u64>();
        let (index, fraction) = position(usize::try_from(total).ok()?, q)?;
        let mut rank = index as u64;
        for (bin, inside) in counts.into_iter().enumerate() {
            if rank < inside {
                let (from, to) = (first_bits(bin, histogram.level()), end_bits(bin, histogram.level()));
                return Some(Self { from, to, rank, inside, fraction });
            }
            rank -= inside;
        }
        None
    }

    fn width(&self) -> u64 {
        u64::from(self.to - self.from)
    }

    fn part_of(&self, bits: u32) -> usize {
        (u64::from(bits - self.from) * PARTS / self.width()) as usize
    }

    fn edge(&self, part: u64) -> u32 {
        self.from + (part * self.width()).div_ceil(PARTS) as u32
    }

    fn narrow(&mut self, parts: &[u64]) {
        for (part, inside) in parts.iter().enumerate() {
            if self.rank < *inside {
                let part = part as u64;
                (self.from, self.to) = (self.edge(part), self.edge(part + 1));
                self.inside = *inside;
                return;
            }
            self.rank -= inside;
        }
    }
}

/// What a look collects for one batch.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Found {
    parts: Vec<u64>,
    values: Vec<u32>,
    next: Option<u32>,
}

/// What is looked for: in each batch, where its quantile lies.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Round {
    keys: Vec<BatchKey>,
    searches: Vec<Option<Search>>,
    /// Whether values are few enough to be kept; else they are counted in parts of the interval.
    keeps: bool,
}

impl Round {
    /// The number of batches.
    pub fn batches(&self) -> usize {
        self.keys.len()
    }

    /// Whether it fits together: it may come from a file.
    pub fn fits(&self) -> bool {
        let sound = |search: &Search| search.from <= search.to;
        self.keys.len() == self.searches.len()
            && self.keys.is_sorted_by(|a, b| a < b)
            && self.searches.iter().flatten().all(sound)
    }
}

/// Looks at the log again.
pub trait LookAgain {
    /// What all tokens of the run give.
    fn look(&self, plan: &Plan, round: &Round) -> Result<Vec<Found>>;
}

/// Looks by reading the log once more.
pub struct Reread<'a> {
    /// The run.
    pub run: &'a Run,
    /// Told how far it is.
    pub progress: &'a dyn Progress,
}

impl LookAgain for Reread<'_> {
    fn look(&self, plan: &Plan, round: &Round) -> Result<Vec<Found>> {
        let scanned = scan(self.run, Look::COLUMNS, self.progress, || Look::new(plan, round))?;
        Ok(merge_found(scanned.sinks.into_iter().map(|sink| sink.found), round))
    }
}

/// Puts together what several looks at other tokens found.
pub fn merge_found(looks: impl IntoIterator<Item = Vec<Found>>, round: &Round) -> Vec<Found> {
    let mut merged = vec![Found::default(); round.batches()];
    for look in looks {
        merged.iter_mut().zip(look).for_each(|(a, b)| a.merge(b));
    }
    merged.iter_mut().for_each(|found| found.values.sort_unstable());
    merged
}

/// A look at some tokens.
pub struct Look<'a> {
    plan: &'a Plan,
    round: &'a Round,
    /// What was found so far.
    pub found: Vec<Found>,
}

impl<'a> Look<'a> {
    /// What is read.
    pub const COLUMNS: &'static [Column] =
        &[Column::Logprob, Column::Entropy, Column::Advantage, Column::AdvantageSeq, Column::Mask];

    /// A look that has not begun.
    pub fn new(plan: &'a Plan, round: &'a Round) -> Self {
        Self { plan, round, found: vec![Found::default(); round.batches()] }
    }
}

impl Sink for Look<'_> {
    fn accept(&mut self, batch: &TokenBatch) -> Result<()> {
        let advantages = batch.advantages();
        let (Some(logprobs), Some(entropies), Some(advantages)) =
            (batch.floats(Column::Logprob), batch.floats(Column::Entropy), advantages)
        else {
            return Ok(());
        };
        let updates = batch.responses.ints.get(Column::Update);
        for i in 0..batch.len() {
            let step = batch.responses.step.get(i).copied().unwrap_or(0);
            let update = updates.and_then(|u| u[i]).filter(|_| self.plan.by_update);
            let Ok(number) = self.round.keys.binary_search(&BatchKey { step, update }) else { continue };
            let Some(search) = &self.round.searches[number] else { continue };
            let found = &mut self.found[number];
            for t in batch.range(i) {
                let (logprob, entropy, advantage) = (logprobs[t], entropies[t], advantages[t]);
                let trained = batch.mask().is_none_or(|mask| mask[t] == 1);
                let complete = logprob.is_finite() & entropy.is_finite() & advantage.is_finite();
                if trained && complete && self.plan.rule.in_population(logprob, advantage) {
                    // −0 is 0.
                    found.take(search, (entropy + 0.0).to_bits(), self.round.keeps);
                }
            }
        }
        Ok(())
    }
}

impl Found {
    /// Whether it fits together: it may come from a file.
    pub fn fits(&self) -> bool {
        self.parts.is_empty() || self.parts.len() == PARTS as usize
    }

    fn take(&mut self, search: &Search, bits: u32, keeps: bool) {
        if bits < search.from {
            return;
        }
        if bits >= search.to {
            self.next = Some(self.next.map_or(bits, |next| next.min(bits)));
        } else if !keeps {
            if self.parts.is_empty() {
                self.parts.resize(PARTS as usize, 0);
            }
            self.parts[search.part_of(bits)] += 1;
        } else if search.width() > 1 {
            self.values.push(bits);
        }
    }

    fn merge(&mut self, other: Self) {
        if self.parts.is_empty() {
            self.parts = other.parts;
        } else {
            self.parts.iter_mut().zip(other.parts).for_each(|(a, b)| *a += b);
        }
        self.values.extend(other.values);
        self.next = [self.next, other.next].into_iter().flatten().min();
    }

    fn quantile(&mut self, search: &Search) -> Option<f64> {
        self.values.sort_unstable();
        let at = |rank: u64| {
            if rank >= search.inside {
                self.next
            } else if search.width() > 1 {
                self.values.get(usize::try_from(rank).ok()?).copied()
            } else {
                Some(search.from)
            }
        };
        let value = |bits: u32| f64::from(f32::from_bits(bits));
        let below = value(at(search.rank)?);
        let above = at(search.rank + 1).map_or(below, value);
        Some(interpolate(below, above, search.fraction))
    }
}

/// The `q`-quantile of entropies that were kept: as a look at the log would find it, so only the
/// bin that holds it is sorted.
pub fn quantile_of_kept<'a>(
    entropies: impl Iterator<Item = &'a f32>,
    histogram: &EntropyHistogram,
    signs: &[Sign],
    q: f64,
) -> Option<f64> {
    let search = Search::new(histogram, signs, q)?;
    let mut found = Found::default();
    entropies.for_each(|entropy| found.take(&search, (entropy + 0.0).to_bits(), true));
    found.quantile(&search)
}

/// The `q`-quantile of every batch's population, exact.
pub fn quantiles(
    look: &dyn LookAgain,
    plan: &Plan,
    batches: &[(BatchKey, BatchTally)],
    q: f64,
) -> Result<Vec<Option<f64>>> {
    let signs = signs_of(plan.s2t.population);
    let mut round = Round {
        keys: batches.iter().map(|(key, _)| *key).collect(),
        searches: batches.iter().map(|(_, tally)| Search::new(&tally.histogram, signs, q)).collect(),
        keeps: false,
    };
    loop {
        let open = round.searches.iter().flatten().filter(|s| s.width() > 1).map(|s| s.inside).sum::<u64>();
        round.keeps = open <= plan.limits.kept_population;
        let mut found = look.look(plan, &round)?;
        let pairs = round.searches.iter_mut().zip(&mut found);
        if round.keeps {
            return Ok(pairs.map(|(search, found)| found.quantile(search.as_ref()?)).collect());
        }
        pairs.for_each(|(search, found)| {
            if let Some(search) = search.as_mut().filter(|s| s.width() > 1) {
                search.narrow(&found.parts);
            }
        });
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::collect::entropy_histogram::finest_bin;
    use proptest::prelude::*;
    use stapo_base::stats::quantile::select_quantile;

    fn search_in(values: &[f32], level: u32, q: f64, narrowings: usize) -> Option<f64> {
        let mut histogram = EntropyHistogram::new(level);
        values.iter().for_each(|v| histogram.zero()[(finest_bin(*v) >> level) as usize] += 1);
        let mut search = Search::new(&histogram, &[Sign::Zero], q)?;
        for _ in 0..narrowings {
            let mut found = Found::default();
            values.iter().for_each(|v| found.take(&search, v.to_bits(), false));
            if search.width() > 1 {
                search.narrow(&found.parts);
            }
        }
        let mut found = Found::default();
        values.iter().for_each(|v| found.take(&search, v.to_bits(), true));
        found.quantile(&search)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 500, ..ProptestConfig::default() })]
        #[test]
        fn the_look_finds_what_sorting_finds(
            values in prop::collection::vec(prop_oneof![0.0..9.0_f32, 0.0..1e-6_f32, Just(0.0), Just(0.5)], 1..300),
            q in 0.0..=1.0_f64,
            level in 0..7_u32,
            narrowings in 0..5_usize,
        ) {
            let found = search_in(&values, level, q, narrowings);
            prop_assert_eq!(found, select_quantile(&mut values.clone(), q));
        }
    }
}
