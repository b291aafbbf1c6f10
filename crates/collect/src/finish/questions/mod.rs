//! Answers to what engineers ask beyond the framework.

mod breakdown;
mod corrections;
mod flags;
pub mod groups;
mod ledger;
mod notes;
mod pass_at;
mod punished_rare;
mod slices;
mod step_facts;
mod steps;
mod within_groups;

pub use self::flags::CandidateFlags;
use super::flagged::FlaggedSource;
use crate::collect::Collected;
use crate::plan::Plan;
use stapo_base::stats::exact_sum::ExactSum;
use stapo_result::Answers;
use stapo_result::groups::Groups;

/// Groups by their outcome, where something says what is right.
pub fn group_outcomes(
    collected: &Collected,
    source: &FlaggedSource,
    signal: groups::Signal,
) -> Option<Groups> {
    groups::groups(&source.groups, source.right.as_ref(), &collected.questions.siblings, signal)
}

/// All answers that the log allows. `knows_clipping` is whether the log tells what was clipped.
pub fn answers(
    collected: &Collected,
    plan: &Plan,
    source: &FlaggedSource,
    groups: Option<Groups>,
    flags: &CandidateFlags,
    knows_clipping: bool,
) -> Answers {
    let (questions, asked, texts) = (&collected.questions, &plan.questions, &source.texts);
    let steps = &questions.steps;
    let mut offpolicy = ledger::ledger(steps);
    if let Some(ledger) = &mut offpolicy {
        ledger.corrections =
            corrections::corrections(steps, &asked.corrections, &questions.changed, flags, texts);
        ledger.breakdown = breakdown::finish(&questions.engine, texts);
        ledger.spurious = flags.overlap(ledger.run.engine.as_ref());
    }
    let mut kl_reference = step_facts::kl_reference(steps);
    if let Some(kl) = &mut kl_reference {
        kl.breakdown = breakdown::finish(&questions.reference, texts);
    }
    let mut energy = ExactSum::new();
    steps.values().for_each(|facts| energy.merge(&facts.energy));
    let energy = energy.value();
    let mut answers = Answers {
        offpolicy,
        groups,
        truncated: step_facts::truncated(steps, asked),
        clipping: step_facts::clipping(steps, asked, &questions.clipped, texts),
        kl_reference,
        reward_parts: step_facts::reward_parts(steps),
        within_groups: within_groups::within_groups(&questions.siblings, &asked.parts),
        punished_rare: punished_rare::punished_rare(
            &collected.rare,
            &plan.rule,
            &source.tau_h,
            energy,
            texts,
        ),
        repetition: step_facts::repetition(steps, asked),
        slices: slices::slices(&questions.slices, &asked.dimensions, flags, knows_clipping),
        not_answered: Vec::new(),
    };
    answers.not_answered = notes::not_answered(&answers, asked, source.right.is_some());
    answers
}
