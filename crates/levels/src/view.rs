//! A run as one metric sees it over some steps.

use std::collections::BTreeSet;

use crate::groups::RunGroups;
use crate::metric::Metric;

/// Below this many prompts groups are the clusters: a variance of so few sums is no more than a guess.
pub const LEAST_PROMPTS: usize = 10;

/// What a group's error is summed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cluster {
    /// A prompt, over both runs and all steps.
    Prompt(u64),
    /// A group of its own: run and place.
    Group(usize, usize),
}

/// A group with its numerator and denominator.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    pub step: i64,
    pub task: &'a str,
    pub cluster: Cluster,
    pub num: f64,
    pub den: f64,
    pub responses: f64,
}

/// Groups of a run that have the metric, at these steps, by step.
pub fn view<'a>(run: &'a RunGroups, side: usize, metric: Metric, steps: &[i64]) -> Vec<Group<'a>> {
    let at = run.having(metric).filter(|(key, _)| steps.binary_search(&key.step).is_ok());
    at.enumerate()
        .map(|(place, (key, totals))| {
            let [num, den] = totals.parts(metric);
            let cluster = totals.prompt.map_or(Cluster::Group(side, place), Cluster::Prompt);
            Group { step: key.step, task: &key.task, cluster, num, den, responses: totals.responses as f64 }
        })
        .collect()
}

/// Makes each group its own cluster where prompts are too few; whether prompts are what is counted.
pub fn settle_clusters(sides: &mut [Vec<Group<'_>>; 2]) -> bool {
    let prompts: BTreeSet<Cluster> =
        sides.iter().flatten().map(|g| g.cluster).filter(|c| matches!(c, Cluster::Prompt(_))).collect();
    if prompts.len() >= LEAST_PROMPTS {
        return true;
    }
    for (side, groups) in sides.iter_mut().enumerate() {
        groups.iter_mut().enumerate().for_each(|(place, group)| group.cluster = Cluster::Group(side, place));
    }
    false
}
