//! Values that are not finite where a model was trained on them.

use super::token_loops::trained;
use crate::{Column, Response};
use serde::{Deserialize, Serialize};

/// The first of them: step, response, token, column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FirstFault {
    /// Step.
    pub step: i64,
    /// Hash of the response.
    pub response: u64,
    /// Its token; none where the response's own value is at fault.
    pub token: Option<u64>,
    /// The column.
    pub column: u8,
}

impl FirstFault {
    const COLUMNS: [Column; 4] = [Column::Logprob, Column::Entropy, Column::Advantage, Column::New];

    /// Its column.
    #[must_use]
    pub fn column(&self) -> Option<Column> {
        Self::COLUMNS.get(usize::from(self.column)).copied()
    }
}

/// Where in a response.
#[derive(Clone, Copy, Debug)]
pub struct At {
    token: Option<u64>,
    column: u8,
}

impl At {
    pub fn of(self, response: &Response<'_>) -> FirstFault {
        FirstFault { step: response.step, response: response.hash, token: self.token, column: self.column }
    }
}

/// What of a response is not finite.
#[derive(Clone, Copy, Debug)]
pub struct Faulty {
    /// Its first value that is not, rewards aside.
    pub first: Option<At>,
    /// Its reward is not.
    pub reward: bool,
}

impl Faulty {
    pub fn of(response: &Response<'_>) -> Self {
        let new = response.new.unwrap_or_default();
        let columns = [
            (0, Some(response.logprob)),
            // A column that says nothing of a whole response was not computed for it.
            (1, response.entropy.filter(|entropy| says_something(entropy))),
            (2, response.advantages),
            (3, Some(new).filter(|new| says_something(new))),
        ];
        let of_response =
            response.advantage.filter(|advantage| !advantage.is_finite() && response.advantages.is_none());
        let first = columns
            .into_iter()
            .filter_map(|(column, values)| {
                let values = values.filter(|values| has_fault(values))?;
                let token = trained(response).find(|t| !values[*t].is_finite())?;
                Some(At { token: Some(token as u64), column })
            })
            .min_by_key(|at| (at.token, at.column))
            .or(of_response.map(|_| At { token: None, column: 2 }));
        Self { first, reward: !response.reward.is_finite() }
    }
}

/// Whether any value is NaN or ±∞: in one sweep, since nearly none is.
fn has_fault(values: &[f32]) -> bool {
    const EXPONENT: u32 = 0x7f80_0000;
    values.iter().fold(false, |any, value| any | (value.to_bits() & EXPONENT == EXPONENT))
}

fn says_something(values: &[f32]) -> bool {
    values.iter().any(|value| !value.is_nan())
}
