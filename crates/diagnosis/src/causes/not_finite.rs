//! NaN or ±∞ from some step on.
//! Measured: the share of responses with one at a trained token (ln π, H, A) or in the reward.
//! Null: a level, half of the responses at every step to the end: fewer are missing values.
//! Misses: a trainer that skips such batches and does not log them.
//! Looks alike: a column that is logged at some steps only.

use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;
use stapo_evidence::policies::Step;

const HALF: f64 = 0.5;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::NotFinite,
    null: Null::Level { bound: HALF, why: "fewer responses are missing values" },
    needs: &[Need::Column(Column::Logprob)],
    symptoms: &[Symptom::NotFinite, Symptom::Damaged],
    follows: &[Code::AdvantageBlowup, Code::LargeUpdates, Code::UnboundedRatio],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let has_rewards = measures.evidence.logged.has(Column::Reward);
    let faulty = |step: &Step| if has_rewards { step.faulty_with_reward } else { step.faulty };
    let is_faulty = |step: &Step| faulty(step) as f64 >= HALF * step.responses as f64;
    let tail: Vec<(i64, &Step)> = measures.steps().rev().take_while(|(_, step)| is_faulty(step)).collect();
    let (from, _) = *tail.last()?;
    let responses: u64 = tail.iter().map(|(_, step)| step.responses).sum();
    let share = tail.iter().map(|(_, step)| faulty(step)).sum::<u64>() as f64 / responses as f64;
    let fault = measures.evidence.policies.first_fault.0.filter(|fault| fault.step <= from);
    let place = fault.map_or_else(String::new, |fault| {
        let column = fault.column().map_or("", Column::name);
        let token = fault.token.map_or_else(String::new, |token| format!(", token {token}"));
        format!("; the first is in {column} at step {}{token}", fault.step)
    });
    let mut why = vec![Proof::new("share of responses from there on", share, "0")];
    if let Some((_, before)) = measures.steps().take_while(|(step, _)| *step < from).last() {
        let numbers = [
            ("largest |ln π_θ − ln π_old| the step before", before.largest_move.0, "below 5"),
            (
                "largest |A| the step before",
                before.largest_advantage.0.map(f64::from),
                "below √n of the group",
            ),
            (
                "largest gradient norm the step before",
                before.largest_norm.0.map(f64::from),
                "that of other steps",
            ),
        ];
        why.extend(
            numbers.into_iter().filter_map(|(name, value, healthy)| Some(Proof::new(name, value?, healthy))),
        );
    }
    let sentence = format!(
        "from step {from} to the end {:.0} % of the responses hold NaN or infinite values{place}",
        100.0 * share
    );
    Some(Finding::likely(Code::NotFinite, share, sentence, why).from_step(Some(from)))
}
