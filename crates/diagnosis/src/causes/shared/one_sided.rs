//! No response is pushed down, or none is pushed up.
//!
//! Statistic: among the groups whose rewards differ and that have an advantage (all groups with an
//! advantage, where rewards are not logged), those without A < 0, and those without A > 0.
//! Threshold: a baseline inside of a group gives both signs to every such group; likely where the lower
//! end of the share without one (Wilson, 99.9 %) is above one half, which takes a dozen groups, over the
//! run or on one side of the step at which the share changed (`lasting`). Only possible where there are fewer groups, six at
//! the least, and all of them lack it, or where the baseline is the
//! median: most responses of such a group have A = 0 in nine of ten, and groups that lack the other sign are a
//! twentieth of all (lower end); there one sign is missing wherever most answers are alike.

use super::bounds::share_bounds;
use super::lasting::{Counts, Share, Side};
use super::siblings::rewards_differ;
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use stapo_batch::columns::Column;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence};

const MOST: f64 = 0.5;
/// Groups that lack a sign and whose other responses are at the baseline, of all that lack it.
const NEARLY_ALL: f64 = 0.9;
/// Groups that lack the other sign.
const SOME: f64 = 0.05;
/// Groups all of which lack a sign.
const FEW: u64 = 6;

/// Groups (steps, where there are no siblings) with a signal that lack a sign, where most do.
pub struct OneSided {
    share: Share,
    unit: &'static str,
    /// Whether it is the work of a baseline that is the median.
    by_median: bool,
}

impl OneSided {
    /// These groups; `sign` is that which they lack, 0 for A > 0 and 1 for A < 0.
    pub fn of(patient: &Patient<'_>, sign: usize) -> Option<Self> {
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
        let (mut tries, mut at_median, mut others) = (0, [0_u64; 2], 0);
        // One response cannot have both signs.
        let tells = |group: &&[ResponseFact]| !grouped || group.len() > 1;
        let units = patient.units().filter(tells).filter(learns);
        for group in units.filter(|group| !rewarded || rewards_differ(group)) {
            let lacks = |sign: usize| !group.iter().any(|f| f.signs[sign]);
            without.add(group[0].step, lacks(sign));
            tries += 1;
            others += u64::from(lacks(1 - sign));
            if lacks(sign) {
                let silent = group.iter().filter(|f| f.signs == [false; 2]).count();
                at_median[0] += u64::from(2 * silent > group.len());
                at_median[1] += 1;
            }
        }
        let all_of_few = |share: &Share| share.hits == share.tries && share.tries >= FEW;
        let share = without.share(MOST).filter(|share| share.lower() > MOST || all_of_few(share))?;
        let by_median = rewarded
            && at_median[0] as f64 > NEARLY_ALL * at_median[1] as f64
            && share_bounds(others, tries)[0] > SOME;
        Some(Self { share, unit, by_median })
    }

    /// It as a cause.
    pub fn told(&self, code: CauseCode, [pushed, missing]: [&str; 2], hint: &str) -> Finding {
        let (Share { hits, tries, from_step, .. }, unit) = (&self.share, self.unit);
        let since = self.share.side.told();
        let mut evidence = vec![
            number(&format!("{unit}, without {missing}"), *hits as f64),
            number(&format!("{unit}, with a signal"), *tries as f64),
        ];
        if self.share.side != Side::Whole {
            evidence.push(number("the share over the run", self.share.value_of_run()));
        }
        let (confidence, because) = match self.by_median {
            true => (
                Confidence::Possible,
                "; most of their responses are at the baseline, which may be the median of the group",
            ),
            false if self.share.lower() <= MOST => (Confidence::Possible, "; so few say little"),
            false => (Confidence::Likely, ""),
        };
        found(
            code,
            confidence,
            Some(*from_step),
            format!(
                "in {hits} of {tries} {unit}{since} no response is pushed {pushed} (none has {missing}){because}"
            ),
            hint,
            evidence,
        )
        .before(self.share.side.end())
    }
}
