//! The published schemas are those of the structs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod schema_support;

use serde_json::json;
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
            "schema/{name}.schema.json is stale: run `{UPDATE}=1 cargo test --release --test schemas`"
        );
    }
}

#[test]
#[should_panic(expected = "schema_version")]
fn a_wrong_type_is_refused() {
    schema_support::validate(&json!({"schema_version": "1"}), "summary");
}

#[test]
#[should_panic(expected = "\"verdict\" is a required property")]
fn a_missing_field_is_refused() {
    schema_support::validate(&json!({"schema_version": 1}), "compare");
}
