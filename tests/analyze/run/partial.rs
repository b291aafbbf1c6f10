//! A log without entropy or advantages: what can be told is what the whole log tells, to the bit; what
//! cannot is absent.

use serde_json::Value;
use stapo_analyze::analyze::{AnalyzeSettings, PartialAnalysis, analyze_partial};
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
    without(&["entropy"], name, settings)
}

fn without(columns: &[&str], name: &str, settings: &AnalyzeSettings) -> PartialAnalysis {
    let map: Vec<String> = columns.iter().map(|column| format!("{column}=")).collect();
    let map = UserMap::parse(&map).unwrap();
    let run = Run::open(&[sample(name)], &IngestSettings { map, ..IngestSettings::default() }).unwrap();
    analyze_partial(&run, settings, None, &Silent).unwrap()
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

/// A cause of the whole log with the evidence that the part has, too: the rest needs the sign of A.
fn with_evidence_of(whole: &Value, part: &Value) -> Value {
    let mut whole = whole.clone();
    if let (Some(all), Some(some)) = (whole["evidence"].as_array().cloned(), part["evidence"].as_array()) {
        let told = |item: &Value| some.iter().any(|other| other["what"] == item["what"]);
        whole["evidence"] = all.into_iter().filter(told).collect();
    }
    whole
}

/// What a sound log without advantages says: nothing else than the whole log, and nothing of the advantages.
fn holds_without_advantages(columns: &[&str], name: &str) -> PartialAnalysis {
    let settings = AnalyzeSettings::default();
    let analysis = without(columns, name, &settings);
    let mut part = serde_json::to_value(&analysis).unwrap();
    let whole = analyzed(&[sample(name)], &settings).to_value().unwrap();
    // Every trained token lacks its advantage: said once, and no sign is counted.
    let steps = part["steps"].as_array().unwrap().iter().chain([&part["totals"]]);
    for row in steps {
        let count = |field: &str| row[field].as_u64().unwrap();
        assert_eq!(count("positive") + count("negative") + count("zero_advantage"), 0);
        assert_eq!(count("missing"), count("tokens"));
        assert!(row["zero_advantage_groups"].is_null());
    }
    let mut rows = vec![part["totals"].take()];
    rows.extend(part["steps"].as_array().unwrap().clone());
    for row in &mut rows {
        for sign in ["positive", "negative", "zero_advantage", "missing"] {
            row.as_object_mut().unwrap().remove(sign);
        }
    }
    part["totals"] = rows.remove(0);
    part["steps"] = rows.into();
    let (mut found, mut equal) = (Vec::new(), 0);
    differences(&part, &whole, "", &mut found, &mut equal);
    assert!(found.is_empty(), "{name}:\n{}", found.join("\n"));
    assert!(equal > 100, "{name}: only {equal} values are told");
    for list in ["/diagnosis/causes", "/diagnosis/damage", "/diagnosis/onsets"] {
        let all = whole.pointer(list).and_then(Value::as_array).unwrap();
        for item in part.pointer(list).and_then(Value::as_array).unwrap() {
            let known = all.iter().any(|other| is_alike(item, &with_evidence_of(other, item)));
            assert!(known, "{name}: {list}: {item} is not found in the whole log");
        }
    }
    let open = codes(&part, "/diagnosis/not_checked", "code");
    for code in codes(&whole, "/diagnosis/causes", "code") {
        let told = codes(&part, "/diagnosis/causes", "code").contains(&code);
        assert!(told || open.contains(&code), "{name}: {code} is gone without a word");
    }
    assert!(open.contains(&"phantom_advantage".to_owned()), "{open:?}");
    analysis
}

#[test]
fn a_log_without_advantages_tells_the_rest() {
    for name in ["grpo.parquet", "ward/hot.parquet"] {
        let part = holds_without_advantages(&["advantage", "advantage_seq"], name);
        assert!(part.totals.mean_entropy.is_some());
        let signals: Vec<&str> = part.diagnosis.signals.iter().map(|signal| signal.name.as_str()).collect();
        assert!(signals.contains(&"entropy") && !signals.contains(&"dead_groups"), "{signals:?}");
        let health = &part.verdict.health;
        assert!(health.contains("Only a part of this run could be checked: its log has no advantage, so"));
        assert_eq!(health.contains("The run lost what it had: "), name == "ward/hot.parquet", "{health}");
        let warned: Vec<&str> = part.warnings.iter().map(|warning| warning.code.name()).collect();
        assert!(!warned.contains(&"dead_batches"), "{warned:?}");
        assert_eq!(part.partial.missing_columns, ["advantage"]);
    }
}

#[test]
fn a_log_with_neither_tells_the_rest() {
    let part = holds_without_advantages(&["entropy", "advantage", "advantage_seq"], "async.parquet");
    assert!(part.totals.mean_entropy.is_none() && part.answers.offpolicy.is_some());
    assert_eq!(part.partial.missing_columns, ["entropy", "advantage"]);
    assert!(part.verdict.health.contains("its log has no entropy and no advantage, so"));
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
    assert!(!ledger.corrections.is_empty());
    assert!(ledger.corrections.iter().all(|row| row.energy_kept.is_none() && row.ess.is_some()));
    let signals: Vec<&str> = part.diagnosis.signals.iter().map(|signal| signal.name.as_str()).collect();
    assert!(signals.contains(&"engine_k3") && !signals.contains(&"entropy"), "{signals:?}");
    let health = &part.verdict.health;
    assert!(
        health.starts_with("Only a part of this run could be checked: its log has no entropy"),
        "{health}"
    );
    assert!(health.contains("The run learns: reward "), "{health}");
    assert!(part.partial.hint.contains("TokenLog"), "{}", part.partial.hint);
}

#[test]
fn what_a_cause_needs_is_said() {
    // No entropy, and no log-probabilities of the sampler either.
    let part = partial("grpo.parquet", &AnalyzeSettings::default());
    let needs = |name: &str| {
        part.diagnosis.not_checked.iter().find(|open| open.code == name).map(|open| open.needs.as_str())
    };
    assert_eq!(needs("precision_gap"), Some("logprob_rollout"));
    assert_eq!(needs("entropy_of_another_policy"), Some("entropy"));
}

#[test]
fn the_state_of_a_run_speaks_of_what_is_logged_and_what_was_not_checked_is_said() {
    let part = partial("ward/healthy.parquet", &AnalyzeSettings::default());
    assert_eq!(serde_json::to_value(&part).unwrap()["verdict"]["state"], "healthy");
    assert!(part.verdict.health.starts_with("Only a part of this run could be checked"));
    assert!(part.diagnosis.not_checked.iter().any(|open| open.code == "entropy_of_another_policy"));
}
