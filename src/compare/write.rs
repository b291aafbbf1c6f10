//! The result as files.

use std::io::Write;
use std::path::Path;

use serde_json::Value;

use super::result::{Comparison, Series};
use crate::analyze::{TABLES, Table};
use crate::error::{Error, Result};
use crate::output::AtomicFile;

const FILE: &str = "compare.json";

impl Comparison {
    /// The comparison as a JSON value.
    pub fn to_value(&self) -> Result<Value> {
        serde_json::to_value(self).map_err(|e| Error::write(Path::new(FILE), e))
    }

    /// The comparison as JSON text.
    pub fn to_json(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self);
        text.map(|text| text + "\n").map_err(|e| Error::write(Path::new(FILE), e))
    }

    /// Writes `compare.json` and `tables/compare_*.parquet` into `folder`.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let tables = [
            ("compare_metrics", self.metrics_table()),
            ("compare_runs", self.runs_table()),
            ("compare_steps", series_table(&self.series)),
            ("compare_trainer", series_table(&self.trainer)),
            ("compare_regions", self.regions_table()),
            ("compare_tokens", self.tokens_table()),
            ("compare_spurious", self.spurious_table()),
        ];
        for (name, table) in tables {
            table.write(&folder.join(TABLES).join(format!("{name}.parquet")))?;
        }
        let path = folder.join(FILE);
        let mut file = AtomicFile::create(&path)?;
        file.write_all(self.to_json()?.as_bytes()).map_err(|e| Error::write(&path, e))?;
        file.commit()
    }

    fn metrics_table(&self) -> Table {
        let rows = &self.metrics;
        Table::default()
            .texts("name", rows.iter().map(|r| Some(r.name.clone())))
            .texts("family", rows.iter().map(|r| Some(r.family.clone())))
            .texts("unit", rows.iter().map(|r| Some(r.unit.clone())))
            .texts("run", rows.iter().map(|r| Some(r.run.clone())))
            .floats("baseline", rows.iter().map(|r| Some(r.baseline)))
            .floats("other", rows.iter().map(|r| Some(r.other)))
            .floats("difference", rows.iter().map(|r| Some(r.difference)))
            .floats("ci_low", rows.iter().map(|r| r.ci_low))
            .floats("ci_high", rows.iter().map(|r| r.ci_high))
            .texts("interval", rows.iter().map(|r| Some(r.interval.clone())))
            .texts("test", rows.iter().map(|r| Some(r.test.clone())))
            .texts("test_unit", rows.iter().map(|r| Some(r.test_unit.clone())))
            .counts("n", rows.iter().map(|r| r.n))
            .floats("p_value", rows.iter().map(|r| r.p_value))
            .floats("p_adjusted", rows.iter().map(|r| r.p_adjusted))
            .floats("effect", rows.iter().map(|r| r.effect))
            .floats("shift", rows.iter().map(|r| r.shift))
            .flags("significant", rows.iter().map(|r| r.significant))
            .floats("autocorrelation", rows.iter().map(|r| r.autocorrelation))
            .floats("effective_steps", rows.iter().map(|r| r.effective_steps))
    }

    fn runs_table(&self) -> Table {
        let rows = &self.runs;
        Table::default()
            .texts("name", rows.iter().map(|r| Some(r.name.clone())))
            .texts("arm", rows.iter().map(|r| Some(r.arm.clone())))
            .counts("steps", rows.iter().map(|r| r.steps))
            .counts("tokens", rows.iter().map(|r| r.tokens))
            .counts("responses", rows.iter().map(|r| r.responses))
            .counts("silenced", rows.iter().map(|r| r.silenced))
            .floats("first_entropy", rows.iter().map(|r| r.stability.first_entropy))
            .floats("last_entropy", rows.iter().map(|r| r.stability.last_entropy))
            .floats("entropy_spread", rows.iter().map(|r| r.stability.spread))
            .floats("entropy_drawdown", rows.iter().map(|r| r.stability.drawdown))
            .floats("entropy_run_up", rows.iter().map(|r| r.stability.run_up))
            .floats("entropy_slope_per_100_steps", rows.iter().map(|r| r.stability.slope_per_100_steps))
            .ints("collapse_step", rows.iter().map(|r| r.stability.collapse_step))
            .floats("late_reward", rows.iter().map(|r| r.stability.late_reward))
    }

    fn regions_table(&self) -> Table {
        let rows: Vec<_> =
            self.distributions.iter().flat_map(|d| d.all_regions.iter().map(move |r| (&d.run, r))).collect();
        let float = |of: fn(&super::result::RegionChange) -> f64| rows.iter().map(move |r| Some(of(r.1)));
        Table::default()
            .texts("run", rows.iter().map(|r| Some(r.0.clone())))
            .floats("log10_prob_from", float(|r| r.log10_prob[0]))
            .floats("log10_prob_to", float(|r| r.log10_prob[1]))
            .floats("entropy_from", float(|r| r.entropy[0]))
            .floats("entropy_to", float(|r| r.entropy[1]))
            .floats("baseline", float(|r| r.baseline))
            .floats("other", float(|r| r.other))
            .floats("difference", float(|r| r.difference))
            .floats("ci_low", float(|r| r.ci_low))
            .floats("ci_high", float(|r| r.ci_high))
    }

    fn tokens_table(&self) -> Table {
        let rows: Vec<_> =
            self.distributions.iter().flat_map(|d| d.all_tokens.iter().map(move |t| (&d.run, t))).collect();
        let float = |of: fn(&super::result::TokenChange) -> f64| rows.iter().map(move |r| Some(of(r.1)));
        Table::default()
            .texts("run", rows.iter().map(|r| Some(r.0.clone())))
            .ints("token_id", rows.iter().map(|r| Some(r.1.token_id)))
            .texts("token", rows.iter().map(|r| r.1.token.clone()))
            .floats("baseline", float(|t| t.baseline))
            .floats("other", float(|t| t.other))
            .floats("difference", float(|t| t.difference))
            .floats("ci_low", float(|t| t.ci_low))
            .floats("ci_high", float(|t| t.ci_high))
    }

    fn spurious_table(&self) -> Table {
        let rows: Vec<_> = self
            .spurious_vocabulary
            .iter()
            .flat_map(|token| self.arms.iter().enumerate().map(move |(arm, name)| (token, arm, &name.name)))
            .collect();
        Table::default()
            .ints("token_id", rows.iter().map(|r| Some(r.0.token_id)))
            .texts("token", rows.iter().map(|r| r.0.token.clone()))
            .texts("arm", rows.iter().map(|r| Some(r.2.clone())))
            .counts("silenced", rows.iter().map(|r| r.0.silenced[r.1]))
            .counts("exploratory", rows.iter().map(|r| r.0.exploratory[r.1]))
            .counts("occurrences", rows.iter().map(|r| r.0.occurrences[r.1]))
    }
}

fn series_table(series: &[Series]) -> Table {
    let rows: Vec<_> = series.iter().flat_map(|s| s.points.iter().map(move |p| (s, p))).collect();
    Table::default()
        .texts("run", rows.iter().map(|r| Some(r.0.run.clone())))
        .texts("metric", rows.iter().map(|r| Some(r.0.metric.clone())))
        .ints("step", rows.iter().map(|r| Some(r.1.0)))
        .floats("value", rows.iter().map(|r| Some(r.1.1)))
}
