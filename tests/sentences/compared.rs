//! What a comparison says of each metric of each run, as parts of sentences: made of the rows themselves, since every
//! row has a name of its own.

use serde_json::Value;

use super::fields::{Part, unsigned};

/// The parts for all rows of a comparison, the longest first.
pub fn rows(json: &Value) -> Vec<Part> {
    let Some(base) = json.pointer("/arms/0/name").and_then(Value::as_str) else { return Vec::new() };
    let rows = json["metrics"].as_array().into_iter().flatten().enumerate();
    let mut parts: Vec<Part> = rows.flat_map(|(place, row)| of_row(place, row, base)).collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.text.len()));
    parts
}

fn of_row(place: usize, row: &Value, base: &str) -> Vec<Part> {
    let [run, label, drawn] = ["run", "label", "test_unit"].map(|field| row[field].as_str().unwrap());
    let field = |name: &str| format!("u/metrics/{place}/{name}");
    let p = format!("p/metrics/{place}/p_adjusted");
    // The numbers of the name itself, then those that are told.
    let part = |text: String, fields: &[String]| {
        let (text, own) = unsigned(&text);
        let own = own.iter().map(|number| format!("={}", number.replace(',', "")));
        let told = text.matches('#').count() - fields.len();
        Part::new(text, own.take(told).chain(fields.iter().cloned()).collect())
    };
    let interval = [field("ci_low"), field("ci_high")];
    let with_p = [vec![p.clone()], interval.to_vec()].concat();
    let (unit, apart, of) = match row["unit"].as_str() {
        Some("share") => (" %", " points", "share of "),
        Some("nats") => (" nats", " nats", ""),
        _ => ("", "", ""),
    };
    let mut parts = vec![
        part(format!("{label} (# to #"), &interval),
        part(format!("{label}, {run} against {base} #"), &[field("difference")]),
    ];
    for sign in ["=", "<"] {
        let text = format!("{label} (the {drawn} differ, p {sign} # after correction; # to #");
        parts.push(part(text, &with_p));
        for way in ["higher", "lower"] {
            let text = format!(
                "{run} has a {way} {of}{label} than {base}: #{unit} against #{unit} (#{apart}; # % interval # to #; p {sign} # after correction)"
            );
            let confidence = "%/settings/confidence".to_owned();
            let first = [field("other"), field("baseline"), field("difference"), confidence];
            parts.push(part(text, &[&first[..], &interval, std::slice::from_ref(&p)].concat()));
        }
    }
    parts
}
