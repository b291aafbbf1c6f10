//! The tables of a comparison.

use super::result::{Comparison, Series};
use stapo_base::tables::{Columns, DataFrame};

impl Comparison {
    /// All tables, by the names of their files.
    #[must_use]
    pub fn frames(&self) -> Vec<(&'static str, DataFrame)> {
        vec![
            ("compare_metrics", self.metrics_frame()),
            ("compare_methods", self.methods_frame()),
            ("compare_runs", self.runs_frame()),
            ("compare_steps", self.steps_frame()),
            ("compare_trainer", self.trainer_frame()),
            ("compare_regions", self.regions_frame()),
            ("compare_tokens", self.tokens_frame()),
            ("compare_spurious", self.spurious_frame()),
            ("compare_causes", self.causes_frame()),
        ]
    }

    /// One row a metric, window and run other than the first.
    #[must_use]
    pub fn metrics_frame(&self) -> DataFrame {
        Columns::of(&self.metrics)
            .text("name", |r| &r.name)
            .text("run", |r| &r.run)
            .text("against", |r| &r.against)
            .count("steps", |r| r.steps)
            .float("baseline", |r| r.baseline)
            .float("other", |r| r.other)
            .float("difference", |r| r.difference)
            .float("ci_low", |r| r.ci_low)
            .float("ci_high", |r| r.ci_high)
            .float("freedom", |r| r.freedom)
            .float("margin", |r| r.margin)
            .float("detectable", |r| r.detectable)
            .text("verdict", |r| r.verdict.name())
            .text("reason", |r| r.reason.map(|reason| reason.name()))
            .frame()
    }

    /// One row a contrast of methods, metric and window.
    #[must_use]
    pub fn methods_frame(&self) -> DataFrame {
        let rows: Vec<_> = self.methods.iter().flat_map(|methods| &methods.contrasts).collect();
        Columns::of(&rows)
            .text("metric", |r| r.metric.name())
            .text("window", |r| r.window.name())
            .text("arm", |r| &r.arm)
            .text("against", |r| &r.against)
            .count("seeds", |r| r.seeds[0])
            .count("seeds_against", |r| r.seeds[1])
            .float("difference", |r| r.difference)
            .float("ci_low", |r| r.interval.map(|ends| ends[0]))
            .float("ci_high", |r| r.interval.map(|ends| ends[1]))
            .float("freedom", |r| r.freedom)
            .flag("paired", |r| r.paired)
            .float("p_value", |r| r.p_value)
            .float("p_adjusted", |r| r.adjusted)
            .flag("significant", |r| r.significant)
            .float("detectable", |r| r.detectable)
            .text("reason", |r| r.reason.map(|reason| reason.name()))
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
            .text("state", |r| r.state.name())
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
            self.movers.iter().flat_map(|d| d.all_regions.iter().map(move |r| (&d.run, r))).collect();
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
            self.movers.iter().flat_map(|d| d.all_tokens.iter().map(move |t| (&d.run, t))).collect();
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
}

fn series_frame(series: &[Series]) -> DataFrame {
    let rows: Vec<_> = series.iter().flat_map(|s| s.points.iter().map(move |p| (s, p))).collect();
    Columns::of(&rows)
        .text("run", |r| &r.0.run)
        .text("metric", |r| &r.0.metric)
        .int("step", |r| r.1.step)
        .float("value", |r| r.1.value)
        .float("error", |r| r.1.error)
        .frame()
}
