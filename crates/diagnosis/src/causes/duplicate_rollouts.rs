//! Siblings are copies.
//! Measured: siblings that are equal token by token, among responses whose Σ ln μ makes one equal sibling in a thousand
//! groups, against Σ (n − 1) e^{Σ ln μ} (measure::copies).
//! Null: chance: ten copies at the least, ten times as many as expected, and a fiftieth of these responses. (Healthy runs
//! have up to 39 % equal siblings, all of them probable.)
//! Misses: short or near-certain responses.
//! Looks alike: a sampler that is sharper than its log-probabilities say, which repeats its most probable responses: here
//! the less probable half has copies as often. Rows that were logged at every epoch over a batch: nearly all of them, in
//! different mini-batches.

use super::percent;
use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const FEWEST: u64 = 10;
const TIMES: f64 = 10.0;
const SHARE: f64 = 0.02;
const NEARLY_ALL: f64 = 0.9;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::DuplicateRollouts,
    null: Null::Chance { alpha: 1e-3, looks: 1 },
    needs: &[Need::Column(Column::Tokens), Need::Column(Column::Logprob)],
    symptoms: &[Symptom::NotLearning],
    follows: &[],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let copies = measures.copies();
    let share = copies.copied as f64 / copies.rare.max(1) as f64;
    let are_epochs = copies.of_epochs > NEARLY_ALL && share > NEARLY_ALL;
    if are_epochs
        || !measures.knows_siblings()
        || copies.copied < FEWEST
        || copies.copied as f64 <= TIMES * copies.expected
        || share <= SHARE
    {
        return None;
    }
    let why = vec![
        Proof::new("copies that chance forbids", copies.copied as f64, "as many as expected"),
        Proof::new("expected", copies.expected, "–"),
        Proof::new("share among the less probable half", copies.among_rarest, "0"),
    ];
    let sentence = format!(
        "{} of the responses that chance gives once ({}) stand twice or more in their group, token by token (expected {:.2}): \
         look at the sampler's seeds, and whether rows were written twice",
        percent(share),
        copies.rare,
        copies.expected
    );
    Some(
        Finding::likely(Code::DuplicateRollouts, share, sentence, why)
            .likely_if(copies.among_rarest > 0.5 * share)
            .from_step(copies.from),
    )
}
