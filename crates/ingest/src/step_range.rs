//! A part of a run: the responses of some steps.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Steps to read, both ends included: `10..40`, `10..`, `..40` or `10`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRange {
    /// The first step that is read.
    pub first: i64,
    /// The last step that is read.
    pub last: i64,
}

impl StepRange {
    /// Whether `step` is one of them.
    #[must_use]
    pub fn contains(self, step: i64) -> bool {
        (self.first..=self.last).contains(&step)
    }

    /// What a report says of a run that was read in part.
    #[must_use]
    pub fn note(self) -> String {
        format!("{self} only (--steps)")
    }
}

impl FromStr for StepRange {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let bad = || "not steps such as 10..40, 10.., ..40 or 10".to_owned();
        let number = |part: &str, open: i64| match part.trim() {
            "" => Ok(open),
            digits => digits.parse::<i64>().map_err(|_| bad()),
        };
        let (first, last) = match text.split_once("..") {
            Some((first, last)) => {
                (number(first, i64::MIN)?, number(last.trim_start_matches('='), i64::MAX)?)
            }
            None => text.trim().parse::<i64>().map(|step| (step, step)).map_err(|_| bad())?,
        };
        if first > last {
            return Err("the first step comes after the last".into());
        }
        Ok(Self { first, last })
    }
}

impl fmt::Display for StepRange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.first, self.last) {
            (i64::MIN, i64::MAX) => write!(out, "all steps"),
            (i64::MIN, last) => write!(out, "steps up to {last}"),
            (first, i64::MAX) => write!(out, "steps from {first} on"),
            (first, last) if first == last => write!(out, "step {first}"),
            (first, last) => write!(out, "steps {first} to {last}"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_both_ends() {
        let range = |text: &str| text.parse::<StepRange>();
        assert_eq!(range("10..40").unwrap(), StepRange { first: 10, last: 40 });
        assert_eq!(range("10..=40").unwrap(), StepRange { first: 10, last: 40 });
        assert_eq!(range("..40").unwrap(), StepRange { first: i64::MIN, last: 40 });
        assert_eq!(range("10..").unwrap(), StepRange { first: 10, last: i64::MAX });
        assert_eq!(range("7").unwrap(), StepRange { first: 7, last: 7 });
        assert_eq!(range("40..10").unwrap_err(), "the first step comes after the last");
        for bad in ["", "a..b", "1.5", "1,2", "10-40"] {
            assert!(range(bad).unwrap_err().starts_with("not steps"), "{bad}");
        }
    }
}
