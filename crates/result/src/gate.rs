//! Conditions on the summary that make the program fail: `s2t.fraction>3e-4`, or a state: `damaged`.

mod place;

use serde_json::Value;

use crate::{RunAnalysis, RunState, WarningCode};
use stapo_base::condition::Condition;
use stapo_base::error::{Error, Result};

/// A condition on a number of the summary, or on the state of the run; the gate fails where it holds.
///
/// ```
/// use stapo_result::gate::Gate;
///
/// let gate = Gate::parse("s2t.fraction>1e-4")?;
/// let summary = serde_json::json!({"s2t": {"fraction": 3e-4}, "diagnosis": {"state": "collapsed"}});
/// assert!(gate.check_value(&summary, "summary.json")?.is_some());
/// assert!(Gate::parse("damaged")?.check_value(&summary, "summary.json")?.is_some());
/// # Ok::<(), stapo_base::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Gate(Criterion);

#[derive(Clone, Debug)]
enum Criterion {
    /// A state of the run, or a worse one.
    State(RunState),
    /// A number, and the names that lead to it.
    Number(Condition, Vec<String>),
}

/// What a gate says of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The condition does not hold.
    Passed,
    /// It holds; in words.
    Failed(String),
    /// It cannot be judged: the value is undefined or not finite; in words.
    Undefined(String),
    /// The result has no such place, which another run, or more of this one, may have: what is missing, in
    /// words.
    Missing(String),
}

impl Judged {
    /// What to say where a gate is not passed: what cannot be judged is not. A place that is not there is an
    /// error.
    fn failure(self, file: &str) -> Result<Option<String>> {
        match self {
            Self::Passed => Ok(None),
            Self::Failed(said) | Self::Undefined(said) => Ok(Some(said)),
            Self::Missing(said) => Err(Error::Usage {
                message: format!("--fail-on {said}"),
                hint: format!("ask for what this run has: look into {file} (--format json)"),
            }),
        }
    }
}

/// What conditions on an analysis are about.
const SUMMARY: &str = "summary.json";

/// Takes the rows of a step out of all lists of steps.
fn forget_step(value: &mut Value, step: i64) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| forget_step(item, step)),
        Value::Object(fields) => {
            for (name, field) in fields {
                if let ("steps", Value::Array(rows)) = (name.as_str(), &mut *field) {
                    rows.retain(|row| row["step"] != step);
                }
                forget_step(field, step);
            }
        }
        _ => {}
    }
}

fn judge_state(asked: RunState, summary: &Value, file: &str) -> Judged {
    let name = asked.name();
    match summary["diagnosis"]["state"].as_str().and_then(RunState::named) {
        None => Judged::Missing(format!("{name}: {file} has no state of a run")),
        Some(state) if state.is_or_worse(asked) => {
            Judged::Failed(format!("{name}: diagnosis.state is {}", state.name()))
        }
        Some(_) => Judged::Passed,
    }
}

impl Gate {
    /// Fields that are null where there is nothing of the kind, which is an answer: no step went wrong, nothing
    /// collapsed. A condition on such a null does not hold. All other nulls are values that are missing or not
    /// finite, and cannot be judged. The schemas' descriptions of these fields say "null where …".
    pub const NULL_IS_NOTHING: &[&str] = &["first_bad_step", "from_step"];

    /// Reads `path>number`, or the name of a [`RunState`]. A path names fields of the summary, with numbers for
    /// places in lists (from the end where negative); `warnings.CODE` is the number of such warnings.
    pub fn parse(text: &str) -> Result<Self> {
        if let Some(state) = RunState::named(text.trim()) {
            return Ok(Self(Criterion::State(state)));
        }
        let refuse = |message: &str| Error::Usage {
            message: format!("--fail-on {text}: {message}"),
            hint: format!(
                "write a field of summary.json, a comparison and a number: \"s2t.fraction>3e-4\"; or a state of the \
                 run: {}",
                RunState::ALL.iter().map(|state| state.name()).collect::<Vec<_>>().join(", ")
            ),
        };
        let condition = Condition::parse(text).map_err(refuse)?;
        let path: Vec<String> = condition.name.split('.').map(str::to_owned).collect();
        if path.iter().any(String::is_empty) {
            return Err(refuse("no field"));
        }
        Ok(Self(Criterion::Number(condition, path)))
    }

    /// What to say where the condition holds or cannot be judged, since the value is undefined in this run
    /// or not finite; `None` where it does not hold.
    pub fn check(&self, analysis: &RunAnalysis) -> Result<Option<String>> {
        self.judge(analysis)?.failure(SUMMARY)
    }

    /// The same for the content of any of the program's JSON files.
    pub fn check_value(&self, summary: &Value, file: &str) -> Result<Option<String>> {
        self.judge_value(summary, file)?.failure(file)
    }

    /// Judges an analysis.
    pub fn judge(&self, analysis: &RunAnalysis) -> Result<Judged> {
        self.require_known_code()?;
        self.judge_value(&analysis.to_value()?, SUMMARY)
    }

    /// Judges an analysis whose newest step is still being written: rows of that step do not count, and what
    /// only they have is not judged yet.
    pub fn judge_before(&self, analysis: &RunAnalysis, newest: i64) -> Result<Judged> {
        self.require_known_code()?;
        let mut summary = analysis.to_value()?;
        let is_there = !self.values(&summary).is_empty();
        forget_step(&mut summary, newest);
        match self.judge_value(&summary, SUMMARY)? {
            Judged::Missing(_) if is_there => Ok(Judged::Passed),
            judged => Ok(judged),
        }
    }

    fn require_known_code(&self) -> Result<()> {
        let codes: Vec<&str> = WarningCode::ALL.iter().map(|code| code.name()).collect();
        self.require_code_of(&codes)
    }

    fn judge_value(&self, summary: &Value, file: &str) -> Result<Judged> {
        let (condition, names) = match &self.0 {
            Criterion::State(state) => return Ok(judge_state(*state, summary, file)),
            Criterion::Number(condition, names) => (condition, names),
        };
        let values = self.values(summary);
        if values.is_empty() {
            let missing = place::missing(summary, names, file);
            return Ok(Judged::Missing(format!("{}: {missing}", self.text())));
        }
        let (text, path) = (self.text(), names.join("."));
        let mut judged = Judged::Passed;
        for value in values {
            let number = match value {
                Value::Bool(b) => f64::from(u8::from(b)),
                Value::Null if names.last().is_some_and(|f| Self::NULL_IS_NOTHING.contains(&f.as_str())) => {
                    continue;
                }
                Value::Null => {
                    judged = Judged::Undefined(format!(
                        "{text}: {path} has no value here, or none that is finite, so this cannot be judged"
                    ));
                    continue;
                }
                other => other.as_f64().ok_or_else(|| Error::Usage {
                    message: format!("--fail-on {text}: `{path}` of {file} is not a number"),
                    hint: format!("name a number inside of it: look into {file} (--format json)"),
                })?,
            };
            if condition.holds(number) {
                return Ok(Judged::Failed(format!("{text}: {path} is {number}")));
            }
        }
        Ok(judged)
    }

    /// The condition as written.
    pub fn text(&self) -> &str {
        match &self.0 {
            Criterion::State(state) => state.name(),
            Criterion::Number(condition, _) => &condition.text,
        }
    }

    /// The names that lead to the field, from the outermost on; none where it is about a state.
    pub fn path(&self) -> &[String] {
        match &self.0 {
            Criterion::State(_) => &[],
            Criterion::Number(_, names) => names,
        }
    }

    /// The state that it is about, where it is about one.
    pub fn state(&self) -> Option<RunState> {
        match self.0 {
            Criterion::State(state) => Some(state),
            Criterion::Number(..) => None,
        }
    }

    /// Refuses a code of a warning that is none of these: it would never fail.
    pub fn require_code_of(&self, codes: &[&str]) -> Result<()> {
        match self.code() {
            Some(code) if !codes.contains(&code) => Err(Error::Usage {
                message: format!("--fail-on {}: there is no warning `{code}`", self.text()),
                hint: format!("its code is one of {}", codes.join(", ")),
            }),
            _ => Ok(()),
        }
    }

    /// The code of the warnings that are to be counted, where it is about these.
    pub fn code(&self) -> Option<&str> {
        match self.path() {
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
        place::values(summary, self.path())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let gate = Gate::parse("s2t.fraction >= 3e-4").unwrap();
        assert_eq!(gate.path(), ["s2t", "fraction"]);
        let fails = |fraction: f64| {
            gate.check_value(&serde_json::json!({"s2t": {"fraction": fraction}}), "x.json").unwrap().is_some()
        };
        assert!(fails(3e-4) && !fails(2e-4));
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

    #[test]
    fn what_cannot_be_judged_is_not_passed() {
        let summary = serde_json::json!({
            "k3": f64::INFINITY,
            "state": "healthy",
            "rows": [{"name": "h", "p": null}, {"name": "h", "p": 0.2}]
        });
        let check = |text: &str| Gate::parse(text).unwrap().check_value(&summary, "x.json");
        for text in ["k3>10", "k3<10", "rows.h.p<0.05"] {
            assert!(check(text).unwrap().unwrap().contains("cannot be judged"), "{text}");
        }
        assert!(check("rows.h.p<0.3").unwrap().unwrap().ends_with("is 0.2"));
        assert!(check("state>1").unwrap_err().to_string().contains("is not a number"));
        assert!(check("rows>1").is_err());
    }

    /// Every state is read by its name in the JSON. Who asks for damage asks for a collapse, too.
    #[test]
    fn states_are_asked_for_by_name() {
        let failing = |asked: &str| -> Vec<&str> {
            let gate = Gate::parse(asked).unwrap();
            let fails = |state: &&RunState| {
                let summary = serde_json::json!({"diagnosis": {"state": state}});
                gate.check_value(&summary, "x.json").unwrap().is_some()
            };
            RunState::ALL.iter().filter(fails).map(|state| state.name()).collect()
        };
        let all = ["not_finite", "collapsed", "damaged", "not_learning", "suspicious"];
        assert_eq!(failing("suspicious"), all);
        assert_eq!(failing(" damaged "), all[..3]);
        for itself in ["healthy", "not_finite", "undecided", "unknown"] {
            assert_eq!(failing(itself), [itself]);
        }
        let schema = serde_json::to_string(&schemars::schema_for!(RunState)).unwrap();
        assert_eq!(schema.matches("\"const\"").count(), RunState::ALL.len(), "{schema}");
        let misspelt = Gate::parse("damged").unwrap_err();
        assert!(
            misspelt
                .hint()
                .unwrap()
                .contains("not_finite, collapsed, damaged, not_learning, suspicious, healthy"),
            "{misspelt}"
        );
        let of_none = Gate::parse("damaged").unwrap().check_value(&serde_json::json!({}), "x.json");
        assert!(of_none.unwrap_err().to_string().contains("x.json has no state of a run"));
    }

    #[test]
    fn nothing_of_the_kind_is_passed() {
        let summary = serde_json::json!({
            "verdict": {"first_bad_step": null, "energy_share": null},
            "causes": [{"name": "a", "from_step": null}, {"name": "a", "from_step": 7}]
        });
        let check = |text: &str| Gate::parse(text).unwrap().check_value(&summary, "x.json").unwrap();
        assert_eq!(check("verdict.first_bad_step>=0"), None);
        assert!(check("verdict.energy_share>0.5").unwrap().contains("cannot be judged"));
        assert_eq!(check("causes.0.from_step<5"), None);
        assert!(check("causes.a.from_step>5").unwrap().ends_with("is 7"));
    }

    #[test]
    fn rows_of_a_step_are_left_out_everywhere() {
        let mut summary = serde_json::json!({
            "steps": [{"step": 1, "k3": 0.1}, {"step": 2, "k3": 9.0}],
            "offpolicy": {"steps": [{"step": 2}], "run": {"step": 2}}
        });
        forget_step(&mut summary, 2);
        let left = serde_json::json!({
            "steps": [{"step": 1, "k3": 0.1}],
            "offpolicy": {"steps": [], "run": {"step": 2}}
        });
        assert_eq!(summary, left);
    }
}
