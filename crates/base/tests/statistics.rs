//! The statistics of comparisons: the same values as SciPy's, intervals that cover, p-values that
//! are uniform.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use stapo_base::stats::bootstrap::{Stratum, Units, interval, resample, totals, widened};
use stapo_base::stats::random::Random;
use stapo_base::stats::{holm, wilcoxon::signed_rank};

fn cases(name: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("data/scipy.json")).unwrap();
    all[name].as_array().unwrap().clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn assert_close(found: f64, expected: f64, case: &Value) {
    assert!((found - expected).abs() <= 1e-9 * expected.max(1e-6), "{found}, SciPy {expected}: {case}");
}

/// Values of benches/scipy_cases.py.
#[test]
fn p_values_are_those_of_scipy() {
    let signed = cases("wilcoxon");
    assert!(signed.len() > 150);
    for case in &signed {
        assert_close(signed_rank(&numbers(&case[0])), case[1].as_f64().unwrap(), case);
    }
    for case in cases("holm") {
        let (found, expected) = (holm::adjusted(&numbers(&case[0])), numbers(&case[1]));
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.into_iter().zip(expected) {
            assert_close(found, expected, &case);
        }
    }
    assert_eq!(signed_rank(&[]), 1.0);
    assert_eq!(signed_rank(&[0.0; 40]), 1.0);
}

/// How a simulated pair of logs scatters.
#[derive(Clone, Copy, Debug)]
struct Design {
    steps: usize,
    groups: usize,
    /// Scatter of the difference from step to step.
    between: f64,
    /// Correlation of that scatter from step to step.
    correlation: f64,
    /// Scatter of groups, of which `shared` is the prompt's.
    within: f64,
    shared: f64,
    /// Whether groups have unequal numbers of tokens.
    uneven: bool,
}

impl Design {
    /// Sums of (value, tokens) with a true difference of ¼.
    fn simulate(&self, random: &mut Random) -> Vec<Stratum<2>> {
        let mut drift = random.normal();
        (0..self.steps)
            .map(|step| {
                let level = 2.0 - step as f64 / self.steps as f64;
                drift = self.correlation * drift + (1.0 - self.correlation.powi(2)).sqrt() * random.normal();
                let difference = 0.25 + self.between * drift;
                let mut sides = [Vec::new(), Vec::new()];
                for _ in 0..self.groups {
                    let prompt = self.within * self.shared.sqrt() * random.normal();
                    for (side, clusters) in sides.iter_mut().enumerate() {
                        let tokens = if self.uneven { 50.0 + 200.0 * random.unit() } else { 100.0 };
                        let own = self.within * (1.0 - self.shared).sqrt() * random.normal();
                        let value = level + prompt + own + difference * side as f64;
                        clusters.push([value * tokens, tokens]);
                    }
                }
                Stratum { sides, paired: true }
            })
            .collect()
    }

    /// The share of 90 % intervals that hold ¼.
    fn coverage(&self, units: impl Fn(&[Stratum<2>]) -> (Units, usize, f64), simulations: u64) -> f64 {
        let mut random = Random::new(11, self.steps as u64);
        let mean = |sums: &[[f64; 2]; 2]| sums[1][0] / sums[1][1] - sums[0][0] / sums[0][1];
        let held = (0..simulations).filter(|simulation| {
            let strata = self.simulate(&mut random);
            let (units, independent, factor) = units(&strata);
            let draws: Vec<f64> = resample(&strata, units, 400, *simulation).iter().map(mean).collect();
            let found = interval(&draws, 0.9, independent).unwrap();
            let [low, high] = widened(found, mean(&totals(&strata)), factor);
            (low..=high).contains(&0.25)
        });
        held.count() as f64 / simulations as f64
    }
}

#[test]
fn intervals_cover_what_they_promise() {
    let design = |steps, groups, between, within, shared, uneven| Design {
        steps,
        groups,
        between,
        correlation: 0.0,
        within,
        shared,
        uneven,
    };
    for design in [
        design(11, 16, 0.0, 1.0, 0.5, true),
        design(11, 16, 0.3, 1.0, 0.5, true),
        design(8, 8, 0.1, 1.0, 0.0, true),
        design(40, 8, 0.2, 0.5, 0.8, false),
    ] {
        let by_steps = |s: &[Stratum<2>]| (Units::Steps { joint: true }, s.len(), 1.0);
        let covered = design.coverage(by_steps, 1_500);
        assert!((0.87..=0.93).contains(&covered), "{covered} of {design:?}");
    }
    // Few steps: what is drawn are groups, and the interval is of these steps.
    let few = design(3, 20, 0.0, 1.0, 0.5, true);
    let covered = few.coverage(|_| (Units::Groups, 3 * 20 - 3 + 1, 1.0), 1_500);
    assert!((0.87..=0.93).contains(&covered), "{covered} of {few:?}");
}

/// Largest distance of the distribution of p-values from the uniform one, beyond the steps that a
/// discrete test has.
fn distance_from_uniform(mut p: Vec<f64>) -> f64 {
    p.sort_unstable_by(f64::total_cmp);
    let n = p.len() as f64;
    p.iter().enumerate().map(|(i, p)| ((i + 1) as f64 / n - p).max(0.0)).fold(0.0, f64::max)
}

#[test]
fn shuffled_labels_give_uniform_p_values() {
    let design = Design {
        steps: 24,
        groups: 6,
        between: 0.0,
        correlation: 0.0,
        within: 1.0,
        shared: 0.4,
        uneven: true,
    };
    let mut random = Random::new(23, 0);
    let mut p = Vec::new();
    for _ in 0..2_000 {
        let mut strata = design.simulate(&mut random);
        for stratum in &mut strata {
            if random.bits() & 1 == 1 {
                stratum.sides.swap(0, 1);
            }
        }
        let sides: Vec<[f64; 2]> =
            strata.iter().map(|s| totals(std::slice::from_ref(s)).map(|sums| sums[0] / sums[1])).collect();
        let differences: Vec<f64> = sides.iter().map(|s| s[1] - s[0]).collect();
        p.push(signed_rank(&differences));
    }
    let share = |below: f64| p.iter().filter(|p| **p <= below).count() as f64 / p.len() as f64;
    assert!((share(0.05) - 0.05).abs() < 0.016, "{}", share(0.05));
    assert!((share(0.5) - 0.5).abs() < 0.04, "{}", share(0.5));
    assert!(distance_from_uniform(p.clone()) < 0.04, "{}", distance_from_uniform(p));
}

#[test]
fn draws_do_not_depend_on_threads_and_equal_sides_never_differ() {
    let design = Design {
        steps: 9,
        groups: 5,
        between: 0.2,
        correlation: 0.0,
        within: 1.0,
        shared: 0.4,
        uneven: true,
    };
    let mut strata = design.simulate(&mut Random::new(1, 0));
    let units = Units::Steps { joint: true };
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let many = rayon::ThreadPoolBuilder::new().num_threads(5).build().unwrap();
    let first = alone.install(|| resample(&strata, units, 200, 9));
    assert!(first == many.install(|| resample(&strata, units, 200, 9)));
    assert!(first != resample(&strata, units, 200, 10));
    strata.iter_mut().for_each(|s| s.sides[1] = s.sides[0].clone());
    assert!(resample(&strata, units, 200, 9).iter().all(|d| d[0] == d[1]));
    assert!(resample(&strata, Units::Groups, 200, 9).iter().all(|d| d[0] == d[1]));
}
