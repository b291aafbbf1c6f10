//! Random numbers that are the same on every machine: a splitmix64 stream for each piece of work,
//! so that results do not depend on how work is spread over threads.

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Random {
    /// Stream number `stream` of a seed.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(mixed(mixed(seed.wrapping_add(STEP)).wrapping_add(stream.wrapping_mul(STEP))))
    }

    /// The stream of SplitMix64 as published, whose first state is the seed itself.
    #[must_use]
    pub fn splitmix(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }

    /// A whole number below `n` (at least 1), by multiplication: its bias is below n/2³².
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        (((self.bits() >> 32) * n as u64) >> 32) as usize
    }

    /// A number in [0, 1).
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A standard normal number.
    pub fn normal(&mut self) -> f64 {
        self.normal_pair()[0]
    }

    /// Two standard normal numbers (Box and Muller).
    pub fn normal_pair(&mut self) -> [f64; 2] {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        let angle = std::f64::consts::TAU * self.unit();
        [radius * angle.cos(), radius * angle.sin()]
    }

    /// Puts the items into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// One seed for a choice, from a run's seed and what the choice is for.
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

    /// The first outputs of SplitMix64 for the seed 1234567, as published with it.
    #[test]
    fn splitmix_is_the_published_one() {
        let mut random = Random::splitmix(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn streams_are_even_and_apart() {
        let mut random = Random::new(7, 0);
        let mut counts = [0_u32; 10];
        (0..100_000).for_each(|_| counts[random.below(10)] += 1);
        assert!(counts.iter().all(|c| (9_600..10_400).contains(c)), "{counts:?}");
        let mean = (0..100_000).map(|_| random.normal()).sum::<f64>() / 1e5;
        let square = (0..100_000).map(|_| random.normal().powi(2)).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.02 && (square - 1.0).abs() < 0.03, "{mean} {square}");
        assert_ne!(Random::new(7, 0).bits(), Random::new(7, 1).bits());
        assert_ne!(Random::new(7, 0).bits(), Random::new(8, 0).bits());
        let mut order: Vec<usize> = (0..50).collect();
        random.shuffle(&mut order);
        assert!(!order.is_sorted());
        order.sort_unstable();
        assert!(order.iter().enumerate().all(|(i, v)| i == *v));
    }
}
