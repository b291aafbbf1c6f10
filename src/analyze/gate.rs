//! Conditions on the summary that make the program fail: `s2t.fraction>3e-4`.

use serde_json::Value;

use super::result::RunAnalysis;
use crate::error::{Error, Result};

type Comparison = fn(f64, f64) -> bool;

const COMPARISONS: [(&str, Comparison); 6] = [
    (">=", |a, b| a >= b),
    ("<=", |a, b| a <= b),
    ("==", |a, b| a == b),
    ("!=", |a, b| a != b),
    (">", |a, b| a > b),
    ("<", |a, b| a < b),
];

/// A condition on a number of the summary; the gate fails where it holds.
#[derive(Clone, Debug)]
pub struct Gate {
    text: String,
    path: Vec<String>,
    holds: Comparison,
    bound: f64,
}

impl Gate {
    /// Reads `path>number`. A path names fields of the summary, with numbers for places in lists
    /// (from the end where negative); `warnings.CODE` is the number of such warnings.
    pub fn parse(text: &str) -> Result<Self> {
        let refuse = |message: &str| Error::Usage {
            message: format!("--fail-on {text}: {message}"),
            hint: "write a field of summary.json, a comparison and a number: \"s2t.fraction>3e-4\"".into(),
        };
        let found = COMPARISONS
            .iter()
            .filter_map(|(sign, holds)| Some((text.find(sign)?, *sign, *holds)))
            .min_by_key(|(at, sign, _)| (*at, std::cmp::Reverse(sign.len())));
        let (at, sign, holds) = found.ok_or_else(|| refuse("no comparison"))?;
        let bound = text[at + sign.len()..].trim().parse::<f64>().ok().filter(|b| !b.is_nan());
        let path: Vec<String> = text[..at].trim().split('.').map(str::to_owned).collect();
        if path.iter().any(String::is_empty) {
            return Err(refuse("no field"));
        }
        Ok(Self { text: text.into(), path, holds, bound: bound.ok_or_else(|| refuse("no number"))? })
    }

    /// What to say where the condition holds; `None` where it does not, or where the value is
    /// undefined in this run.
    pub fn check(&self, analysis: &RunAnalysis) -> Result<Option<String>> {
        let summary = analysis.to_value()?;
        let value = self.value(&summary).ok_or_else(|| Error::Usage {
            message: format!("--fail-on {}: summary.json has no field `{}`", self.text, self.path.join(".")),
            hint: "look for its name in summary.json (--format json)".into(),
        })?;
        let number = match value {
            Value::Bool(b) => Some(f64::from(u8::from(b))),
            other => other.as_f64(),
        };
        Ok(number
            .filter(|number| (self.holds)(*number, self.bound))
            .map(|number| format!("{}: {} is {number}", self.text, self.path.join("."))))
    }

    fn value(&self, summary: &Value) -> Option<Value> {
        if let [list, code] = &self.path[..]
            && list == "warnings"
            && code.parse::<i64>().is_err()
        {
            let is = |warning: &&Value| warning["code"] == code.as_str();
            return Some(Value::from(summary["warnings"].as_array()?.iter().filter(is).count()));
        }
        let found = self.path.iter().try_fold(summary, |value, name| match value {
            Value::Array(items) => {
                let at = name.parse::<i64>().ok()?;
                let at = if at < 0 { at + items.len() as i64 } else { at };
                items.get(usize::try_from(at).ok()?)
            }
            other => other.get(name),
        });
        found.cloned()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let gate = Gate::parse("s2t.fraction >= 3e-4").unwrap();
        assert_eq!((gate.path, gate.bound), (vec!["s2t".to_owned(), "fraction".into()], 3e-4));
        assert!((gate.holds)(3e-4, 3e-4) && !(gate.holds)(2e-4, 3e-4));
        for bad in ["", "s2t.fraction", ">3", "a..b>1", "a>b", "a>NaN"] {
            assert!(Gate::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn values_are_found() {
        let summary = serde_json::json!({
            "a": {"b": [1.0, {"c": 5}]},
            "warnings": [{"code": "x"}, {"code": "x"}, {"code": "y"}]
        });
        let value = |text: &str| Gate::parse(text).unwrap().value(&summary).and_then(|v| v.as_f64());
        assert_eq!(value("a.b.0>0"), Some(1.0));
        assert_eq!(value("a.b.-1.c>0"), Some(5.0));
        assert_eq!(value("warnings.x>0"), Some(2.0));
        assert_eq!(value("warnings.z>0"), Some(0.0));
        assert_eq!(value("a.z>0"), None);
    }
}
