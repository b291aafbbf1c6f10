//! Advantages of the reward less a penalty for the distance from the reference (a KL term in the reward): where the penalty
//! outweighs the reward, better answers have the lower advantage, and nothing is wrong with signs or joins.
//!
//! Statistic: the weight w for which the advantages of a group are a line of r − w Σ (ln p − ln p_ref), by least squares
//! in every group, its median in every step (controllers move it).
//! Threshold: with it, advantages are all but a rising line in nineteen groups of twenty (of five or more, each of
//! more than four responses: two weights fit any three), and what it leaves unexplained is a hundredth of what the reward alone
//! leaves. A fault of signs or joins leaves no such weight.

use std::collections::BTreeMap;

use crate::causes::shared::lasting::Counts;
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::words::{measured, percent};
use stapo_base::stats::quantile::select_quantile;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence};

/// Responses beyond which two weights do not fit anything.
const FITTED: usize = 4;
/// A correlation above it is a line.
const IN_LINE: f64 = 0.99;
/// The part of what the reward alone leaves unexplained.
const REMAINS: f64 = 0.01;
const NEARLY_ALL: f64 = 0.95;
/// Fewer groups than this may be lines by chance.
const FEWEST: u32 = 5;
/// Groups in which better answers have the lower advantage.
const POSSIBLE: f64 = 0.01;
/// Reward and distance that go together to this part of their variance tell no weight.
const TOGETHER: f64 = 0.98;

/// Sums of squares and products of reward, distance and advantage, each less its mean in the group.
struct Moments {
    rr: f64,
    kk: f64,
    aa: f64,
    rk: f64,
    ra: f64,
    ka: f64,
}

impl Moments {
    fn of(group: &[ResponseFact]) -> Option<Self> {
        let values = group.iter().map(|f| [f.reward, f.distance, f.advantage].map(f64::from));
        let known: Vec<[f64; 3]> = values.filter(|v| v.iter().all(|x| x.is_finite())).collect();
        if known.len() <= FITTED {
            return None;
        }
        let mean = |i: usize| known.iter().map(|v| v[i]).sum::<f64>() / known.len() as f64;
        let means = [mean(0), mean(1), mean(2)];
        let product = |i: usize, j: usize| known.iter().map(|v| (v[i] - means[i]) * (v[j] - means[j])).sum();
        let moments = Self {
            rr: product(0, 0),
            kk: product(1, 1),
            aa: product(2, 2),
            rk: product(0, 1),
            ra: product(0, 2),
            ka: product(1, 2),
        };
        (moments.rr > 0.0 && moments.kk > 0.0 && moments.aa > 0.0).then_some(moments)
    }

    /// The weight of the distance, where the advantage rises with the reward.
    fn weight(&self) -> Option<f64> {
        let left = self.rr * self.kk - self.rk * self.rk;
        let of_reward = (self.ra * self.kk - self.ka * self.rk) / left;
        let of_distance = (self.ka * self.rr - self.ra * self.rk) / left;
        (left > (1.0 - TOGETHER) * self.rr * self.kk && of_reward > 0.0).then(|| -of_distance / of_reward)
    }

    /// Whether the reward less the penalty explains the advantage, and the reward alone does not.
    fn is_explained_by(&self, weight: f64) -> bool {
        let [with, without] = [weight, 0.0].map(|weight| self.correlation(weight));
        with > IN_LINE && 1.0 - with * with < REMAINS * (1.0 - without * without)
    }

    /// The correlation of the advantage with the reward less the penalty.
    fn correlation(&self, weight: f64) -> f64 {
        let spread = self.rr - 2.0 * weight * self.rk + weight * weight * self.kk;
        (self.ra - weight * self.ka) / (spread * self.aa).sqrt()
    }
}

/// What explains the order of the advantages.
pub struct Penalty {
    /// The weight at the last step that has one.
    weight: f64,
    /// Groups in which better answers have the lower advantage.
    turned: Counts,
}

impl Penalty {
    /// The penalty that advantages have in them.
    pub fn of<'a>(groups: impl Iterator<Item = &'a [ResponseFact]>) -> Option<Self> {
        let mut steps: BTreeMap<i64, Vec<Moments>> = BTreeMap::new();
        for group in groups {
            steps.entry(group[0].step).or_default().extend(Moments::of(group));
        }
        let mut found = Self { weight: f64::NAN, turned: Counts::default() };
        let (mut explained, mut all) = (0_u32, 0_u32);
        for (step, groups) in &steps {
            let mut weights: Vec<f64> = groups.iter().filter_map(Moments::weight).collect();
            let Some(weight) = select_quantile(&mut weights, 0.5) else { continue };
            for moments in groups {
                all += 1;
                explained += u32::from(moments.is_explained_by(weight));
                found.turned.add(*step, moments.ra < 0.0);
            }
            found.weight = weight;
        }
        let is_line = all >= FEWEST && f64::from(explained) >= NEARLY_ALL * f64::from(all);
        (is_line && found.weight > 0.0).then_some(found)
    }

    /// What it does to the order of the answers.
    pub fn finding(&self) -> Option<Finding> {
        let share = self.turned.share(POSSIBLE).filter(|share| share.lower() > POSSIBLE)?;
        let mut evidence = share
            .evidence("share of groups whose advantage falls with the reward", "groups in which both differ");
        evidence.push(number("weight of the distance from the reference", self.weight));
        let finding = found(
            CauseCode::AdvantageContradictsReward,
            Confidence::Possible,
            Some(share.from_step),
            format!(
                "in {} of the groups{} ({} of {}) the better answers have the lower advantage: advantages are made of the reward less {} for \
                 each nat of ln p − ln p_ref over the response (a KL term), which outweighs the reward there",
                percent(share.value()),
                share.side.told(),
                share.hits,
                share.tries,
                measured(self.weight, 4)
            ),
            "lower the weight of the KL term in the reward if that is not meant: the term grows with the length of responses",
            evidence,
        );
        Some(finding.before(share.side.end()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;
    use stapo_base::stats::random::Random;

    /// A hundred groups of eight, with advantages of the reward less a penalty and some noise.
    fn groups(weight: f64, noise: f64) -> Vec<Vec<ResponseFact>> {
        let mut random = Random::new(7, 1);
        let mut fact = |step: i64| {
            let (reward, distance) = ((random.unit() * 4.0).floor(), random.unit() * 90.0);
            let advantage = reward - weight * distance + noise * random.unit();
            ResponseFact {
                step,
                reward: reward as f32,
                distance: distance as f32,
                advantage: advantage as f32,
                ..ResponseFact::default()
            }
        };
        (0..100).map(|group| (0..8).map(|_| fact(group / 8)).collect()).collect()
    }

    #[test]
    fn a_penalty_in_the_reward_is_found_with_its_weight() {
        let all = groups(0.2, 0.0);
        let penalty = Penalty::of(all.iter().map(Vec::as_slice)).unwrap();
        assert!((penalty.weight - 0.2).abs() < 1e-4, "{}", penalty.weight);
        let Some(Finding::Found(cause)) = penalty.finding() else { panic!("groups are turned") };
        assert_eq!(cause.confidence, Confidence::Possible);
        assert!(cause.message.contains("the reward less 0.2000 for each nat"), "{}", cause.message);
    }

    #[test]
    fn a_small_penalty_turns_no_group() {
        let all = groups(0.002, 0.0);
        let penalty = Penalty::of(all.iter().map(Vec::as_slice)).unwrap();
        assert!((penalty.weight - 0.002).abs() < 1e-4 && penalty.finding().is_none());
    }

    #[test]
    fn plain_advantages_and_faults_have_none() {
        let plain = groups(0.0, 0.0);
        assert!(Penalty::of(plain.iter().map(Vec::as_slice)).is_none());
        let noisy = groups(0.05, 9.0);
        assert!(Penalty::of(noisy.iter().map(Vec::as_slice)).is_none());
        let mut turned = groups(0.05, 0.0);
        for group in turned.iter_mut().step_by(5) {
            group.iter_mut().for_each(|fact| fact.advantage = -fact.advantage);
        }
        assert!(Penalty::of(turned.iter().map(Vec::as_slice)).is_none());
    }
}
