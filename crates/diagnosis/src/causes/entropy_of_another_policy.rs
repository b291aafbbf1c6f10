//! The entropies are of other rows, or of another policy, than the log-probabilities.
//! Measured: the scatter of H at the first token between siblings, where ln π_old of equal first tokens agrees.
//! Null: an identity: one prompt, one policy, one entropy.
//! Misses: an entropy of another policy that is a function of the prompt as well.
//! Looks alike: dropout, where log-probabilities differ, too.

use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof};
use stapo_evidence::Column;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::EntropyOfAnotherPolicy,
    null: Null::Identity { rounding: 0.1 },
    needs: &[Need::Column(Column::Entropy), Need::Column(Column::Tokens)],
    // A column that is wrong harms nothing that does not train on it.
    symptoms: &[],
    follows: &[],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let agreement = measures.agreement();
    let (entropy, logprob) = agreement.entropy.zip(agreement.logprob)?;
    if !agreement.entropy_is_foreign() {
        return None;
    }
    let why = vec![
        Proof::new("scatter of H at the first token of siblings", entropy, "0"),
        Proof::new("scatter of ln π_old of equal first tokens", logprob, "0"),
    ];
    let sentence = format!(
        "siblings have one prompt and equal log-probabilities at their first token, but entropies that differ by \
         {entropy:.2} nats: the column belongs to other rows"
    );
    Some(Finding::likely(Code::EntropyOfAnotherPolicy, 1.0, sentence, why).from_step(measures.first_step()))
}
