//! Two runs known by their curves: the scatter between neighbouring steps is the error. Simulated pairs without a
//! difference seldom show one, at δ = 0; a real difference is found.
#![allow(clippy::unwrap_used, clippy::cast_possible_wrap)]

use std::collections::BTreeMap;

use stapo_base::stats::random::Random;
use stapo_levels::{
    Clusters, Metric, NotTested, RunGroups, RunsRow, Settings, Verdict, Window, compare_runs,
};

/// How the rows of simulated curves scatter about a reward that rises from 0.1 to 0.7.
#[derive(Clone, Copy, Debug)]
enum Noise {
    White,
    /// Both runs see the same prompts at the same steps.
    Shared,
    /// Sixteen answers a step, each right or wrong.
    Coarse,
    /// Three times as noisy at the end.
    Growing,
    /// Held-out scores, with a lag-1 correlation of 0.6.
    Alike,
}

fn curves(steps: usize, noise: Noise, lift: f64, random: &mut Random) -> [RunGroups; 2] {
    let shared: Vec<f64> = (0..steps).map(|_| 0.05 * random.normal()).collect();
    [0.0, lift].map(|lift| {
        let mut last = random.normal();
        let value = |(step, shared): (usize, &f64)| {
            let part = step as f64 / steps as f64;
            let mean = lift + 0.1 + 0.6 / (1.0 + (-8.0 * (part - 0.4)).exp());
            let own = 0.05 * random.normal();
            let value = match noise {
                Noise::White => mean + own,
                Noise::Shared => mean + shared + own,
                Noise::Coarse => (0..16).map(|_| f64::from(random.unit() < mean)).sum::<f64>() / 16.0,
                Noise::Growing => mean + own * (1.0 + 2.0 * part),
                Noise::Alike => {
                    last = 0.6 * last + 0.8 * random.normal();
                    mean + 0.05 * last
                }
            };
            (step as i64, value)
        };
        let values = shared.iter().enumerate().map(value).collect();
        let metric = if matches!(noise, Noise::Alike) { Metric::HeldOut } else { Metric::Reward };
        RunGroups::of_means(&BTreeMap::from([(metric, (values, 1.0))]))
    })
}

fn rows(steps: usize, noise: Noise, lift: f64, random: &mut Random) -> Vec<RunsRow> {
    let [a, b] = curves(steps, noise, lift, random);
    compare_runs(&a, &b, &Settings::default()).rows
}

#[test]
fn equal_curves_seldom_differ() {
    const PAIRS: u32 = 400;
    let mut random = Random::new(45, 0);
    let mut counts = Vec::new();
    for noise in [Noise::White, Noise::Shared, Noise::Coarse, Noise::Growing, Noise::Alike] {
        for steps in [12, 20, 40, 100, 400] {
            let mut count = 0;
            for _ in 0..PAIRS {
                let found = rows(steps, noise, 0.0, &mut random);
                let beyond =
                    |row: &RunsRow| row.half.is_some_and(|half| row.difference.unwrap().abs() > half);
                count += u32::from(found.iter().any(beyond));
            }
            assert!(f64::from(count) <= 0.07 * f64::from(PAIRS), "{noise:?} of {steps} steps: {count}");
            counts.push(count);
        }
    }
    let pooled: u32 = counts.iter().sum();
    assert!(pooled * 20 <= PAIRS * 25, "{pooled}");
    // Seeds are fixed, so any other count is another estimator.
    assert_eq!(pooled, 181, "{counts:?}");
}

#[test]
fn a_difference_of_curves_is_found() {
    let mut random = Random::new(46, 0);
    for (steps, lift) in [(20, 0.2), (100, 0.08)] {
        let found = (0..100).filter(|_| {
            let level = &rows(steps, Noise::Shared, lift, &mut random)[0];
            assert_eq!((level.window, level.clusters), (Window::Level, Some(Clusters::Steps)));
            level.verdict == Verdict::Differs
        });
        let found = found.count();
        assert!(found >= 90, "{found} of {steps} steps");
    }
}

#[test]
fn few_steps_are_not_tested() {
    let found = rows(11, Noise::White, 0.5, &mut Random::new(47, 0));
    assert!(found.iter().all(|row| row.reason == Some(NotTested::FewSteps)), "{found:?}");
    // 20 steps are tested, their last four are not.
    let found = rows(20, Noise::White, 0.5, &mut Random::new(47, 1));
    assert_eq!([found[0].reason, found[1].reason], [None, Some(NotTested::FewSteps)]);
}
