//! The tables of a replay.

use crate::replay::{ArmResult, ReplayResult};
use stapo_base::tables::{Columns, DataFrame};

impl ReplayResult {
    /// All tables, by the names of their files.
    #[must_use]
    pub fn frames(&self) -> Vec<(&'static str, DataFrame)> {
        vec![
            ("replay_summary", self.summary_frame()),
            ("replay_differences", self.differences_frame()),
            ("replay_updates", self.updates_frame()),
            ("replay_steps", self.steps_frame()),
            ("replay_holdout", self.holdout_frame()),
            ("replay_prompts", self.prompts_frame()),
        ]
    }

    /// One row an objective and metric, over the seeds.
    #[must_use]
    pub fn summary_frame(&self) -> DataFrame {
        let rows: Vec<_> =
            self.summary.iter().flat_map(|arm| arm.metrics.iter().map(move |metric| (arm, metric))).collect();
        Columns::of(&rows)
            .text("objective", |r| r.0.objective.name())
            .count("finished", |r| r.0.finished)
            .count("stopped", |r| r.0.stopped)
            .float("silenced", |r| r.0.silenced)
            .float("silenced_share", |r| r.0.silenced_share)
            .text("metric", |r| r.1.metric.name())
            .float("mean", |r| r.1.mean)
            .frame()
    }

    /// One row a difference between objectives.
    #[must_use]
    pub fn differences_frame(&self) -> DataFrame {
        Columns::of(&self.differences)
            .text("objective", |r| r.objective.name())
            .text("baseline", |r| r.baseline.name())
            .text("metric", |r| r.metric.name())
            .count("prompts", |r| r.prompts)
            .count("shuffles", |r| r.shuffles)
            .float("mean", |r| r.mean)
            .float("ci_low", |r| r.interval.map(|interval| interval.0))
            .float("ci_high", |r| r.interval.map(|interval| interval.1))
            .flag("decides", |r| r.decides)
            .text("finding", |r| r.finding.name())
            .frame()
    }

    /// One row an objective, seed and update.
    #[must_use]
    pub fn updates_frame(&self) -> DataFrame {
        let rows = self.of_arms(|arm| &arm.updates);
        by_arm(&rows)
            .count("update", |r| r.1.update)
            .int("step", |r| r.1.step)
            .count("minibatch", |r| r.1.minibatch)
            .count("epoch", |r| r.1.epoch)
            .count("pass", |r| r.1.pass)
            .count("tokens", |r| r.1.tokens)
            .float("loss", |r| r.1.loss)
            .float("grad_norm", |r| r.1.grad_norm)
            .float("lm_head_grad_norm", |r| r.1.lm_head_grad_norm)
            .flag("dropped", |r| r.1.dropped)
            .float("mean_entropy", |r| r.1.mean_entropy)
            .float("mean_entropy_after", |r| r.1.mean_entropy_after)
            .float("mean_ratio", |r| r.1.mean_ratio)
            .float("max_ratio", |r| r.1.max_ratio)
            .float("mean_abs_log_ratio", |r| r.1.mean_abs_log_ratio)
            .float("clip_share", |r| r.1.clip_share)
            .float("kl_to_start", |r| r.1.kl_to_start)
            .count("candidates", |r| r.1.counts.candidates)
            .count("silenced", |r| r.1.counts.silenced)
            .count("kept", |r| r.1.counts.kept)
            .count("amplified", |r| r.1.counts.amplified)
            .float("tau_h", |r| r.1.counts.tau_h)
            .frame()
    }

    /// One row an objective, seed and step of the log: how far the policy is from the one that wrote it.
    #[must_use]
    pub fn steps_frame(&self) -> DataFrame {
        let rows = self.of_arms(|arm| &arm.steps);
        by_arm(&rows)
            .int("step", |r| r.1.step)
            .float("drift", |r| r.1.drift)
            .count("measured_responses", |r| r.1.measured_responses)
            .count("responses", |r| r.1.responses)
            .text("old", |r| r.1.old.name())
            .frame()
    }

    /// One row an objective, seed and measurement on the responses that no arm trains on.
    #[must_use]
    pub fn holdout_frame(&self) -> DataFrame {
        let rows = self.of_arms(|arm| &arm.holdout);
        by_arm(&rows)
            .count("updates", |r| r.1.updates)
            .int("step", |r| r.1.step)
            .float("margin", |r| r.1.margin)
            .float("correct_logprob", |r| r.1.correct_logprob)
            .float("wrong_logprob", |r| r.1.wrong_logprob)
            .float("auc", |r| r.1.auc)
            .float("entropy", |r| r.1.entropy)
            .float("kl_to_start", |r| r.1.kl_to_start)
            .frame()
    }

    /// One row an objective, seed and held-out prompt: the final policy.
    #[must_use]
    pub fn prompts_frame(&self) -> DataFrame {
        Columns::of(&self.prompts)
            .text("objective", |r| r.objective.name())
            .count("seed", |r| r.seed)
            .count("prompt", |r| r.prompt)
            .count("responses", |r| r.responses)
            .float("margin", |r| r.metrics.margin)
            .float("correct_logprob", |r| r.metrics.correct_logprob)
            .float("wrong_logprob", |r| r.metrics.wrong_logprob)
            .float("auc", |r| r.metrics.auc)
            .float("entropy", |r| r.metrics.entropy)
            .float("kl_to_start", |r| r.metrics.kl_to_start)
            .frame()
    }

    /// What every arm has of a kind, each beside its arm.
    fn of_arms<T>(&self, of: impl Fn(&ArmResult) -> &Vec<T>) -> Vec<(&ArmResult, &T)> {
        self.arms.iter().flat_map(|arm| of(arm).iter().map(move |one| (arm, one))).collect()
    }
}

/// A table of what arms have: its first columns say which arm.
fn by_arm<'a, T>(rows: &'a [(&'a ArmResult, &'a T)]) -> Columns<'a, (&'a ArmResult, &'a T)> {
    Columns::of(rows).text("objective", |r| r.0.objective.name()).count("seed", |r| r.0.seed)
}
