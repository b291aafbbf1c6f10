//! What one worker collects step by step.

use std::collections::HashMap;

/// A tally for every step. Responses of a step mostly follow each other: it is looked up once.
#[derive(Debug)]
pub struct ByStep<T> {
    index: HashMap<i64, usize>,
    /// In the order in which they came. Tallies are large: they stay where they are.
    steps: Vec<(i64, Box<T>)>,
    last: Option<(i64, usize)>,
}

impl<T> Default for ByStep<T> {
    fn default() -> Self {
        Self { index: HashMap::new(), steps: Vec::new(), last: None }
    }
}

impl<T: Default> ByStep<T> {
    /// The tally of a step.
    #[inline]
    pub fn at(&mut self, step: i64) -> &mut T {
        let number = match self.last {
            Some((last, number)) if last == step => number,
            _ => self.find(step),
        };
        &mut self.steps[number].1
    }

    fn find(&mut self, step: i64) -> usize {
        let fresh = self.steps.len();
        let number = *self.index.entry(step).or_insert(fresh);
        if number == fresh {
            self.steps.push((step, Box::default()));
        }
        self.last = Some((step, number));
        number
    }
}

impl<T> ByStep<T> {
    /// All tallies.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.steps.iter_mut().map(|(_, tally)| &mut **tally)
    }
}

impl<T> IntoIterator for ByStep<T> {
    type Item = (i64, Box<T>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.steps.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_found_again_in_any_order() {
        let mut tallies: ByStep<u64> = ByStep::default();
        for step in [3, 3, -1, 3, 7, -1, -1] {
            *tallies.at(step) += 1;
        }
        tallies.values_mut().for_each(|tally| *tally *= 10);
        let mut all: Vec<_> = tallies.into_iter().map(|(step, tally)| (step, *tally)).collect();
        all.sort_unstable();
        assert_eq!(all, [(-1, 30), (3, 30), (7, 10)]);
    }
}
