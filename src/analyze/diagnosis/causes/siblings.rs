//! What siblings that say the same tell of their reward: pairs with equal tokens, and pairs with equal
//! endings, where the answer mostly stands.

use super::super::patient::share_bounds;
use crate::analyze::collect::signs::facts::ResponseFact;

/// Equal siblings that a statement needs.
const FEWEST_PAIRS: u64 = 10;
/// Groups with equal and unequal endings that a statement needs.
const FEWEST_GROUPS: usize = 20;
/// Standard errors of a statement.
const ERRORS: f64 = 3.0;
/// Equal endings that leave less than this of the differences of rewards tell something of the reward.
const TELLING: f64 = 0.8;

/// Pairs of siblings.
#[derive(Default)]
pub struct Pairs {
    /// Pairs with equal tokens, and those of them with different rewards.
    pub equal: [u64; 2],
    /// The same of all pairs.
    pub any: [u64; 2],
    /// By group: squared differences of rewards between equal endings, and as many between any two.
    endings: Vec<[f64; 2]>,
}

/// Whether the ending of a response tells of its reward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endings {
    /// Equal endings have more alike rewards.
    Tell,
    /// They have not.
    Silent,
    /// Too few to say.
    Unknown,
}

impl Pairs {
    /// The pairs of all groups.
    pub fn of<'a>(groups: impl Iterator<Item = &'a [ResponseFact]>) -> Self {
        let mut pairs = Self::default();
        groups.for_each(|group| pairs.add(group));
        pairs
    }

    fn add(&mut self, group: &[ResponseFact]) {
        let known: Vec<&ResponseFact> = group.iter().filter(|f| f.reward.is_finite()).collect();
        let mut squares = [[0.0; 2]; 2];
        for (i, a) in known.iter().enumerate() {
            for b in &known[i + 1..] {
                let differs = u64::from(a.reward != b.reward);
                self.any[0] += 1;
                self.any[1] += differs;
                if a.text == b.text {
                    self.equal[0] += 1;
                    self.equal[1] += differs;
                }
                let square = (f64::from(a.reward) - f64::from(b.reward)).powi(2);
                for (sum, counts) in squares.iter_mut().zip([a.ending == b.ending, true]) {
                    sum[0] += if counts { 1.0 } else { 0.0 };
                    sum[1] += if counts { square } else { 0.0 };
                }
            }
        }
        let [equal, any] = squares;
        let split = equal[0] > 0.0 && equal[0] < any[0];
        if split && any[1] > 0.0 {
            self.endings.push([equal[1], equal[0] * any[1] / any[0]]);
        }
    }

    /// Whether equal siblings differ at least half as often as any, beyond chance: a reward that reads
    /// the response never lets them.
    pub fn contradict(&self) -> bool {
        let usual = self.share_of_any();
        self.equal[0] >= FEWEST_PAIRS
            && share_bounds(self.equal[1], self.equal[0])[0] > 0.5 * usual
            && usual > 0.0
    }

    /// The share of all pairs whose rewards differ.
    pub fn share_of_any(&self) -> f64 {
        self.any[1] as f64 / self.any[0].max(1) as f64
    }

    /// What is left of the differences of rewards between equal endings (1 by chance), with its
    /// standard error over groups.
    pub fn left(&self) -> Option<[f64; 2]> {
        let n = self.endings.len() as f64;
        let [equal, any] = self.endings.iter().fold([0.0; 2], |sum, g| [sum[0] + g[0], sum[1] + g[1]]);
        if self.endings.len() < FEWEST_GROUPS || any <= 0.0 {
            return None;
        }
        let left = equal / any;
        let scatter: f64 = self.endings.iter().map(|[e, a]| (e - left * a).powi(2)).sum();
        Some([left, (scatter * n / (n - 1.0)).sqrt() / any])
    }

    /// Whether endings tell of the reward.
    pub fn endings(&self) -> Endings {
        match self.left() {
            Some([left, error]) if left + ERRORS * error < TELLING => Endings::Tell,
            Some([left, error]) if left - ERRORS * error > TELLING => Endings::Silent,
            _ => Endings::Unknown,
        }
    }
}

/// Whether a group has right and wrong answers.
pub fn is_mixed(group: &[ResponseFact], of: impl Fn(&ResponseFact) -> Option<bool>) -> bool {
    let has = |right: bool| group.iter().any(|fact| of(fact) == Some(right));
    has(true) && has(false)
}
