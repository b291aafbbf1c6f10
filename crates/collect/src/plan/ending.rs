//! What the reason for which a response ended says.
//!
//! Engines and trainers write it in many ways: `length`, `FinishReason.LENGTH`, `max_new_tokens`,
//! `{'type': 'length', 'length': 90}`, `FINISHED_LENGTH_CAPPED`, `truncated`. So words are told, not whole texts, and a
//! reason that none of them is in says nothing.

/// Words of a response that was cut at its longest length.
const CUT: [&str; 11] = [
    "length",
    "len",
    "truncated",
    "truncation",
    "overlong",
    "limit",
    "exceeded",
    "exceeds",
    "max",
    "maximum",
    "capped",
];
/// Words of one that ended otherwise before it was done: neither cut nor finished.
const BROKEN_OFF: [&str; 5] = ["abort", "cancel", "error", "fail", "time"];
/// Words of a response that ended by itself, or that a tool was called at the end of.
const FINISHED: [&str; 16] = [
    "stop",
    "stopped",
    "eos",
    "eod",
    "end",
    "ended",
    "complete",
    "completed",
    "finished",
    "done",
    "matched",
    "success",
    "ok",
    "tool",
    "function",
    "calls",
];

/// The words of a reason, in small letters: at anything that is no letter and where capitals begin.
fn words(reason: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for letter in reason.chars() {
        let begins = letter.is_uppercase() && was_small;
        if begins || !letter.is_alphabetic() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_alphabetic(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
        was_small = letter.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// How a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Cut,
    Finished,
    BrokenOff,
}

/// Whether a response was cut at its longest length; `None` where the reason does not say.
pub fn was_cut(reason: &str) -> Option<bool> {
    match ending(reason)? {
        Ending::Cut => Some(true),
        Ending::Finished => Some(false),
        Ending::BrokenOff => None,
    }
}

/// Whether a reason is given and has no word that is known.
pub fn is_unknown(reason: &str) -> bool {
    !reason.trim().is_empty() && ending(reason).is_none()
}

fn ending(reason: &str) -> Option<Ending> {
    let words = words(reason);
    // An object in words: only what its type is counts.
    let words = match words.iter().position(|word| word == "type") {
        Some(at) => words.get(at + 1..at + 2).unwrap_or_default(),
        None => &words[..],
    };
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let is_broken_off = || words.iter().any(|word| BROKEN_OFF.iter().any(|begin| word.starts_with(begin)));
    match () {
        () if has(&CUT) => Some(Ending::Cut),
        () if is_broken_off() => Some(Ending::BrokenOff),
        () if has(&FINISHED) => Some(Ending::Finished),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{is_unknown, was_cut};

    #[test]
    fn reasons_of_trainers_and_engines_are_told() {
        for cut in [
            "length",
            "Length",
            "max_tokens",
            "overlong",
            "context_length",
            "FinishReason.LENGTH",
            "FinishReasonLength",
            "{'type': 'length', 'length': 90}",
            "max_new_tokens",
            "max_tokens_reached",
            "length_limit",
            "model_length",
            "context_length_exceeded",
            "token_limit",
            "FINISHED_LENGTH_CAPPED",
            "truncated",
        ] {
            assert_eq!(was_cut(cut), Some(true), "{cut}");
        }
        for done in [
            "stop",
            "eos",
            "FinishReason.STOP",
            "{'type': 'stop', 'matched': 151645}",
            "FINISHED_STOPPED",
            "end_turn",
            "stop_sequence",
            "tool_calls",
            "completed",
        ] {
            assert_eq!(was_cut(done), Some(false), "{done}");
        }
        for neither in ["aborted", "FINISHED_ABORTED", "", "unknown", "42", "timeout", "error"] {
            assert_eq!(was_cut(neither), None, "{neither}");
        }
        for unknown in ["unknown", "42", "gave_up"] {
            assert!(is_unknown(unknown), "{unknown}");
        }
        for known in ["", "length", "eos", "aborted", "timeout"] {
            assert!(!is_unknown(known), "{known}");
        }
    }
}
