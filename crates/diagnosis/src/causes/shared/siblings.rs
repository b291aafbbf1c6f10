//! What siblings that say the same tell of their reward: pairs with equal tokens, and pairs with equal
//! endings, where the answer mostly stands.

use std::collections::BTreeMap;

use stapo_collect::collect::signs::response_facts::ResponseFact;

/// Siblings of a group that are looked at: all pairs of a group of thousands would take for ever.
const MOST_SIBLINGS: usize = 64;
/// Groups with equal siblings that a statement needs.
const FEWEST_EQUAL: usize = 10;
/// Groups with equal and unequal endings that a statement needs.
const FEWEST_GROUPS: usize = 20;
/// Responses of a group that ranks are told by, and how far rounding moves one.
const FEWEST_RANKS: usize = 3;
const ROUNDING: f32 = 1e-4;
/// Standard errors of a statement.
const ERRORS: f64 = 3.0;
/// Equal siblings whose rewards differ by this part of what those of any do (in squares) contradict the
/// reward. A judge or a batch of another size moves a reward a little: that is no contradiction.
const CONTRADICTING: f64 = 0.5;
/// Equal endings that leave less than this of the differences of rewards tell something of the reward.
const TELLING: f64 = 0.8;

/// Pairs of siblings.
#[derive(Default)]
pub struct Pairs {
    /// Pairs with equal tokens, and those of them with different rewards.
    pub equal: [u64; 2],
    /// All pairs, and their squared differences of rewards.
    any: [f64; 2],
    /// By group with equal siblings: how many pairs, and their squared differences of rewards.
    same: Vec<[f64; 2]>,
    /// By group: squared differences of rewards between equal endings, and as many between any two.
    endings: Vec<[f64; 2]>,
    ranks: Ranks,
}

/// Whether rewards are ranks within the group: no two alike, and the same values in every group of a size. Those
/// of equal responses must differ.
#[derive(Default)]
struct Ranks {
    by_size: BTreeMap<usize, Vec<f32>>,
    groups: usize,
    other: bool,
}

impl Ranks {
    fn add(&mut self, group: &[ResponseFact]) {
        let mut values: Vec<f32> = group.iter().map(|f| f.reward).filter(|r| r.is_finite()).collect();
        if values.len() < FEWEST_RANKS {
            return;
        }
        values.sort_by(f32::total_cmp);
        self.groups += 1;
        let known = self.by_size.entry(values.len()).or_insert_with(|| values.clone());
        let is_same = known.iter().zip(&values).all(|(a, b)| (a - b).abs() <= ROUNDING * (1.0 + a.abs()));
        self.other |= !is_same || values.windows(2).any(|pair| pair[0] == pair[1]);
    }

    fn are_all(&self) -> bool {
        self.groups >= FEWEST_EQUAL && !self.other
    }
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
        groups.for_each(|group| {
            pairs.add(group);
            pairs.ranks.add(group);
        });
        pairs
    }

    fn add(&mut self, group: &[ResponseFact]) {
        let known = group.iter().filter(|f| f.reward.is_finite());
        let known: Vec<&ResponseFact> = known.take(MOST_SIBLINGS).collect();
        let mut squares = [[0.0; 2]; 3];
        for (i, a) in known.iter().enumerate() {
            for b in &known[i + 1..] {
                let equal = a.text == b.text;
                self.equal[0] += u64::from(equal);
                self.equal[1] += u64::from(equal && a.reward != b.reward);
                let square = (f64::from(a.reward) - f64::from(b.reward)).powi(2);
                for (sum, counts) in squares.iter_mut().zip([equal, a.ending == b.ending, true]) {
                    sum[0] += if counts { 1.0 } else { 0.0 };
                    sum[1] += if counts { square } else { 0.0 };
                }
            }
        }
        let [same, ending, any] = squares;
        self.any.iter_mut().zip(any).for_each(|(sum, more)| *sum += more);
        if same[0] > 0.0 {
            self.same.push(same);
        }
        let split = ending[0] > 0.0 && ending[0] < any[0];
        if split && any[1] > 0.0 {
            self.endings.push([ending[1], ending[0] * any[1] / any[0]]);
        }
    }

    /// The squared difference of rewards between equal siblings, 1 as between any (0 for a reward that
    /// reads the response), with its standard error over groups.
    pub fn apart(&self) -> Option<[f64; 2]> {
        let usual = self.any[1] / self.any[0];
        let groups: Vec<[f64; 2]> = self.same.iter().map(|[n, square]| [*square, n * usual]).collect();
        ratio(&groups).filter(|_| self.same.len() >= FEWEST_EQUAL)
    }

    /// Whether rewards of equal siblings differ at least half as much as those of any, beyond chance; not where
    /// rewards are ranks.
    pub fn contradict(&self) -> bool {
        !self.ranks.are_all()
            && self.apart().is_some_and(|[apart, error]| apart - ERRORS * error > CONTRADICTING)
    }

    /// What is left of the differences of rewards between equal endings (1 by chance), with its
    /// standard error over groups.
    pub fn left(&self) -> Option<[f64; 2]> {
        ratio(&self.endings).filter(|_| self.endings.len() >= FEWEST_GROUPS)
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

/// The ratio of two sums over groups, with its standard error.
fn ratio(groups: &[[f64; 2]]) -> Option<[f64; 2]> {
    let n = groups.len() as f64;
    let [above, below] = groups.iter().fold([0.0; 2], |sum, g| [sum[0] + g[0], sum[1] + g[1]]);
    if groups.len() < 2 || below <= 0.0 {
        return None;
    }
    let ratio = above / below;
    let scatter: f64 = groups.iter().map(|[a, b]| (a - ratio * b).powi(2)).sum();
    Some([ratio, (scatter * n / (n - 1.0)).sqrt() / below])
}

/// Whether the known rewards of a group differ.
pub fn rewards_differ(group: &[ResponseFact]) -> bool {
    let mut known = group.iter().map(|fact| fact.reward).filter(|reward| reward.is_finite());
    let first = known.next();
    known.any(|reward| Some(reward) != first)
}

/// Whether a group has right and wrong answers.
pub fn is_mixed(group: &[ResponseFact], of: impl Fn(&ResponseFact) -> Option<bool>) -> bool {
    let has = |right: bool| group.iter().any(|fact| of(fact) == Some(right));
    has(true) && has(false)
}

/// By how much the mean of a quantity is larger over the responses of a group for which something is so than over
/// those for which it is not; NaN where either has no finite value.
pub fn more_where(
    group: &[ResponseFact],
    is: impl Fn(&ResponseFact) -> Option<bool>,
    of: impl Fn(&ResponseFact) -> f32,
) -> f64 {
    let mean_of = |wanted: bool| {
        let known = group.iter().filter(|fact| is(fact) == Some(wanted)).map(&of).filter(|v| v.is_finite());
        let (n, sum) = known.fold((0.0, 0.0), |all, value| (all.0 + 1.0, all.1 + f64::from(value)));
        sum / n
    };
    mean_of(true) - mean_of(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups of eight with two texts each; the reward is that of the text plus `noise` times a coin.
    fn pairs(noise: f32, size: u64) -> Pairs {
        let mut coin = stapo_base::stats::random::Random::new(1, 2);
        let groups: Vec<Vec<ResponseFact>> = (0..60)
            .map(|group| {
                let response = |i: u64| {
                    let (text, luck) = (i % 2, coin.below(2) as f32);
                    let reward = (1.0 - noise) * text as f32 + noise * luck;
                    ResponseFact { group, text, reward, ..ResponseFact::default() }
                };
                (0..size).map(response).collect()
            })
            .collect();
        Pairs::of(groups.iter().map(Vec::as_slice))
    }

    #[test]
    fn a_reward_that_is_a_little_noisy_is_not_contradicted() {
        let noisy = pairs(1e-4, 8);
        assert!(noisy.equal[1] > noisy.equal[0] / 3, "most of them differ a little");
        assert!(!noisy.contradict());
        assert!(!pairs(0.0, 8).contradict());
        assert!(pairs(1.0, 8).contradict());
    }

    /// Places in a group, and the same with two that share one.
    #[test]
    fn ranks_are_not_judged_by_equal_siblings() {
        let mut random = stapo_base::stats::random::Random::new(3, 4);
        let mut ranked = |tie: bool| {
            let groups: Vec<Vec<ResponseFact>> = (0..60)
                .map(|group| {
                    let mut places: Vec<f32> = (0..8_u8).map(f32::from).collect();
                    random.shuffle(&mut places);
                    if tie && group % 2 == 0 {
                        places[1] = places[0];
                    }
                    let fact = |(i, reward): (u64, f32)| ResponseFact {
                        group,
                        text: i % 2,
                        reward,
                        ..ResponseFact::default()
                    };
                    (0_u64..).zip(places).map(fact).collect()
                })
                .collect();
            Pairs::of(groups.iter().map(Vec::as_slice)).contradict()
        };
        assert!(!ranked(false));
        assert!(ranked(true));
    }

    #[test]
    fn large_groups_take_no_longer() {
        assert_eq!(pairs(1.0, 5_000).equal[0], pairs(1.0, 64).equal[0]);
    }
}
