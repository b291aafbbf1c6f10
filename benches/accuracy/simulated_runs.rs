//! Rewards of simulated runs before the judge.

use crate::ablation::{Changed, SWITCHES};
use crate::baseline::Baseline;
use crate::simulated::healthy::{BEYOND, HEALTHY};
use crate::simulated::sick::SICK;
use crate::simulated::{Family, Truth};
use crate::tables::{Count, grouped, head, row};
use rayon::prelude::*;
use stapo_diagnosis::state::{Outcome, Rules, judge};

/// Every so many runs are judged without each rule, too.
const ABLATED: u64 = 5;

/// What was said of a family.
pub struct Rates {
    pub family: &'static Family,
    /// Damaged or collapsed.
    pub damaged: Count,
    /// What is true was said.
    pub said: Count,
    /// The baseline, and with a margin.
    pub baseline: [Count; 2],
    /// By switch.
    pub changed: Vec<Changed>,
}

impl Rates {
    pub fn is_healthy(&self) -> bool {
        matches!(self.family.truth, Truth::Learns | Truth::Sound)
    }

    pub fn is_beyond(&self) -> bool {
        self.family.group == BEYOND
    }
}

struct One {
    outcome: Outcome,
    without: Vec<Outcome>,
    baseline: Baseline,
}

fn one(family: &Family, number: u64) -> One {
    let log = family.log(number);
    let observed = log.observed();
    let by = |rules: &Rules| judge(&observed, false, rules).outcome;
    let without = match number.is_multiple_of(ABLATED) {
        true => SWITCHES.iter().map(|switch| by(&switch.off())).collect(),
        false => vec![],
    };
    One { outcome: by(&Rules::default()), without, baseline: Baseline::of(&log.means()) }
}

/// So many runs of every family.
pub fn draw(runs: u64) -> Vec<Rates> {
    let rates = |family: &'static Family| {
        let drawn: Vec<One> = (0..runs).into_par_iter().map(|number| one(family, number)).collect();
        let mut rates = Rates {
            family,
            damaged: Count::default(),
            said: Count::default(),
            baseline: [Count::default(); 2],
            changed: vec![Changed::default(); SWITCHES.len()],
        };
        for run in &drawn {
            let said = family.truth.is_said(run.outcome);
            rates.damaged.add(run.outcome.is_damage());
            rates.said.add(said);
            rates.baseline[0].add(run.baseline.below);
            rates.baseline[1].add(run.baseline.well_below);
            let without = run.without.iter().map(|outcome| family.truth.is_said(*outcome));
            rates.changed.iter_mut().zip(without).for_each(|(changed, without)| changed.add(said, without));
        }
        rates
    };
    HEALTHY.iter().chain(SICK).map(rates).collect()
}

/// Runs of each family that were judged without each rule.
pub fn ablated(runs: u64) -> u64 {
    runs.div_ceil(ABLATED)
}

/// Healthy families by their group, without those beyond any log.
pub fn healthy_table(rates: &[Rates]) -> String {
    let mut table = head(&[
        "healthy",
        "kinds",
        "runs",
        "damaged or collapsed",
        "at most (95 %)",
        "worst kind",
        "gain seen",
    ]);
    let mut all = Count::default();
    for group in groups(rates.iter().filter(|rates| rates.is_healthy() && !rates.is_beyond())) {
        let damaged = sum(group.iter().map(|rates| rates.damaged));
        let learns =
            sum(group.iter().filter(|rates| rates.family.truth == Truth::Learns).map(|rates| rates.said));
        let worst = group.iter().max_by(|a, b| a.damaged.rate().total_cmp(&b.damaged.rate())).unwrap();
        let worst = match worst.damaged.found {
            0 => "–".into(),
            found => format!("{}: {found}", worst.family.name),
        };
        let seen = if learns.of > 0 { learns.share() } else { "–".into() };
        let runs = grouped(damaged.of);
        let kinds = group.len().to_string();
        table += &row(&[
            group[0].family.group.into(),
            kinds,
            runs,
            damaged.found.to_string(),
            damaged.bound(),
            worst,
            seen,
        ]);
        all.join(damaged);
    }
    table
        + &row(&[
            "all".into(),
            String::new(),
            grouped(all.of),
            all.found.to_string(),
            all.bound(),
            String::new(),
            String::new(),
        ])
}

/// Sick families by their group.
pub fn sick_table(rates: &[Rates]) -> String {
    let mut table = head(&["sick", "kinds", "runs", "found", "of each kind"]);
    for group in groups(rates.iter().filter(|rates| !rates.is_healthy())) {
        let said = sum(group.iter().map(|rates| rates.said));
        let each: Vec<String> =
            group.iter().map(|rates| format!("{} {}", rates.family.name, rates.said.share())).collect();
        let kinds = group.len().to_string();
        table +=
            &row(&[group[0].family.group.into(), kinds, grouped(said.of), said.share(), each.join("; ")]);
    }
    table
}

/// Families that no log can tell from damage, in words.
pub fn beyond(rates: &[Rates]) -> String {
    let of = |rates: &Rates| format!("{} {}", rates.family.name, rates.damaged.share());
    rates.iter().filter(|rates| rates.is_beyond()).map(of).collect::<Vec<_>>().join("; ")
}

/// Those of one group together, in the order of the families.
fn groups<'a>(rates: impl Iterator<Item = &'a Rates>) -> Vec<Vec<&'a Rates>> {
    let mut groups: Vec<Vec<&Rates>> = Vec::new();
    for rates in rates {
        match groups.iter_mut().find(|group| group[0].family.group == rates.family.group) {
            Some(group) => group.push(rates),
            None => groups.push(vec![rates]),
        }
    }
    groups
}

/// All together.
pub fn sum(counts: impl Iterator<Item = Count>) -> Count {
    let mut sum = Count::default();
    counts.for_each(|count| sum.join(count));
    sum
}
