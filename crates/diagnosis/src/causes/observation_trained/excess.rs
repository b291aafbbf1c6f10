//! How far some tokens of each response surprise the policy beyond its entropy. For tokens drawn from the policy it is
//! 0, whatever the state; an observation was drawn by nobody.

use stapo_base::stats::ratio_of_sums::ratio_of_sums;

/// Nats beyond those of other tokens, and standard errors over responses.
const EXCESS: f64 = 0.5;
const ERRORS: f64 = 5.0;
/// Responses that a statement needs.
const FEWEST: usize = 20;

/// The surprise of some tokens of each response.
pub struct Excess {
    /// Mean over responses, in nats.
    pub mean: f64,
    /// Whether that is beyond that of other tokens by half a nat and chance.
    pub is_large: bool,
    /// Whether there are enough responses to say.
    pub is_known: bool,
}

impl Excess {
    /// Of numbers of tokens and their sums; a hot sampler surprises the policy `elsewhere`, too.
    pub fn of(tokens: impl Iterator<Item = [f64; 2]>, elsewhere: f64) -> Self {
        let each: Vec<f64> = tokens.filter(|[n, _]| *n > 0.0).map(|[n, sum]| sum / n).collect();
        let (mean, error) = ratio_of_sums(each.iter().map(|excess| [1.0, *excess]));
        let is_known = each.len() >= FEWEST;
        Self {
            mean: if each.is_empty() { 0.0 } else { mean },
            is_large: is_known && mean - elsewhere.max(0.0) - ERRORS * error > EXCESS,
            is_known,
        }
    }
}
