//! Random choices that depend on nothing but their seed: a resumed replay draws the same.

use crate::stats::random::Random;

/// One seed for a choice, from the replay's seed and what the choice is for.
#[must_use]
pub fn seed_of(words: &[u64]) -> u64 {
    words.iter().fold(0, |seed, word| Random::new(seed, *word).bits())
}

/// Puts `count` items, drawn without replacement, at the front.
pub fn draw<T>(seed: u64, items: &mut [T], count: usize) {
    let mut random = Random::new(seed, 0);
    for i in 0..count.min(items.len()) {
        let j = i + random.below(items.len() - i);
        items.swap(i, j);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_depend_on_every_word() {
        assert_eq!(seed_of(&[1, 2]), seed_of(&[1, 2]));
        assert_ne!(seed_of(&[1, 2]), seed_of(&[2, 1]));
        assert_ne!(seed_of(&[1]), seed_of(&[1, 0]));
    }

    #[test]
    fn draws_are_uniform() {
        let mut hits = [0_u32; 5];
        for seed in 0..20_000 {
            let mut items = [0, 1, 2, 3, 4];
            draw(seed, &mut items, 2);
            items[..2].iter().for_each(|i| hits[*i] += 1);
        }
        // Expected 8,000 each; five standard deviations are 350.
        assert!(hits.iter().all(|h| h.abs_diff(8_000) < 350), "{hits:?}");
    }
}
