//! Groups in which an answer is pushed up while a clearly better one is pushed down.

use crate::causes::shared::lasting::Counts;
use stapo_collect::collect::signs::response_facts::ResponseFact;

/// An answer is clearly better by this part of the range of its group's rewards.
const CLEARLY: f64 = 0.5;
/// Rewards whose range is this part of their size differ by rounding.
const ROUNDING: f64 = 1e-5;
/// Tokens whose advantages differ by this part of the largest have one advantage.
const EQUAL: f32 = 1e-3;
/// Responses with one advantage each, of all that have one.
const NEARLY_ALL: f64 = 0.99;

/// Such a group.
pub struct Crossed {
    /// Its step.
    pub step: i64,
    /// Its hash.
    pub group: u64,
    /// By how much the reward of the answer that is pushed down is higher.
    pub gap: f64,
}

/// Whether each response has one advantage: tokens have some of their own where a learned value or a penalty of
/// tokens is taken off.
pub fn have_one_advantage<'a>(responses: impl Iterator<Item = &'a ResponseFact>) -> bool {
    let (mut taught, mut alike) = (0_u64, 0_u64);
    for fact in responses.filter(|fact| fact.signs != [false; 2]) {
        taught += 1;
        alike += u64::from((fact.largest - fact.advantage.abs()).abs() <= EQUAL * fact.largest);
    }
    alike as f64 >= NEARLY_ALL * taught as f64
}

/// Counts such groups among those whose rewards and advantages differ, where each response has one advantage.
pub fn crossed<'a>(groups: impl Iterator<Item = &'a [ResponseFact]>) -> (Counts, Vec<Crossed>) {
    let (mut counts, mut found) = (Counts::default(), Vec::new());
    for group in groups {
        if let Some(gap) = gap(group) {
            counts.add(group[0].step, gap > 0.0);
            if gap > 0.0 {
                found.push(Crossed { step: group[0].step, group: group[0].group, gap });
            }
        }
    }
    (counts, found)
}

/// The largest clear difference of rewards whose signs are crossed, or 0; `None` where rewards do not differ, or
/// no answer is pushed up or none down.
fn gap(group: &[ResponseFact]) -> Option<f64> {
    let ends = |of: &dyn Fn(&ResponseFact) -> bool| {
        let known = group.iter().filter(|f| f.reward.is_finite() && of(f)).map(|f| f64::from(f.reward));
        let ends = known.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], r| [low.min(r), high.max(r)]);
        (ends[0] <= ends[1]).then_some(ends)
    };
    let [low, high] = ends(&|_| true)?;
    let [worst_up, _] = ends(&|f| f.advantage > 0.0)?;
    let [_, best_down] = ends(&|f| f.advantage < 0.0)?;
    let range = high - low;
    if range <= ROUNDING * low.abs().max(high.abs()) {
        return None;
    }
    let gap = best_down - worst_up;
    Some(if gap >= CLEARLY * range { gap } else { 0.0 })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn group(pairs: &[(f32, f32)]) -> Vec<ResponseFact> {
        let fact = |(reward, advantage): &(f32, f32)| ResponseFact {
            reward: *reward,
            advantage: *advantage,
            largest: advantage.abs(),
            signs: [*advantage > 0.0, *advantage < 0.0],
            ..ResponseFact::default()
        };
        pairs.iter().map(fact).collect()
    }

    #[test]
    fn only_clear_crossings_count() {
        // The sum still agrees.
        let join = group(&[(1.0, 1.0), (1.0, 1.0), (1.0, -1.0), (0.0, -1.0), (0.0, -1.0), (0.0, 1.0)]);
        assert_eq!(gap(&join), Some(1.0));
        // A baseline between two answers of another one, and a small difference that a penalty turns.
        assert_eq!(gap(&group(&[(1.0, 0.2), (0.5, -0.3), (0.9, 0.1)])), Some(0.0));
        assert_eq!(gap(&group(&[(0.9, -0.1), (0.8, 0.1), (0.0, -1.0)])), Some(0.0));
        assert_eq!(gap(&group(&[(1.0, 1.0), (1.0, -1.0)])), None);
    }

    #[test]
    fn advantages_of_tokens_are_left_alone() {
        let crossed_group = || group(&[(1.0, -1.0), (0.0, 1.0)]);
        let (counts, found) = crossed([crossed_group().as_slice()].into_iter());
        assert_eq!((counts.share(0.5).unwrap().hits, found.len()), (1, 1));
        assert!(have_one_advantage(crossed_group().iter()));
        let mut by_token = crossed_group();
        by_token.iter_mut().for_each(|fact| fact.largest *= 2.0);
        assert!(!have_one_advantage(by_token.iter()));
    }
}
