//! Responses that stand twice in a log that does not number them: groups (steps, where groups are not logged) in
//! which every response has a copy with the same values.
//!
//! Siblings may say the same by themselves. Then some groups have responses with a copy and others without, or one
//! response alone, again and again; where rows were written twice, hardly any has. Short answers come again by
//! chance in any pattern, so only groups count in which no response is likelier than e⁻¹⁵ (and two of them, which
//! a group needs, than e⁻³⁰) to be sampled again.

use crate::scan::fair_sample::Merge;

/// Hashes that are kept of a group, the least ones.
const KEPT: usize = 64;
/// ln p of a response that does not come again by chance.
pub const NEVER_TWICE: f32 = -15.0;

/// The responses of a group.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct GroupCopies {
    /// The least and the largest file that has one.
    pub files: (u32, u32),
    /// How many there are.
    pub responses: u64,
    /// XOR of the hashes of their values: 0 where each stands there an even number of times.
    parity: u64,
    /// The least hashes, sorted.
    least: Vec<u64>,
    /// ln p of the likeliest response.
    likeliest: f32,
}

/// Which responses of a group have a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    /// None of them, or they are too likely to tell.
    None,
    /// Some, or one and the same again and again.
    Some,
    /// All of them.
    All,
}

impl GroupCopies {
    /// A group of one response, so far: its file, the hash of its values and ln p.
    pub fn of(file: u32, values: u64, logprob: f32) -> Self {
        Self {
            files: (file, file),
            responses: 1,
            parity: values,
            least: vec![values],
            likeliest: if logprob.is_nan() { 0.0 } else { logprob },
        }
    }

    /// Which of the responses have a copy.
    pub fn copied(&self) -> Copied {
        if self.likeliest > NEVER_TWICE {
            return Copied::None;
        }
        let mut times: Vec<usize> = self.least.chunk_by(|a, b| a == b).map(<[u64]>::len).collect();
        if self.responses > self.least.len() as u64 {
            // What is kept of the last one may be a part.
            times.pop();
        }
        let is_all = times.len() > 1 && times.iter().all(|n| n % 2 == 0) && self.parity == 0;
        match times.iter().any(|n| *n > 1) {
            false => Copied::None,
            true if is_all => Copied::All,
            true => Copied::Some,
        }
    }
}

impl Merge for GroupCopies {
    fn merge(&mut self, other: Self) {
        self.files = (self.files.0.min(other.files.0), self.files.1.max(other.files.1));
        self.responses += other.responses;
        self.parity ^= other.parity;
        self.least.extend(other.least);
        self.least.sort_unstable();
        self.least.truncate(KEPT);
        self.likeliest = self.likeliest.max(other.likeliest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(values: &[u64], logprob: f32) -> Option<Copied> {
        let mut all = values.iter().map(|v| GroupCopies::of(0, *v, logprob));
        let mut group = all.next()?;
        all.for_each(|one| group.merge(one));
        Some(group.copied())
    }

    #[test]
    fn all_have_a_copy_or_some_or_none() {
        assert_eq!(copied(&[7, 3, 7, 3], -50.0), Some(Copied::All));
        assert_eq!(copied(&[7, 3, 7, 3, 5], -50.0), Some(Copied::Some));
        assert_eq!(copied(&[7, 7, 7, 7], -50.0), Some(Copied::Some));
        assert_eq!(copied(&[7, 3, 5, 1], -50.0), Some(Copied::None));
        assert_eq!(copied(&[7, 3, 7, 3], -2.0), Some(Copied::None));
        assert_eq!(copied(&[7, 3, 7, 3], f32::NAN), Some(Copied::None));
    }

    #[test]
    fn large_groups_are_known_by_a_part_and_by_parity() {
        let once: Vec<u64> = (0..500).map(|i| 7_919 * i * i).collect();
        let twice = [&once[..], &once[..]].concat();
        assert_eq!(copied(&once, -50.0), Some(Copied::None));
        assert_eq!(copied(&twice, -50.0), Some(Copied::All));
        assert_eq!(copied(&twice[1..], -50.0), Some(Copied::Some));
    }
}
