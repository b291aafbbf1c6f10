//! Every sentence of causes and warnings, on the samples and on made-up runs: its template is listed in
//! `tests/sentences/fields.txt`, and each of its numbers is that of the field that is named for it there.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use stapo_analyze::analyze::RunAnalysis;
use stapo_analyze::framework::s2t::S2tSettings;

use super::apart::taken_apart;
use super::fields::{Part, Table, Told, finding, listed};
use super::support::sample;
use super::{analyzed, pathologies, preset};

/// A number as it would be written were it half as large again.
fn wrong_number(written: &str) -> String {
    let plain = written.replace(',', "");
    let (mantissa, exponent) = plain.split_once('e').map_or((&plain[..], ""), |(m, e)| (m, e));
    let digits = mantissa.split_once('.').map_or(0, |(_, d)| d.len());
    let wrong = format!("{:.digits$}", 1.5 * mantissa.parse::<f64>().unwrap() + 1.0);
    if exponent.is_empty() { wrong } else { format!("{wrong}e{exponent}") }
}

/// The messages with one of their numbers made up.
fn made_up(message: &str) -> Vec<String> {
    let mut from = 0;
    let mut all = Vec::new();
    for number in taken_apart(message).1 {
        let at = from + message[from..].find(&number).unwrap();
        from = at + number.len();
        all.push(format!("{}{}{}", &message[..at], wrong_number(&number), &message[from..]));
    }
    all
}

/// What was looked at.
struct Seen {
    list: BTreeMap<String, Vec<Part>>,
    met: BTreeSet<String>,
    /// Made-up numbers that no one finds out.
    believed: Vec<String>,
}

/// What is wrong with the sentences of a run.
fn faults(name: &str, analysis: &RunAnalysis, seen: &mut Seen) -> Vec<String> {
    let summary: Value = serde_json::from_str(&analysis.to_json().unwrap()).unwrap();
    let causes = summary.pointer("/diagnosis/causes").and_then(Value::as_array).unwrap();
    let warnings = summary["warnings"].as_array().unwrap();
    let charts: BTreeMap<String, Table> = BTreeMap::new();
    let mut wrong = Vec::new();
    for of in causes.iter().chain(warnings) {
        let told = Told { json: &summary, finding: Some(of), charts: &charts };
        let found = finding(&seen.list, &told, &mut seen.met);
        wrong.extend(found.into_iter().map(|fault| format!("{name}: {fault}")));
        for message in made_up(of["message"].as_str().unwrap()) {
            let mut lie = of.clone();
            lie["message"] = message.into();
            let told = Told { json: &summary, finding: Some(&lie), charts: &charts };
            if finding(&seen.list, &told, &mut BTreeSet::new()).is_empty() {
                seen.believed.push(format!("{name}: {}", lie["message"]));
            }
        }
    }
    wrong
}

#[test]
fn numbers_in_sentences_are_those_of_their_fields() {
    let mut wrong = Vec::new();
    let mut seen = Seen { list: listed(), met: BTreeSet::new(), believed: Vec::new() };
    let mut runs: Vec<String> = ["grpo", "stapo", "async"].map(str::to_owned).to_vec();
    let sick = ["healthy", "easy", "hot", "flipped", "hacked", "noise", "positive_only", "temperature"];
    runs.extend(sick.map(|name| format!("ward/{name}")));
    for name in runs {
        let run = analyzed(&[sample(&format!("{name}.parquet"))], &preset(S2tSettings::v5()));
        wrong.extend(faults(&name, &run, &mut seen));
    }
    for (name, analysis) in pathologies::one_of_each() {
        wrong.extend(faults(&name, &analysis, &mut seen));
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let kinds = ["summary", "compare", "replay", "tiles"];
    let findings = seen.list.iter().filter(|(kind, _)| !kinds.contains(&kind.as_str()));
    let all =
        findings.flat_map(|(code, parts)| parts.iter().map(move |part| format!("{code}: {}", part.text)));
    let unseen: Vec<String> = all.filter(|template| !seen.met.contains(template)).collect();
    assert!(unseen.is_empty(), "no run here says {unseen:#?}");
    // A check that cannot fail is none.
    assert!(seen.believed.is_empty(), "made up and believed: {:#?}", seen.believed);
}
