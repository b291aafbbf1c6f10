//! Intervals of differences by drawing steps and groups.

use std::collections::BTreeMap;

use super::judge::steps_or_blocks;
use super::quantities::{Fraction, Metric, value};
use super::result::Drawn;
use super::settings::CompareSettings;
use super::sides::Sides;
use crate::analyze::result::ClusterSum;
use crate::stats::bootstrap::{DrawnSteps, Stratum, Units, interval, resample, widened};
use crate::stats::serial::{FEWEST_BLOCKS, Serial};

/// Sums of all clusters in each draw.
type Draws = Vec<[[f64; ClusterSum::COUNT]; 2]>;

/// Intervals of one pair of arms; draws serve all metrics of one length of blocks.
pub struct Intervals<'a> {
    sides: &'a Sides,
    settings: &'a CompareSettings,
    /// Draws by length of blocks; 0 where groups are drawn.
    draws: BTreeMap<usize, Draws>,
    drawn_steps: Option<DrawnSteps<{ ClusterSum::COUNT }>>,
}

impl<'a> Intervals<'a> {
    /// Without any draws yet.
    pub fn new(sides: &'a Sides, settings: &'a CompareSettings) -> Self {
        Self { sides, settings, draws: BTreeMap::new(), drawn_steps: None }
    }

    /// The interval by drawing clusters.
    pub fn over_clusters(
        &mut self,
        metric: &Metric,
        serial: &Serial,
        difference: f64,
    ) -> Option<([f64; 2], Drawn)> {
        let (sides, settings) = (self.sides, self.settings);
        let by_steps = sides.len() >= FEWEST_BLOCKS;
        let one = |sums: &[[f64; ClusterSum::COUNT]; 2]| {
            let [left, right] = [0, 1].map(|side| metric.of_cluster(&sums[side]).and_then(value));
            right.zip(left).map_or(f64::NAN, |(right, left)| right - left)
        };
        let draws = self.draws(if by_steps { serial.block } else { 0 });
        let values: Vec<f64> = draws.iter().map(one).collect();
        if by_steps {
            let bounds = interval(&values, settings.confidence, sides.len() / serial.block)?;
            return Some((widened(bounds, difference, serial.inflation), steps_or_blocks(serial)));
        }
        let groups = |side: usize| sides.strata.iter().map(|s| s.sides[side].len()).sum::<usize>();
        let independent = (groups(0).min(groups(1)) + 1).saturating_sub(sides.len());
        let bounds = interval(&values, settings.confidence, independent)?;
        Some((bounds, Drawn::Groups))
    }

    fn draws(&mut self, block: usize) -> &Draws {
        let (sides, draws, seed) = (self.sides, self.settings.draws, self.settings.seed);
        let drawn_steps = &mut self.drawn_steps;
        self.draws.entry(block).or_insert_with(|| match block {
            0 => resample(&sides.strata, Units::Groups, draws, seed),
            _ => drawn_steps.get_or_insert_with(|| DrawnSteps::new(&sides.strata, seed)).resample(
                block,
                sides.alignment.is_pairing(),
                draws,
                seed,
            ),
        })
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
    if fractions.len() < FEWEST_BLOCKS {
        return None;
    }
    let strata: Vec<Stratum<2>> =
        fractions.iter().map(|f| Stratum { sides: f.map(|side| vec![side]), paired: joint }).collect();
    let draws = resample(&strata, Units::Steps { block: serial.block, joint }, settings.draws, settings.seed);
    let values: Vec<f64> =
        draws.iter().filter_map(|[left, right]| Some(value(*right)? - value(*left)?)).collect();
    let bounds = interval(&values, settings.confidence, fractions.len() / serial.block)?;
    Some((widened(bounds, difference, serial.inflation), steps_or_blocks(serial)))
}
