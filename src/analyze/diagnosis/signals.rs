//! The signals over the steps, with the sampling error of each step where it is known.

use std::collections::BTreeMap;

use crate::analyze::collect::signs::CollectedSigns;
use crate::analyze::collect::signs::facts::ResponseFact;
use crate::analyze::plan::Plan;
use crate::analyze::result::{Answers, Signal, StepRow};
use crate::stats::sustained::{Change, Direction, Point, sustained};

/// The share of responses that meet the user's condition for right ones.
pub const PASS_RATE: &str = "pass_rate";

/// What it means when a signal moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// What is trained for: a fall is damage.
    Goal,
    /// A rise is damage.
    Harm,
    /// Gone or out of proportion is damage.
    Entropy,
    /// A sign, never damage by itself.
    Sign,
}

/// A signal with what is needed to judge it.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// What a change means.
    pub role: Role,
    /// Its values.
    pub points: Vec<Point>,
    /// Whether changes are looked for in its logarithm.
    log: bool,
    /// Smallest and largest value of a single response, and the standard deviation of these.
    pub range: Option<[f64; 3]>,
}

impl Series {
    /// The change in one direction that lasts to the end.
    pub fn change(&self, direction: Direction) -> Option<Change> {
        if !self.log {
            return sustained(&self.points, direction);
        }
        let positive = self.points.iter().filter(|p| p.value > 0.0);
        let points: Vec<Point> = positive.map(|p| Point { value: p.value.ln(), ..*p }).collect();
        let change = sustained(&points, direction)?;
        Some(Change { before: change.before.exp(), after: change.after.exp(), ..change })
    }

    /// As it is shown.
    pub fn shown(&self) -> Signal {
        let points = self.points.iter().map(|p| (p.step, p.value, p.error)).collect();
        Signal { name: self.name.clone(), points }
    }

    /// The mean of the last quarter of the steps.
    pub fn end(&self) -> Option<f64> {
        let last = &self.points[self.points.len() - (self.points.len() / 4).max(1).min(self.points.len())..];
        (!last.is_empty()).then(|| last.iter().map(|p| p.value).sum::<f64>() / last.len() as f64)
    }
}

/// All signals that the log has.
pub fn signals(signs: &CollectedSigns, steps: &[StepRow], answers: &Answers, plan: &Plan) -> Vec<Series> {
    let entropy_is_logged = !plan.stand_in;
    let facts = &signs.facts.responses;
    let mut all = Vec::new();
    let exact = |value: fn(&StepRow) -> Option<f64>| move |row: &StepRow| value(row);
    let thinning = 0.5_f64.powi(i32::try_from(signs.facts.level).unwrap_or(0)).sqrt();
    let mut goal = |name: String, role: Role, of: &dyn Fn(&ResponseFact) -> Option<f64>| {
        all.extend(of_responses(facts, name, role, of));
    };
    goal("reward".into(), Role::Goal, &|f| finite(f.reward));
    for (index, part) in plan.reward_parts.iter().enumerate() {
        goal(format!("reward/{part}"), Role::Goal, &|f| f.parts.get(index).copied().and_then(finite));
    }
    goal(PASS_RATE.into(), Role::Goal, &|f| f.right.map(|right| f64::from(u8::from(right))));
    if entropy_is_logged {
        goal("entropy".into(), Role::Entropy, &|f| finite(f.entropy));
    }
    goal("length".into(), Role::Sign, &|f| Some(f64::from(f.length)));
    goal("truncated".into(), Role::Harm, &|f| f.truncated.map(|t| f64::from(u8::from(t))));
    set_exact(&mut all, "reward", steps, exact(|row| row.mean_reward), thinning);
    set_exact(&mut all, "entropy", steps, exact(|row| row.mean_entropy), thinning);
    set_exact(&mut all, "length", steps, exact(|row| row.mean_length), thinning);
    let mut sign = |name: &str, log: bool, of: &dyn Fn(&StepRow) -> Option<f64>| {
        all.extend(of_steps(steps, name, log, of));
    };
    if entropy_is_logged {
        sign("effective_number", true, &|row| row.concentration.effective_number);
    }
    sign("update_k3", true, &|row| row.update_k3);
    sign("engine_k3", true, &|row| row.mismatch.as_ref().map(|m| m.kl));
    sign("reference_k3", true, &|row| row.reference_k3);
    sign("largest_ratio", true, &|row| row.largest_ratio);
    sign("clipped_share", false, &|row| row.clipped_share);
    if entropy_is_logged {
        sign("spurious_energy_share", false, &|row| row.spurious_energy_share);
    }
    all.extend(dead_groups(signs));
    all.extend(repetition(answers, steps));
    all
}

fn finite(value: f32) -> Option<f64> {
    value.is_finite().then_some(f64::from(value))
}

/// Number and sum of the values of a group's responses.
type GroupSum = (f64, f64);

/// A quantity of responses: means by step, with errors by drawing groups.
fn of_responses(
    facts: &[ResponseFact],
    name: String,
    role: Role,
    of: &dyn Fn(&ResponseFact) -> Option<f64>,
) -> Option<Series> {
    let mut steps: BTreeMap<i64, BTreeMap<u64, GroupSum>> = BTreeMap::new();
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for fact in facts {
        let Some(value) = of(fact) else { continue };
        let group = steps.entry(fact.step).or_default().entry(fact.group).or_default();
        group.0 += 1.0;
        group.1 += value;
        n += 1.0;
        sum += value;
        squares += value * value;
        low = low.min(value);
        high = high.max(value);
    }
    if n == 0.0 {
        return None;
    }
    let deviation = (squares / n - (sum / n) * (sum / n)).max(0.0).sqrt();
    // Steps of one group borrow the scatter of the others: of responses, where all are such.
    let scattered: Vec<(f64, f64)> = steps.values().filter_map(variance).collect();
    let weights: f64 = scattered.iter().map(|(_, freedom)| freedom).sum();
    let pooled = scattered.iter().map(|(v, freedom)| v * freedom).sum::<f64>() / weights;
    let pooled = if weights > 0.0 { pooled } else { deviation * deviation };
    let points = steps.iter().map(|(step, groups)| {
        let (n, sum) = groups.values().fold((0.0, 0.0), |all, g| (all.0 + g.0, all.1 + g.1));
        let own = variance(groups).map_or(pooled, |(own, _)| own.max(pooled));
        Point { step: *step, value: sum / n, error: Some((own / groups.len() as f64).sqrt()) }
    });
    Some(Series { name, role, points: points.collect(), log: false, range: Some([low, high, deviation]) })
}

/// The variance of the means of groups, with its degrees of freedom.
fn variance(groups: &BTreeMap<u64, GroupSum>) -> Option<(f64, f64)> {
    if groups.len() < 2 {
        return None;
    }
    let means: Vec<f64> = groups.values().map(|(n, sum)| sum / n).collect();
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    let freedom = (means.len() - 1) as f64;
    Some((means.iter().map(|m| (m - mean) * (m - mean)).sum::<f64>() / freedom, freedom))
}

/// Puts the exact means of the step table in place of those of the sampled responses.
fn set_exact(
    all: &mut [Series],
    name: &str,
    steps: &[StepRow],
    value: impl Fn(&StepRow) -> Option<f64>,
    thinning: f64,
) {
    let Some(series) = all.iter_mut().find(|series| series.name == name) else { return };
    for point in &mut series.points {
        let row = steps.binary_search_by_key(&point.step, |row| row.step).ok().map(|at| &steps[at]);
        if let Some(exact) = row.and_then(&value) {
            point.value = exact;
            point.error = point.error.map(|error| error * thinning);
        }
    }
}

/// A quantity of steps whose sampling error is not known.
fn of_steps(
    steps: &[StepRow],
    name: &str,
    log: bool,
    of: &dyn Fn(&StepRow) -> Option<f64>,
) -> Option<Series> {
    let point = |row: &StepRow| Some(Point { step: row.step, value: of(row)?, error: None });
    let points: Vec<Point> = steps.iter().filter_map(point).collect();
    (!points.is_empty()).then(|| Series { name: name.into(), role: Role::Sign, points, log, range: None })
}

/// A share with the error of a share of so many.
pub fn share_of(step: i64, value: f64, of: f64) -> Point {
    // One more of each kind, so that no share is certain.
    let likely = (value * of + 1.0) / (of + 2.0);
    Point { step, value, error: Some((likely * (1.0 - likely) / of).sqrt()) }
}

/// The share of responses that end in a loop. Siblings do alike, so groups are what is counted.
fn repetition(answers: &Answers, steps: &[StepRow]) -> Option<Series> {
    let rows = &answers.repetition.as_ref()?.steps;
    let groups = |step: i64| {
        let at = steps.binary_search_by_key(&step, |row| row.step).ok()?;
        steps[at].groups.or(Some(steps[at].responses)).filter(|groups| *groups > 0)
    };
    let points =
        rows.iter().filter_map(|row| Some(share_of(row.step, row.looping_share, groups(row.step)? as f64)));
    let name = "repetition".into();
    Some(Series { name, role: Role::Harm, points: points.collect(), log: false, range: None })
}

/// The share of groups without an advantage.
fn dead_groups(signs: &CollectedSigns) -> Option<Series> {
    let grouped = signs.facts.groups().any(|group| group.len() > 1);
    let point = |(step, (dead, groups)): (i64, (u64, u64))| {
        share_of(step, dead as f64 / groups as f64, groups as f64)
    };
    let points: Vec<Point> = signs.facts.dead_groups().into_iter().map(point).collect();
    let name = "dead_groups".into();
    grouped.then_some(Series { name, role: Role::Sign, points, log: false, range: None })
}
