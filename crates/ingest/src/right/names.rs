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
    "passrate",
    "resolve",
    "resolved",
    "resolves",
    "solve",
    "solved",
    "verified",
    "verify",
    "verifies",
];
/// … words that say so alone, but beside others may be of something else (`sandbox_success`), …
const OF_SOMETHING: [&str; 10] =
    ["em", "pass", "passed", "passes", "passing", "success", "successful", "tests", "unittest", "unittests"];
/// … words beside them that change nothing, …
const NEUTRAL: [&str; 21] = [
    "all", "at", "binary", "code", "final", "fn", "func", "function", "is", "match", "math", "mean", "rate",
    "reward", "rewards", "score", "task", "test", "tests", "unit", "verifier",
];
/// … beginnings of words that say it measures something else of it, or the contrary, …
const OTHER: [&str; 43] = [
    "attempt", "boxed", "brevity", "cit", "compil", "concis", "contain", "count", "detect", "empt", "error",
    "exist", "extract", "fail", "false", "fmt", "format", "import", "invalid", "json", "langu", "length",
    "lint", "mismatch", "miss", "mistake", "nonempt", "overlap", "pars", "penal", "present", "refus",
    "repeat", "repetit", "style", "syntax", "tag", "token", "tool", "word", "wrong", "xml", "yaml",
];
/// … whole words that say so, …
const OTHER_WORDS: [&str; 17] = [
    "api", "call", "calls", "err", "found", "given", "has", "have", "never", "no", "non", "not", "run",
    "runs", "valid", "validity", "without",
];
/// … and beginnings that turn a word round.
const CONTRARY: [&str; 3] = ["in", "non", "un"];

/// The part whose name says most plainly that it tells what is right. One that may be of something else counts only
/// where the names of all other parts say that they measure something else.
pub fn right_part<'a>(parts: impl IntoIterator<Item = &'a str>) -> Option<usize> {
    let names: Vec<&str> = parts.into_iter().collect();
    let said = |(index, name): (usize, &&str)| Some((words_of_right(name)?, index));
    let (best, part) = names.iter().enumerate().filter_map(said).min()?;
    let others = names.iter().enumerate().filter(|(index, _)| *index != part);
    let apart = |name: &str| words(name).iter().any(|word| says_other(word));
    (best.is_plain() || best.says_right || others.into_iter().all(|(_, name)| apart(name))).then_some(part)
}

/// The other parts whose names say what is right.
pub fn rivals_of(chosen: usize, parts: &[impl AsRef<str>]) -> Vec<usize> {
    let says = |index: &usize| *index != chosen && words_of_right(parts[*index].as_ref()).is_some();
    (0..parts.len()).filter(says).collect()
}

/// Whether a name says what is right and nothing that is not understood.
pub fn is_plain(name: &str) -> bool {
    words_of_right(name).is_some_and(|said| said.is_plain())
}

/// The words of a name that says what is right; the fewer, the plainer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Said {
    /// Words that are not understood.
    odd: usize,
    /// All words.
    all: usize,
    /// Whether a word says it whatever stands beside it.
    says_right: bool,
}

impl Said {
    fn is_plain(self) -> bool {
        self.odd == 0
    }
}

fn words_of_right(name: &str) -> Option<Said> {
    let words = words(name);
    let any_of = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let is_odd = |word: &&String| {
        let known = RIGHT.iter().chain(&OF_SOMETHING).chain(&NEUTRAL);
        !word.chars().all(char::is_numeric) && !known.into_iter().any(|known| known == word)
    };
    let said =
        Said { odd: words.iter().filter(is_odd).count(), all: words.len(), says_right: any_of(&RIGHT) };
    let is_told = said.says_right || any_of(&OF_SOMETHING);
    (is_told && !words.iter().any(|word| says_other(word))).then_some(said)
}

fn says_other(word: &str) -> bool {
    let says_right = |word: &str| RIGHT.contains(&word) || OF_SOMETHING.contains(&word);
    let turned = |start: &&str| word.strip_prefix(*start).is_some_and(says_right);
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
            "answer_unsuccessful",
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

    /// The success of something on the way is not what is right, whatever the name of what is.
    #[test]
    fn the_success_of_something_else_is_not_what_is_right() {
        for step in ["compile_success", "tool_success", "execution_success", "api_success", "sandbox_passed"]
        {
            for right in
                ["resolved", "em", "unit_tests", "verified", "math_verify", "tests_passed", "task_success"]
            {
                assert_eq!(best(&[step, right]), Some(right));
            }
            assert_eq!(best(&[step, "outcome"]), None, "{step}");
        }
        assert_eq!(best(&["sandbox_success", "format", "length_penalty"]), Some("sandbox_success"));
        assert_eq!(best(&["execution_accuracy", "novelty"]), Some("execution_accuracy"));
        assert_eq!(best(&["compile_success"]), None);
    }

    #[test]
    fn parts_that_say_it_too_are_rivals() {
        assert_eq!(rivals_of(0, &["code_correct", "format", "math_correct", "qa_em"]), [2, 3]);
        assert_eq!(rivals_of(1, &["answer_format", "correct"]), [0; 0]);
    }

    #[test]
    fn a_plain_name_has_no_word_that_is_not_understood() {
        for name in [
            "answer",
            "accuracy_reward",
            "pass@1",
            "ExactMatch",
            "is_correct",
            "test_pass_rate",
            "em",
            "unit_tests",
        ] {
            assert!(is_plain(name), "{name}");
        }
        for name in ["answer_boldness", "wrong_answer", "format", "mistral_accuracy"] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
