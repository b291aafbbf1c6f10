//! Checks JSON against the published schemas.
#![allow(clippy::unwrap_used, clippy::panic)]

use serde_json::Value;

/// Checks `value` against the part of JSON Schema that the published schema uses.
pub fn validate(value: &Value, schema: &Value, root: &Value, place: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.strip_prefix("#/$defs/").unwrap();
        assert!(root["$defs"].get(name).is_some(), "{place}: {reference}");
        return validate(value, &root["$defs"][name], root, place);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let is_null = |schema: &&Value| (schema["type"] == "null") == value.is_null();
        return validate(value, choices.iter().find(is_null).unwrap(), root, place);
    }
    if let Some(choices) = schema["enum"].as_array() {
        assert!(choices.contains(value), "{place}: {value} is none of {choices:?}");
        return;
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.is_u64() || n.is_i64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let allowed = match &schema["type"] {
        Value::Array(kinds) => kinds.clone(),
        one => vec![one.clone()],
    };
    let fits = |name: &Value| *name == kind || (kind == "integer" && *name == "number");
    assert!(allowed.iter().any(fits), "{place}: {kind} is none of {allowed:?}");
    if let (Some(least), Some(number)) = (schema["minimum"].as_f64(), value.as_f64()) {
        assert!(number >= least, "{place}: {number}");
    }
    match value {
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                validate(item, &schema["items"], root, &format!("{place}[{i}]"));
            }
            let length = items.len() as u64;
            assert!(schema["minItems"].as_u64().is_none_or(|least| length >= least), "{place}");
            assert!(schema["maxItems"].as_u64().is_none_or(|most| length <= most), "{place}");
        }
        Value::Object(fields) => {
            for required in schema["required"].as_array().into_iter().flatten() {
                assert!(fields.contains_key(required.as_str().unwrap()), "{place}: no {required}");
            }
            for (name, field) in fields {
                let known = schema["properties"].get(name).or_else(|| {
                    schema["additionalProperties"].as_object().map(|_| &schema["additionalProperties"])
                });
                let known = known.unwrap_or_else(|| panic!("{place}.{name} is not in the schema"));
                validate(field, known, root, &format!("{place}.{name}"));
            }
        }
        _ => {}
    }
}
