//! The steps in which right answers get no more of something than wrong ones, in more groups than elsewhere.

use super::lasting::{Counts, Side};
use super::siblings::{is_mixed, more_where};
use crate::responses::right::Right;
use stapo_collect::collect::signs::response_facts::ResponseFact;

/// Groups of other steps that may be so, too.
const SOME: f64 = 0.05;

/// These steps, where they are not all of the run.
pub fn right_no_better<'a>(
    units: impl Iterator<Item = &'a [ResponseFact]>,
    right: &Right<'_>,
    of: impl Fn(&ResponseFact) -> f32,
) -> Option<Side> {
    let mut no_better = Counts::default();
    for group in units.filter(|group| is_mixed(group, |fact| right.of(fact))) {
        let more = more_where(group, |fact| right.of(fact), &of);
        if more.is_finite() {
            no_better.add(group[0].step, more <= 0.0);
        }
    }
    Some(no_better.share(SOME)?.side).filter(|side| *side != Side::Whole)
}
