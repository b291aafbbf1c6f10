//! What says whether an answer is right: the user's condition, else a part of the reward by its name.

use super::signals::PASS_RATE;
use crate::analyze::collect::signs::facts::ResponseFact;
use crate::stats::quantile::select_quantile;

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
/// … and beginnings of words that say it measures something else of it.
const OTHER: [&str; 17] = [
    "brevity", "cit", "count", "extract", "format", "json", "length", "overlap", "pars", "penal", "present",
    "style", "tag", "token", "word", "xml", "yaml",
];
/// Ends of a part's range; a few odd values are none.
const ENDS: [f64; 2] = [0.01, 0.99];

/// What says whether an answer is right.
#[derive(Clone, Copy, Debug)]
pub struct Right<'a> {
    /// The user's condition, or the name of the part.
    pub name: &'a str,
    /// The part of the reward that it is read from; `None` for the reward itself.
    pub part: Option<usize>,
    /// The value of the part above which an answer is right; `None` where the user's condition says so.
    above: Option<f64>,
    /// Whether it is a verdict, of two values: a graded part of that name may measure something else.
    pub is_verdict: bool,
}

impl<'a> Right<'a> {
    /// By the user's condition, which may be on a part.
    pub fn given(text: &'a str, part: Option<&str>, parts: &'a [String]) -> Self {
        let part = part.and_then(|name| parts.iter().position(|part| part == name));
        Self { name: text, part, above: None, is_verdict: true }
    }

    /// By the part whose name says so most plainly.
    pub fn named(parts: &'a [String], facts: &[ResponseFact]) -> Option<Self> {
        let plain = |(index, name): (usize, &String)| Some((words_of_right(name)?, index));
        let (_, part) = parts.iter().enumerate().filter_map(plain).min()?;
        let values = facts.iter().filter_map(|fact| fact.parts.get(part).copied());
        let mut values: Vec<f32> = values.filter(|value| value.is_finite()).collect();
        let (low, high) = ends(&values);
        let is_verdict = values.iter().all(|value| *value == low || *value == high);
        Some(Self { name: &parts[part], part: Some(part), above: Some(middle(&mut values)), is_verdict })
    }

    /// Whether a response is right; `None` where its value is missing.
    pub fn of(&self, fact: &ResponseFact) -> Option<bool> {
        let Some(above) = self.above else { return fact.right };
        let value = self.part.and_then(|part| fact.parts.get(part)).copied()?;
        value.is_finite().then_some(f64::from(value) > above)
    }

    /// The signal that follows it.
    pub fn signal(&self) -> String {
        if self.above.is_none() { PASS_RATE.into() } else { format!("reward/{}", self.name) }
    }
}

/// The number of words of a name that says what is right: the fewer, the plainer.
fn words_of_right(name: &str) -> Option<usize> {
    let words = words(name);
    let says_right = words.iter().any(|word| RIGHT.contains(&word.as_str()));
    let says_other = words.iter().any(|word| OTHER.iter().any(|start| word.starts_with(start)));
    (says_right && !says_other).then_some(words.len())
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

/// The lowest and the highest value.
fn ends(values: &[f32]) -> (f32, f32) {
    let wider = |(low, high): (f32, f32), value: &f32| (low.min(*value), high.max(*value));
    values.iter().fold((f32::INFINITY, f32::NEG_INFINITY), wider)
}

/// The middle of a part's range, whatever its scale: of two values the higher one is right. A part that
/// is the same everywhere is right where it is above 0.
fn middle(values: &mut [f32]) -> f64 {
    let [low, high] = ENDS.map(|end| select_quantile(values, end).unwrap_or(0.0));
    if low < high {
        return f64::midpoint(low, high);
    }
    let (low, high) = ends(values);
    if low < high { f64::midpoint(f64::from(low), f64::from(high)) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn right(name: &str, values: &[f32]) -> Vec<Option<bool>> {
        let fact = |value: &f32| ResponseFact { parts: [*value].into(), ..ResponseFact::default() };
        let facts: Vec<ResponseFact> = values.iter().map(fact).collect();
        let parts = [name.to_owned()];
        let right = Right::named(&parts, &facts);
        facts.iter().map(|fact| right.and_then(|right| right.of(fact))).collect()
    }

    #[test]
    fn what_is_right_does_not_depend_on_the_scale() {
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(right("answer", &[0.0, 0.3, 0.3, 0.0]), [no, yes, yes, no]);
        assert_eq!(right("answer", &[-1.0, 1.0, -1.0]), [no, yes, no]);
        assert_eq!(right("answer", &[0.0, 0.1, 1.0]), [no, no, yes]);
        assert_eq!(right("answer", &[0.0, 0.0]), [no, no]);
        assert_eq!(right("answer", &[0.3, 0.3]), [yes, yes]);
        assert_eq!(right("answer", &[0.0, f32::NAN, 1.0]), [no, None, yes]);
    }

    #[test]
    fn a_graded_part_is_no_verdict() {
        let is_verdict = |values: &[f32]| {
            let fact = |value: &f32| ResponseFact { parts: [*value].into(), ..ResponseFact::default() };
            let facts: Vec<ResponseFact> = values.iter().map(fact).collect();
            Right::named(&["answer".to_owned()], &facts).is_some_and(|right| right.is_verdict)
        };
        assert!(is_verdict(&[0.0, 0.3, 0.3, f32::NAN]));
        assert!(!is_verdict(&[0.0, 0.3, 1.0]));
    }

    #[test]
    fn the_plainest_name_says_what_is_right() {
        let best = |names: &[&str]| {
            let parts: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            Right::named(&parts, &[]).map(|right| right.name.to_owned())
        };
        assert_eq!(best(&["answer_format", "correct"]).as_deref(), Some("correct"));
        assert_eq!(
            best(&["answer_length_penalty", "exact_match_reward"]).as_deref(),
            Some("exact_match_reward")
        );
        assert_eq!(best(&["compass", "incorrect", "format"]), None);
        assert_eq!(best(&["passage_overlap", "passage", "answer_tokens", "exact_json"]), None);
        assert_eq!(best(&["AccuracyReward"]).as_deref(), Some("AccuracyReward"));
        assert_eq!(best(&["AnswerFormat", "pass@1"]).as_deref(), Some("pass@1"));
        assert_eq!(best(&["accuracy_reward", "accuracy"]).as_deref(), Some("accuracy"));
    }
}
