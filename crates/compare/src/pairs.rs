//! Each arm against the baseline.

use super::distribution;
use super::judge::Judge;
use super::quantities::Metric;
use super::result::{AlignmentSummary, Arm, CompareWarning, DistributionChange, Family, MetricRow};
use super::settings::CompareSettings;
use super::sides::{CutRun, Side, Sides};
use super::warnings;

/// What comparing pairs of arms gives, piece by piece.
#[derive(Default)]
pub struct Pairs {
    /// One row a metric and arm.
    pub rows: Vec<MetricRow>,
    /// Metrics that one side has no data for, with the arm.
    pub missing: Vec<(Metric, String)>,
    /// How steps were aligned.
    pub alignment: Vec<AlignmentSummary>,
    /// How distributions of tokens differ.
    pub distributions: Vec<DistributionChange>,
    /// What the user should know.
    pub warnings: Vec<CompareWarning>,
}

impl Pairs {
    /// Compares an arm with the baseline.
    pub fn compare(
        &mut self,
        runs: [&[CutRun<'_>]; 2],
        arms: [&Arm; 2],
        all: &[Metric],
        settings: &CompareSettings,
    ) {
        let pair = runs.map(|runs| Side { runs });
        let sides = Sides::new(pair[0], pair[1], settings.alignment);
        let judge = Judge::new(&sides, pair, settings);
        let is_known =
            |metric: &&Metric| runs.iter().all(|runs| runs.iter().all(|run| metric.is_known(run.analysis)));
        let known: Vec<&Metric> = all.iter().filter(is_known).collect();
        let rows: Vec<MetricRow> = judge.metrics(&known).into_iter().flatten().collect();
        for metric in all.iter().filter(|metric| rows.iter().all(|row| row.name != metric.name)) {
            let known_somewhere =
                runs.iter().any(|runs| runs.iter().any(|run| metric.is_known(run.analysis)));
            if known_somewhere && metric.family == Family::Framework && sides.len() > 0 {
                self.missing.push((metric.clone(), arms[1].name.clone()));
            }
        }
        self.add_rows(rows, &arms[1].name);
        self.warnings.extend(warnings::of_sides(&sides, arms[0], arms[1]));
        self.alignment.push(AlignmentSummary {
            run: arms[1].name.clone(),
            method: sides.alignment.method,
            steps: sides.len() as u64,
            baseline_unaligned: sides.unaligned[0] as u64,
            other_unaligned: sides.unaligned[1] as u64,
            prompts: sides.prompts.paired as u64,
            baseline_groups_unaligned: sides.prompts.unpaired[0] as u64,
            other_groups_unaligned: sides.prompts.unpaired[1] as u64,
            prompts_logged: sides.prompts.logged,
        });
        let mut change = distribution::change(pair, settings);
        change.run.clone_from(&arms[1].name);
        self.distributions.push(change);
    }

    /// Adds rows of an arm.
    pub fn add_rows(&mut self, rows: Vec<MetricRow>, run: &str) {
        self.rows.extend(rows.into_iter().map(|row| MetricRow { run: run.to_owned(), ..row }));
    }
}
