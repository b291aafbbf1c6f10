//! Conditions on the summary that make the program fail: `s2t.fraction>3e-4`.

use serde_json::Value;

use super::condition::Condition;
use super::result::{RunAnalysis, WarningCode};
use crate::error::{Error, Result};

/// A condition on a number of the summary; the gate fails where it holds.
///
/// ```
/// use stapo_analyze::analyze::Gate;
///
/// let gate = Gate::parse("s2t.fraction>1e-4")?;
/// let summary = serde_json::json!({"s2t": {"fraction": 3e-4}});
/// assert!(gate.check_value(&summary, "summary.json")?.is_some());
/// # Ok::<(), stapo_analyze::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Gate {
    condition: Condition,
    path: Vec<String>,
}

impl Gate {
    /// Reads `path>number`. A path names fields of the summary, with numbers for places in lists
    /// (from the end where negative); `warnings.CODE` is the number of such warnings.
    pub fn parse(text: &str) -> Result<Self> {
        let refuse = |message: &str| Error::Usage {
            message: format!("--fail-on {text}: {message}"),
            hint: "write a field of summary.json, a comparison and a number: \"s2t.fraction>3e-4\"".into(),
        };
        let condition = Condition::parse(text).map_err(refuse)?;
        let path: Vec<String> = condition.name.split('.').map(str::to_owned).collect();
        if path.iter().any(String::is_empty) {
            return Err(refuse("no field"));
        }
        Ok(Self { condition, path })
    }

    /// What to say where the condition holds; `None` where it does not, or where the value is
    /// undefined in this run.
    pub fn check(&self, analysis: &RunAnalysis) -> Result<Option<String>> {
        let codes: Vec<&str> = WarningCode::ALL.iter().map(|code| code.name()).collect();
        self.require_code_of(&codes)?;
        self.check_value(&analysis.to_value()?, "summary.json")
    }

    /// The same for the content of any of the program's JSON files.
    pub fn check_value(&self, summary: &Value, file: &str) -> Result<Option<String>> {
        let values = self.values(summary);
        if values.is_empty() {
            return Err(Error::Usage {
                message: format!(
                    "--fail-on {}: {file} has no field `{}`",
                    self.condition.text,
                    self.path.join(".")
                ),
                hint: format!("look for its name in {file} (--format json)"),
            });
        }
        let number = |value: &Value| match value {
            Value::Bool(b) => Some(f64::from(u8::from(*b))),
            other => other.as_f64(),
        };
        let failing = values.iter().filter_map(number).find(|number| self.condition.holds(*number));
        Ok(failing.map(|number| format!("{}: {} is {number}", self.condition.text, self.path.join("."))))
    }

    /// The condition as written.
    pub fn text(&self) -> &str {
        &self.condition.text
    }

    /// The names that lead to the field, from the outermost on.
    pub fn path(&self) -> &[String] {
        &self.path
    }

    /// Refuses a code of a warning that is none of these: it would never fail.
    pub fn require_code_of(&self, codes: &[&str]) -> Result<()> {
        match self.code() {
            Some(code) if !codes.contains(&code) => Err(Error::Usage {
                message: format!("--fail-on {}: there is no warning `{code}`", self.condition.text),
                hint: format!("its code is one of {}", codes.join(", ")),
            }),
            _ => Ok(()),
        }
    }

    /// The code of the warnings that are to be counted, where it is about these.
    pub fn code(&self) -> Option<&str> {
        match &self.path[..] {
            [list, code] if list == "warnings" && code.parse::<i64>().is_err() => Some(code),
            _ => None,
        }
    }

    /// All values that the path leads to.
    fn values(&self, summary: &Value) -> Vec<Value> {
        if let Some(code) = self.code()
            && let Some(warnings) = summary["warnings"].as_array()
        {
            return vec![Value::from(warnings.iter().filter(|w| w["code"] == code).count())];
        }
        let mut found = Vec::new();
        follow(summary, &self.path, &mut found);
        found
    }
}

/// Items of lists are found by their place, or by their `name`, which may hold dots and may be that
/// of several.
fn follow(value: &Value, path: &[String], found: &mut Vec<Value>) {
    let Some((name, rest)) = path.split_first() else {
        found.push(value.clone());
        return;
    };
    let Value::Array(items) = value else {
        value.get(name).into_iter().for_each(|field| follow(field, rest, found));
        return;
    };
    if let Ok(at) = name.parse::<i64>() {
        let at = if at < 0 { at + items.len() as i64 } else { at };
        let item = usize::try_from(at).ok().and_then(|at| items.get(at));
        item.into_iter().for_each(|item| follow(item, rest, found));
        return;
    }
    for words in 1..=path.len() {
        let name = path[..words].join(".");
        let named = items.iter().filter(|item| item["name"] == name.as_str());
        named.for_each(|item| follow(item, &path[words..], found));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let gate = Gate::parse("s2t.fraction >= 3e-4").unwrap();
        assert_eq!(gate.path, vec!["s2t".to_owned(), "fraction".into()]);
        assert!(gate.condition.holds(3e-4) && !gate.condition.holds(2e-4));
        for bad in ["", "s2t.fraction", ">3", "a..b>1", "a>b", "a>NaN"] {
            assert!(Gate::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn values_are_found() {
        let summary = serde_json::json!({
            "a": {"b": [1.0, {"c": 5}]},
            "metrics": [{"name": "h", "d": 1}, {"name": "c.h", "d": 2}, {"name": "h", "d": 3}],
            "warnings": [{"code": "x"}, {"code": "x"}, {"code": "y"}]
        });
        let value = |text: &str| Gate::parse(text).unwrap().values(&summary).first().and_then(Value::as_f64);
        assert_eq!(value("a.b.0>0"), Some(1.0));
        assert_eq!(value("a.b.-1.c>0"), Some(5.0));
        assert_eq!(value("warnings.x>0"), Some(2.0));
        assert_eq!(value("warnings.z>0"), Some(0.0));
        assert_eq!(value("a.z>0"), None);
        let misspelt = Gate::parse("warnings.infeasable>0").unwrap().require_code_of(&["infeasible"]);
        assert!(misspelt.unwrap_err().to_string().contains("there is no warning `infeasable`"));
        for fine in ["warnings.infeasible>0", "warnings.0.count>1", "a.b>0"] {
            assert!(Gate::parse(fine).unwrap().require_code_of(&["infeasible"]).is_ok(), "{fine}");
        }
        assert_eq!(value("metrics.c.h.d>0"), Some(2.0));
        let gate = Gate::parse("metrics.h.d>2").unwrap();
        assert!(gate.check_value(&summary, "x.json").unwrap().unwrap().ends_with("is 3"));
        assert!(Gate::parse("metrics.z.d>2").unwrap().check_value(&summary, "x.json").is_err());
    }
}
