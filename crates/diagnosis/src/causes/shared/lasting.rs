//! Something that is so in a share of the groups: over the run, on one side of the step at which the share changed, or
//! between two such steps, so that a fault that began late (or was mended) is not diluted by the other steps.
//!
//! The step is the one that two shares, before and after, explain best. It counts where the likelihood
//! gains more than a share that does not change would in 1 of 1,000 runs, the number of steps paid for. Two steps count
//! where the share between them is larger than on either side, and the likelihood gains as much again, the number of
//! pairs paid for.

use std::collections::BTreeMap;
use std::ops::Range;

use statrs::distribution::{ContinuousCDF, Normal};

use super::bounds::share_bounds;
use super::change_points::ChangePoints;
use crate::evidence::number;
use crate::patient::Patient;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::Evidence;

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
    /// Those from a step on and before another one.
    Within(Window),
}

/// Steps between two others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first of them.
    pub first: i64,
    /// The last.
    pub last: i64,
    /// The first after them.
    pub end: i64,
}

impl Side {
    /// Some of so many steps, of which `step` gives the numbers; not all of them.
    pub fn of(places: &Range<usize>, steps: usize, step: impl Fn(usize) -> i64) -> Self {
        match (places.start, places.end) {
            (0, end) => Self::Before(step(end)),
            (start, end) if end == steps => Self::From(step(start)),
            (start, end) => Self::Within(Window { first: step(start), last: step(end - 1), end: step(end) }),
        }
    }

    /// Whether a step is one of them.
    pub fn holds(self, step: i64) -> bool {
        match self {
            Self::Whole => true,
            Self::From(first) => step >= first,
            Self::Before(end) => step < end,
            Self::Within(window) => (window.first..window.end).contains(&step),
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
            Self::Within(window) => Some(window.end),
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

    /// " from step 12 on", " before step 4", " in steps 4 to 11", or nothing for the whole run.
    pub fn told(self) -> String {
        match self {
            Self::Whole => String::new(),
            Self::From(step) => format!(" from step {step} on"),
            Self::Before(step) => format!(" before step {step}"),
            Self::Within(window) if window.first == window.last => format!(" at step {}", window.first),
            Self::Within(window) => format!(" in steps {} to {}", window.first, window.last),
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

    /// The share over the run, or of the steps on the side of a change, or between two, where it is larger; the whole
    /// run, too, where the lower end of the other steps is above `enough` itself.
    pub fn share(&self, enough: f64) -> Option<Share> {
        let steps: Vec<(i64, [u64; 2])> = self.0.iter().map(|(step, counts)| (*step, *counts)).collect();
        let sums = sums_up_to(&steps);
        let of_run = sums[steps.len()];
        let share = |places: Range<usize>, side| {
            let [hits, tries] = between(&sums, &places);
            steps.get(places.start).map(|(from_step, _)| Share {
                from_step: *from_step,
                hits,
                tries,
                side,
                of_run,
            })
        };
        let whole = share(0..steps.len(), Side::Whole)?;
        let Some(places) = changed(&sums) else { return Some(whole) };
        let side = Side::of(&places, steps.len(), |at| steps[at].0);
        let more = share(places, side)?;
        let [hits, tries] = [of_run[0] - more.hits, of_run[1] - more.tries];
        Some(if share_bounds(hits, tries)[0] > enough { whole } else { more })
    }
}

/// Hits and tries up to each step, none at first.
fn sums_up_to(steps: &[(i64, [u64; 2])]) -> Vec<[u64; 2]> {
    let add = |sum: &mut [u64; 2], counts: &[u64; 2]| {
        *sum = [sum[0] + counts[0], sum[1] + counts[1]];
        Some(*sum)
    };
    let sums = steps.iter().map(|(_, counts)| counts).scan([0, 0], |sum, counts| add(sum, counts));
    std::iter::once([0, 0]).chain(sums).collect()
}

fn between(sums: &[[u64; 2]], places: &Range<usize>) -> [u64; 2] {
    [0, 1].map(|at| sums[places.end][at] - sums[places.start][at])
}

/// The steps that have the larger share, where it changed once, or twice.
fn changed(sums: &[[u64; 2]]) -> Option<Range<usize>> {
    let steps = sums.len() - 1;
    let of_run = sums[steps];
    let value = |[hits, tries]: [u64; 2]| hits as f64 / tries.max(1) as f64;
    let rest = |places: &Range<usize>| {
        let inside = between(sums, places);
        [of_run[0] - inside[0], of_run[1] - inside[1]]
    };
    let gain = |places: &Range<usize>| {
        let gained = surprise(of_run) - surprise(between(sums, places)) - surprise(rest(places));
        if value(between(sums, places)) > value(rest(places)) { gained } else { 0.0 }
    };
    let beyond_chance = |gain: f64, tried: usize| {
        let z = Normal::standard().inverse_cdf(1.0 - FALSE_ALARMS / (2.0 * tried.max(2) as f64));
        gain > 0.5 * z * z
    };
    let ChangePoints { once, twice } = ChangePoints::of(steps, gain);
    let once = once.filter(|(gain, _)| beyond_chance(*gain, steps));
    let sides = |places: &Range<usize>| [0..places.start, places.end..steps].map(|side| between(sums, &side));
    let twice = twice.filter(|(gain, places)| {
        let more = gain - once.as_ref().map_or(0.0, |(gain, _)| *gain);
        let inside = between(sums, places);
        let is_more = |side: [u64; 2]| {
            value(inside) > value(side) && share_bounds(inside[0], inside[1])[0] > value(side)
        };
        beyond_chance(more, steps * steps) && sides(places).into_iter().all(is_more)
    });
    twice.or(once).map(|(_, places)| places)
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
    fn what_began_and_was_mended_is_judged_between() {
        let steps = |faulty: Range<usize>, all: usize| {
            let step =
                |at: usize| if faulty.contains(&at) { (7, 8) } else { (u64::from(at.is_multiple_of(5)), 8) };
            counts(&(0..all).map(step).collect::<Vec<_>>()).share(0.5).unwrap()
        };
        let share = steps(3..7, 12);
        let window = Window { first: 30, last: 60, end: 70 };
        assert_eq!((share.side, share.hits, share.tries), (Side::Within(window), 28, 32));
        assert_eq!(
            (share.side.told().as_str(), share.from_step, share.side.end()),
            (" in steps 30 to 60", 30, Some(70))
        );
        assert!(share.side.holds(60) && !share.side.holds(70) && !share.side.holds(20));
        // Ends that are not among those that are tried at first.
        let window = Window { first: 3010, last: 6570, end: 6580 };
        assert_eq!(steps(301..658, 1_000).side, Side::Within(window));
        // A dip is no window.
        let dip: Vec<_> = (0..12).map(|at| if (3..7).contains(&at) { (0, 8) } else { (8, 8) }).collect();
        assert!(!matches!(counts(&dip).share(0.99).unwrap().side, Side::Within(_)));
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
