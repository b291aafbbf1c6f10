//! How a response ended, from what engines and environments write.

use crate::Response;
use serde::{Deserialize, Serialize};

/// How a response ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// Not logged, or by something that is no end of the policy's, as a tool call.
    #[default]
    Unknown,
    /// The policy ended it.
    Finished,
    /// It was cut at the budget.
    Cut,
    /// The engine, a tool or the environment failed.
    Failed,
}

/// Words of statuses of responses that were not answered: vLLM and SGLang write `abort`, environments the others.
const FAILURES: [&str; 7] = ["error", "timeout", "timed_out", "abort", "fail", "exception", "cancel"];
const ENDS: [&str; 6] = ["stop", "eos", "eos_token", "stop_sequence", "end_turn", "completed"];
const CUTS: [&str; 4] = ["length", "max_tokens", "max_length", "truncated"];

impl Ending {
    /// That of a response.
    pub fn of(response: &Response<'_>) -> Self {
        let Some(finish) = response.finish else {
            return match response.truncated {
                Some(true) => Self::Cut,
                Some(false) | None => Self::Unknown,
            };
        };
        let is = |names: &[&str]| names.iter().any(|name| finish.eq_ignore_ascii_case(name));
        if is(&ENDS) {
            Self::Finished
        } else if is(&CUTS) {
            Self::Cut
        } else if FAILURES.iter().any(|word| contains(finish, word)) {
            Self::Failed
        } else {
            Self::Unknown
        }
    }
}

fn contains(text: &str, word: &str) -> bool {
    text.as_bytes().windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
}
