//! Responses whose tokens are held against their neighbours: is the log aligned, and are all
//! trained tokens the policy's own?

use std::cmp::Ordering;

use super::rareness::{RARENESS, rareness};
use super::turn_edges::TurnEdges;
use crate::collect::columns::Columns;
use crate::collect::sample::Sampled;

/// Tokens of a response that are looked at.
const LONGEST: usize = 512;
/// Tokens after the start of a turn, or before its end, in which an observation would stand.
const TURN_EDGE: usize = 4;

/// Rare tokens are left out where surprisal is held against entropy: a few of them outweigh all others.
const RARE: f64 = 6.0;

/// Entropies that divide states into those of few and those of many choices.
const EDGES: [f32; 5] = [0.1, 0.3, 1.0, 2.0, 4.0];

/// Trained tokens that the sampler gave no probability for, by how rare the trainer says they are. A sampler that
/// lists its most likely tokens alone gives none for the others, wherever they stand.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Unsampled {
    /// Tokens, and those among them without a probability.
    pub tokens: [[u16; 2]; RARENESS.len() + 1],
    /// Neighbours.
    pub pairs: [[u16; RARENESS.len() + 1]; RARENESS.len() + 1],
    /// Neighbours that are both without one.
    pub missing_pairs: u16,
}

impl Unsampled {
    fn of(columns: &Columns<'_>, is_unsampled: impl Fn(usize) -> bool) -> Self {
        let mut all = Self::default();
        let place = |t: usize| rareness(columns.logprob[t]);
        for t in 0..columns.len() {
            all.tokens[place(t)][0] += 1;
            all.tokens[place(t)][1] += u16::from(is_unsampled(t));
            if t > 0 {
                all.pairs[place(t - 1)][place(t)] += 1;
                all.missing_pairs += u16::from(is_unsampled(t - 1) && is_unsampled(t));
            }
        }
        all
    }

    fn numbers(&self) -> impl Iterator<Item = u64> {
        let counts = self.tokens.iter().flatten().chain(self.pairs.iter().flatten());
        counts.chain(std::iter::once(&self.missing_pairs)).map(|count| u64::from(*count))
    }
}

/// n, Σx, Σy, Σx², Σy², Σxy.
pub type Moments = [f64; 6];

/// Adds a pair to moments.
fn add(moments: &mut Moments, x: f64, y: f64) {
    let terms = [1.0, x, y, x * x, y * y, x * y];
    moments.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}

/// What one response says.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
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
    /// Of the latter: Σ(−ln p − H), and how many end the response under one id, as padding does.
    pub unsampled_are: [f64; 2],
    /// The same by how rare tokens are.
    pub rare: Box<Unsampled>,
    /// Number and Σ(−ln p − H) of trained tokens that begin a later turn: an observation stands there. Where the sampler
    /// gave a higher p, by that: what old weights drew surprises the trainer, an observation surprises both.
    pub turn_start: [f64; 2],
    /// The same of those that end a turn which another follows: there it stands where it belongs to the turn
    /// that asked for it.
    pub turn_end: [f64; 2],
    /// The same of all other trained tokens.
    pub elsewhere: [f64; 2],
    /// Single tokens at the edges of turns that the sampler gave no probability for, where it gave some.
    pub edges: Box<TurnEdges>,
    /// ΣH and Σ −ln p of trained tokens, by their H.
    pub by_entropy: [[f64; 2]; EDGES.len() + 1],
    /// The same of those that the sampler gave no probability for, where it gave some.
    pub unsampled_by_entropy: [[f64; 2]; EDGES.len() + 1],
}

impl Sampled for Probe {
    type Leading = ((i64, u64), u32);

    fn hash(&self) -> u32 {
        self.hash
    }

    fn leading(&self) -> ((i64, u64), u32) {
        (self.order, self.hash)
    }

    fn order(&self, other: &Self) -> Ordering {
        let numbers = |p: &Self| {
            let shifts = p.entropy_shift.iter().chain(&p.logprob_shift).flatten();
            let pairs = p
                .unsampled
                .iter()
                .chain(&p.unsampled_are)
                .chain(&p.turn_start)
                .chain(&p.turn_end)
                .chain(&p.elsewhere)
                .chain(p.by_entropy.iter().flatten())
                .chain(p.unsampled_by_entropy.iter().flatten());
            shifts
                .chain(pairs)
                .map(|number| number.to_bits())
                .chain(p.rare.numbers())
                .chain(p.edges.numbers())
                .collect::<Vec<_>>()
        };
        self.leading().cmp(&other.leading()).then_with(|| numbers(self).cmp(&numbers(other)))
    }
}

/// How many tokens at the end have the same id.
fn last_of_one_id(ids: &[i32]) -> usize {
    ids.iter().rev().take_while(|id| Some(*id) == ids.last()).count()
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
            unsampled_are: [0.0; 2],
            rare: Box::default(),
            turn_start: [0.0; 2],
            turn_end: [0.0; 2],
            elsewhere: [0.0; 2],
            edges: Box::default(),
            by_entropy: Default::default(),
            unsampled_by_entropy: Default::default(),
        };
        let n = columns.len();
        let is_unsampled = |t: usize| columns.logprob_rollout.get(t).is_some_and(|v| !v.is_finite());
        let in_a_row =
            |t: usize| is_unsampled(t) && (is_unsampled(t + 1) || t.checked_sub(1).is_some_and(is_unsampled));
        let is_sampled = columns.logprob_rollout.iter().any(|v| v.is_finite());
        if is_sampled && columns.logprob_rollout.iter().any(|v| !v.is_finite()) {
            *probe.rare = Unsampled::of(&columns, is_unsampled);
        }
        if is_sampled {
            *probe.edges = TurnEdges::of(&columns, n == trained.len(), is_unsampled);
        }
        let changes_turn = |t: usize| t > 0 && columns.turn.get(t) != columns.turn.get(t - 1);
        let has_turns = !columns.turn.is_empty() && (1..n).any(changes_turn);
        let ends_turn = |t: usize| has_turns && (t + 1..n.min(t + 1 + TURN_EDGE)).any(changes_turn);
        let excess_for_sampler = |t: usize| match columns.logprob_rollout.get(t).filter(|v| v.is_finite()) {
            Some(rollout) => -f64::from(*rollout) - f64::from(columns.entropy[t]),
            None => f64::INFINITY,
        };
        let padding = n - last_of_one_id(columns.token_id);
        let mut turn_began = 0;
        for t in 0..n {
            let surprisal = -f64::from(columns.logprob[t]);
            let excess = surprisal - f64::from(columns.entropy[t]);
            for (shift, sums) in probe.entropy_shift.iter_mut().enumerate().filter(|_| surprisal < RARE) {
                if let Some(entropy) = (t + shift).checked_sub(1).and_then(|at| columns.entropy.get(at)) {
                    add(sums, f64::from(*entropy), surprisal);
                }
            }
            for (shift, sums) in probe.logprob_shift.iter_mut().enumerate().filter(|_| is_sampled) {
                let other = (t + shift).checked_sub(1).and_then(|at| columns.logprob_rollout.get(at));
                if let Some(rollout) = other.filter(|rollout| rollout.is_finite()) {
                    add(sums, -f64::from(*rollout), surprisal);
                }
            }
            if is_sampled {
                probe.unsampled[0] += 1.0;
                if in_a_row(t) {
                    probe.unsampled[1] += 1.0;
                    probe.unsampled_are[0] += excess;
                    probe.unsampled_are[1] += f64::from(u8::from(t >= padding));
                }
            }
            if changes_turn(t) {
                turn_began = t;
            }
            let into = match turn_began > 0 && t - turn_began < TURN_EDGE {
                true => &mut probe.turn_start,
                false if ends_turn(t) => &mut probe.turn_end,
                false => &mut probe.elsewhere,
            };
            into[0] += 1.0;
            into[1] += excess.min(excess_for_sampler(t));
            let bin = EDGES.partition_point(|edge| *edge <= columns.entropy[t]);
            let add_to = |[entropies, surprisals]: &mut [f64; 2]| {
                *entropies += f64::from(columns.entropy[t]);
                *surprisals += surprisal;
            };
            add_to(&mut probe.by_entropy[bin]);
            if is_sampled && is_unsampled(t) {
                add_to(&mut probe.unsampled_by_entropy[bin]);
            }
        }
        probe
    }
}
