//! A log without entropy: what can be told is what the same log with its entropies tells, to the bit;
//! what cannot is absent.

use serde_json::Value;
use stapo_analyze::analyze::{AnalyzeSettings, PartialAnalysis, analyze_without_entropy};
use stapo_analyze::ingest::{IngestSettings, Run, Silent, UserMap};

use super::analyzed;
use super::support::sample;

/// Places that differ on purpose; the rest of the path follows.
const DIFFERENT: &[&str] = &[
    "/partial",
    "/verdict",
    "/diagnosis",
    "/warnings",
    "/quality",
    "/not_answered",
    "/provenance/statements",
    "/provenance/mapping",
];

fn partial(name: &str, settings: &AnalyzeSettings) -> PartialAnalysis {
    let map = UserMap::parse(&["entropy=".to_owned()]).unwrap();
    let run = Run::open(&[sample(name)], &IngestSettings { map, ..IngestSettings::default() }).unwrap();
    analyze_without_entropy(&run, settings, None, &Silent).unwrap()
}

/// Notes where `part` says something else than `whole`; null and an empty list say nothing.
fn differences(part: &Value, whole: &Value, path: &str, found: &mut Vec<String>, equal: &mut usize) {
    if DIFFERENT.contains(&path) || part.is_null() || part.as_array().is_some_and(Vec::is_empty) {
        return;
    }
    match (part, whole) {
        (Value::Object(a), Value::Object(b)) => {
            for (name, value) in a {
                let other = b.get(name).unwrap_or(&Value::Null);
                differences(value, other, &format!("{path}/{name}"), found, equal);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (value, other)) in a.iter().zip(b).enumerate() {
                differences(value, other, &format!("{path}/{at}"), found, equal);
            }
        }
        (a, b) if a == b => *equal += 1,
        (a, b) => found.push(format!("{path}: {a} instead of {b}")),
    }
}

/// The same, but for the order in which the responses of a group were added up.
fn is_alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len()
                && x.iter().all(|(name, of)| y.get(name).is_some_and(|other| is_alike(of, other)))
        }
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(of, other)| is_alike(of, other))
        }
        (Value::Number(x), Value::Number(y)) => {
            let (x, y) = (x.as_f64().unwrap(), y.as_f64().unwrap());
            (x - y).abs() <= 1e-12 * x.abs()
        }
        _ => a == b,
    }
}

fn codes(of: &Value, list: &str, field: &str) -> Vec<String> {
    let items = of.pointer(list).and_then(Value::as_array).unwrap();
    items.iter().map(|item| item[field].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_needs_no_entropy_is_that_of_the_whole_log() {
    for (name, fewest) in [("grpo.parquet", 200), ("async.parquet", 3_000), ("ward/hot.parquet", 1_000)] {
        let settings = AnalyzeSettings::default();
        let part = serde_json::to_value(partial(name, &settings)).unwrap();
        let whole = analyzed(&[sample(name)], &settings).to_value().unwrap();
        let (mut found, mut equal) = (Vec::new(), 0);
        differences(&part, &whole, "", &mut found, &mut equal);
        assert!(found.is_empty(), "{name}:\n{}", found.join("\n"));
        assert!(equal > fewest, "{name}: only {equal} values are told");
        for list in ["/diagnosis/causes", "/diagnosis/damage", "/diagnosis/onsets", "/warnings"] {
            let all = whole.pointer(list).and_then(Value::as_array).unwrap();
            for item in part.pointer(list).and_then(Value::as_array).unwrap() {
                let found = all.iter().any(|other| is_alike(item, other));
                assert!(found, "{name}: {list}: {item} is not found with entropies");
            }
        }
        let open = codes(&part, "/diagnosis/not_checked", "code");
        for code in codes(&whole, "/diagnosis/causes", "code") {
            let told = codes(&part, "/diagnosis/causes", "code").contains(&code);
            assert!(told || open.contains(&code), "{name}: {code} is gone without a word");
        }
        assert!(open.contains(&"spurious_tokens".to_owned()), "{open:?}");
    }
}

#[test]
fn nothing_that_needs_entropy_is_said() {
    let part = partial("async.parquet", &AnalyzeSettings::default());
    let value = serde_json::to_value(&part).unwrap();
    for gone in ["/s2t", "/drivers", "/taxonomy", "/totals/mean_entropy", "/totals/gradient_energy", "/sweep"]
    {
        assert!(value.pointer(gone).is_none(), "{gone}");
    }
    assert!(part.provenance.gradient_source.is_none());
    let ledger = part.answers.offpolicy.as_ref().unwrap();
    assert!(ledger.corrections.iter().all(|row| row.energy_kept.is_none() && row.ess.is_some()));
    let signals: Vec<&str> = part.diagnosis.signals.iter().map(|signal| signal.name.as_str()).collect();
    assert!(signals.contains(&"engine_k3") && !signals.contains(&"entropy"), "{signals:?}");
    let health = &part.verdict.health;
    assert!(
        health.starts_with("Only a part of this run could be checked: its log has no entropy"),
        "{health}"
    );
    assert!(health.contains("Likely cause (stale_sampler)"), "{health}");
    assert!(part.partial.hint.contains("TokenLog"), "{}", part.partial.hint);
}

#[test]
fn a_run_that_was_not_checked_is_not_called_healthy() {
    let part = partial("ward/healthy.parquet", &AnalyzeSettings::default());
    assert_eq!(serde_json::to_value(&part).unwrap()["verdict"]["state"], "unknown");
    assert!(part.verdict.health.contains("No damage in what could be checked over 11 steps"));
}
