//! The arms that tables have room for, where there are many.

use stapo_compare::Comparison;

/// Arms that tables have room for.
const ARMS: usize = 12;

/// The places of the arms with a column of their own, ascending: the baseline, then those with a likely cause,
/// with a possible one, that differ from the baseline, and the others until there is no more room.
pub fn shown(comparison: &Comparison) -> Vec<usize> {
    let rank = |place: &usize| {
        let of_arm = || comparison.causes.iter().filter_map(|row| row.arms.get(*place));
        let name = comparison.arms.get(*place).map(|arm| arm.name.as_str());
        match place {
            0 => 0,
            _ if of_arm().any(|arm| arm.likely > 0) => 1,
            _ if of_arm().any(|arm| arm.possible > 0) => 2,
            _ if comparison.metrics.iter().any(|row| row.significant && name == Some(row.run.as_str())) => 3,
            _ => 4,
        }
    };
    let mut places: Vec<usize> = (0..comparison.arms.len()).collect();
    places.sort_by_key(rank);
    places.truncate(ARMS);
    places.sort_unstable();
    places
}

/// What to say where some have none.
pub fn left_out(comparison: &Comparison) -> Option<String> {
    let all = comparison.arms.len();
    let said = "the baseline, and first those with a cause, then those that differ; all are in compare.json";
    (all > ARMS).then(|| format!("{ARMS} of {all} arms are shown: {said}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stapo_compare::result::{Arm, ArmCause, CauseRow, MetricRow};
    use stapo_result::CauseCode;

    /// Fourteen arms: the last is sick, the one before may be, the one before that differs.
    #[test]
    fn arms_with_a_cause_are_shown_however_many_there_are() {
        let name = |place: usize| format!("arm{place}");
        let cause = |place: usize| ArmCause {
            name: name(place),
            runs: 1,
            likely: u64::from(place == 13),
            possible: u64::from(place == 12),
            ..ArmCause::default()
        };
        let comparison = Comparison {
            arms: (0..14).map(|place| Arm { name: name(place), runs: vec![name(place)] }).collect(),
            causes: vec![CauseRow {
                code: CauseCode::new("dead_groups"),
                sentence: String::new(),
                arms: (0..14).map(cause).collect(),
            }],
            metrics: vec![MetricRow { run: name(11), significant: true, ..MetricRow::default() }],
            ..Comparison::default()
        };
        assert_eq!(shown(&comparison), [0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13]);
        assert!(left_out(&comparison).is_some_and(|said| said.starts_with("12 of 14 arms are shown")));
        let few = Comparison { arms: comparison.arms[..3].to_vec(), ..Comparison::default() };
        assert_eq!((shown(&few), left_out(&few)), (vec![0, 1, 2], None));
    }
}
