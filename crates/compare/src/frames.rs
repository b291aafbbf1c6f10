//! The tables of a comparison.

use super::result::{Comparison, Series};
use stapo_base::tables::{Columns, DataFrame};

impl Comparison {
    /// All tables, by the names of their files.
    #[must_use]
    pub fn frames(&self) -> Vec<(&'static str, DataFrame)> {
        vec![
            ("compare_metrics", self.metrics_frame()),
            ("compare_runs", self.runs_frame()),
            ("compare_steps", self.steps_frame()),
            ("compare_trainer", self.trainer_frame()),
            ("compare_regions", self.regions_frame()),
            ("compare_tokens", self.tokens_frame()),
            ("compare_spurious", self.spurious_frame()),
            ("compare_causes", self.causes_frame()),
            ("compare_answers", self.answers_frame()),
        ]
    }

    /// One row a metric and arm other than the baseline.
    #[must_use]
    pub fn metrics_frame(&self) -> DataFrame {
        Columns::of(&self.metrics)
            .text("name", |r| &r.name)
            .text("family", |r| r.family.name())
            .flag("primary", |r| r.primary)
            .text("unit", |r| r.unit.name())
            .text("run", |r| &r.run)
            .float("baseline", |r| r.baseline)
            .float("other", |r| r.other)
            .float("difference", |r| r.difference)
            .float("ci_low", |r| r.ci_low)
            .float("ci_high", |r| r.ci_high)
            .text("interval", |r| r.interval.name())
            .text("test", |r| r.test.name())
            .text("test_unit", |r| r.test_unit.name())
            .count("n", |r| r.n)
            .float("p_value", |r| r.p_value)
            .float("p_adjusted", |r| r.p_adjusted)
            .float("smallest_p", |r| r.smallest_p)
            .float("smallest_p_adjusted", |r| r.smallest_p_adjusted)
            .float("effect", |r| r.effect)
            .float("shift", |r| r.shift)
            .flag("significant", |r| r.significant)
            .text("finding", |r| r.finding.name())
            .float("at_most", |r| r.at_most)
            .float("autocorrelation", |r| r.autocorrelation)
            .float("effective_steps", |r| r.effective_steps)
            .frame()
    }

    /// One row a run.
    #[must_use]
    pub fn runs_frame(&self) -> DataFrame {
        Columns::of(&self.runs)
            .text("name", |r| &r.name)
            .text("arm", |r| &r.arm)
            .count("steps", |r| r.steps)
            .count("tokens", |r| r.tokens)
            .count("responses", |r| r.responses)
            .count("silenced", |r| r.silenced)
            .float("first_entropy", |r| r.stability.first_entropy)
            .float("last_entropy", |r| r.stability.last_entropy)
            .float("entropy_spread", |r| r.stability.spread)
            .float("entropy_drawdown", |r| r.stability.drawdown)
            .float("entropy_run_up", |r| r.stability.run_up)
            .float("entropy_slope_per_100_steps", |r| r.stability.slope_per_100_steps)
            .int("collapse_step", |r| r.stability.collapse_step)
            .float("late_reward", |r| r.stability.late_reward)
            .frame()
    }

    /// One row a run, metric and step.
    #[must_use]
    pub fn steps_frame(&self) -> DataFrame {
        series_frame(&self.series)
    }

    /// One row a run, scalar of the trainer and step.
    #[must_use]
    pub fn trainer_frame(&self) -> DataFrame {
        series_frame(&self.trainer)
    }

    /// One row a region of the plane and arm.
    #[must_use]
    pub fn regions_frame(&self) -> DataFrame {
        let rows: Vec<_> =
            self.distributions.iter().flat_map(|d| d.all_regions.iter().map(move |r| (&d.run, r))).collect();
        Columns::of(&rows)
            .text("run", |r| r.0)
            .float("log10_prob_from", |r| r.1.log10_prob[0])
            .float("log10_prob_to", |r| r.1.log10_prob[1])
            .float("entropy_from", |r| r.1.entropy[0])
            .float("entropy_to", |r| r.1.entropy[1])
            .float("baseline", |r| r.1.share.baseline)
            .float("other", |r| r.1.share.other)
            .float("difference", |r| r.1.share.difference)
            .float("ci_low", |r| r.1.share.ci_low)
            .float("ci_high", |r| r.1.share.ci_high)
            .frame()
    }

    /// One row a token id and arm.
    #[must_use]
    pub fn tokens_frame(&self) -> DataFrame {
        let rows: Vec<_> =
            self.distributions.iter().flat_map(|d| d.all_tokens.iter().map(move |t| (&d.run, t))).collect();
        Columns::of(&rows)
            .text("run", |r| r.0)
            .int("token_id", |r| r.1.token_id)
            .text("token", |r| &r.1.token)
            .float("baseline", |r| r.1.share.baseline)
            .float("other", |r| r.1.share.other)
            .float("difference", |r| r.1.share.difference)
            .float("ci_low", |r| r.1.share.ci_low)
            .float("ci_high", |r| r.1.share.ci_high)
            .frame()
    }

    /// One row a silenced token id and arm.
    #[must_use]
    pub fn spurious_frame(&self) -> DataFrame {
        let rows: Vec<_> = self
            .spurious_vocabulary
            .iter()
            .flat_map(|token| self.arms.iter().enumerate().map(move |(arm, name)| (token, arm, &name.name)))
            .collect();
        Columns::of(&rows)
            .int("token_id", |r| r.0.token_id)
            .text("token", |r| &r.0.token)
            .text("arm", |r| r.2)
            .count("silenced", |r| r.0.silenced[r.1])
            .count("exploratory", |r| r.0.exploratory[r.1])
            .count("occurrences", |r| r.0.occurrences[r.1])
            .frame()
    }
}

impl Comparison {
    /// One row a cause and arm.
    #[must_use]
    pub fn causes_frame(&self) -> DataFrame {
        let rows: Vec<_> = self
            .causes
            .iter()
            .flat_map(|row| row.arms.iter().map(move |arm| (row.code.clone(), arm)))
            .collect();
        Columns::of(&rows)
            .text("cause", |r| r.0.name())
            .text("arm", |r| &r.1.name)
            .count("runs", |r| r.1.runs)
            .count("likely", |r| r.1.likely)
            .count("possible", |r| r.1.possible)
            .count("not_checked", |r| r.1.not_checked)
            .text("message", |r| &r.1.message)
            .frame()
    }

    /// One row a quantity of whole runs and arm.
    #[must_use]
    pub fn answers_frame(&self) -> DataFrame {
        let rows: Vec<_> = self
            .answers
            .iter()
            .flat_map(|row| self.arms.iter().zip(&row.values).map(move |(arm, value)| (row, arm, value)))
            .collect();
        Columns::of(&rows)
            .text("name", |r| &r.0.name)
            .text("unit", |r| r.0.unit.name())
            .text("arm", |r| &r.1.name)
            .float("value", |r| *r.2)
            .frame()
    }
}

fn series_frame(series: &[Series]) -> DataFrame {
    let rows: Vec<_> = series.iter().flat_map(|s| s.points.iter().map(move |p| (s, p))).collect();
    Columns::of(&rows)
        .text("run", |r| &r.0.run)
        .text("metric", |r| &r.0.metric)
        .int("step", |r| r.1.0)
        .float("value", |r| r.1.1)
        .frame()
}
