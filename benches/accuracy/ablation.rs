//! The switches of the state's rules, each turned off.

use crate::cuts::Cut;
use crate::simulated_runs::Rates;
use crate::tables::{head, row};
use crate::verdicts::{Labelled, right};
use stapo_diagnosis::state::Rules;

/// A rule that can be turned off.
pub struct Switch {
    pub name: &'static str,
    /// What the rule says.
    pub rule: &'static str,
    turn: fn(&mut Rules),
}

impl Switch {
    /// All rules but this one.
    pub fn off(&self) -> Rules {
        let mut rules = Rules::default();
        (self.turn)(&mut rules);
        rules
    }
}

const fn of(name: &'static str, rule: &'static str, turn: fn(&mut Rules)) -> Switch {
    Switch { name, rule, turn }
}

/// Each of [`Rules`].
pub const SWITCHES: [Switch; 16] = [
    of("curvature", "scatter from second differences", |rules| rules.curvature = false),
    of("at_the_end", "a loss holds in the last fifth", |rules| rules.at_the_end = false),
    of("without_the_lowest", "a loss holds without its lowest step", |rules| {
        rules.without_the_lowest = false
    }),
    of("goals", "a part that is no goal does not damage", |rules| rules.goals = false),
    of("raw_scatter", "scatter on the scale of the mean", |rules| rules.raw_scatter = false),
    of("robust_range", "range between percentiles", |rules| rules.robust_range = false),
    of("own_ends", "a slice has its own first and last steps", |rules| rules.own_ends = false),
    of("bins", "above 32 steps, 32 bins", |rules| rules.bins = usize::MAX),
    of("two_at_the_end", "a tail of two steps", |rules| rules.two_at_the_end = false),
    of("penalties", "penalties do not judge", |rules| rules.penalties = false),
    of("redefined", "a redefined reward is judged apart", |rules| rules.redefined = false),
    of("start", "\"not learning\" needs the start", |rules| rules.start = false),
    of("mean_at_best", "at its best by the run's mean", |rules| rules.mean_at_best = false),
    of("slow_rise", "a slow rise counts", |rules| rules.slow_rise = false),
    of("one_slice_once", "one slice is one test", |rules| rules.one_slice_once = false),
    of("pooled_dispersion", "small slices take the run's dispersion", |rules| {
        rules.pooled_dispersion = false
    }),
];

/// Verdicts that a switch changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changed {
    /// Right with the rule, wrong without.
    pub worse: u64,
    /// Wrong with the rule, right without.
    pub better: u64,
}

impl Changed {
    /// Counts a verdict.
    pub fn add(&mut self, with: bool, without: bool) {
        self.worse += u64::from(with && !without);
        self.better += u64::from(!with && without);
    }
}

impl std::fmt::Display for Changed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.worse, self.better) {
            (0, 0) => f.write_str("–"),
            (worse, 0) => write!(f, "{worse}"),
            (worse, better) => write!(f, "{worse} ({better} better)"),
        }
    }
}

/// What one switch changes: verdicts on logs and their cuts, on simulated healthy runs, on simulated sick ones.
fn changed(at: usize, labelled: &[Labelled], cuts: &[Cut], simulated: &[Rates]) -> [Changed; 3] {
    let mut changed = [Changed::default(); 3];
    for run in labelled {
        let is_right = |told| right(run.label, told);
        changed[0].add(is_right(&run.reading.bare), is_right(&run.reading.without[at]));
    }
    for cut in cuts {
        changed[0].add(!cut.reading.bare.is_alarm(), !cut.reading.without[at].is_alarm());
    }
    for rates in simulated.iter().filter(|rates| !rates.is_beyond()) {
        let sum = &mut changed[if rates.is_healthy() { 1 } else { 2 }];
        sum.worse += rates.changed[at].worse;
        sum.better += rates.changed[at].better;
    }
    changed
}

/// A row of each switch, and those that change nothing for the worse.
pub fn table(labelled: &[Labelled], cuts: &[Cut], simulated: &[Rates]) -> (String, Vec<&'static str>) {
    let mut table = head(&["rule", "logs and cuts", "simulated, healthy", "simulated, sick"]);
    let mut idle = Vec::new();
    for (at, switch) in SWITCHES.iter().enumerate() {
        let changed = changed(at, labelled, cuts, simulated);
        if changed.iter().all(|changed| changed.worse == 0) {
            idle.push(switch.name);
        }
        let [logs, healthy, sick] = changed.map(|changed| changed.to_string());
        table += &row(&[format!("`{}`: {}", switch.name, switch.rule), logs, healthy, sick]);
    }
    (table, idle)
}
