//! Responses whose tokens are held against their neighbours: is the log aligned, and are all
//! trained tokens the policy's own?

use std::cmp::Ordering;

use crate::analyze::collect::columns::Columns;
use crate::analyze::collect::sample::Sampled;

/// Tokens of a response that are looked at.
const LONGEST: usize = 512;
/// Tokens after the start of a turn in which an observation would stand.
const TURN_START: usize = 4;

/// Rare tokens are left out where surprisal is held against entropy: a few of them outweigh all others.
const RARE: f64 = 6.0;

/// Entropies that divide states into those of few and those of many choices.
const EDGES: [f32; 5] = [0.1, 0.3, 1.0, 2.0, 4.0];

/// n, Σx, Σy, Σx², Σy², Σxy.
pub type Moments = [f64; 6];

/// Adds a pair to moments.
fn add(moments: &mut Moments, x: f64, y: f64) {
    let terms = [1.0, x, y, x * x, y * y, x * y];
    moments.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}

/// What one response says.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Probe {
    /// Hash of the response.
    pub hash: u32,
    /// Step, then a hash of ids and values.
    pub order: (i64, u64),
    /// Surprisal against the entropy one token before, at, and one after.
    pub entropy_shift: [Moments; 3],
    /// Trainer's against sampler's log-probability one token before, at, and one after.
    pub logprob_shift: [Moments; 3],
    /// Trained tokens, and those among them that the sampler gave no probability for, two or more in a row:
    /// an observation is a run of tokens, a value that is missing here and there is none. Both 0 in a response
    /// without any: there the log lacks them.
    pub unsampled: [f64; 2],
    /// Number and Σ(−ln p − H) of trained tokens that begin a later turn: an observation stands there.
    pub turn_start: [f64; 2],
    /// The same of all other trained tokens.
    pub elsewhere: [f64; 2],
    /// ΣH and Σ −ln p of trained tokens, by their H.
    pub by_entropy: [[f64; 2]; EDGES.len() + 1],
}

impl Sampled for Probe {
    fn hash(&self) -> u32 {
        self.hash
    }

    fn order(&self, other: &Self) -> Ordering {
        let numbers = |p: &Self| {
            let shifts = p.entropy_shift.iter().chain(&p.logprob_shift).flatten();
            let pairs = p
                .unsampled
                .iter()
                .chain(&p.turn_start)
                .chain(&p.elsewhere)
                .chain(p.by_entropy.iter().flatten());
            shifts.chain(pairs).map(|number| number.to_bits()).collect::<Vec<_>>()
        };
        (self.order, self.hash)
            .cmp(&(other.order, other.hash))
            .then_with(|| numbers(self).cmp(&numbers(other)))
    }
}

impl Probe {
    /// Looks at the trained tokens of a response.
    pub fn of(hash: u32, order: (i64, u64), trained: &Columns<'_>) -> Self {
        let columns = trained.slice(0..trained.len().min(LONGEST));
        let mut probe = Self {
            hash,
            order,
            entropy_shift: Default::default(),
            logprob_shift: Default::default(),
            unsampled: [0.0; 2],
            turn_start: [0.0; 2],
            elsewhere: [0.0; 2],
            by_entropy: Default::default(),
        };
        let n = columns.len();
        let is_unsampled = |t: usize| columns.logprob_rollout.get(t).is_some_and(|v| !v.is_finite());
        let in_a_row =
            |t: usize| is_unsampled(t) && (is_unsampled(t + 1) || t.checked_sub(1).is_some_and(is_unsampled));
        let is_sampled = columns.logprob_rollout.iter().any(|v| v.is_finite());
        let mut turn_began = 0;
        for t in 0..n {
            let surprisal = -f64::from(columns.logprob[t]);
            for (shift, sums) in probe.entropy_shift.iter_mut().enumerate().filter(|_| surprisal < RARE) {
                if let Some(entropy) = (t + shift).checked_sub(1).and_then(|at| columns.entropy.get(at)) {
                    add(sums, f64::from(*entropy), surprisal);
                }
            }
            for (shift, sums) in probe.logprob_shift.iter_mut().enumerate() {
                let other = (t + shift).checked_sub(1).and_then(|at| columns.logprob_rollout.get(at));
                if let Some(rollout) = other.filter(|rollout| rollout.is_finite()) {
                    add(sums, -f64::from(*rollout), surprisal);
                }
            }
            if is_sampled {
                probe.unsampled[0] += 1.0;
                probe.unsampled[1] += f64::from(u8::from(in_a_row(t)));
            }
            if t > 0 && columns.turn.get(t) != columns.turn.get(t - 1) {
                turn_began = t;
            }
            let begins = turn_began > 0 && t - turn_began < TURN_START;
            let into = if begins { &mut probe.turn_start } else { &mut probe.elsewhere };
            into[0] += 1.0;
            into[1] += surprisal - f64::from(columns.entropy[t]);
            let [entropies, surprisals] =
                &mut probe.by_entropy[EDGES.partition_point(|edge| *edge <= columns.entropy[t])];
            *entropies += f64::from(columns.entropy[t]);
            *surprisals += surprisal;
        }
        probe
    }
}
