//! Siblings that are equal token by token.
//!
//! Two responses are equal with the chance of one of them, Σ ln μ. Among responses for which that is below one in a
//! thousand in their group there are Σ (n − 1) e^{Σ ln μ} equal ones by chance.

use super::trained::share;
use stapo_evidence::rewards::{Rewards, Sibling};
use std::collections::BTreeMap;

/// Chance of a sibling that is equal.
const RARE: f64 = 1e-3;

/// Copies among responses that chance does not give twice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Copies {
    /// Responses for which a copy is improbable.
    pub rare: u64,
    /// Of these, those that have one.
    pub copied: u64,
    /// As many as chance gives.
    pub expected: f64,
    /// Share of copies among the less probable half of them: a sampler that is sharper than its log-probabilities say
    /// repeats the most probable ones, a shared seed any.
    pub among_rarest: f64,
    /// Share of copies that are of other mini-batches than all that they equal: rows that were logged at every epoch.
    pub of_epochs: f64,
    /// First step with a copy.
    pub from: Option<i64>,
}

/// Measures them.
pub fn copies(rewards: &Rewards) -> Copies {
    let mut rare: Vec<(f64, bool, i64)> = Vec::new();
    let mut of_epochs = 0;
    for group in rewards.groups.sets().filter(|group| group.len() > 1) {
        let equal = count_equal(group);
        for sibling in group {
            let Some(tokens) = sibling.tokens else { continue };
            let others = (group.len() - 1) as f64;
            let ln_chance = f64::from(sibling.ln_chance) + others.ln();
            if ln_chance < RARE.ln() {
                let updates = equal.get(&tokens).map_or(&[][..], Vec::as_slice);
                rare.push((ln_chance, updates.len() > 1, sibling.step));
                of_epochs += u64::from(updates.len() > 1 && are_different(updates));
            }
        }
    }
    rare.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let copied = |of: &[(f64, bool, i64)]| of.iter().filter(|(_, copied, _)| *copied).count() as u64;
    let rarest = &rare[..rare.len() / 2];
    Copies {
        rare: rare.len() as u64,
        copied: copied(&rare),
        expected: rare.iter().map(|(ln_chance, ..)| ln_chance.exp()).sum(),
        among_rarest: share(copied(rarest), rarest.len() as u64),
        of_epochs: share(of_epochs, copied(&rare)),
        from: rare.iter().filter(|(_, copied, _)| *copied).map(|(.., step)| *step).min(),
    }
}

fn are_different(updates: &[Option<i64>]) -> bool {
    let mut seen: Vec<i64> = updates.iter().copied().flatten().collect();
    seen.sort_unstable();
    seen.dedup();
    seen.len() == updates.len()
}

/// The mini-batches of each response of a group that is equal, by the hash of its tokens.
fn count_equal(group: &[Sibling]) -> BTreeMap<u64, Vec<Option<i64>>> {
    let mut equal: BTreeMap<u64, Vec<Option<i64>>> = BTreeMap::new();
    let known = group.iter().filter_map(|s| Some((s.tokens?, s.update)));
    known.for_each(|(tokens, update)| equal.entry(tokens).or_default().push(update));
    equal
}

/// Equal siblings and their rewards.
#[derive(Clone, Copy, Debug, Default)]
pub struct EqualResponses {
    /// Responses that occur twice or more in their group.
    pub all: u64,
    /// Of these, those with rewards that differ.
    pub unequal: u64,
    /// First step with one.
    pub from: Option<i64>,
}

/// Measures whether equal siblings are rewarded equally: rewards that differ by more than a tenth of the run's range, since a
/// model that grades rounds.
pub fn equal_responses(rewards: &Rewards) -> EqualResponses {
    let known = || {
        let all = rewards.groups.sets().flatten();
        all.map(|s| f64::from(s.reward)).filter(|reward| reward.is_finite())
    };
    let range = known().fold(f64::NEG_INFINITY, f64::max) - known().fold(f64::INFINITY, f64::min);
    let mut found = EqualResponses::default();
    for group in rewards.groups.sets() {
        let mut equal: BTreeMap<u64, [f64; 3]> = BTreeMap::new();
        for sibling in group.iter().filter(|s| s.reward.is_finite()) {
            let Some(tokens) = sibling.tokens else { continue };
            let reward = f64::from(sibling.reward);
            let [count, low, high] = equal.entry(tokens).or_insert([0.0, reward, reward]);
            *count += 1.0;
            *low = low.min(reward);
            *high = high.max(reward);
        }
        for [_, low, high] in equal.into_values().filter(|[count, ..]| *count > 1.0) {
            found.all += 1;
            if high - low > 0.1 * range {
                found.unequal += 1;
                let step = group.first().map(|s| s.step);
                found.from = found.from.into_iter().chain(step).min();
            }
        }
    }
    found
}
