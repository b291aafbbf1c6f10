//! What entropy, length, truncation, clip fraction and groups without signal did, and where the KL blew up.

use std::collections::BTreeMap;

use super::blocks::Blocks;
use super::critical::Critical;
use super::words::{short, significant};
use crate::curves::{CurveRun, Series};
use crate::math::{greatest, mean, median, quantile};
use crate::names::CanonicalName;

/// Start, end, and whether it moved beyond chance.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trend {
    pub start: f64,
    pub end: f64,
    pub rises: bool,
    pub falls: bool,
}

impl Trend {
    /// End over start; 1 where nothing moved beyond chance.
    pub fn ratio(&self) -> f64 {
        if self.rises || self.falls { self.end / self.start.max(1e-9) } else { 1.0 }
    }

    /// `0.35 → 0.04`.
    pub fn arrow(&self) -> String {
        format!("{} → {}", short(self.start), short(self.end))
    }
}

/// The numbers with trends, in the order in which they are told.
pub(crate) const TRENDS: [CanonicalName; 5] = [
    CanonicalName::Entropy,
    CanonicalName::Length,
    CanonicalName::Truncated,
    CanonicalName::ClipFraction,
    CanonicalName::DeadGroups,
];

/// Trends of what is logged in six rows at least.
pub(crate) fn trends(run: &CurveRun) -> BTreeMap<CanonicalName, Trend> {
    let logged = TRENDS.into_iter().filter_map(|name| Some((name, run.series.get(&name)?)));
    logged
        .filter(|(_, series)| series.values.len() >= 6)
        .map(|(name, series)| (name, trend(name, series)))
        .collect()
}

fn trend(name: CanonicalName, series: &Series) -> Trend {
    let y = &series.values;
    // Entropy and length move by factors.
    let by_factors = matches!(name, CanonicalName::Entropy | CanonicalName::Length);
    let scaled: Vec<f64> = y.iter().map(|v| if by_factors { v.max(1e-6).ln() } else { *v }).collect();
    let gains = Blocks::new(&series.steps, &scaled).gains();
    let critical = Critical::Gain.value(y.len());
    Trend {
        start: mean(&y[..(y.len() / 10).max(1)]),
        end: mean(&y[y.len() - (y.len() / 5).max(1)..]),
        rises: gains.iter().any(|gain| gain.difference > critical * gain.error),
        falls: gains.iter().any(|gain| -gain.difference > critical * gain.error),
    }
}

/// Where the KL reached 1 and ten times its start, as a median of five rows: a single row is no blow-up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlowUp {
    pub start: f64,
    pub peak_step: f64,
    pub peak: f64,
    pub first: f64,
    pub last: f64,
    /// Still high at the end.
    pub stays: bool,
}

pub(crate) fn blow_up(kl: &Series) -> Option<BlowUp> {
    let (x, y) = (&kl.steps, &kl.values);
    if y.len() < 10 {
        return None;
    }
    let medians: Vec<f64> =
        (0..y.len()).map(|at| median(&y[at.saturating_sub(2)..(at + 3).min(y.len())])).collect();
    let start = quantile(&medians[..(medians.len() / 5).max(5)], 0.25).max(0.01);
    let top = greatest(&medians);
    if top < f64::max(1.0, 10.0 * start) {
        return None;
    }
    let peak = medians.iter().position(|m| *m == top)?;
    let high: Vec<usize> =
        (0..y.len()).filter(|at| medians[*at] >= f64::max(0.3 * top, 5.0 * start)).collect();
    let gap = (y.len() / 20).max(5);
    let around = high.chunk_by(|a, b| b - a <= gap).find(|rows| rows.contains(&peak))?;
    Some(BlowUp {
        start,
        peak_step: x[peak],
        peak: greatest(&y[peak.saturating_sub(2)..(peak + 3).min(y.len())]),
        first: x[*around.first()?],
        last: x[*around.last()?],
        stays: median(&medians[y.len() - (y.len() / 10).max(3)..]) > 0.3 * top,
    })
}

impl BlowUp {
    /// `0.012 → 5.1 at step 60, back since`.
    pub fn sentence(&self) -> String {
        let back = if self.stays { "" } else { ", back since" };
        format!(
            "kl {} → {} at step {}{back}",
            short(self.start),
            short(self.peak),
            significant(self.peak_step, 6)
        )
    }
}

/// A gradient norm beyond ten times its median.
pub(crate) fn gradient_spikes(gradient: &Series) -> Option<String> {
    let y = &gradient.values;
    if y.len() < 10 {
        return None;
    }
    let usual = 0.01 * quantile(y, 0.9);
    let median = median(&y.iter().copied().filter(|v| *v > usual).collect::<Vec<_>>());
    let top = greatest(y);
    let step = gradient.steps[y.iter().position(|v| *v == top)?];
    let spikes = y.iter().filter(|v| **v > 10.0 * median).count();
    (top > 10.0 * median).then(|| {
        let (top, times, step) = (significant(top, 3), top / median, significant(step, 6));
        let spikes = if spikes == 1 { "1 spike".to_owned() } else { format!("{spikes} spikes") };
        format!("gradient norm {top}, {times:.0} times its median, at step {step}; {spikes}")
    })
}
