//! Tokens of the environment are trained on.
//! Measured: trained inner tokens without a value of the sampler's, of responses that have others (measure::trained). And the
//! mean of −ln p − H of trained tokens that begin a later turn. (Not of those that end one: environments force an end.)
//! Null: none. Engines leave out the first token's, the last one's or a whole response's; a level of 1 % for what else a
//! logger drops. The mean is 0 for tokens that the policy drew: half a nat above other tokens, by five standard errors over
//! responses.
//! Misses: logs of one turn without `logprob_rollout`.
//! Looks alike: an engine that gives no value for rare tokens. Those stand alone, in the midst of others: observations stand
//! in rows, and where a mask is off by one, alone at its edge.

use super::percent;
use crate::measure::trained::{first_step, share};
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;
use stapo_evidence::rewards::StepCounts;

const LEVEL: f64 = 0.01;
/// Of the undrawn tokens, those that stand as observations do.
const MANY: f64 = 0.25;
/// Nats beyond the entropy, and standard errors.
const NATS: f64 = 0.5;
const ERRORS: f64 = 5.0;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::ObservationTrained,
    null: Null::Level { bound: LEVEL, why: "a sampler has a value for every inner token that it drew" },
    needs: &[Need::Column(Column::Logprob)],
    symptoms: &[Symptom::Damaged, Symptom::NotLearning],
    follows: &[],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    undrawn(measures).or_else(|| surprising(measures))
}

/// Trained tokens that were not drawn, of a step or of the run: all, in rows, alone at the mask's edges. An engine that leaves
/// out the first or last token of responses does so in each turn.
fn counts(step: &StepCounts) -> [u64; 3] {
    let is_left_out = |undrawn: u64, all: u64| share(undrawn, all) > 0.5;
    let [mut all, mut edges] = [step.undrawn, step.undrawn_at_starts + step.undrawn_at_ends];
    for (at_edge, undrawn, responses) in [
        (step.undrawn_at_starts, step.first_undrawn, step.first_trained),
        (step.undrawn_at_ends, step.last_undrawn, step.last_trained),
    ] {
        if is_left_out(undrawn, responses) {
            all -= at_edge;
            edges -= at_edge;
        }
    }
    [all, step.undrawn_in_rows, edges]
}

fn undrawn(measures: &Measures<'_>) -> Examined {
    let all = measures.totals();
    let [missing, in_rows, at_edges] = counts(all);
    let undrawn = share(missing, all.inner);
    if undrawn <= LEVEL {
        return None;
    }
    let [in_rows, at_edges] = [in_rows, at_edges].map(|part| share(part, missing));
    let is_off_by_one = at_edges > 0.5;
    let what = match (is_off_by_one, in_rows > MANY) {
        (true, _) => "alone at the edge of the mask: it is shifted by one token",
        (false, true) => "several in a row: they are the environment's",
        (false, false) => "alone among others: the engine may give no value for rare tokens",
    };
    let why = vec![
        Proof::new("trained tokens that the sampler did not draw", undrawn, "0"),
        Proof::new("of these, in rows", in_rows, "–"),
        Proof::new("of these, alone at the edge of the mask", at_edges, "–"),
    ];
    let sentence = format!(
        "{} of the trained tokens have no log-probability of the sampler's, {what}; take them out of the training mask",
        percent(undrawn)
    );
    let from = first_step(&measures.evidence.rewards, LEVEL, |step| [counts(step)[0], step.inner]);
    Some(
        Finding::likely(Code::ObservationTrained, undrawn, sentence, why)
            .likely_if(is_off_by_one || in_rows > MANY)
            .from_step(from),
    )
}

fn surprising(measures: &Measures<'_>) -> Examined {
    let edges = &measures.evidence.rewards.turn_edges;
    let [elsewhere, _] = edges.elsewhere.mean()?;
    let [mean, error] = edges.starts.mean()?;
    if mean - elsewhere - ERRORS * error <= NATS {
        return None;
    }
    let why = vec![
        Proof::new("nats beyond its entropy there", mean, "0"),
        Proof::new("standard error over responses", error, "–"),
        Proof::new("nats beyond its entropy elsewhere", elsewhere, "0"),
    ];
    let sentence = format!(
        "trained tokens that begin a later turn surprise the policy by {mean:.1} nats beyond its entropy ({elsewhere:.2} elsewhere; {} \
         responses): it did not write them; take the environment's tokens out of the training mask",
        edges.starts.responses
    );
    Some(Finding::likely(Code::ObservationTrained, 1.0 - (elsewhere - mean).exp(), sentence, why))
}
