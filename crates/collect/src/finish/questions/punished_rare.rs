//! The mirror of risk: rare tokens in confident states that are punished.

use std::collections::BTreeMap;

use crate::collect::run_sample::Sample;
use crate::finish::ratios::share;
use crate::token_text::TokenTexts;
use stapo_framework::s2t::{CandidateRule, is_low_entropy};
use stapo_result::questions::{MirrorToken, PunishedRare};

/// Ids of a list.
const TOP: usize = 30;

/// Tokens with A < 0, p < τ_p and H < τ_h of their batch; `None` where there are none. `energy` is that
/// of the run.
pub fn punished_rare(
    rare: &Sample,
    rule: &CandidateRule,
    tau_h: &[Option<f64>],
    energy: f64,
    texts: &TokenTexts,
) -> Option<PunishedRare> {
    let (mut tokens, mut sum) = (0_u64, 0.0);
    let mut ids: BTreeMap<i32, (u64, f64)> = BTreeMap::new();
    for token in &rare.tokens {
        let cut = tau_h.get(token.batch as usize).copied().flatten();
        let confident = cut.is_some_and(|cut| is_low_entropy(token.entropy, cut));
        if token.advantage < 0.0 && rule.is_rare(token.logprob) && confident {
            tokens += 1;
            sum += token.energy();
            let id = ids.entry(token.token_id).or_default();
            id.0 += 1;
            id.1 += token.energy();
        }
    }
    let weight = rare.weight();
    let mut top: Vec<(i32, (u64, f64))> = ids.into_iter().collect();
    top.sort_by_key(|(id, (count, _))| (std::cmp::Reverse(*count), *id));
    let row = |(id, (count, sum)): &(i32, (u64, f64))| MirrorToken {
        token_id: i64::from(*id),
        token: texts.known(*id).map(str::to_owned),
        tokens: *count as f64 * weight,
        energy_share: share(sum * weight, energy),
    };
    (tokens > 0).then(|| PunishedRare {
        tokens: tokens as f64 * weight,
        energy_share: share(sum * weight, energy),
        exact: rare.is_complete(),
        top: top.iter().take(TOP).map(row).collect(),
    })
}
