//! How far a metric can go: a share from 0 to 1, a reward or a part of it as far as single responses got, in all
//! runs of both arms.

use super::metric_names::{REWARD, REWARD_PART};
use super::named_run::NamedRun;
use super::result::{Family, MetricRow, Unit};

/// Notes the range of a metric that has one: the lowest and highest of both arms, whichever is the baseline.
pub fn note(row: &mut MetricRow, arms: [&[NamedRun]; 2]) {
    if !matches!(row.family, Family::Framework | Family::Questions) {
        return;
    }
    let is_reward = row.name == REWARD || row.name.starts_with(REWARD_PART);
    let signals = arms.into_iter().flatten().flat_map(|run| &run.analysis.diagnosis.signals);
    let ranges =
        signals.filter(|signal| is_reward && signal.name.as_str() == row.name).filter_map(|s| s.range);
    row.range = ranges.reduce(|[low, high], one| [low.min(one[0]), high.max(one[1])]);
}

/// Ends the interval where no difference can be: at confidences near 1 its percentiles are moved far outwards.
pub fn bound(row: &mut MetricRow) {
    let means = [row.baseline, row.other];
    let all = match row.range {
        // Odd responses are no part of the range: where they move a mean out of it, it bounds nothing.
        Some([least, most]) if means.iter().all(|mean| (least..=most).contains(mean)) => most - least,
        _ if row.unit == Unit::Share => 1.0,
        _ => return,
    };
    row.ci_low = row.ci_low.map(|low| low.max(-all));
    row.ci_high = row.ci_high.map(|high| high.min(all));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_interval_goes_beyond_what_can_be() {
        let bounded = |unit, range, [baseline, other]: [f64; 2]| {
            let (ci_low, ci_high) = (Some(-19.8), Some(15.8));
            let mut row = MetricRow { unit, range, baseline, other, ci_low, ci_high, ..MetricRow::default() };
            bound(&mut row);
            (row.ci_low, row.ci_high)
        };
        let (whole, free) = ((Some(-1.0), Some(1.0)), (Some(-19.8), Some(15.8)));
        assert_eq!(bounded(Unit::Share, None, [0.2, 0.3]), whole);
        assert_eq!(bounded(Unit::Number, Some([0.0, 1.0]), [0.2, 0.3]), whole);
        assert_eq!(bounded(Unit::Number, Some([-1.0, 1.0]), [0.2, 0.3]), (Some(-2.0), Some(2.0)));
        assert_eq!(bounded(Unit::Number, Some([0.0, 1.0]), [0.2, 7.0]), free);
        assert_eq!(bounded(Unit::Nats, None, [0.2, 0.3]), free);
    }
}
