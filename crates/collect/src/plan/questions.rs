//! Which questions a log can answer, and what the user said about them.

use std::collections::BTreeSet;

use super::dimensions::Dimension;
use super::ending::was_cut;
use super::purpose::Purpose;
use stapo_base::error::Result;
use stapo_batch::batch::ResponseColumns;
use stapo_batch::columns::Column;
use stapo_framework::corrections::{Correction, DEFAULTS};
use stapo_framework::token::ClipRange;
use stapo_ingest::Run;
use stapo_ingest::right::{PassRule, RightRule, SeenRewards, right_part, rivals_of};
use stapo_result::settings::AnalyzeSettings;

/// Columns that only these questions read.
pub const COLUMNS: &[Column] =
    &[Column::PolicyVersion, Column::FinishReason, Column::Truncated, Column::LogprobRef, Column::Turn];

/// What of a log is asked.
#[derive(Clone, Debug, Default)]
pub struct Questions {
    /// ln π_old − ln μ.
    pub engine: bool,
    /// ln π_θ − ln π_old.
    pub update: bool,
    /// KL to the reference.
    pub reference: bool,
    /// Where cut responses are known from.
    pub truncated: Option<Column>,
    /// Loops.
    pub ids: bool,
    /// Groups.
    pub groups: bool,
    /// Whether a response may have several rows: one for each of its updates, or of its turns.
    pub several_rows: bool,
    /// What the user says is right.
    pub pass: Option<PassRule>,
    /// The place in `parts` of the one whose name says what is right.
    pub right_part: Option<usize>,
    /// The places of the others whose names say so.
    pub right_rivals: Vec<usize>,
    /// The parts of the reward, by name.
    pub parts: Vec<String>,
    /// The corners of the clip.
    pub clip: Option<ClipRange>,
    /// Corrections on the bench.
    pub corrections: Vec<Correction>,
    /// What tokens are sliced by; nothing in a comparison.
    pub dimensions: Vec<Dimension>,
    /// Whether what only a run's own report shows is collected.
    pub reports: bool,
}

impl Questions {
    /// Resolves what can be asked of a run.
    pub fn new(
        run: &Run,
        settings: &AnalyzeSettings,
        clip: Option<ClipRange>,
        purpose: Purpose,
    ) -> Result<Self> {
        let truncated = [Column::Truncated, Column::FinishReason].into_iter().find(|c| run.has(*c));
        let mut corrections = DEFAULTS.to_vec();
        corrections.extend(&settings.corrections);
        corrections.dedup();
        let reports = purpose == Purpose::Report;
        let parts = run.mappings.iter().flat_map(|m| m.reward_parts.iter().map(|(_, part)| part.clone()));
        let parts: Vec<String> = parts.collect::<BTreeSet<_>>().into_iter().collect();
        let right_part = right_part(parts.iter().map(String::as_str));
        Ok(Self {
            right_part,
            right_rivals: right_part.map_or_else(Vec::new, |chosen| rivals_of(chosen, &parts)),
            corrections: if reports && run.has(Column::LogprobRollout) { corrections } else { Vec::new() },
            dimensions: if reports { Dimension::of(run, &settings.by)? } else { Vec::new() },
            reports,
            parts,
            engine: run.has(Column::LogprobRollout),
            update: run.has(Column::LogprobNew),
            reference: run.has(Column::LogprobRef),
            truncated,
            ids: run.has(Column::TokenId),
            groups: run.has(Column::GroupId),
            several_rows: [Column::GroupId, Column::SampleId].iter().all(|column| run.has(*column))
                && [Column::Update, Column::Turn].iter().any(|column| run.has(*column)),
            pass: settings.pass.as_ref().map(|condition| PassRule::new(run, condition)).transpose()?,
            clip,
        })
    }

    /// What says whether a response is right: 1 where the user's condition holds, else 0; without a
    /// condition, the value of the part whose name says so; NaN where it is not known.
    pub fn verdict(&self, responses: &ResponseColumns, index: usize) -> f32 {
        if let Some(rule) = &self.pass {
            return rule.judge(responses, index).map_or(f32::NAN, |right| f32::from(u8::from(right)));
        }
        self.right_part.map_or(f32::NAN, |part| self.part(part, responses, index))
    }

    /// The best of the other parts whose names say what is right; `None` where there are none, or the user says it.
    pub fn rival(&self, responses: &ResponseColumns, index: usize) -> Option<f32> {
        let rivals = self.right_rivals.iter().filter(|_| self.pass.is_none());
        rivals.map(|part| self.part(*part, responses, index)).reduce(f32::max)
    }

    /// A part of the reward of a response; NaN where it is not logged.
    fn part(&self, part: usize, responses: &ResponseColumns, index: usize) -> f32 {
        let named = responses.reward_parts.iter().find(|(known, _)| **known == *self.parts[part]);
        named.map_or(f32::NAN, |(_, values)| values[index])
    }

    /// What is right in a run with these rewards.
    pub fn rule(&self, seen: &SeenRewards) -> Option<RightRule> {
        let part = self.right_part.map(|part| (part, self.parts[part].as_str()));
        RightRule::of(self.pass.as_ref().map(PassRule::text), part, seen)
    }

    /// Whether a response was cut, where known.
    pub fn is_cut(&self, responses: &ResponseColumns, index: usize) -> Option<bool> {
        let flag = responses.flags.get(Column::Truncated).and_then(|flags| flags[index]);
        flag.or_else(|| {
            let reason = responses.texts.get(Column::FinishReason)?[index].as_ref()?;
            was_cut(reason)
        })
    }
}
