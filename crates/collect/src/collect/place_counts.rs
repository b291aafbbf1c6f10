//! Tokens of numbered places (cells, ids). They are added in half the width of a count, since of the places of a
//! vocabulary twice as many are at hand then: that is what adding to them takes its time for.

/// Tokens of all places.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(from = "Vec<u64>", into = "Vec<u64>")]
pub(super) struct PlaceCounts {
    recent: Vec<u32>,
    /// The most that a place of `recent` can have.
    added: u32,
    /// What was added before; empty where nothing was.
    earlier: Vec<u64>,
}

impl PlaceCounts {
    /// The number of places.
    pub fn len(&self) -> usize {
        self.recent.len()
    }

    /// Makes room for so many places at least.
    pub fn grow(&mut self, places: usize) {
        if places > self.len() {
            self.recent.resize(places, 0);
        }
    }

    /// The places, to add so many tokens to and no more.
    #[inline]
    pub fn adding(&mut self, tokens: usize) -> &mut [u32] {
        match u32::try_from(tokens).ok().and_then(|tokens| self.added.checked_add(tokens)) {
            Some(added) => self.added = added,
            None => self.carry(u32::try_from(tokens).unwrap_or(u32::MAX)),
        }
        &mut self.recent
    }

    #[cold]
    fn carry(&mut self, added: u32) {
        self.earlier.resize(self.recent.len(), 0);
        for (earlier, recent) in self.earlier.iter_mut().zip(&mut self.recent) {
            *earlier += u64::from(std::mem::take(recent));
        }
        self.added = added;
    }

    /// The tokens of a place.
    pub fn at(&self, place: usize) -> u64 {
        u64::from(self.recent[place]) + self.earlier.get(place).copied().unwrap_or(0)
    }

    /// Adds other tokens of the same places.
    pub fn merge(&mut self, other: &Self) {
        self.grow(other.len());
        match self.added.checked_add(other.added).filter(|_| other.earlier.is_empty()) {
            Some(added) => {
                self.added = added;
                self.recent.iter_mut().zip(&other.recent).for_each(|(a, b)| *a += b);
            }
            None => {
                self.carry(0);
                self.earlier.iter_mut().zip(0..other.len()).for_each(|(a, place)| *a += other.at(place));
            }
        }
    }
}

impl From<Vec<u64>> for PlaceCounts {
    fn from(counts: Vec<u64>) -> Self {
        Self { recent: vec![0; counts.len()], added: 0, earlier: counts }
    }
}

impl From<PlaceCounts> for Vec<u64> {
    fn from(counts: PlaceCounts) -> Self {
        (0..counts.len()).map(|place| counts.at(place)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_token_is_lost_where_narrow_counts_are_full() {
        let mut counts = PlaceCounts::default();
        counts.grow(3);
        for _ in 0..3 {
            counts.adding(u32::MAX as usize)[1] += u32::MAX;
            counts.grow(4);
            counts.adding(1)[3] += 1;
        }
        let mut other = PlaceCounts::default();
        other.grow(5);
        other.adding(7)[4] += 7;
        let whole = 3 * u64::from(u32::MAX);
        for (mut into, from) in [(counts.clone(), &other), (other.clone(), &counts)] {
            into.merge(from);
            assert_eq!(Vec::from(into), [0, whole, 0, 3, 7]);
        }
        let stored: Vec<u64> = counts.clone().into();
        let mut again = PlaceCounts::from(stored);
        again.merge(&counts);
        assert_eq!(again.at(1), 2 * whole);
    }
}
