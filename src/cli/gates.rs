//! `--fail-on`: conditions are read, and what they are about is looked up, before anything is analysed.

use serde_json::Value;

use super::typos::nearest;
use crate::schemas;
use stapo_base::error::{Error, Result};
use stapo_compare::result::CompareCode;
use stapo_result::WarningCode;
use stapo_result::gate::Gate;

/// Conditions on `summary.json`, with entropies or without.
pub fn of_summary(conditions: &[String]) -> Result<Vec<Gate>> {
    let codes: Vec<&str> = WarningCode::ALL.iter().map(|code| code.name()).collect();
    checked(conditions, &["summary", "summary_partial", "summary_curves"], "summary.json", &codes)
}

/// Conditions on `compare.json`.
pub fn of_comparison(conditions: &[String]) -> Result<Vec<Gate>> {
    let codes: Vec<&str> = CompareCode::ALL.iter().map(|code| code.name()).collect();
    let gates = checked(conditions, &["compare"], "compare.json", &codes)?;
    match gates.iter().find(|gate| gate.state().is_some()) {
        Some(gate) => Err(Error::Usage {
            message: format!("--fail-on {}: compare.json has no state, each run has its own", gate.text()),
            hint: "\"warnings.run_in_trouble>0\" holds where a run is damaged or collapsed".into(),
        }),
        None => Ok(gates),
    }
}

fn checked(conditions: &[String], names: &[&str], file: &str, codes: &[&str]) -> Result<Vec<Gate>> {
    if conditions.is_empty() {
        return Ok(Vec::new());
    }
    let all = schemas::all();
    let schemas: Vec<Fields<'_>> =
        all.iter().filter(|(name, _)| names.contains(name)).map(|(_, schema)| Fields(schema)).collect();
    let gate = |text: &String| {
        let gate = Gate::parse(text)?;
        match gate.code() {
            Some(code) => require_code(&gate, code, codes)?,
            None if gate.state().is_some() => {}
            None => require_field(&gate, &schemas, file)?,
        }
        Ok(gate)
    };
    conditions.iter().map(gate).collect()
}

/// A code that is none would never fail.
fn require_code(gate: &Gate, code: &str, codes: &[&str]) -> Result<()> {
    gate.require_code_of(codes).map_err(|error| match (nearest(code, codes.iter().copied()), error) {
        (Some(near), Error::Usage { message, .. }) => {
            Error::Usage { message, hint: format!("is `warnings.{near}` meant?") }
        }
        (_, error) => error,
    })
}

fn require_field(gate: &Gate, schemas: &[Fields<'_>], file: &str) -> Result<()> {
    if schemas.iter().any(|fields| fields.has_number(fields.0, gate.path())) {
        return Ok(());
    }
    let wanted = gate.path().join(".");
    let mut known = Vec::new();
    schemas.iter().for_each(|fields| fields.list(fields.0, "", &mut known));
    Err(Error::Usage {
        message: format!("--fail-on {}: {file} has no field `{wanted}` that is a number", gate.text()),
        hint: match nearest(&wanted, known.iter().map(String::as_str)) {
            Some(near) => format!("is `{near}` meant?"),
            None => format!("look for its name in {file} (--format json)"),
        },
    })
}

/// The fields that a JSON schema tells of.
struct Fields<'a>(&'a Value);

impl<'a> Fields<'a> {
    /// What a node stands for: itself, what it refers to, and its alternatives.
    fn meanings(&self, node: &'a Value) -> Vec<&'a Value> {
        let mut all = vec![node];
        if let Some(place) = node["$ref"].as_str().and_then(|place| place.strip_prefix('#')) {
            all.extend(self.0.pointer(place).into_iter().flat_map(|node| self.meanings(node)));
        }
        for several in ["anyOf", "oneOf", "allOf"] {
            let nodes = node[several].as_array().into_iter().flatten();
            all.extend(nodes.flat_map(|node| self.meanings(node)));
        }
        all
    }

    /// Whether a path leads to a number. Names of fields may hold dots; items of lists are named by their
    /// place or their `name`, which may hold dots, too, and is not known beforehand.
    fn has_number(&self, node: &'a Value, path: &[String]) -> bool {
        self.meanings(node).into_iter().any(|node| {
            let Some((name, rest)) = path.split_first() else { return is_number(node) };
            let field = |words: usize| {
                let keyed =
                    node["patternProperties"].as_object().into_iter().flat_map(|keyed| keyed.values());
                let named = &node["properties"][path[..words].join(".")];
                let mut inner = [named, &node["additionalProperties"]].into_iter().chain(keyed);
                inner.any(|node| node.is_object() && self.has_number(node, &path[words..]))
            };
            let items =
                || [&node["items"]].into_iter().chain(node["prefixItems"].as_array().into_iter().flatten());
            let by_name = name.parse::<i64>().is_err();
            (1..=path.len()).any(field)
                || items().filter(|node| node.is_object()).any(|node| match by_name {
                    false => self.has_number(node, rest),
                    true => {
                        self.has_name(node)
                            && (1..path.len()).any(|words| self.has_number(node, &path[words..]))
                    }
                })
        })
    }

    fn has_name(&self, node: &'a Value) -> bool {
        self.meanings(node).iter().any(|node| node["properties"]["name"].is_object())
    }

    /// The paths of all numbers that are not in lists or tables.
    fn list(&self, node: &'a Value, before: &str, paths: &mut Vec<String>) {
        for node in self.meanings(node) {
            for (name, field) in node["properties"].as_object().into_iter().flatten() {
                let path = if before.is_empty() { name.clone() } else { format!("{before}.{name}") };
                if self.meanings(field).into_iter().any(is_number) {
                    paths.push(path.clone());
                }
                self.list(field, &path, paths);
            }
        }
    }
}

fn is_number(node: &Value) -> bool {
    let is = |kind: &Value| matches!(kind.as_str(), Some("number" | "integer" | "boolean"));
    match &node["type"] {
        Value::Array(kinds) => kinds.iter().any(is),
        kind => is(kind),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Names with comparisons cannot be written down, nor those that begin or end with a dot.
    fn is_plain(name: &str) -> bool {
        let known = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.');
        name.split('.').all(|word| !word.is_empty()) && name.chars().all(known)
    }

    /// The paths of all numbers of a result, as a user would write them.
    fn numbers(value: &Value, before: &str, found: &mut Vec<String>) {
        let inner = |name: &str| if before.is_empty() { name.to_owned() } else { format!("{before}.{name}") };
        match value {
            Value::Number(_) | Value::Bool(_) => found.push(before.to_owned()),
            Value::Object(fields) => {
                let plain = fields.iter().filter(|(name, _)| is_plain(name));
                plain.for_each(|(name, field)| numbers(field, &inner(name), found));
            }
            Value::Array(items) => {
                for (place, item) in items.iter().enumerate().take(3) {
                    numbers(item, &inner(&place.to_string()), found);
                    if let Some(name) = item["name"].as_str().filter(|name| is_plain(name)) {
                        numbers(item, &inner(name), found);
                    }
                }
            }
            _ => {}
        }
    }

    fn refusal(conditions: &str, of: fn(&[String]) -> Result<Vec<Gate>>) -> String {
        let error = of(&[conditions.to_owned()]).unwrap_err();
        format!("{error}; {}", error.hint().unwrap())
    }

    #[test]
    fn every_number_of_a_summary_can_be_asked_for() {
        let log = concat!(env!("CARGO_MANIFEST_DIR"), "/notebooks-data/ward/healthy.parquet");
        let run = stapo_ingest::Run::open(&[log.into()], &Default::default()).unwrap();
        let found =
            crate::analyze::analyze(&run, &Default::default(), &stapo_batch::progress::Silent).unwrap();
        let mut paths = Vec::new();
        numbers(&found.to_value().unwrap(), "", &mut paths);
        assert!(paths.len() > 500);
        let conditions: Vec<String> = paths.iter().map(|path| format!("{path}>1")).collect();
        assert!(paths.iter().any(|path| path.ends_with("quantiles.0.5")));
        for gate in of_summary(&conditions).unwrap() {
            assert!(gate.check(&found).is_ok(), "{}", gate.text());
        }
    }

    #[test]
    fn what_is_misspelt_is_refused_with_the_nearest_name() {
        let summary = |condition| refusal(condition, of_summary);
        let said = summary("s2t.fracton>1e-4");
        assert!(
            said.contains("no field `s2t.fracton`") && said.contains("is `s2t.fraction` meant?"),
            "{said}"
        );
        assert!(summary("warnings.infeasable>0").contains("is `warnings.infeasible` meant?"));
        assert!(summary("warnings.nothing_like_it>0").contains("its code is one of"));
        // An object is no number: such a gate would never fail.
        assert!(summary("s2t>1").contains("that is a number"));
        assert!(summary("steps.-1.nothing>1").contains("no field `steps.-1.nothing`"));
        assert!(of_summary(&["steps.-1.mean_reward<0.1".into(), "warnings.infeasible>0".into()]).is_ok());
        assert!(refusal("metrics.entropy.ci_hgh<0", of_comparison).contains("no field"));
        assert!(refusal("warnings.infeasible>0", of_comparison).contains("no warning"));
        assert!(
            of_comparison(&["metrics.reward_end.ci_high<0".into(), "warnings.same_log>0".into()]).is_ok()
        );
    }
}
