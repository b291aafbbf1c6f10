//! What the tokens of the largest energy carry together.

use crate::collect::signs::energy_tally::EnergyTally;

/// Energies of the largest tokens, added up.
pub struct Largest {
    /// The energy up to here, ascending.
    energies: Vec<f64>,
    /// Tokens up to here; none where each is one.
    tokens: Vec<u64>,
    total: f64,
}

impl Largest {
    /// Of the tokens of these steps where their energies are kept one by one, as many as there are ranks, else of the
    /// sums of all.
    pub fn of<'a>(
        all: &EnergyTally,
        steps: impl Iterator<Item = &'a EnergyTally> + Clone,
        exact: bool,
        ranks: usize,
    ) -> Self {
        if exact {
            // They are above 0, so that their bits are in their order, and compared in one instruction.
            let mut kept: Vec<u64> = Vec::with_capacity(steps.clone().map(|step| step.kept.len()).sum());
            steps.for_each(|step| kept.extend(step.kept.iter().map(|energy| energy.to_bits())));
            if ranks < kept.len() {
                kept.select_nth_unstable_by(ranks, |a, b| b.cmp(a));
                kept.truncate(ranks);
            }
            kept.sort_unstable_by(|a, b| b.cmp(a));
            let mut energy = 0.0;
            let mut up_to = |bits: u64| {
                energy += f64::from_bits(bits);
                energy
            };
            let energies = kept.into_iter().map(&mut up_to).collect();
            return Self { energies, tokens: Vec::new(), total: all.energy.value() };
        }
        let (mut energies, mut counts) = (Vec::new(), Vec::new());
        let (mut tokens, mut energy) = (0, 0.0);
        let mut step = |count: u64, each: f64| {
            tokens += count;
            energy += count as f64 * each;
            counts.push(tokens);
            energies.push(energy);
        };
        all.largest.iter().for_each(|each| step(1, *each));
        let mut left = all.largest.len() as u64;
        for (count, low, high) in all.ladder.descending() {
            // The largest are known one by one.
            let counted = count.saturating_sub(left);
            left = left.saturating_sub(count);
            if counted > 0 {
                step(counted, f64::midpoint(low, high));
            }
        }
        // The sums of middles miss the total a little: they are scaled.
        Self { energies, tokens: counts, total: energy }
    }

    /// Tokens up to a place.
    fn count(&self, at: usize) -> u64 {
        self.tokens.get(at).copied().unwrap_or(at as u64 + 1)
    }

    /// The share of the `tokens` largest.
    pub fn share(&self, tokens: u64) -> f64 {
        let at = match self.tokens.is_empty() {
            true => tokens.saturating_sub(1) as usize,
            false => self.tokens.partition_point(|known| *known < tokens),
        };
        let Some(energy) = self.energies.get(at) else { return 1.0 };
        let before = at.checked_sub(1).map_or((0, 0.0), |at| (self.count(at), self.energies[at]));
        let way = (tokens - before.0) as f64 / (self.count(at) - before.0) as f64;
        ((before.1 + way * (energy - before.1)) / self.total).min(1.0)
    }

    /// Tokens that have a rank.
    pub fn tokens(&self) -> u64 {
        self.energies.len().checked_sub(1).map_or(0, |last| self.count(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_ranks_have_the_shares_that_they_have_among_all() {
        let energies: Vec<f64> = (1..500).map(|i| f64::from(i * 7919 % 1009)).collect();
        let mut all = EnergyTally::default();
        all.add_block(&energies, 1008.0, true);
        all.add_response(energies.len(), energies.iter().sum(), energies.iter().map(|e| e * e).sum());
        let of = |ranks: usize| Largest::of(&all, std::iter::once(&all), true, ranks);
        let (some, whole) = (of(12), of(usize::MAX));
        assert_eq!(whole.tokens(), 499);
        for rank in 1..=12 {
            assert_eq!(some.share(rank), whole.share(rank));
        }
        let mut sorted = energies.clone();
        sorted.sort_by(f64::total_cmp);
        let largest: f64 = sorted.iter().rev().take(12).sum();
        assert!((some.share(12) - largest / energies.iter().sum::<f64>()).abs() < 1e-12);
    }
}
