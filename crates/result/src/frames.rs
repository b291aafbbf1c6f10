//! The tables of an analysis, all but the flagged tokens.

use crate::{
    ClaimRow, ClipCorner, Diagnosis, EntropyQuantiles, Mismatch, PartialAnalysis, PartialStep, PlaneCell,
    RunAnalysis, SignalName, SweepCell, VocabularyRow,
};
use stapo_base::tables::{Columns, DataFrame};
use stapo_framework::taxonomy::TokenClass;

impl RunAnalysis {
    /// All tables, by the names of their files.
    #[must_use]
    pub fn frames(&self) -> Vec<(&'static str, DataFrame)> {
        let mut frames = vec![
            ("steps", self.steps_frame()),
            ("taxonomy", self.taxonomy_frame()),
            ("vocabulary", self.vocabulary_frame()),
            ("sweep", self.sweep_frame()),
            ("rules", self.rules_frame()),
            ("claims", ClaimRow::frame(&self.claims)),
            ("plane", self.plane_frame()),
            ("drivers", self.drivers_frame()),
        ];
        frames.extend(self.answers.frames());
        frames
    }

    /// One row a step.
    #[must_use]
    pub fn steps_frame(&self) -> DataFrame {
        let mut table = Columns::of(&self.steps)
            .int("step", |r| r.step)
            .count("tokens", |r| r.tokens)
            .count("responses", |r| r.responses)
            .int("groups", |r| r.groups.map(u64::cast_signed))
            .int("zero_advantage_groups", |r| r.zero_advantage_groups.map(u64::cast_signed))
            .float("mean_reward", |r| r.mean_reward)
            .float("reward_std", |r| r.reward_std)
            .float("mean_length", |r| r.mean_length)
            .float("mean_entropy", |r| r.mean_entropy);
        for (i, name) in EntropyQuantiles::NAMES.into_iter().enumerate() {
            table = table.float(&format!("entropy_{name}"), |r| r.entropy_quantiles.map(|q| q.values()[i]));
        }
        table = table
            .float("mean_prob", |r| r.mean_prob)
            .count("positive", |r| r.positive)
            .count("negative", |r| r.negative)
            .count("zero_advantage", |r| r.zero_advantage)
            .count("missing", |r| r.missing)
            .count("infeasible", |r| r.infeasible)
            .float("gradient_energy", |r| r.gradient_energy)
            .float("gradient_energy_low", |r| r.gradient_energy_low)
            .float("gradient_energy_high", |r| r.gradient_energy_high)
            .float("positive_energy", |r| r.positive_energy)
            .float("max_norm", |r| r.max_norm)
            .count("candidates", |r| r.candidates)
            .float("tau_h", |r| r.tau_h)
            .count("silenced", |r| r.silenced)
            .count("exploratory", |r| r.exploratory)
            .float("silenced_ratio", |r| r.silenced_ratio)
            .float("spurious_energy_share", |r| r.spurious_energy_share)
            .float("exploratory_energy_share", |r| r.exploratory_energy_share);
        for class in TokenClass::ALL {
            let code = class as usize;
            table = table
                .count(&format!("tokens_{}", class.name()), |r| r.class_tokens[code])
                .float(&format!("energy_share_{}", class.name()), |r| r.class_energy_shares[code]);
        }
        table = table
            .float("clipped_share", |r| r.clipped_share)
            .float("predicted_change_low", |r| r.entropy_change.predicted_low)
            .float("predicted_change_high", |r| r.entropy_change.predicted_high)
            .float("lemma_change", |r| r.entropy_change.lemma)
            .float("measured_change", |r| r.entropy_change.measured)
            .float("mismatch_kl", |r| r.mismatch.as_ref().map(|m| m.kl))
            .float("mismatch_mean_absolute_difference", |r| {
                r.mismatch.as_ref().map(|m| m.mean_absolute_difference)
            })
            .float("effective_number", |r| r.concentration.effective_number)
            .float("top_1_share", |r| r.concentration.shares.map(|s| s.top_1))
            .float("top_10_share", |r| r.concentration.shares.map(|s| s.top_10))
            .float("top_0_01_percent_share", |r| r.concentration.shares.map(|s| s.top_0_01_percent))
            .float("top_0_1_percent_share", |r| r.concentration.shares.map(|s| s.top_0_1_percent))
            .float("top_1_percent_share", |r| r.concentration.shares.map(|s| s.top_1_percent))
            .float("update_k3", |r| r.update_k3)
            .float("largest_ratio", |r| r.largest_ratio)
            .float("reference_k3", |r| r.reference_k3);
        with_signals(table, &self.diagnosis, |r| r.step).frame()
    }

    /// The tokens that carry the gradient energy, largest first.
    #[must_use]
    pub fn drivers_frame(&self) -> DataFrame {
        let joined = |texts: &[String]| texts.join(self.cases.separator);
        Columns::of(&self.drivers.top)
            .float("energy", |r| r.energy)
            .float("energy_share", |r| r.energy_share)
            .text("norm_source", |r| r.norm_source.name())
            .int("step", |r| r.step)
            .int("update", |r| r.update)
            .text("group_id", |r| r.group_id.as_deref())
            .text("sample_id", |r| r.sample_id.as_deref())
            .count("row", |r| r.row)
            .int("position", |r| r.position)
            .int("token_id", |r| r.token_id)
            .text("token", |r| r.token.as_deref())
            .float("logprob", |r| r.logprob)
            .float("entropy", |r| r.entropy)
            .float("advantage", |r| r.advantage)
            .float("ratio", |r| r.ratio)
            .text("corner", |r| r.corner.map(ClipCorner::name))
            .float("logprob_rollout", |r| r.logprob_rollout)
            .int("lag", |r| r.lag)
            .int("turn", |r| r.turn)
            .flag("truncated", |r| r.truncated)
            .float("reward", |r| r.reward)
            .text("before", |r| joined(&r.before))
            .text("after", |r| joined(&r.after))
            .frame()
    }

    /// One row a class of the taxonomy.
    #[must_use]
    pub fn taxonomy_frame(&self) -> DataFrame {
        Columns::of(&self.taxonomy)
            .text("class", |r| r.class.name())
            .text("label", |r| &r.label)
            .count("tokens", |r| r.tokens)
            .float("token_share", |r| r.token_share)
            .float("energy", |r| r.energy)
            .float("energy_share", |r| r.energy_share)
            .float("mean_norm", |r| r.mean_norm)
            .float("mean_norm_low", |r| r.mean_norm_low)
            .float("mean_norm_high", |r| r.mean_norm_high)
            .count("norm_sample", |r| r.norm_sample)
            .float("norm_ratio", |r| r.norm_ratio)
            .count("entropy_up", |r| r.entropy_up)
            .count("entropy_down", |r| r.entropy_down)
            .count("entropy_ambiguous", |r| r.entropy_ambiguous)
            .text("paper_norm", |r| &r.paper_norm)
            .text("paper_entropy", |r| &r.paper_entropy)
            .text("paper_risk", |r| &r.paper_risk)
            .text("paper_potential", |r| &r.paper_potential)
            .frame()
    }

    /// One row a token id.
    #[must_use]
    pub fn vocabulary_frame(&self) -> DataFrame {
        VocabularyRow::frame(&self.vocabulary.rows.iter().collect::<Vec<_>>())
    }

    /// One row a pair of thresholds.
    #[must_use]
    pub fn sweep_frame(&self) -> DataFrame {
        let cells: Vec<&SweepCell> = self.sweep.cells.iter().collect();
        Columns::of(&cells)
            .float("tau_p", |r| r.tau_p)
            .float("quantile", |r| r.quantile)
            .float("candidates", |r| r.candidates)
            .float("silenced", |r| r.silenced)
            .float("fraction", |r| r.fraction)
            .float("energy_share", |r| r.energy_share)
            .float("positive_energy_share", |r| r.positive_energy_share)
            .float("overlap", |r| r.overlap)
            .flag("exact", |r| r.exact)
            .frame()
    }

    /// One row a rule.
    #[must_use]
    pub fn rules_frame(&self) -> DataFrame {
        Columns::of(&self.rules)
            .text("rule", |r| r.rule.name())
            .text("description", |r| &r.description)
            .float("silenced", |r| r.silenced)
            .float("damped", |r| r.damped)
            .float("amplified", |r| r.amplified)
            .float("silenced_share", |r| r.silenced_share)
            .float("energy_kept", |r| r.energy_kept)
            .float("positive_energy_kept", |r| r.positive_energy_kept)
            .float("negative_energy_kept", |r| r.negative_energy_kept)
            .flag("exact", |r| r.exact)
            .float("sampling_error", |r| r.sampling_error)
            .text("note", |r| &r.note)
            .frame()
    }

    /// One row a cell of the probability × entropy plane that holds tokens.
    #[must_use]
    pub fn plane_frame(&self) -> DataFrame {
        let plane = &self.plane;
        let x = |cell: &PlaneCell, side: usize| plane.log10_prob.edge(usize::from(cell.x) + side);
        let y = |cell: &PlaneCell, side: usize| plane.entropy.edge(usize::from(cell.y) + side);
        Columns::of(&plane.cells)
            .float("log10_prob_from", |r| x(r, 0))
            .float("log10_prob_to", |r| x(r, 1))
            .float("entropy_from", |r| y(r, 0))
            .float("entropy_to", |r| y(r, 1))
            .count("positive", |r| r.positive)
            .count("negative", |r| r.negative)
            .count("zero", |r| r.zero)
            .float("positive_energy", |r| r.positive_energy)
            .float("negative_energy", |r| r.negative_energy)
            .frame()
    }
}

impl VocabularyRow {
    /// One row a token id.
    #[must_use]
    pub fn frame(rows: &[&Self]) -> DataFrame {
        Columns::of(rows)
            .int("token_id", |r| r.token_id)
            .text("token", |r| &r.token)
            .count("positive", |r| r.positive)
            .count("negative", |r| r.negative)
            .count("zero", |r| r.zero)
            .count("candidates", |r| r.candidates)
            .count("silenced", |r| r.silenced)
            .count("exploratory", |r| r.exploratory)
            .float("positive_energy", |r| r.positive_energy)
            .float("negative_energy", |r| r.negative_energy)
            .frame()
    }
}

impl PartialAnalysis {
    /// All tables, by the names of their files.
    #[must_use]
    pub fn frames(&self) -> Vec<(&'static str, DataFrame)> {
        let mut frames = vec![("steps", self.steps_frame())];
        frames.extend(self.answers.frames());
        frames
    }

    /// A row a step: the columns of [`RunAnalysis::steps_frame`] that need no entropy.
    #[must_use]
    pub fn steps_frame(&self) -> DataFrame {
        let mismatch = |r: &PartialStep, of: fn(&Mismatch) -> f64| r.mismatch.as_ref().map(of);
        let table = Columns::of(&self.steps)
            .int("step", |r| r.step)
            .count("tokens", |r| r.tokens)
            .count("responses", |r| r.responses)
            .int("groups", |r| r.groups.map(u64::cast_signed))
            .int("zero_advantage_groups", |r| r.zero_advantage_groups.map(u64::cast_signed))
            .float("mean_reward", |r| r.mean_reward)
            .float("reward_std", |r| r.reward_std)
            .float("mean_length", |r| r.mean_length)
            .float("mean_prob", |r| r.mean_prob)
            .float("mean_entropy", |r| r.mean_entropy)
            .count("positive", |r| r.positive)
            .count("negative", |r| r.negative)
            .count("zero_advantage", |r| r.zero_advantage)
            .count("missing", |r| r.missing)
            .float("clipped_share", |r| r.clipped_share)
            .float("mismatch_kl", |r| mismatch(r, |m| m.kl))
            .float("mismatch_mean_absolute_difference", |r| mismatch(r, |m| m.mean_absolute_difference))
            .float("update_k3", |r| r.update_k3)
            .float("largest_ratio", |r| r.largest_ratio)
            .float("reference_k3", |r| r.reference_k3);
        with_signals(table, &self.diagnosis, |r| r.step).frame()
    }
}

/// Adds parts of the reward and cut responses: signals of responses that no other column holds.
fn with_signals<'a, R>(
    mut table: Columns<'a, R>,
    diagnosis: &Diagnosis,
    step: impl Fn(&R) -> i64,
) -> Columns<'a, R> {
    for signal in diagnosis.signals.iter().filter(|signal| is_of_responses(&signal.name)) {
        table = table.float(signal.name.as_str(), |r| {
            let at = signal.points.binary_search_by_key(&step(r), |point| point.0).ok()?;
            Some(signal.points[at].1)
        });
    }
    table
}

/// Whether a signal is of responses or groups, and no other column of the steps holds it.
fn is_of_responses(signal: &SignalName) -> bool {
    matches!(
        signal,
        SignalName::Part(_)
            | SignalName::PassRate
            | SignalName::Truncated
            | SignalName::DeadGroups
            | SignalName::Repetition
    )
}
