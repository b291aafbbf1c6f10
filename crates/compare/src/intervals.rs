//! Intervals of differences by drawing steps and groups.

use super::fraction::{self, Fraction, value};
use super::quantities::Metric;
use super::result::Drawn;
use super::settings::CompareSettings;
use super::sides::Sides;
use stapo_base::stats::bootstrap::{Stratum, Units, interval, resample, widened};
use stapo_base::stats::serial::{FEWEST_STEPS, Serial};
use stapo_result::ClusterSum;

/// Sums of all clusters in each draw.
type Draws = Vec<[[f64; ClusterSum::COUNT]; 2]>;

/// Intervals of one pair of arms; draws serve all metrics.
pub struct Intervals<'a> {
    sides: &'a Sides,
    settings: &'a CompareSettings,
    draws: Option<Draws>,
}

impl<'a> Intervals<'a> {
    /// Without any draws yet.
    pub fn new(sides: &'a Sides, settings: &'a CompareSettings) -> Self {
        Self { sides, settings, draws: None }
    }

    /// The interval by drawing clusters.
    pub fn over_clusters(
        &mut self,
        metric: &Metric,
        serial: &Serial,
        difference: f64,
    ) -> Option<([f64; 2], Drawn)> {
        let (sides, settings) = (self.sides, self.settings);
        let by_steps = sides.len() >= FEWEST_STEPS;
        let one = |sums: &[[f64; ClusterSum::COUNT]; 2]| {
            let [left, right] = [0, 1].map(|side| metric.of_cluster(&sums[side]).and_then(value));
            left.zip(right).map_or(f64::NAN, |(left, right)| fraction::difference(left, right))
        };
        let values: Vec<f64> = self.draws(by_steps).iter().map(one).collect();
        if by_steps {
            let bounds = interval(&values, settings.confidence, sides.len())?;
            return Some((widened(bounds, difference, serial.widening(settings.confidence)), Drawn::Steps));
        }
        let groups = |side: usize| sides.strata.iter().map(|s| s.sides[side].len()).sum::<usize>();
        let independent = (groups(0).min(groups(1)) + 1).saturating_sub(sides.len());
        let bounds = interval(&values, settings.confidence, independent)?;
        Some((bounds, Drawn::Groups))
    }

    fn draws(&mut self, by_steps: bool) -> &Draws {
        let (sides, settings) = (self.sides, self.settings);
        let joint = sides.alignment.is_pairing();
        let units = if by_steps { Units::Steps { joint } } else { Units::Groups };
        self.draws.get_or_insert_with(|| resample(&sides.strata, units, settings.draws, settings.seed))
    }

    /// The interval by drawing steps that have one fraction each.
    pub fn over_steps(
        &self,
        fractions: &[[Fraction; 2]],
        serial: &Serial,
        difference: f64,
    ) -> Option<([f64; 2], Drawn)> {
        over_steps(fractions, serial, self.settings, self.sides.alignment.is_pairing(), difference)
    }
}

/// The interval by drawing steps that have one fraction each.
pub fn over_steps(
    fractions: &[[Fraction; 2]],
    serial: &Serial,
    settings: &CompareSettings,
    joint: bool,
    difference: f64,
) -> Option<([f64; 2], Drawn)> {
    if fractions.len() < FEWEST_STEPS {
        return None;
    }
    let strata: Vec<Stratum<2>> =
        fractions.iter().map(|f| Stratum { sides: f.map(|side| vec![side]), paired: joint }).collect();
    let draws = resample(&strata, Units::Steps { joint }, settings.draws, settings.seed);
    let one = |[left, right]: &[Fraction; 2]| Some(fraction::difference(value(*left)?, value(*right)?));
    let values: Vec<f64> = draws.iter().filter_map(one).collect();
    let bounds = interval(&values, settings.confidence, fractions.len())?;
    Some((widened(bounds, difference, serial.widening(settings.confidence)), Drawn::Steps))
}
