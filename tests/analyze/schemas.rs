//! The published schemas are those of the structs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::schema_support;
use serde_json::{Value, json};
use stapo_analyze::analyze::Gate;
use stapo_analyze::schemas;

/// Set to write the schemas instead of comparing them.
const UPDATE: &str = "UPDATE_SCHEMAS";

#[test]
fn published_schemas_are_those_of_the_structs() {
    for (name, schema) in schemas::all() {
        let made = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        let path = schema_support::file(name);
        if std::env::var_os(UPDATE).is_some() {
            std::fs::write(&path, made).unwrap();
            continue;
        }
        let published = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            made == published,
            "schema/{name}.schema.json is stale: run `{UPDATE}=1 cargo test --release --test analyze schemas`"
        );
    }
}

#[test]
#[should_panic(expected = "schema_version")]
fn a_wrong_type_is_refused() {
    schema_support::validate(&json!({"schema_version": "1"}), "summary");
}

#[test]
#[should_panic(expected = "\"methods_differ\" is a required property")]
fn a_missing_field_is_refused() {
    schema_support::validate(&json!({"schema_version": 1}), "compare");
}

/// Which nulls are an answer is said in the schema and known to `--fail-on` alike.
#[test]
fn gates_know_the_nulls_that_mean_nothing() {
    let mut found = Vec::new();
    for (_, schema) in schemas::all() {
        let definitions = schema["$defs"].as_object().into_iter().flat_map(|all| all.values());
        for definition in definitions.chain([&schema]) {
            for (name, field) in definition["properties"].as_object().into_iter().flatten() {
                let types: Vec<&Value> = field["type"].as_array().into_iter().flatten().collect();
                let number = types.iter().any(|t| **t == "number" || **t == "integer");
                let said = field["description"].as_str().is_some_and(|text| text.contains("null where"));
                if number && types.iter().any(|t| **t == "null") {
                    assert_eq!(said, Gate::NULL_IS_NOTHING.contains(&name.as_str()), "{name}: {field}");
                    found.extend(said.then(|| name.clone()));
                }
            }
        }
    }
    assert!(Gate::NULL_IS_NOTHING.iter().all(|name| found.iter().any(|f| f == name)), "{found:?}");
}
