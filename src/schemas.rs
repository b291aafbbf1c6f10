//! JSON Schemas of the results, made from the structs themselves.
//!
//! The files in `schema/` are these texts; `tests/analyze/schemas.rs` fails when they are not. Objects are
//! left open: a later version may add fields, and only a changed meaning raises the version.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::analyze::CurveAnalysis;
use stapo_compare::Comparison;
use stapo_result::replay::ReplayResult;
use stapo_result::{PartialAnalysis, RunAnalysis};

/// Name and schema of every JSON file that the program writes a schema for, as
/// (`summary`, schema of `summary.json`); `summary_partial` is that of a run without entropy,
/// `summary_curves` that of training curves alone.
#[must_use]
pub fn all() -> Vec<(&'static str, Value)> {
    vec![
        ("summary", schema::<RunAnalysis>("summary")),
        ("summary_partial", schema::<PartialAnalysis>("summary")),
        ("summary_curves", schema::<CurveAnalysis>("summary")),
        ("compare", schema::<Comparison>("compare")),
        ("replay", schema::<ReplayResult>("replay")),
    ]
}

fn schema<T: JsonSchema>(name: &str) -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with_transform(RecursiveTransform(plain_description));
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("title".into(), format!("{name}.json of stapo-analyze").into());
    schema.to_value()
}

/// Takes the marks of links out of doc comments: they lead nowhere outside of the code.
fn plain_description(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace("[`", "`").replace("`]", "`");
    }
}
