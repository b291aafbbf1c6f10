//! A training mask that is off by one token: one of the environment's stands at an edge of each turn.
//!
//! Statistic: tokens that begin a later turn, or end one that another follows, which the sampler gave no probability
//! for while it gave one for their neighbours; how often, beyond what tokens as rare have none for elsewhere; and how far
//! they surprise the policy beyond its entropy. Each by itself says little: a turn may end improbably, since it is what
//! was drawn there that ended it, and engines leave out values.
//! Threshold: a quarter of these edges (three standard errors over responses), and half a nat (five). Not where the
//! last token of responses lacks its value half as often: such an engine gives none for what made it stop.

use super::excess::Excess;
use stapo_base::stats::ratio_of_sums::ratio_of_sums;
use stapo_collect::collect::signs::probe::Probe;
use stapo_collect::collect::signs::turn_edges::EdgeTokens;

const OFTEN: f64 = 0.25;
const ERRORS: f64 = 3.0;
const HALF: f64 = 0.5;

/// Where such tokens stand.
pub struct OffByOne {
    /// "last", or "first".
    pub which: &'static str,
    /// Of what.
    pub turns: &'static str,
    /// Which token of an observation it is.
    pub observed: &'static str,
    /// The share of these edges that have one.
    pub share: f64,
    /// Their surprise beyond the entropy, in nats.
    pub excess: f64,
}

/// Looks for it; `elsewhere` is how far other tokens surprise the policy.
pub fn look(probes: &[Probe], elsewhere: f64) -> Option<OffByOne> {
    let shares = inner_shares(probes);
    let [ends, missing] = probes.iter().fold([0.0, 0.0], |[all, single], probe| {
        [all + probe.edges.end.count(), single + f64::from(probe.edges.end.single)]
    });
    let at_end = missing / f64::max(ends, 1.0);
    let look_at = |of: fn(&Probe) -> &EdgeTokens| {
        let beyond = |edge: &EdgeTokens| {
            let expected: f64 = edge.tokens.iter().zip(&shares).map(|(n, share)| f64::from(*n) * share).sum();
            [edge.count(), f64::from(edge.single) - expected]
        };
        let (often, error) = ratio_of_sums(probes.iter().map(|probe| beyond(of(probe))));
        let single = |edge: &EdgeTokens| [f64::from(edge.single), edge.excess];
        let excess = Excess::of(probes.iter().map(|probe| single(of(probe))), elsewhere);
        let all: f64 = probes.iter().map(|probe| of(probe).count()).sum();
        let share = probes.iter().map(|probe| f64::from(of(probe).single)).sum::<f64>() / all.max(1.0);
        let is_found = excess.is_large && often - ERRORS * error > OFTEN && at_end < HALF * share;
        is_found.then_some((share, excess.mean))
    };
    let last = look_at(|probe| &probe.edges.last).map(|(share, excess)| OffByOne {
        which: "last",
        turns: "turns that another follows",
        observed: "first",
        share,
        excess,
    });
    let first = || {
        look_at(|probe| &probe.edges.first).map(|(share, excess)| OffByOne {
            which: "first",
            turns: "later turns",
            observed: "last",
            share,
            excess,
        })
    };
    last.or_else(first)
}

/// The share of tokens between edges that have no probability of the sampler's, by how rare they are.
fn inner_shares(probes: &[Probe]) -> Vec<f64> {
    let bins = probes.first().map_or(0, |probe| probe.edges.inner.len());
    let sum = |bin: usize, of: usize| probes.iter().map(|p| f64::from(p.edges.inner[bin][of])).sum::<f64>();
    (0..bins).map(|bin| sum(bin, 1) / sum(bin, 0).max(1.0)).collect()
}
