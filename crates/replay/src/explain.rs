//! For flagged tokens, what the policy would rather have said.

use super::assembled::{Assembled, Current};
use super::model::{Engine, Policy, TokenStats};
use super::objective::S2tMask;
use super::stage::StepData;
use stapo_base::error::Result;
use stapo_framework::s2t::S2tSettings;
use stapo_ingest::texts::Tokenizer;
use stapo_result::replay::{Alternative, Case};

/// Cases of a replay at most.
const CASES: usize = 120;
/// Cases of a step at most.
const PER_STEP: usize = 12;
/// Alternatives of a case.
const ALTERNATIVES: usize = 5;
/// Tokens of context on either side.
const CONTEXT: usize = 12;

/// Finds cases along an arm.
pub struct Explainer {
    s2t: S2tSettings,
    tokenizer: Option<Tokenizer>,
    per_step: usize,
}

struct Flagged {
    member: usize,
    position: usize,
    spurious: bool,
    risk: f64,
}

impl Explainer {
    /// For a replay of this many steps.
    pub fn new(s2t: S2tSettings, tokenizer: Option<Tokenizer>, steps: usize) -> Self {
        Self { s2t, tokenizer, per_step: (CASES / steps.max(1)).clamp(1, PER_STEP) }
    }

    /// The riskiest flagged tokens of a mini-batch, spurious ones first, while its step has room.
    pub fn cases(
        &self,
        engine: &Engine,
        policy: &Policy,
        data: &StepData,
        members: &[usize],
        stats: &[TokenStats],
        known: &[Case],
    ) -> Result<Vec<Case>> {
        let step = members.first().map_or(0, |m| data.responses[*m].step);
        let used = known.iter().filter(|c| c.step == step).count();
        let room = self.per_step.saturating_sub(used).min(CASES.saturating_sub(known.len()));
        let mut flagged = self.flagged(data, members, stats);
        flagged.truncate(room);
        flagged.iter().map(|f| self.case(engine, policy, data, members, stats, f)).collect()
    }

    fn flagged(&self, data: &StepData, members: &[usize], stats: &[TokenStats]) -> Vec<Flagged> {
        let batch = Assembled::new(data, members, &data.start);
        let current = Current::of(stats);
        let mask = S2tMask::of(&batch.view(&current, 0, 0), &self.s2t);
        let mut flagged: Vec<Flagged> = mask
            .candidates
            .iter()
            .map(|t| {
                let member = batch.bounds.partition_point(|b| b <= t) - 1;
                Flagged {
                    member,
                    position: t - batch.bounds[member],
                    spurious: mask.silenced.contains(t),
                    risk: -f64::from(current.logprob[*t]) - f64::from(current.entropy[*t]),
                }
            })
            .collect();
        flagged.sort_by(|a, b| b.spurious.cmp(&a.spurious).then(b.risk.total_cmp(&a.risk)));
        flagged
    }

    fn case(
        &self,
        engine: &Engine,
        policy: &Policy,
        data: &StepData,
        members: &[usize],
        stats: &[TokenStats],
        flagged: &Flagged,
    ) -> Result<Case> {
        let index = members[flagged.member];
        let (response, sequence) = (&data.responses[index], &data.sequences[index]);
        let at = response.response_start + flagged.position;
        let found = engine.top_alternatives(policy, sequence, flagged.position, ALTERNATIVES)?;
        let alternatives = found.into_iter().map(|(token_id, probability)| Alternative {
            token_id,
            token: self.text(token_id),
            probability: f64::from(probability),
        });
        let (before, after) = response.tokens.split_at(at);
        let start = before.len().saturating_sub(CONTEXT);
        Ok(Case {
            step: response.step,
            sample: response.name(),
            position: flagged.position as u64,
            token_id: response.tokens[at],
            token: self.text(response.tokens[at]),
            before: self.joined(&before[start..]) + self.gap(),
            after: self.gap().to_owned() + &self.joined(&after[1..after.len().min(CONTEXT + 1)]),
            probability: f64::from(stats[flagged.member].logprob[flagged.position]).exp(),
            entropy: f64::from(stats[flagged.member].entropy[flagged.position]),
            advantage: f64::from(response.advantage[flagged.position]),
            spurious: flagged.spurious,
            alternatives: alternatives.collect(),
        })
    }

    fn text(&self, id: u32) -> Option<String> {
        let id = i32::try_from(id).ok()?;
        self.tokenizer.as_ref()?.text(id).map(str::to_owned)
    }

    fn joined(&self, ids: &[u32]) -> String {
        let shown: Vec<String> =
            ids.iter().map(|id| self.text(*id).unwrap_or_else(|| format!("⟨{id}⟩"))).collect();
        shown.join(self.gap())
    }

    /// What stands between tokens that bring no blanks of their own.
    fn gap(&self) -> &'static str {
        if self.tokenizer.as_ref().is_none_or(Tokenizer::is_plain) { " " } else { "" }
    }
}
