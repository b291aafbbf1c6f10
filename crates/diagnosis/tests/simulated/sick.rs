//! Runs that lost what they had, or never gained.

use super::draws::{Draws, levels};
use super::rewards::{Kind, Log, Plan};
use super::{Family, Truth};
use Truth::{Falls, Held};

/// To 0.8, and down in the last quarter.
fn last_quarter(steps: usize, low: f64) -> Plan {
    Plan::new(levels(steps, &[(0.0, 0.1), (0.5, 0.8), (0.7, 0.8), (0.8, low), (1.0, low)]))
}

/// The answer is lost while length is paid for.
fn hacked(draws: &mut Draws, from: f64, groups: usize) -> Log {
    let log = Plan::new(levels(11, &[(0.0, from), (0.12, 0.01), (1.0, 0.0005)])).sized(groups, 8).draw(draws);
    let log = log.part("reward/correct", |_, right| right).part("reward/length", |step, _| {
        (0.5 + 0.4 * step as f64 / 11.0 + 0.15 * draws.normal()).clamp(0.0, 1.0)
    });
    log.edit(|_, right| 0.2 * right).plus("reward/length", 1.0)
}

fn malus(draws: &mut Draws) -> Log {
    let log =
        Plan::new(levels(12, &[(0.0, 0.2), (0.5, 0.8), (0.6, 0.8), (0.7, 0.2), (1.0, 0.2)])).draw(draws);
    log.edit(|step, right| if step >= 8 && right == 0.0 && draws.unit() < 0.8 { -1.0 } else { right })
}

fn one_of_three(draws: &mut Draws) -> Log {
    let up = levels(12, &[(0.0, 0.2), (1.0, 0.9)]);
    let down = levels(12, &[(0.0, 0.2), (0.5, 0.8), (0.7, 0.8), (0.8, 0.2), (1.0, 0.2)]);
    let level = up.iter().zip(&down).map(|(up, down)| vec![*up, *up, *down]).collect();
    Plan::of_tasks(level).task(|_, _, group| group % 3).draw(draws)
}

const fn of(group: &'static str, name: &'static str, truth: Truth, draw: fn(&mut Draws) -> Log) -> Family {
    Family { group, name, truth, draw }
}

const DOWN: &str = "to 0 or near it";
const HALF: &str = "0.8 to 0.4, rise and fall";
const FIFTH: &str = "0.8 to 0.6";
const PARTS: &str = "a part, a task";
const OTHER: &str = "other rewards";
const HELD: &str = "never gains: \"not learning\"";

/// Each row.
pub const SICK: &[Family] = &[
    of(DOWN, "0.6 to 0", Falls, |d| {
        Plan::new(levels(12, &[(0.0, 0.2), (0.5, 0.6), (0.6, 0.0005), (1.0, 0.0005)])).draw(d)
    }),
    of(DOWN, "500 steps of 8 × 4", Falls, |d| {
        let points = [(0.0, 0.2), (0.5, 0.6), (0.9, 0.6), (0.95, 0.001), (1.0, 0.001)];
        Plan::new(levels(500, &points)).sized(8, 4).draw(d)
    }),
    of(DOWN, "5 steps", Falls, |d| {
        Plan::new(levels(5, &[(0.0, 0.6), (0.5, 0.55), (0.75, 0.001), (1.0, 0.001)])).draw(d)
    }),
    of(DOWN, "0.25 to 0 after one step", Falls, |d| {
        Plan::new([vec![0.25, 0.02], vec![0.005; 9]].concat()).sized(26, 8).draw(d)
    }),
    of(HALF, "12 steps", Falls, |d| last_quarter(12, 0.4).draw(d)),
    of(HALF, "12 steps, scatter 0.3", Falls, |d| last_quarter(12, 0.4).scattered(0.3, 0.0).draw(d)),
    of(HALF, "to 0.3, 8 × 4", Falls, |d| last_quarter(12, 0.3).sized(8, 4).draw(d)),
    of(HALF, "to 0.5 little by little", Falls, |d| {
        Plan::new(levels(24, &[(0.0, 0.2), (0.3, 0.8), (1.0, 0.5)])).draw(d)
    }),
    of(HALF, "0.11, 0.49, 0.08", Falls, |d| {
        Plan::new(levels(10, &[(0.0, 0.11), (0.5, 0.49), (1.0, 0.08)])).draw(d)
    }),
    of(HALF, "50 tasks", Falls, |d| last_quarter(20, 0.4).task(|d, _, _| d.below(50)).draw(d)),
    of(FIFTH, "12 steps", Falls, |d| last_quarter(12, 0.6).draw(d)),
    of(FIFTH, "24 steps", Falls, |d| last_quarter(24, 0.6).draw(d)),
    of(FIFTH, "50 steps of 8 × 4", Falls, |d| last_quarter(50, 0.6).sized(8, 4).draw(d)),
    of(PARTS, "answer 0.22 to 0, length paid for", Falls, |d| hacked(d, 0.22, 26)),
    of(PARTS, "answer 0.12 to 0, length paid for", Falls, |d| hacked(d, 0.12, 32)),
    of(PARTS, "one of three tasks", Falls, one_of_three),
    of(PARTS, "a part like the reward", Falls, |d| {
        let plan = Plan::new(levels(12, &[(0.0, 0.2), (0.5, 0.8), (0.6, 0.8), (0.7, 0.3), (1.0, 0.3)]));
        plan.draw(d).part("reward/style", |_, right| right)
    }),
    of(OTHER, "normal, 1 to 0", Falls, |d| {
        Plan::new(levels(12, &[(0.0, -0.5), (0.5, 1.0), (0.7, 1.0), (0.8, 0.0), (1.0, 0.0)]))
            .kind(Kind::Normal)
            .draw(d)
    }),
    of(OTHER, "heavy, 1 to −0.5", Falls, |d| {
        Plan::new(levels(12, &[(0.0, 0.0), (0.5, 1.0), (0.7, 1.0), (0.8, -0.5), (1.0, -0.5)]))
            .kind(Kind::Heavy)
            .draw(d)
    }),
    of(OTHER, "a malus of −1 comes with it", Falls, malus),
    of(OTHER, "rare: 0.08 to 0.001", Falls, |d| {
        let points = [(0.0, 0.005), (0.6, 0.08), (0.8, 0.001), (1.0, 0.001)];
        Plan::new(levels(24, &points)).sized(64, 8).draw(d)
    }),
    of(OTHER, "[−1, 1], 0.8 to 0.4", Falls, |d| last_quarter(12, 0.4).kind(Kind::Signed).draw(d)),
    of(HELD, "0.1, 12 steps", Held, |d| Plan::new(vec![0.1; 12]).draw(d)),
    of(HELD, "0.5, 12 steps", Held, |d| Plan::new(vec![0.5; 12]).draw(d)),
    of(HELD, "0.1, 10 steps, scatter 0.3", Held, |d| Plan::new(vec![0.1; 10]).scattered(0.3, 0.0).draw(d)),
    of(HELD, "normal, 24 steps", Held, |d| Plan::new(vec![0.0; 24]).kind(Kind::Normal).draw(d)),
    of(HELD, "0.13 to 0.19, 60 steps", Held, |d| {
        Plan::new(levels(60, &[(0.0, 0.13), (0.3, 0.19), (1.0, 0.19)])).draw(d)
    }),
];
