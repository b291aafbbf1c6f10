//! Something that is so in a share of the groups: over the run, or on one side of the step at which the
//! share changed, so that a fault that began late (or was mended) is not diluted by the other steps.
//!
//! The step is the one that two shares, before and after, explain best. It counts where the likelihood
//! gains more than a share that does not change would in 1 of 1,000 runs, the number of steps paid for.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, Normal};

use super::super::patient::{Patient, number, share_bounds};
use crate::analyze::collect::signs::facts::ResponseFact;
use crate::analyze::result::Evidence;

const FALSE_ALARMS: f64 = 1e-3;

/// The steps that something is said of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// All.
    Whole,
    /// Those from a step on.
    From(i64),
    /// Those before a step.
    Before(i64),
}

impl Side {
    /// Whether a step is one of them.
    pub fn holds(self, step: i64) -> bool {
        match self {
            Self::Whole => true,
            Self::From(first) => step >= first,
            Self::Before(end) => step < end,
        }
    }

    /// The units of these steps.
    pub fn units<'a>(self, patient: &Patient<'a>) -> impl Iterator<Item = &'a [ResponseFact]> {
        patient.units().filter(move |unit| self.holds(unit[0].step))
    }

    /// The first of them, where the run has any.
    pub fn first_step(self, patient: &Patient<'_>) -> Option<i64> {
        patient.analysis.steps.iter().map(|row| row.step).find(|step| self.holds(*step))
    }

    /// The first step after them, where the run goes on without.
    pub fn end(self) -> Option<i64> {
        match self {
            Self::Before(step) => Some(step),
            Self::Whole | Self::From(_) => None,
        }
    }

    /// As a sentence begins: "from step 12 on, ".
    pub fn opens(self) -> String {
        match self.told().trim_start() {
            "" => String::new(),
            told => format!("{told}, "),
        }
    }

    /// " from step 12 on", " before step 4", or nothing for the whole run.
    pub fn told(self) -> String {
        match self {
            Self::Whole => String::new(),
            Self::From(step) => format!(" from step {step} on"),
            Self::Before(step) => format!(" before step {step}"),
        }
    }
}

/// Groups, and those in which it is so, over some steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The first step.
    pub from_step: i64,
    /// Groups in which it is so.
    pub hits: u64,
    /// All groups.
    pub tries: u64,
    /// Which steps of the run these are.
    pub side: Side,
    /// Groups in which it is so, and all groups, over the whole run.
    pub of_run: [u64; 2],
}

impl Share {
    /// The share.
    pub fn value(&self) -> f64 {
        self.hits as f64 / self.tries.max(1) as f64
    }

    /// Its lower end (Wilson, 99.9 %).
    pub fn lower(&self) -> f64 {
        share_bounds(self.hits, self.tries)[0]
    }

    /// The numbers behind it: what it is a share of, and what all the groups are.
    pub fn evidence(&self, share: &str, groups: &str) -> Vec<Evidence> {
        vec![
            number(share, self.value()),
            number("its lower end (99.9 %)", self.lower()),
            number(groups, self.tries as f64),
        ]
    }

    /// The share over the whole run.
    pub fn value_of_run(&self) -> f64 {
        self.of_run[0] as f64 / self.of_run[1].max(1) as f64
    }
}

/// Counts by step.
#[derive(Debug, Default)]
pub struct Counts(BTreeMap<i64, [u64; 2]>);

impl Counts {
    /// Counts a group.
    pub fn add(&mut self, step: i64, hit: bool) {
        let counts = self.0.entry(step).or_default();
        counts[0] += u64::from(hit);
        counts[1] += 1;
    }

    /// Groups in which it is so, and all groups, at a step.
    pub fn at(&self, step: i64) -> Option<[u64; 2]> {
        self.0.get(&step).copied()
    }

    /// The share over the run, or on the side of the change where it is larger; the whole run, too, where
    /// the lower end of the other side is above `enough` itself.
    pub fn share(&self, enough: f64) -> Option<Share> {
        let steps: Vec<(i64, [u64; 2])> = self.0.iter().map(|(step, counts)| (*step, *counts)).collect();
        let sum =
            |of: &[(i64, [u64; 2])]| of.iter().fold([0, 0], |all, (_, c)| [all[0] + c[0], all[1] + c[1]]);
        let of_run = sum(&steps);
        let share = |of: &[(i64, [u64; 2])], side| {
            let [hits, tries] = sum(of);
            of.first().map(|(from_step, _)| Share { from_step: *from_step, hits, tries, side, of_run })
        };
        let whole = share(&steps, Side::Whole)?;
        let all = surprise([whole.hits, whole.tries]);
        let mut before = [0, 0];
        let mut best: (f64, usize) = (0.0, 0);
        for (at, (_, counts)) in steps.iter().enumerate().take(steps.len() - 1) {
            before = [before[0] + counts[0], before[1] + counts[1]];
            let after = [whole.hits - before[0], whole.tries - before[1]];
            let gain = all - surprise(before) - surprise(after);
            if gain > best.0 {
                best = (gain, at + 1);
            }
        }
        let z = Normal::standard().inverse_cdf(1.0 - FALSE_ALARMS / (2.0 * steps.len().max(2) as f64));
        if best.0 <= 0.5 * z * z {
            return Some(whole);
        }
        let changed = steps[best.1].0;
        let early = share(&steps[..best.1], Side::Before(changed))?;
        let late = share(&steps[best.1..], Side::From(changed))?;
        let (more, less) = if late.value() > early.value() { (late, early) } else { (early, late) };
        Some(if less.lower() > enough { whole } else { more })
    }
}

/// Minus the largest log-likelihood of so many hits among tries.
fn surprise([hits, tries]: [u64; 2]) -> f64 {
    let n = tries as f64;
    let term = |count: u64| if count == 0 { 0.0 } else { -(count as f64) * (count as f64 / n).ln() };
    term(hits) + term(tries - hits)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn counts(steps: &[(u64, u64)]) -> Counts {
        let mut counts = Counts::default();
        for (step, (hits, tries)) in steps.iter().enumerate() {
            (0..*tries).for_each(|group| counts.add(10 * step as i64, group < *hits));
        }
        counts
    }

    #[test]
    fn a_share_that_stays_is_that_of_the_run() {
        let share = counts(&[(3, 8), (2, 8), (4, 8), (3, 8), (2, 8)]).share(0.05).unwrap();
        let of_run = [14, 40];
        assert_eq!(share, Share { from_step: 0, hits: 14, tries: 40, side: Side::Whole, of_run });
    }

    #[test]
    fn what_began_late_is_judged_from_there_on() {
        let share = counts(&[(0, 8), (0, 8), (0, 8), (8, 8), (8, 8)]).share(0.5).unwrap();
        let of_run = [16, 40];
        assert_eq!(share, Share { from_step: 30, hits: 16, tries: 16, side: Side::From(30), of_run });
        assert!(share.lower() > 0.5);
        assert_eq!(share.side.told(), " from step 30 on");
        let mended = counts(&[(8, 8), (8, 8), (0, 8), (0, 8), (0, 8)]).share(0.5).unwrap();
        assert_eq!(mended, Share { from_step: 0, hits: 16, tries: 16, side: Side::Before(20), of_run });
        assert_eq!(mended.side.told(), " before step 20");
    }

    #[test]
    fn what_is_enough_on_both_sides_is_told_of_the_run() {
        let share = counts(&[(6, 16), (7, 16), (6, 16), (16, 16), (16, 16)]).share(0.05).unwrap();
        assert_eq!(share.from_step, 0);
        assert_eq!(share.tries, 80);
    }

    #[test]
    fn nothing_counted_is_no_share() {
        assert_eq!(Counts::default().share(0.5), None);
    }
}
