//! Healthy runs, unlike one another and unlike the sample files.

use super::draws::{Draws, levels};
use super::rewards::{Kind, Log, Plan};
use super::{Family, Truth};
use Truth::{Learns, Sound};

fn rising(steps: usize) -> Plan {
    Plan::new(levels(steps, &[(0.0, 0.1), (0.7, 0.8), (1.0, 0.85)]))
}

/// Later in training, at one level.
fn flat(steps: usize, level: f64) -> Plan {
    Plan::new(vec![level; steps]).later()
}

fn of_two(steps: usize, first: [f64; 2], second: [f64; 2]) -> Plan {
    let of = |[from, to]: [f64; 2]| levels(steps, &[(0.0, from), (1.0, to)]);
    Plan::of_tasks(of(first).into_iter().zip(of(second)).map(|(a, b)| vec![a, b]).collect())
}

/// A task that comes as often as this says.
macro_rules! mixed {
    ($share:expr) => {
        |draws, step, _| {
            let share: fn(f64) -> f64 = $share;
            usize::from(draws.unit() < share(step as f64))
        }
    };
}

fn thirds(_: &mut Draws, _: usize, group: usize) -> usize {
    group % 3
}

fn any_of_50(draws: &mut Draws, _: usize, _: usize) -> usize {
    draws.below(50)
}

fn priced(draws: &mut Draws, keep_parts: bool) -> Log {
    let log = Plan::new(levels(16, &[(0.0, 0.2), (0.5, 0.8), (1.0, 0.85)])).draw(draws);
    let log = log.part("reward/correct", |_, right| right).part("reward/over_long", |step, _| {
        let length = (0.7 + 0.2 * draws.normal()).clamp(0.0, 1.0);
        if step >= 8 { -0.5 * length } else { 0.0 }
    });
    let log = log.plus("reward/over_long", 1.0);
    if keep_parts { log } else { log.without("reward/correct").without("reward/over_long") }
}

fn rescaled(draws: &mut Draws, factor: f64) -> Log {
    let log = Plan::new(levels(16, &[(0.0, 0.2), (0.5, 0.8), (1.0, 0.9)])).draw(draws);
    log.edit(|step, right| if step >= 8 { factor * right } else { right })
}

fn penalty_grows(draws: &mut Draws) -> Log {
    let log =
        Plan::new(levels(12, &[(0.0, 0.2), (1.0, 0.8)])).draw(draws).part("reward/correct", |_, right| right);
    let log = log.part("reward/overlong", |step, _| {
        -(0.05 + 0.4 * step as f64 / 12.0 + 0.1 * draws.normal()).clamp(0.0, 1.0)
    });
    log.plus("reward/overlong", 1.0)
}

fn brevity_shrinks(draws: &mut Draws) -> Log {
    let log =
        Plan::new(levels(12, &[(0.0, 0.2), (1.0, 0.9)])).draw(draws).part("reward/correct", |_, right| right);
    let log = log.part("reward/conciseness", |step, _| {
        (0.7 - 0.5 * step as f64 / 12.0 + 0.15 * draws.normal()).clamp(0.0, 1.0)
    });
    log.plus("reward/conciseness", 0.2)
}

fn bounded(draws: &mut Draws, plan: &Plan) -> Log {
    let log = plan.draw(draws);
    log.edit(|_, right| if right > 0.0 { draws.peaked(6.0, 2.0) } else { draws.peaked(1.2, 5.0) })
}

fn with_zeros(draws: &mut Draws, plan: &Plan) -> Log {
    let log = plan.draw(draws);
    log.edit(|_, right| right * draws.unit())
}

fn resumed(low: f64, end: f64) -> Plan {
    let before = levels(10, &[(0.0, 0.1), (1.0, 0.8)]);
    Plan::new([before, levels(10, &[(0.0, low), (1.0, end)])].concat())
}

fn oscillating(draws: &mut Draws, rises: f64) -> Log {
    let plan = of_two(24, [0.9, 0.9 + rises], [0.2, 0.2 + 2.0 * rises]).later();
    plan.task(mixed!(|step| 0.5 + 0.4 * (step / 3.0).sin())).draw(draws)
}

fn harder(draws: &mut Draws, task: super::rewards::Task) -> Log {
    of_two(16, [0.5, 0.95], [0.1, 0.3]).task(task).draw(draws)
}

const fn of(group: &'static str, name: &'static str, truth: Truth, draw: fn(&mut Draws) -> Log) -> Family {
    Family { group, name, truth, draw }
}

const LEARN: &str = "learning";
const FLAT: &str = "at one level";
const RARE: &str = "rare successes";
const OTHER: &str = "other rewards: normal, heavy tails, [−1, 1], [0, 1], mostly 0";
const TASKS: &str = "tasks: up to 50, mixes that move";
const REDEFINED: &str = "reward rescaled, prices and penalties";
const DIPS: &str = "dips that recover, resumed, one bad last step";
/// Rows that no log can tell from damage, or nearly so.
pub const BEYOND: &str = "beyond any log";

/// Each row.
pub const HEALTHY: &[Family] = &[
    of(LEARN, "12 steps", Learns, |d| rising(12).draw(d)),
    of(LEARN, "12 steps, scatter 0.3", Learns, |d| rising(12).scattered(0.3, 0.0).draw(d)),
    of(LEARN, "12 steps, a walk of 0.25", Learns, |d| rising(12).scattered(0.25, 0.9).draw(d)),
    of(LEARN, "500 steps of 8 × 4", Learns, |d| {
        Plan::new(levels(500, &[(0.0, 0.1), (0.5, 0.7), (1.0, 0.8)])).sized(8, 4).draw(d)
    }),
    of(LEARN, "5 steps", Learns, |d| Plan::new(levels(5, &[(0.0, 0.1), (1.0, 0.7)])).draw(d)),
    of(LEARN, "like the real ones", Learns, |d| {
        Plan::new(levels(10, &[(0.0, 0.13), (0.8, 0.9), (1.0, 0.95)])).scattered(0.15, 0.0).draw(d)
    }),
    of(FLAT, "12 steps", Sound, |d| flat(12, 0.5).draw(d)),
    of(FLAT, "50 steps", Sound, |d| flat(50, 0.5).draw(d)),
    of(FLAT, "12 steps, scatter 0.5", Sound, |d| flat(12, 0.5).scattered(0.5, 0.0).draw(d)),
    of(FLAT, "8 steps, scatter 0.5", Sound, |d| flat(8, 0.3).scattered(0.5, 0.0).draw(d)),
    of(FLAT, "5 steps, scatter 0.5", Sound, |d| flat(5, 0.5).scattered(0.5, 0.0).draw(d)),
    of(FLAT, "like the real ones", Sound, |d| flat(10, 0.6).scattered(0.15, 0.0).draw(d)),
    of(FLAT, "5 steps of 8 × 8", Sound, |d| flat(5, 0.5).sized(8, 8).draw(d)),
    of(FLAT, "12 steps of 8 × 4", Sound, |d| flat(12, 0.3).sized(8, 4).draw(d)),
    of(FLAT, "12 steps of 2 × 8", Sound, |d| flat(12, 0.3).sized(2, 8).draw(d)),
    of(FLAT, "50 steps of 2 × 8", Sound, |d| flat(50, 0.3).sized(2, 8).draw(d)),
    of(FLAT, "20 steps of 64 × 1", Sound, |d| Plan { spread: false, ..flat(20, 0.3).sized(64, 1) }.draw(d)),
    of(FLAT, "500 steps of 8 × 4, a walk of 0.3", Sound, |d| {
        flat(500, 0.6).sized(8, 4).scattered(0.3, 0.7).draw(d)
    }),
    of(FLAT, "falls by a tenth", Sound, |d| {
        Plan::new(levels(24, &[(0.0, 0.8), (1.0, 0.72)])).later().draw(d)
    }),
    of(FLAT, "solved", Sound, |d| Plan::new(vec![0.97; 12]).draw(d)),
    of(FLAT, "constant 1", Sound, |d| Plan::new(vec![0.5; 12]).draw(d).edit(|_, _| 1.0)),
    of(RARE, "0.005, 12 steps", Sound, |d| flat(12, 0.005).draw(d)),
    of(RARE, "0.03, 50 steps of 8 × 8", Sound, |d| flat(50, 0.03).sized(8, 8).draw(d)),
    of(RARE, "0.1, 200 steps of 8 × 4", Sound, |d| flat(200, 0.1).sized(8, 4).draw(d)),
    of(RARE, "0.005 to 0.04", Learns, |d| {
        Plan::new(levels(24, &[(0.0, 0.005), (1.0, 0.04)])).sized(64, 8).draw(d)
    }),
    of(OTHER, "heavy, 0 to 1", Learns, |d| {
        Plan::new(levels(12, &[(0.0, 0.0), (1.0, 1.0)])).kind(Kind::Heavy).draw(d)
    }),
    of(OTHER, "heavy, 12 steps", Sound, |d| flat(12, 0.0).kind(Kind::Heavy).draw(d)),
    of(OTHER, "heavy, 50 steps of 8 × 4", Sound, |d| flat(50, 0.0).kind(Kind::Heavy).sized(8, 4).draw(d)),
    of(OTHER, "skewed, 0 to 1", Learns, |d| {
        Plan::new(levels(12, &[(0.0, 0.0), (1.0, 1.0)])).kind(Kind::Skewed).draw(d)
    }),
    of(OTHER, "normal, 0 to 1.5", Learns, |d| {
        Plan::new(levels(12, &[(0.0, 0.0), (1.0, 1.5)])).kind(Kind::Normal).draw(d)
    }),
    of(OTHER, "normal, 0 to 0.6", Learns, |d| {
        Plan::new(levels(24, &[(0.0, 0.0), (1.0, 0.6)])).kind(Kind::Normal).draw(d)
    }),
    of(OTHER, "normal, 50 steps", Sound, |d| flat(50, 0.0).kind(Kind::Normal).draw(d)),
    of(OTHER, "[−1, 1] learns", Learns, |d| {
        Plan::new(levels(12, &[(0.0, 0.1), (1.0, 0.8)])).kind(Kind::Signed).draw(d)
    }),
    of(OTHER, "[0, 1] learns", Learns, |d| bounded(d, &Plan::new(levels(12, &[(0.0, 0.2), (1.0, 0.8)])))),
    of(OTHER, "[0, 1]", Sound, |d| bounded(d, &flat(12, 0.5))),
    of(OTHER, "mostly 0, learns", Learns, |d| {
        with_zeros(d, &Plan::new(levels(16, &[(0.0, 0.03), (1.0, 0.4)])))
    }),
    of(OTHER, "mostly 0", Sound, |d| with_zeros(d, &flat(16, 0.1))),
    of(TASKS, "mix oscillates", Sound, |d| oscillating(d, 0.08)),
    of(TASKS, "easy, then hard", Sound, |d| harder(d, mixed!(|step| f64::from(u8::from(step >= 8.0))))),
    of(TASKS, "easy fades to hard", Sound, |d| harder(d, mixed!(|step| step / 15.0))),
    of(TASKS, "50 learn", Learns, |d| {
        Plan::new(levels(20, &[(0.0, 0.3), (1.0, 0.8)])).task(any_of_50).draw(d)
    }),
    of(TASKS, "50 at their levels", Sound, |d| {
        let own: Vec<f64> = (0..50).map(|_| 0.05 + 0.9 * d.unit()).collect();
        Plan::of_tasks(vec![own; 20]).later().sized(64, 8).task(any_of_50).draw(d)
    }),
    of(TASKS, "3 learn", Learns, |d| {
        let rows = [
            &[(0.0, 0.05), (1.0, 0.6)][..],
            &[(0.0, 0.2), (0.5, 0.9), (1.0, 0.97)],
            &[(0.0, 0.02), (1.0, 0.2)],
        ]
        .map(|points| levels(12, points));
        Plan::of_tasks((0..12).map(|step| rows.iter().map(|row| row[step]).collect()).collect())
            .task(thirds)
            .draw(d)
    }),
    of(TASKS, "3 at their levels, 8 × 8", Sound, |d| {
        Plan::of_tasks(vec![vec![0.1, 0.5, 0.8]; 12]).later().sized(8, 8).task(|d, _, _| d.below(3)).draw(d)
    }),
    of(REDEFINED, "a price midway, no parts", Sound, |d| priced(d, false)),
    of(REDEFINED, "a price midway, parts", Sound, |d| priced(d, true)),
    of(REDEFINED, "halved midway", Sound, |d| rescaled(d, 0.5)),
    of(REDEFINED, "tenfold midway", Sound, |d| rescaled(d, 10.0)),
    of(REDEFINED, "a penalty grows", Sound, penalty_grows),
    of(REDEFINED, "brevity shrinks", Sound, brevity_shrinks),
    of(DIPS, "short", Learns, |d| {
        Plan::new(levels(20, &[(0.0, 0.2), (0.4, 0.7), (0.5, 0.2), (0.7, 0.75), (1.0, 0.8)])).draw(d)
    }),
    of(DIPS, "long", Learns, |d| {
        Plan::new(levels(20, &[(0.0, 0.2), (0.3, 0.8), (0.4, 0.2), (0.9, 0.75), (1.0, 0.8)])).draw(d)
    }),
    of(DIPS, "one bad last step", Learns, |d| {
        let log = Plan::new(levels(12, &[(0.0, 0.1), (0.6, 0.8), (1.0, 0.85)])).draw(d);
        log.edit(|step, right| if step == 11 { 0.0 } else { right })
    }),
    of(DIPS, "resumed lower, back", Learns, |d| resumed(0.4, 0.85).draw(d)),
    of(DIPS, "resumed lower, nearly back", Learns, |d| resumed(0.3, 0.7).draw(d)),
    of(BEYOND, "scatter 1, 12 steps", Sound, |d| flat(12, 0.3).scattered(1.0, 0.0).draw(d)),
    of(BEYOND, "a walk of 0.5 (AR 0.5), 12 steps", Sound, |d| flat(12, 0.5).scattered(0.5, 0.5).draw(d)),
    of(BEYOND, "a walk of 0.5 (AR 0.9), 12 steps", Sound, |d| flat(12, 0.5).scattered(0.5, 0.9).draw(d)),
    of(BEYOND, "a walk of 0.5 (AR 0.9), 50 steps", Sound, |d| flat(50, 0.5).scattered(0.5, 0.9).draw(d)),
    of(FLAT, "12 steps, a walk of 0.25", Sound, |d| flat(12, 0.6).scattered(0.25, 0.9).draw(d)),
    of(FLAT, "50 steps, a walk of 0.25", Sound, |d| flat(50, 0.6).scattered(0.25, 0.9).draw(d)),
    of(BEYOND, "mix oscillates, no column", Sound, |d| oscillating(d, 0.0).untold()),
    of(BEYOND, "easy, then hard, no column", Sound, |d| {
        harder(d, mixed!(|step| f64::from(u8::from(step >= 8.0)))).untold()
    }),
    of(BEYOND, "easy fades to hard, no column", Sound, |d| {
        let plan = of_two(16, [0.6, 0.95], [0.05, 0.4]);
        plan.task(mixed!(|step| step / 16.0)).draw(d).untold()
    }),
];
