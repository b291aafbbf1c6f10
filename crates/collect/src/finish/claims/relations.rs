//! How the norm of a token goes with its probability and with its entropy.

use rayon::prelude::*;

use crate::collect::claim_tokens::ClaimToken;
use crate::collect::run_sample::Sample;
use crate::finish::ranks::Ranked;

/// Chunks of tokens of about one p, of equal size.
const CHUNKS: usize = 200;
/// At larger p the norm is next to nothing, and so is what moves it.
const LARGEST_P: f64 = 0.9;
/// A rank correlation of fewer says nothing.
const FEWEST: usize = 3;

/// Spearman's rank correlations of ‖g‖/|w|.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NormRelations {
    /// With p.
    pub with_p: Option<f64>,
    /// With H, over all tokens.
    pub with_entropy: Option<f64>,
    /// With H within chunks of about the same p, weighted by their tokens.
    pub at_fixed_p: Option<f64>,
    /// Tokens.
    pub tokens: usize,
    /// How many tokens of the run one of them stands for.
    pub weight: f64,
}

impl NormRelations {
    /// Of tokens of known norm; where none is known, of all.
    pub fn find(sample: &Sample<ClaimToken>) -> Self {
        let any_known = sample.tokens.iter().any(|token| token.norm.known);
        let used: Vec<&ClaimToken> =
            sample.tokens.iter().filter(|token| token.norm.known || !any_known).collect();
        let column = |of: fn(&ClaimToken) -> f64| used.iter().map(|token| of(token)).collect::<Vec<_>>();
        let (over_all, at_fixed_p) = rayon::join(
            || {
                let norm = Ranked::even(column(|token| token.norm.value));
                // The order of p is that of ln p.
                let others = [column(|token| token.logprob.into()), column(|token| token.entropy.into())];
                others.map(|values| of_enough(&norm, &Ranked::even(values)))
            },
            || at_fixed_p(&used),
        );
        let [with_p, with_entropy] = over_all;
        Self { with_p, with_entropy, at_fixed_p, tokens: used.len(), weight: sample.weight() }
    }
}

fn of_enough(a: &Ranked, b: &Ranked) -> Option<f64> {
    (a.values.len() >= FEWEST).then(|| a.even_spearman(b)).flatten()
}

/// Spearman's correlation of norm and entropy within chunks in the order of ln p, ties in that of the log.
fn at_fixed_p(used: &[&ClaimToken]) -> Option<f64> {
    let is_uncertain = |token: &&&ClaimToken| f64::from(token.logprob).exp() < LARGEST_P;
    let mut tokens: Vec<&ClaimToken> = used.iter().filter(is_uncertain).copied().collect();
    tokens.par_sort_by(|a, b| a.logprob.total_cmp(&b.logprob).then_with(|| a.order.cmp(&b.order)));
    let chunks: Vec<Option<(f64, f64)>> = (0..CHUNKS)
        .into_par_iter()
        .map(|number| {
            let chunk = &tokens[start_of(number, tokens.len())..start_of(number + 1, tokens.len())];
            let norm = Ranked::even(chunk.iter().map(|token| token.norm.value).collect());
            let entropy = Ranked::even(chunk.iter().map(|token| token.entropy.into()).collect());
            of_enough(&norm, &entropy).map(|spearman| (spearman, chunk.len() as f64))
        })
        .collect();
    let (sum, weight) = chunks
        .into_iter()
        .flatten()
        .fold((0.0, 0.0), |(sum, weight), (spearman, tokens)| (sum + spearman * tokens, weight + tokens));
    (weight > 0.0).then(|| sum / weight)
}

/// Where a chunk begins: the first ones have one token more where it does not come out even.
fn start_of(chunk: usize, tokens: usize) -> usize {
    chunk * (tokens / CHUNKS) + chunk.min(tokens % CHUNKS)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::collect::claim_tokens::UnitNorm;

    fn token(order: u64, logprob: f32, entropy: f32, norm: f32) -> ClaimToken {
        let norm = UnitNorm { value: norm.into(), known: true };
        ClaimToken { order, logprob, entropy, norm, ..ClaimToken::default() }
    }

    #[test]
    fn chunks_hold_all_tokens() {
        for tokens in [0, 1, 199, 200, 1_234] {
            assert_eq!((start_of(0, tokens), start_of(CHUNKS, tokens)), (0, tokens));
            let lengths = (0..CHUNKS).map(|i| start_of(i + 1, tokens) - start_of(i, tokens));
            assert!(lengths.clone().all(|length| length.abs_diff(tokens / CHUNKS) <= 1), "{tokens}");
            assert!(lengths.is_sorted_by(|a, b| a >= b));
        }
    }

    /// The norm falls with H at each p, and yet rises with it over all: rare tokens come from uncertain states.
    #[test]
    fn the_sign_turns_at_a_fixed_p() {
        let tokens = (0..4_000_u16).map(|i| {
            let (level, within) = (f32::from(i / 20), f32::from(i % 20));
            token(i.into(), -0.2 - 0.01 * level, 0.1 * level + 0.001 * within, level - 0.01 * within)
        });
        let sample = Sample { tokens: tokens.collect(), level: 0 };
        let found = NormRelations::find(&sample);
        assert!(found.at_fixed_p.unwrap() < -0.999 && found.with_entropy.unwrap() > 0.99, "{found:?}");
        assert!(found.with_p.unwrap() < -0.99, "{found:?}");
    }

    #[test]
    fn few_tokens_and_equal_ones_say_nothing() {
        let of = |tokens: Vec<ClaimToken>| NormRelations::find(&Sample { tokens, level: 0 });
        let nothing = |found: NormRelations| (found.with_p, found.with_entropy, found.at_fixed_p);
        assert_eq!(nothing(of(Vec::new())), (None, None, None));
        assert_eq!(nothing(of(vec![token(0, -1.0, 1.0, 0.5); 2])), (None, None, None));
        assert_eq!(nothing(of(vec![token(0, -1.0, 1.0, 0.5); 900])), (None, None, None));
    }
}
