//! The tokens with the most energy, one by one: a list that has room for few.

use std::cmp::Ordering;

/// A token that is ranked by its energy.
pub trait Ranked {
    /// ‖g‖².
    fn energy(&self) -> f64;

    /// Largest first; ties go by what the token is, so that no order of arrival shows.
    fn rank(&self, other: &Self) -> Ordering;
}

/// The first `N` of all tokens, largest first.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Ranking<T, const N: usize>(Vec<T>);

impl<T, const N: usize> Default for Ranking<T, N> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Ranked, const N: usize> Ranking<T, N> {
    /// Energies below this cannot enter.
    #[inline]
    pub fn threshold(&self) -> f64 {
        self.0.get(N - 1).map_or(f64::MIN_POSITIVE, Ranked::energy)
    }

    /// Enters a token if it is large enough.
    pub fn add(&mut self, token: T) {
        let at = self.0.partition_point(|known| known.rank(&token) != Ordering::Greater);
        if at < N {
            self.0.insert(at, token);
            self.0.truncate(N);
        }
    }

    /// Adds those of another worker or part.
    pub fn merge(&mut self, other: Self) {
        other.0.into_iter().for_each(|token| self.add(token));
    }

    /// The tokens, largest first.
    pub fn tokens(&self) -> &[T] {
        &self.0
    }

    /// The tokens, to change what does not rank them.
    pub fn tokens_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}
