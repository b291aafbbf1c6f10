//! Which seeds of two arms drew the same prompts at the same steps.

use std::collections::BTreeSet;

use crate::groups::RunGroups;

/// Share of the (step, prompt) pairs of the run that has fewer that two runs of one seed have in common. Runs of
/// different seeds share next to none; one that was cut short or lost a group still shares most.
const SAME_PROMPTS: f64 = 0.9;

/// For each run of the first arm, the run of the second that drew its prompts; `None` unless each has exactly one. Runs
/// that all draw the same prompts are no pairs: any two of them would do.
pub fn pairs(first: &[RunGroups], second: &[RunGroups]) -> Option<Vec<usize>> {
    if first.len() != second.len() {
        return None;
    }
    let prompts = [first, second].map(|runs| runs.iter().map(drawn).collect::<Vec<_>>());
    let partner = |mine: &BTreeSet<(i64, u64)>| {
        let mut alike = (0..second.len()).filter(|other| is_same(mine, &prompts[1][*other]));
        alike.next().filter(|_| alike.next().is_none())
    };
    let partners: Vec<usize> = prompts[0].iter().map(partner).collect::<Option<_>>()?;
    let distinct: BTreeSet<usize> = partners.iter().copied().collect();
    (distinct.len() == partners.len()).then_some(partners)
}

fn drawn(run: &RunGroups) -> BTreeSet<(i64, u64)> {
    let trained = run.groups().filter(|(key, _)| !key.held_out);
    trained.filter_map(|(key, totals)| totals.prompt.map(|prompt| (key.step, prompt))).collect()
}

fn is_same(a: &BTreeSet<(i64, u64)>, b: &BTreeSet<(i64, u64)>) -> bool {
    let fewest = a.len().min(b.len());
    fewest > 0 && a.intersection(b).count() as f64 >= SAME_PROMPTS * fewest as f64
}
