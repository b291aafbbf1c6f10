//! What all workers share while they collect.

use super::batches::BatchRegistry;
use super::kept_entropies::KeptGate;
use super::questions::QuestionGates;
use super::sample::SampleGate;
use super::signs::SignGates;
use crate::plan::Plan;

/// What all workers share while they collect.
#[derive(Debug)]
pub struct Gates {
    pub(super) batches: BatchRegistry,
    pub(super) kept: KeptGate,
    pub(super) questions: QuestionGates,
    pub(super) rare: SampleGate,
    pub(super) common: SampleGate,
    pub(super) idle: SampleGate,
    pub(super) claims: SampleGate,
    pub(super) signs: SignGates,
}

impl Gates {
    /// The gates of an analysis.
    pub fn new(plan: &Plan) -> Self {
        let limits = &plan.limits;
        let kept = if plan.needs_population() { limits.kept_population } else { limits.kept_entropies };
        Self {
            batches: BatchRegistry::new(plan.memory),
            kept: KeptGate::new(kept),
            questions: QuestionGates::new(limits.kept_differences, limits.group_tokens),
            rare: SampleGate::new(limits.rare_tokens),
            common: SampleGate::new(limits.common_tokens),
            idle: SampleGate::new(limits.idle_tokens),
            claims: SampleGate::new(limits.claim_tokens),
            signs: SignGates::default(),
        }
    }
}
