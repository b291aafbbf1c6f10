//! Series over steps: where they begin, where they end, where they change for good.

use crate::analyze::result::{Evidence, StepRow, Warning, WarningCode};
use crate::stats::quantile::select_quantile;

/// Steps that a trend needs.
pub const FEWEST_STEPS: usize = 4;
/// Steps that a change point needs, and on either side of it.
const CHANGE_STEPS: usize = 8;
const SIDE: usize = 3;
/// A step function must fit this much better than a line.
const BETTER_THAN_A_LINE: f64 = 0.5;
/// The jump over the spread around the two levels.
const JUMP: f64 = 4.0;

/// The values of one quantity at the steps that have it.
pub type Series = Vec<(i64, f64)>;

/// A quantity over the steps.
pub fn series(steps: &[StepRow], value: impl Fn(&StepRow) -> Option<f64>) -> Series {
    steps.iter().filter_map(|row| Some((row.step, value(row)?))).collect()
}

/// The median of some values.
pub fn median(values: &[(i64, f64)]) -> f64 {
    let mut values: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    select_quantile(&mut values, 0.5).unwrap_or(0.0)
}

/// Medians of the first and the last quarter (one to five steps).
pub fn ends(series: &Series) -> (f64, f64) {
    let quarter = (series.len() / 4).clamp(1, 5).min(series.len());
    (median(&series[..quarter]), median(&series[series.len() - quarter..]))
}

/// The first step from which on all values satisfy `is`.
pub fn since(series: &Series, is: impl Fn(f64) -> bool) -> Option<i64> {
    let first = series.iter().rposition(|(_, value)| !is(*value)).map_or(0, |last| last + 1);
    series.get(first).map(|(step, _)| *step)
}

/// One number of evidence.
pub fn evidence(step: Option<i64>, what: &str, value: f64) -> Evidence {
    Evidence { step, what: what.into(), value }
}

fn mean(values: &[(i64, f64)]) -> f64 {
    values.iter().map(|(_, value)| value).sum::<f64>() / values.len() as f64
}

fn spread(values: &[(i64, f64)]) -> f64 {
    let mean = mean(values);
    values.iter().map(|(_, value)| (value - mean).powi(2)).sum()
}

/// What a straight line over the steps leaves unexplained.
fn around_a_line(series: &Series) -> f64 {
    let n = series.len() as f64;
    let (mean_x, mean_y) = ((n - 1.0) / 2.0, mean(series));
    let (mut xx, mut xy) = (0.0, 0.0);
    for (i, (_, y)) in series.iter().enumerate() {
        let x = i as f64 - mean_x;
        xx += x * x;
        xy += x * (y - mean_y);
    }
    (spread(series) - xy * xy / xx).max(0.0)
}

/// The place at which two constant levels fit best: first step after it and both levels.
fn change_point(series: &Series) -> Option<(i64, f64, f64)> {
    if series.len() < CHANGE_STEPS {
        return None;
    }
    let around = |at: usize| spread(&series[..at]) + spread(&series[at..]);
    let at = (SIDE..=series.len() - SIDE).min_by(|a, b| around(*a).total_cmp(&around(*b)))?;
    let (before, after) = (mean(&series[..at]), mean(&series[at..]));
    let deviation = (around(at) / (series.len() - 2) as f64).sqrt();
    let is_step = around(at) < BETTER_THAN_A_LINE * around_a_line(series);
    let is_large = (after - before).abs() > JUMP * deviation && (after - before).abs() > 1e-9 * before.abs();
    (is_step && is_large).then_some((series[at].0, before, after))
}

/// Steps at which entropy, reward or energy changed for good.
pub fn change_points(steps: &[StepRow]) -> Vec<Warning> {
    let energy = |row: &StepRow| {
        let per_token = row.gradient_energy / row.tokens.max(1) as f64;
        (per_token > 0.0).then_some(per_token)
    };
    let quantities: [(&str, Series); 4] = [
        ("mean_entropy", series(steps, |row| row.mean_entropy)),
        ("mean_reward", series(steps, |row| row.mean_reward)),
        ("energy_per_token", series(steps, energy)),
        ("mean_length", series(steps, |row| row.mean_length)),
    ];
    let warning = |(name, series): (&str, Series)| {
        let (step, before, after) = change_point(&series)?;
        Some(Warning {
            code: WarningCode::ChangePoint,
            message: format!("{name} changed for good at step {step}: {before:.4} before, {after:.4} after"),
            hint: format!("look at what changed in data, learning rate or code before step {step}"),
            evidence: vec![evidence(Some(step), name, after), evidence(None, name, before)],
        })
    };
    quantities.into_iter().filter_map(warning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Series {
        values.iter().enumerate().map(|(i, v)| (i as i64 * 10, *v)).collect()
    }

    #[test]
    fn jumps_are_found_and_trends_are_not() {
        let jump = of(&[1.0, 1.1, 0.9, 1.0, 1.05, 3.0, 3.1, 2.9, 3.0]);
        assert_eq!(change_point(&jump).map(|(step, _, _)| step), Some(50));
        let trend: Vec<f64> = (0..20).map(|i| 1.0 - 0.04 * f64::from(i)).collect();
        assert_eq!(change_point(&of(&trend)), None);
        let noise = of(&[1.0, 1.3, 0.8, 1.1, 0.7, 1.2, 0.9, 1.25, 0.75, 1.0]);
        assert_eq!(change_point(&noise), None);
        assert_eq!(change_point(&of(&[2.0; 12])), None);
        assert_eq!(change_point(&of(&[1.0, 9.0])), None);
    }

    #[test]
    fn ends_and_since() {
        let falling = of(&[4.0, 4.0, 3.0, 2.0, 0.1, 0.3, 0.1, 0.1]);
        assert_eq!(ends(&falling), (4.0, 0.1));
        assert_eq!(since(&falling, |v| v < 0.2), Some(60));
        assert_eq!(since(&falling, |v| v < 0.05), None);
    }
}
