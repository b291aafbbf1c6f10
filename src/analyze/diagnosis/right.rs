//! What says whether an answer is right: the user's condition, else a part of the reward by its name.

use super::signals::PASS_RATE;
use crate::analyze::collect::signs::facts::ResponseFact;
use crate::stats::quantile::select_quantile;

/// Beginnings of words in the name of a part of the reward that says whether the answer is right, …
const RIGHT: [&str; 7] = ["answer", "correct", "accura", "pass", "solve", "success", "exact"];
/// … and of words that say it measures something else of it.
const OTHER: [&str; 6] = ["format", "length", "style", "penal", "tag", "brevity"];
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
}

impl<'a> Right<'a> {
    /// By the user's condition, which may be on a part.
    pub fn given(text: &'a str, part: Option<&str>, parts: &'a [String]) -> Self {
        let part = part.and_then(|name| parts.iter().position(|part| part == name));
        Self { name: text, part, above: None }
    }

    /// By the part whose name says so most plainly.
    pub fn named(parts: &'a [String], facts: &[ResponseFact]) -> Option<Self> {
        let plain = |(index, name): (usize, &String)| Some((words_of_right(name)?, index));
        let (_, part) = parts.iter().enumerate().filter_map(plain).min()?;
        let values = facts.iter().filter_map(|fact| fact.parts.get(part).copied());
        let mut values: Vec<f32> = values.filter(|value| value.is_finite()).collect();
        Some(Self { name: &parts[part], part: Some(part), above: Some(middle(&mut values)) })
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
    let lower = name.to_lowercase();
    let words = || lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let any = |starts: &[&str]| words().any(|word| starts.iter().any(|start| word.starts_with(start)));
    (any(&RIGHT) && !any(&OTHER)).then(|| words().count())
}

/// The middle of a part's range, whatever its scale: of two values the higher one is right. A part that
/// is the same everywhere is right where it is above 0.
fn middle(values: &mut [f32]) -> f64 {
    let [low, high] = ENDS.map(|end| select_quantile(values, end).unwrap_or(0.0));
    if low < high {
        return f64::midpoint(low, high);
    }
    let (low, high) = values
        .iter()
        .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)));
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
        assert_eq!(best(&["accuracy_reward", "accuracy"]).as_deref(), Some("accuracy"));
    }
}
