//! What the name of a part of the reward says: whether it tells which answers are right.

/// Words in the name of a part of the reward that says whether the answer is right, …
const RIGHT: [&str; 18] = [
    "acc",
    "accuracy",
    "accurate",
    "answer",
    "answers",
    "correct",
    "correctly",
    "correctness",
    "exact",
    "pass",
    "passed",
    "passes",
    "passing",
    "passrate",
    "solve",
    "solved",
    "success",
    "successful",
];
/// … words beside them that change nothing, …
const NEUTRAL: [&str; 20] = [
    "all", "at", "binary", "code", "final", "fn", "func", "function", "is", "match", "math", "mean", "rate",
    "reward", "rewards", "score", "test", "tests", "verified", "verifier",
];
/// … beginnings of words that say it measures something else of it, or the contrary, …
const OTHER: [&str; 37] = [
    "attempt", "boxed", "brevity", "cit", "concis", "contain", "count", "detect", "empt", "error", "exist",
    "extract", "fail", "false", "format", "invalid", "json", "langu", "length", "mismatch", "miss",
    "mistake", "nonempt", "overlap", "pars", "penal", "present", "refus", "repeat", "repetit", "style",
    "tag", "token", "word", "wrong", "xml", "yaml",
];
/// … whole words that say so, …
const OTHER_WORDS: [&str; 12] =
    ["err", "found", "given", "has", "have", "never", "no", "non", "not", "valid", "validity", "without"];
/// … and beginnings that turn a word round.
const CONTRARY: [&str; 3] = ["in", "non", "un"];

/// The part whose name says most plainly that it tells what is right.
pub fn right_part<'a>(parts: impl IntoIterator<Item = &'a str>) -> Option<usize> {
    let plain = |(index, name): (usize, &str)| Some((words_of_right(name)?, index));
    parts.into_iter().enumerate().filter_map(plain).min().map(|(_, part)| part)
}

/// Whether a name says what is right and nothing that is not understood.
pub fn is_plain(name: &str) -> bool {
    words_of_right(name).is_some_and(|(odd, _)| odd == 0)
}

/// The words of a name that says what is right: how many are not understood, and how many there are. The fewer,
/// the plainer.
fn words_of_right(name: &str) -> Option<(usize, usize)> {
    let words = words(name);
    let says_right = words.iter().any(|word| RIGHT.contains(&word.as_str()));
    let is_odd = |word: &&String| {
        let (known, number) = (RIGHT.iter().chain(&NEUTRAL), word.chars().all(char::is_numeric));
        !number && !known.into_iter().any(|known| known == word)
    };
    let odd = words.iter().filter(is_odd).count();
    (says_right && !words.iter().any(|word| says_other(word))).then_some((odd, words.len()))
}

fn says_other(word: &str) -> bool {
    let turned = |start: &&str| word.strip_prefix(*start).is_some_and(|rest| RIGHT.contains(&rest));
    OTHER_WORDS.contains(&word)
        || OTHER.iter().any(|start| word.starts_with(start))
        || CONTRARY.iter().any(turned)
}

/// The words of a name, in lower case: `answer_format`, `AnswerFormat` and `answer-format` have two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (was_lower && c.is_uppercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(names: &[&'static str]) -> Option<&'static str> {
        right_part(names.iter().copied()).map(|part| names[part])
    }

    #[test]
    fn the_plainest_name_says_what_is_right() {
        assert_eq!(best(&["answer_format", "correct"]), Some("correct"));
        assert_eq!(best(&["answer_length_penalty", "exact_match_reward"]), Some("exact_match_reward"));
        assert_eq!(best(&["compass", "incorrect", "format"]), None);
        assert_eq!(best(&["passage_overlap", "passage", "answer_tokens", "exact_json"]), None);
        assert_eq!(best(&["AccuracyReward"]), Some("AccuracyReward"));
        assert_eq!(best(&["AnswerFormat", "pass@1"]), Some("pass@1"));
        assert_eq!(best(&["accuracy_reward", "accuracy"]), Some("accuracy"));
        assert_eq!(best(&["answer_boldness", "final_answer_reward_func"]), Some("final_answer_reward_func"));
    }

    #[test]
    fn a_name_that_denies_it_or_measures_something_else_does_not() {
        let contrary = [
            "wrong_answer",
            "answer_wrong",
            "no_answer",
            "incorrect_answer",
            "answer_error",
            "not_correct",
            "answer_mismatch",
            "missing_answer",
            "false_answer",
            "pass_fail",
            "failed_pass",
            "AnswerUnsolved",
            "inaccurate_answer",
        ];
        let other = [
            "has_answer",
            "answer_boxed",
            "answer_given",
            "answer_valid",
            "answer_found",
            "answer_language",
            "answer_repeated",
            "non_empty_answer",
        ];
        for name in contrary.into_iter().chain(other) {
            assert_eq!(best(&[name]), None, "{name}");
        }
        for name in ["validation_accuracy", "math_answer", "unit_tests_passed", "mistral_accuracy"] {
            assert_eq!(best(&[name]), Some(name));
        }
    }

    #[test]
    fn a_plain_name_has_no_word_that_is_not_understood() {
        for name in ["answer", "accuracy_reward", "pass@1", "ExactMatch", "is_correct", "test_pass_rate"] {
            assert!(is_plain(name), "{name}");
        }
        for name in ["answer_boldness", "wrong_answer", "format", "mistral_accuracy"] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
