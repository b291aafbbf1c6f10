//! Surprisal beyond entropy, −ln p − H, of trained tokens where turns meet, and elsewhere. Of what a policy drew its mean is
//! 0 wherever it stands; an observation was drawn by nobody.

use crate::Response;
use serde::{Deserialize, Serialize};
use stapo_accumulate::{Accumulate, FixedSum};

/// Nats that one token counts for at most.
const MOST: f64 = 10.0;

/// Means of responses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Accumulate)]
pub struct Means {
    /// Responses.
    pub responses: u64,
    sum: FixedSum<20>,
    squares: FixedSum<20>,
}

impl Means {
    fn add(&mut self, [tokens, sum]: [f64; 2]) {
        if tokens > 0.0 {
            let mean = sum / tokens;
            self.responses += 1;
            self.sum.add(mean);
            self.squares.add(mean * mean);
        }
    }

    /// Their mean, and its standard error.
    #[must_use]
    pub fn mean(&self) -> Option<[f64; 2]> {
        let n = self.responses as f64;
        let mean = self.sum.value() / n;
        let variance = (self.squares.value() / n - mean * mean).max(0.0) / (n - 1.0);
        (self.responses > 1).then(|| [mean, variance.sqrt()])
    }
}

/// Where turns meet, and elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Accumulate)]
pub struct TurnEdges {
    /// First tokens of later turns.
    pub starts: Means,
    /// All other tokens of these responses.
    pub elsewhere: Means,
}

impl TurnEdges {
    pub(super) fn add(&mut self, response: &Response<'_>) {
        let (Some(turns), Some(entropy)) = (response.turns, response.entropy) else { return };
        let (Some(first), Some(last)) = (turns.first(), turns.last()) else { return };
        if first == last {
            return;
        }
        let [mut starts, mut elsewhere] = [[0.0; 2]; 2];
        for t in (0..turns.len()).filter(|t| response.is_trained(*t)) {
            let excess = f64::from(-response.logprob[t] - entropy[t]);
            if excess.is_nan() {
                continue;
            }
            let begins = t > 0 && turns[t - 1] != turns[t];
            let sum = if begins { &mut starts } else { &mut elsewhere };
            sum[0] += 1.0;
            sum[1] += excess.clamp(-MOST, MOST);
        }
        self.starts.add(starts);
        self.elsewhere.add(elsewhere);
    }
}
