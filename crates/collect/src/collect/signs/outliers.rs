//! Rewards and parts of rewards that are far beyond all others: an error code, or a sum that was not divided. One such
//! value outweighs all others in means and squares. It counts as the bound that it exceeds; what is reported of steps
//! stays as it was logged.
//!
//! Bound: the ends of all values but the extreme hundredths, which a few odd ones cannot move, and ten times their
//! distance beyond them. The largest of a million normal values lies within one such distance, of exponential ones
//! within two. Where all but a hundredth are the same (right answers that are rare), nothing is far.
//!
//! Above a hundredth, up to a fifth, low values are far where they lie together, and below all others by ten times the
//! range and the size of these, with nothing between: an error code that many responses get. A penalty, or a wrong answer
//! of a task that is nearly solved, is of the size of the other rewards. High ones are never: rare answers that are
//! right are what a run is trained for.

use super::response_fact::ResponseFact;
use stapo_base::stats::quantile::select_quantile;

/// Beyond these quantiles, values do not say what is usual.
const ENDS: [f64; 2] = [0.01, 0.99];
/// Responses from which on a hundredth of them is more than one.
const FEWEST: usize = 200;
/// Distances between the ends that a value may lie beyond them.
const FAR: f64 = 10.0;

/// The largest share that low values may have and be far.
const MOST: f64 = 0.2;

/// A value that was far beyond all others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlier {
    /// The part of the reward in the order of the plan; `None` for the reward.
    pub part: Option<usize>,
    /// Step.
    pub step: i64,
    /// The group inside the step.
    pub group: u64,
    /// As it was logged.
    pub value: f32,
    /// What it counts as.
    pub counts_as: f32,
}

/// Bounds rewards and parts; what was beyond.
pub fn bound_outliers(responses: &mut [ResponseFact]) -> Vec<Outlier> {
    let parts = responses.iter().map(|fact| fact.parts.len()).max().unwrap_or(0);
    let quantities = std::iter::once(None).chain((0..parts).map(Some));
    quantities.flat_map(|part| bound(responses, part)).collect()
}

fn value_of(fact: &mut ResponseFact, part: Option<usize>) -> Option<&mut f32> {
    let value = match part {
        None => Some(&mut fact.reward),
        Some(part) => fact.parts.get_mut(part),
    };
    value.filter(|value| value.is_finite())
}

fn bound(responses: &mut [ResponseFact], part: Option<usize>) -> Vec<Outlier> {
    let mut values: Vec<f32> =
        responses.iter_mut().filter_map(|fact| value_of(fact, part).copied()).collect();
    if values.len() < FEWEST {
        return Vec::new();
    }
    let Some([least, most]) = of_codes(&mut values).or_else(|| of_few(&mut values)) else {
        return Vec::new();
    };
    let bounded = |fact: &mut ResponseFact| {
        let (step, group) = (fact.step, fact.group);
        let own = value_of(fact, part)?;
        let value = *own;
        let counts_as = f64::from(value).clamp(least, most) as f32;
        *own = counts_as;
        (counts_as != value).then_some(Outlier { part, step, group, value, counts_as })
    };
    responses.iter_mut().filter_map(bounded).collect()
}

/// The least and the most that a value may be, by all but the extreme hundredths.
fn of_few(values: &mut [f32]) -> Option<[f64; 2]> {
    let [low, high] = ENDS.map(|end| select_quantile(values, end).unwrap_or(0.0));
    let far = FAR * (high - low);
    (far > 0.0).then_some([low - far, high + far])
}

/// The same where many have a low value that is none of the others' size.
fn of_codes(values: &mut [f32]) -> Option<[f64; 2]> {
    let most = (MOST * values.len() as f64) as usize;
    values.select_nth_unstable_by(most, f32::total_cmp);
    values[..=most].sort_unstable_by(f32::total_cmp);
    let (lowest, steps) = (f64::from(values[0]), values[..=most].windows(2));
    let widest = (1..).zip(steps).max_by(|(_, a), (_, b)| (a[1] - a[0]).total_cmp(&(b[1] - b[0])));
    let (first, [below, low]) = widest.map(|(at, pair)| (at, [pair[0], pair[1]].map(f64::from)))?;
    let high = select_quantile(&mut values[first..], ENDS[1])?;
    let far = FAR * (high - low).max(low.abs()).max(high.abs());
    let are_one = below - lowest <= low - below;
    (far > 0.0 && low - below > far && are_one).then_some([low - far, high + far])
}

#[cfg(test)]
mod tests {
    use super::*;
    use stapo_base::stats::random::Random;

    fn outliers(value: impl Fn(usize, &mut Random) -> f64) -> (Vec<Outlier>, Vec<ResponseFact>) {
        let mut random = Random::new(2, 3);
        let fact = |place: usize, random: &mut Random| ResponseFact {
            step: place as i64 / 10,
            group: place as u64 / 5,
            reward: value(place, random) as f32,
            ..ResponseFact::default()
        };
        let mut responses: Vec<ResponseFact> = (0..4_000).map(|place| fact(place, &mut random)).collect();
        (bound_outliers(&mut responses), responses)
    }

    #[test]
    fn one_far_reward_counts_as_the_bound() {
        let (found, responses) = outliers(|place, _| if place == 17 { 1000.0 } else { (place % 2) as f64 });
        let expected = Outlier { part: None, step: 1, group: 3, value: 1000.0, counts_as: 11.0 };
        assert_eq!(found, [expected]);
        assert_eq!(responses[17].reward, 11.0);
    }

    /// An error code that up to a fifth of the responses have, among 0 and 1.
    #[test]
    fn a_code_that_many_have_is_far_and_a_penalty_is_not() {
        let code = |every: usize, code: f64| {
            outliers(move |place, _| if place % every == 3 { code } else { (place % 2) as f64 }).0
        };
        for (every, many) in [(50, 80), (10, 400), (6, 667)] {
            let found = code(every, -20.0);
            assert_eq!((found.len(), found[0].value, found[0].counts_as), (many, -20.0, -10.0), "{every}");
        }
        assert_eq!(code(3, -20.0), [], "a third is a mode of its own");
        for penalty in [-1.0, -2.0, -5.0, -10.0] {
            assert_eq!(code(10, penalty), [], "{penalty}");
        }
        assert_eq!(code(50, 20.0), [], "rare, and high: what the run is for");
        // Nearly solved: what is wrong has none of 1 to 1.05.
        let solved = |place: usize, _: &mut Random| match place % 30 {
            7 => 0.0,
            _ => 1.0 + 0.05 * (place % 2) as f64,
        };
        assert_eq!(outliers(solved).0, []);
        // Tokens beyond a budget, taken off one by one.
        let tail = |place: usize, random: &mut Random| match place % 6 {
            1 => -5.0 - 100.0 * random.unit(),
            _ => 0.1 * (place % 2) as f64,
        };
        assert_eq!(outliers(tail).0, []);
    }

    #[test]
    fn what_is_rare_or_has_a_long_tail_is_not_far() {
        assert_eq!(outliers(|place, _| f64::from(u8::from(place == 17))).0, []);
        assert_eq!(outliers(|_, random| random.normal()).0, []);
        assert_eq!(outliers(|_, random| random.normal().exp()).0, []);
        // One right answer in 400, ten times as much as a format.
        let hard =
            |place: usize, _: &mut Random| if place % 400 == 7 { 1.0 } else { 0.1 * (place % 2) as f64 };
        assert_eq!(outliers(hard).0, []);
    }
}
