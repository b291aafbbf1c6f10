//! The signals over the steps, with the sampling error of each step where it is known.

use rayon::prelude::*;

use super::annealed::by_weight_alone;
use super::costs::{costs, measures_distance, unpaid, wears_off};
use super::response_series::{MeanAtStep, OwnedQuantity, Quantity, response_series};
use super::series::{Role, Series};
use super::task_mix::by_mix_alone;
use crate::idle::IdleSteps;
use stapo_base::stats::sustained::{Direction, Point};
use stapo_collect::collect::Collected;
use stapo_collect::collect::questions::step_facts::StepFacts;
use stapo_collect::collect::signs::response_facts::{ResponseFact, ResponseFacts};
use stapo_collect::plan::Plan;
use stapo_result::{Answers, SignalName, StepRow};

/// Two policies whose k3 is below this differ by rounding alone: by 1e-4 in ln p.
const SAME_POLICY: f64 = 1e-8;

/// A signal that is a mean over responses, before it is made.
struct OfResponses {
    name: SignalName,
    role: Role,
    quantity: OwnedQuantity,
    /// The means of all responses, where they are known.
    exact: Vec<MeanAtStep>,
}

impl OfResponses {
    fn series(self, facts: &ResponseFacts) -> Option<Series> {
        response_series(facts, self.name, self.role, &*self.quantity, self.exact)
    }
}

/// All signals that the log has.
pub fn signals(
    collected: &Collected,
    (steps, idle): (&[StepRow], &IdleSteps),
    answers: &Answers,
    plan: &Plan,
) -> Vec<Series> {
    let (entropy_is_logged, energy_is_known) = (!plan.stand_in.entropy, !plan.stand_in.any());
    let facts = &collected.signs.facts;
    let mut of_responses: Vec<OfResponses> = Vec::new();
    let rows = |value: fn(&StepRow) -> Option<f64>| -> Vec<MeanAtStep> {
        let mean =
            |row: &StepRow| Some(MeanAtStep { step: row.step, value: value(row)?, responses: row.responses });
        steps.iter().filter_map(mean).collect()
    };
    let asked = |sums: &dyn Fn(&StepFacts) -> Option<(f64, u64)>| -> Vec<MeanAtStep> {
        let mean = |(step, facts): (&i64, &StepFacts)| {
            let (sum, responses) = sums(facts).filter(|(_, responses)| *responses > 0)?;
            Some(MeanAtStep { step: *step, value: sum / responses as f64, responses })
        };
        collected.questions.steps.iter().filter_map(mean).collect()
    };
    let mut of = |name: SignalName, role: Role, quantity: OwnedQuantity, exact: Vec<MeanAtStep>| {
        of_responses.push(OfResponses { name, role, quantity, exact });
    };
    let reward = |f: &ResponseFact| finite(f.reward);
    let exact = bounded(facts, None, &reward, rows(|row| row.mean_reward));
    of(SignalName::Reward, Role::Goal, Box::new(reward), exact);
    let (costs, unpaid) = (costs(facts, plan), unpaid(facts, plan));
    for (index, part) in plan.reward_parts.iter().enumerate() {
        let value = move |f: &ResponseFact| f.parts.get(index).copied().and_then(finite);
        let exact = asked(&|facts| facts.parts.get(part.as_str()).map(|p| (p.sum.value(), p.responses)));
        let exact = bounded(facts, Some(index), &value, exact);
        let signal = SignalName::part(part);
        let own = (index, &signal);
        let role = match costs.contains(&index) {
            // As `reference_k3`, which is the same of all tokens.
            _ if measures_distance(part) => Role::Sign,
            true if by_mix_alone(facts, own, Direction::Up) => Role::Sign,
            true => Role::Cost,
            false if unpaid.contains(&index) || wears_off(part) => Role::Sign,
            false if by_weight_alone(facts, own, &exact) => Role::Sign,
            false if by_mix_alone(facts, own, Direction::Down) => Role::Sign,
            false => Role::Goal,
        };
        of(signal, role, Box::new(value), exact);
    }
    let right = asked(&|facts| Some((facts.judged[1] as f64, facts.judged[0])));
    let is_right = |f: &ResponseFact| f.right.map(|right| f64::from(u8::from(right)));
    of(SignalName::PassRate, Role::Goal, Box::new(is_right), right);
    if entropy_is_logged {
        let entropy = |f: &ResponseFact| finite(f.entropy);
        of(SignalName::Entropy, Role::Entropy, Box::new(entropy), rows(|row| row.mean_entropy));
    }
    let length = |f: &ResponseFact| Some(f64::from(f.length));
    of(SignalName::Length, Role::Sign, Box::new(length), rows(|row| row.mean_length));
    let cut =
        asked(&|facts| Some((facts.cut.responses as f64, facts.cut.responses + facts.finished.responses)));
    let is_cut = |f: &ResponseFact| f.truncated.map(|t| f64::from(u8::from(t)));
    of(SignalName::Truncated, Role::Harm, Box::new(is_cut), cut);
    if !plan.stand_in.advantage {
        let size = |f: &ResponseFact| finite(f.largest).filter(|_| f.signs != [false; 2]);
        of(SignalName::AdvantageSize, Role::Sign, Box::new(size), Vec::new());
    }
    let mut all: Vec<Series> = of_responses.into_par_iter().filter_map(|one| one.series(facts)).collect();
    // The energy of a step without an advantage is what rounding leaves.
    let teaches = |row: &StepRow| !idle.contains(row.step);
    let mut sign = |name: SignalName, log: bool, of: &dyn Fn(&StepRow) -> Option<f64>| {
        all.extend(of_steps(steps, name, log, of));
    };
    if energy_is_known {
        sign(SignalName::EffectiveNumber, true, &|row| {
            row.concentration.effective_number.filter(|_| teaches(row))
        });
    }
    sign(SignalName::UpdateK3, true, &|row| row.update_k3);
    sign(SignalName::EngineK3, true, &|row| row.mismatch.as_ref().map(|m| m.kl));
    sign(SignalName::ReferenceK3, true, &|row| row.reference_k3);
    sign(SignalName::LargestRatio, true, &|row| row.largest_ratio);
    if !plan.stand_in.advantage {
        sign(SignalName::ClippedShare, false, &|row| row.clipped_share);
    }
    if energy_is_known {
        sign(SignalName::SpuriousEnergyShare, false, &|row| {
            row.spurious_energy_share.filter(|_| teaches(row))
        });
    }
    if !plan.stand_in.advantage {
        all.extend(dead_groups(facts, steps));
    }
    all.extend(repetition(answers, steps));
    all
}

/// Means of steps in which a value far beyond all others counts as its bound: of the kept responses there.
fn bounded(
    facts: &ResponseFacts,
    part: Option<usize>,
    of: Quantity<'_>,
    mut means: Vec<MeanAtStep>,
) -> Vec<MeanAtStep> {
    for mean in &mut means {
        if facts.outliers.iter().any(|outlier| outlier.part == part && outlier.step == mean.step) {
            let here = facts.responses.iter().filter(|fact| fact.step == mean.step);
            let values: Vec<f64> = here.filter_map(of).collect();
            mean.value = values.iter().sum::<f64>() / values.len() as f64;
        }
    }
    means
}

fn finite(value: f32) -> Option<f64> {
    value.is_finite().then_some(f64::from(value))
}

/// A quantity of steps whose sampling error is not known.
fn of_steps(
    steps: &[StepRow],
    name: SignalName,
    log: bool,
    of: &dyn Fn(&StepRow) -> Option<f64>,
) -> Option<Series> {
    let point = |row: &StepRow| Some(Point { step: row.step, value: of(row)?, error: None });
    let points: Vec<Point> = steps.iter().filter_map(point).collect();
    let rounding = match name {
        SignalName::UpdateK3 | SignalName::EngineK3 | SignalName::ReferenceK3 => SAME_POLICY,
        _ => 0.0,
    };
    (!points.is_empty()).then(|| Series { points, log, rounding, ..Series::new(name, Role::Sign) })
}

/// A share with the error of a share of so many.
pub fn share_of(step: i64, value: f64, of: f64) -> Point {
    // One more of each kind, so that no share is certain.
    let likely = (value * of + 1.0) / (of + 2.0);
    Point { step, value, error: Some((likely * (1.0 - likely) / of).sqrt()) }
}

/// The share of responses that end in a long loop. Siblings do alike, so groups are what is counted.
fn repetition(answers: &Answers, steps: &[StepRow]) -> Option<Series> {
    let rows = &answers.repetition.as_ref()?.steps;
    let groups = |step: i64| {
        let at = steps.binary_search_by_key(&step, |row| row.step).ok()?;
        steps[at].groups.or(Some(steps[at].responses)).filter(|groups| *groups > 0)
    };
    let points =
        rows.iter().filter_map(|row| Some(share_of(row.step, row.stuck_share, groups(row.step)? as f64)));
    Some(Series { points: points.collect(), ..Series::new(SignalName::Repetition, Role::Harm) })
}

/// The share of groups without an advantage, where groups have siblings.
fn dead_groups(facts: &ResponseFacts, steps: &[StepRow]) -> Option<Series> {
    let share = |row: &StepRow| {
        let groups = row.groups.filter(|groups| *groups > 0)? as f64;
        Some(share_of(row.step, row.zero_advantage_groups? as f64 / groups, groups))
    };
    let points: Vec<Point> = steps.iter().filter_map(share).collect();
    let grouped = !points.is_empty() && facts.have_siblings();
    grouped.then(|| Series { points, ..Series::new(SignalName::DeadGroups, Role::Sign) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A series that is halved in the middle.
    fn halved(level: f64, rounding: f64) -> Series {
        let value = |step: i64| if step < 10 { level } else { 0.5 * level };
        let scattered = |step: i64| value(step) * (1.0 + 0.01 * (step % 3) as f64);
        let point = |step: i64| Point { step, value: scattered(step), error: None };
        let points = (0..20).map(point).collect();
        Series { points, log: true, rounding, ..Series::new(SignalName::EngineK3, Role::Sign) }
    }

    #[test]
    fn rounding_that_changes_is_no_sign() {
        let change = halved(1e-3, SAME_POLICY).change(Direction::Down);
        assert!(change.is_some_and(|change| (change.after / change.before - 0.5).abs() < 0.01));
        assert_eq!(halved(9e-14, SAME_POLICY).change(Direction::Down), None);
        assert!(halved(9e-14, 0.0).change(Direction::Down).is_some());
    }
}
