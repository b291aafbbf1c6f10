//! No response is pushed down, or none is pushed up.
//!
//! Statistic: among the groups whose rewards differ and that have an advantage (all groups with an
//! advantage, where rewards are not logged), those without A < 0, and those without A > 0.
//! Threshold: a baseline inside of a group gives both signs to every such group; likely where the lower
//! end of the share without one (Wilson, 99.9 %) is above one half, which takes a dozen groups, over the
//! run or on one side of the step at which the share changed (`lasting`).

use super::super::patient::{Finding, Patient, found, number};
use super::lasting::{Counts, Share, Side};
use super::siblings::rewards_differ;
use crate::analyze::collect::signs::facts::ResponseFact;
use crate::analyze::result::{CauseCode, Confidence};
use crate::ingest::Column;

const MOST: f64 = 0.5;

/// Groups (steps, where there are no siblings) with a signal that lack a sign, where most do.
struct OneSided {
    share: Share,
    unit: &'static str,
}

impl OneSided {
    fn of(patient: &Patient<'_>, sign: usize) -> Option<Self> {
        let grouped = patient.has_siblings();
        let rewarded = patient.has(Column::Reward);
        let learns = |group: &&[ResponseFact]| group.iter().any(|f| f.signs[0] || f.signs[1]);
        let unit = match (grouped, rewarded) {
            (true, true) => "groups with different rewards",
            (true, false) => "groups with an advantage",
            (false, true) => "steps with different rewards",
            (false, false) => "steps with an advantage",
        };
        let mut without = Counts::default();
        for group in patient.units().filter(learns).filter(|group| !rewarded || rewards_differ(group)) {
            without.add(group[0].step, !group.iter().any(|f| f.signs[sign]));
        }
        let share = without.share(MOST).filter(|share| share.lower() > MOST)?;
        Some(Self { share, unit })
    }

    fn told(&self, code: CauseCode, [pushed, missing]: [&str; 2], hint: &str) -> Finding {
        let (Share { hits, tries, from_step, .. }, unit) = (&self.share, self.unit);
        let since = self.share.side.told();
        let mut evidence = vec![
            number(&format!("{unit}, without {missing}"), *hits as f64),
            number(&format!("{unit}, with a signal"), *tries as f64),
        ];
        if self.share.side != Side::Whole {
            evidence.push(number("the share over the run", self.share.value_of_run()));
        }
        found(
            code,
            Confidence::Likely,
            Some(*from_step),
            format!("in {hits} of {tries} {unit}{since} no response is pushed {pushed} (none has {missing})"),
            hint,
            evidence,
        )
    }
}

/// Looks for advantages that are never negative.
pub fn no_negative(patient: &Patient<'_>) -> Finding {
    OneSided::of(patient, 1).map_or(Finding::Absent, |found| {
        found.told(
            CauseCode::NoNegativeSignal,
            ["down", "A < 0"],
            "if it is not on purpose (rejection sampling), keep the negative advantages: without them entropy \
             falls and wrong answers are never unlearned",
        )
    })
}

/// Looks for advantages that are never positive.
pub fn no_positive(patient: &Patient<'_>) -> Finding {
    OneSided::of(patient, 0).map_or(Finding::Absent, |found| {
        found.told(
            CauseCode::NoPositiveSignal,
            ["up", "A > 0"],
            "look at the baseline that is taken off the rewards: pushing down alone drives the policy to noise",
        )
    })
}
