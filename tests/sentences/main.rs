//! Every sentence of every report, in one place: reports are made of sick and healthy runs, of a run without
//! entropy, of comparisons and of a replay. What their pages say, numbers taken out, is `said.txt`; each number
//! stands in the report's JSON or in a chart's table. And every sentence in the source is one of these, or
//! of `tests/analyze/sentences.rs` (causes and warnings of made-up runs), or listed in `unsaid.txt`: a new
//! one fails here until it is. `UPDATE_SENTENCES=1` writes both lists anew; read what changed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod apart;
mod page;
mod source;
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use apart::{is_rounded, numbers_of, taken_apart};
use support::{sample, small_log};

/// Where sentences are made.
const SOURCES: [&str; 13] = [
    "src/analyze/diagnosis",
    "src/analyze/finish/provenance.rs",
    "src/analyze/finish/questions/notes.rs",
    "src/analyze/partial",
    "src/compare/causes.rs",
    "src/compare/statements.rs",
    "src/compare/verdict.rs",
    "src/compare/warnings",
    "src/replay/verdict.rs",
    "src/replay/warnings",
    "src/report/charts",
    "src/report/compare",
    "src/report/replay",
];

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A report on the disk.
struct Report {
    page: String,
    json: Value,
    /// Numbers of charts' tables.
    charts: Vec<f64>,
    /// Texts in charts.
    drawn: Vec<String>,
}

/// Runs the program and reads the report it leaves.
fn report(arguments: &[String], kind: &str, json: &str) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_stapo-analyze"));
    let output = command.args(arguments).arg("-q").arg("--report").arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let (mut charts, mut drawn) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(folder.path().join("charts")).unwrap() {
        let path = entry.unwrap().path();
        match path.extension().and_then(|e| e.to_str()) {
            Some("csv") => charts.extend(numbers_of_table(&std::fs::read_to_string(&path).unwrap())),
            Some("svg") => drawn.extend(page::drawn(&std::fs::read_to_string(&path).unwrap())),
            _ => {}
        }
    }
    let json = serde_json::from_str(&read(json)).unwrap();
    Report { page: read(&format!("{kind}.html")), json, charts, drawn }
}

/// The numbers of a table, how many rows it has, and the means of its columns.
fn numbers_of_table(table: &str) -> Vec<f64> {
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    let mut own = vec![rows.len() as f64 - 1.0];
    for column in 0..rows[0].len() {
        let cells = rows[1..].iter().filter_map(|row| row.get(column)?.parse::<f64>().ok());
        let values: Vec<f64> = cells.filter(|value| value.is_finite()).collect();
        own.push(values.iter().sum::<f64>() / values.len().max(1) as f64);
        own.extend(values);
    }
    own
}

/// Groups that the evidence of causes names.
fn groups_in_evidence(json: &Value) -> Vec<f64> {
    let causes = json["diagnosis"]["causes"].as_array().into_iter().flatten();
    let evidence = causes.flat_map(|cause| cause["evidence"].as_array().into_iter().flatten());
    let what = evidence.filter_map(|evidence| evidence["what"].as_str()?.split_once(" in group "));
    what.filter_map(|(_, group)| group.parse().ok()).collect()
}

/// Names that a sentence takes from the run: runs, arms, metrics.
fn names(json: &Value) -> Vec<String> {
    let mut all = Vec::new();
    for (list, field) in [("arms", "name"), ("runs", "name"), ("metrics", "label"), ("answers", "label")] {
        for item in json[list].as_array().into_iter().flatten() {
            all.extend(item[field].as_str().map(str::to_owned));
        }
    }
    all.sort_by_key(|name| std::cmp::Reverse(name.len()));
    all
}

/// A sentence without names and numbers, and its numbers.
fn template(sentence: &str, names: &[String]) -> (String, Vec<String>) {
    let mut plain = sentence.replace('−', "-");
    plain = plain.replace("·10⁻", "e-");
    for (digit, plain_digit) in "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().zip('0'..='9') {
        plain = plain.replace(&format!("e-{digit}"), &format!("e-{plain_digit}"));
    }
    names.iter().filter(|name| name.len() > 3).for_each(|name| plain = plain.replace(name.as_str(), "…"));
    let (mut text, numbers) = taken_apart(&source::unticked(&plain));
    text = text.replace("-#", "#").replace("+#", "#");
    // Of a list the first item stands for all.
    for item in ["… (# to # nats)", "… (# to # points)", "… (at most # % of the tokens)", "… (equal)"]
    {
        text = text.replace(item, "… (# to #)");
    }
    for item in ["… (# to #)", "…", "#", "# of …", "…: #"] {
        while text.contains(&format!("{item}, {item}")) {
            text = text.replace(&format!("{item}, {item}"), item);
        }
    }
    (text, numbers)
}

/// All strings below a value that are sentences.
fn strings(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) if text.contains(' ') => into.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, into)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, into)),
        _ => {}
    }
}

/// Numbers that sentences make of others: quotients of a cause's evidence, what several rows add up to, tokens
/// with a gradient, how far unrelated ranks stay together, means over arms; and levels of tests.
fn derived(json: &Value, charts: &[f64]) -> Vec<f64> {
    let mut found = vec![95.0];
    for cause in json.pointer("/diagnosis/causes").and_then(Value::as_array).into_iter().flatten() {
        let mut own = Vec::new();
        cause["evidence"].as_array().unwrap().iter().for_each(|e| numbers_of(&e["value"], &mut own));
        found.extend(own.iter().flat_map(|a| own.iter().map(move |b| a / b)));
    }
    for field in ["entropy_up", "entropy_down", "entropy_ambiguous"] {
        let rows = json["taxonomy"].as_array().into_iter().flatten();
        found.push(rows.filter_map(|row| row[field].as_f64()).sum());
    }
    found.push(found.iter().rev().take(3).sum());
    found.extend(charts.iter().filter(|n| **n > 1_000.0).map(|n| 2.0 / n.sqrt()));
    let arms: Vec<&Value> = json["arms"].as_array().into_iter().flatten().collect();
    for end in [0, 1] {
        let step = |arm: &&Value| {
            let steps = arm["steps"].as_array()?;
            if end == 0 { steps.first() } else { steps.last() }?["drift"].as_f64()
        };
        let drifts: Vec<f64> = arms.iter().filter_map(step).collect();
        found.push(drifts.iter().sum::<f64>() / drifts.len().max(1) as f64);
    }
    found.into_iter().filter(|number| number.is_finite()).collect()
}

/// What a comparison repeats of a run's own report, where its numbers are.
fn is_repeated(sentence: &str) -> bool {
    ["No damage", "This run is damaged", "This run collapsed", "too few to tell a trend"]
        .iter()
        .any(|start| sentence.contains(start))
}

/// Numbers that no JSON has: the size of a sample, a sum of classes, a bound made of a count.
fn is_made_of_others(sentence: &str) -> bool {
    ["tokens with an advantage (", "tokens with a gradient, ", "unrelated values of this many tokens"]
        .iter()
        .any(|part| sentence.contains(part))
}

/// Sentences that quote the log or the command: not ours.
fn is_quoted(sentence: &str) -> bool {
    sentence.contains("stapo-analyze show") || sentence.contains(".parquet") || sentence.contains('⏎')
}

fn reports() -> Vec<(String, Report)> {
    let log = |name: &str| sample(&format!("{name}.parquet")).display().to_string();
    let named = |name: &str| format!("run_{}={}", name.replace('/', "_"), log(name));
    let mut made = Vec::new();
    for name in ["grpo", "async", "ward/hot", "ward/easy", "ward/hacked", "ward/flipped"] {
        made.push((name.to_owned(), report(&[log(name)], "report", "summary.json")));
    }
    let without = vec![log("async"), "--map".into(), "entropy=".into()];
    made.push(("no entropy".into(), report(&without, "report", "summary.json")));
    let draws = ["--draws".to_owned(), "100".to_owned()];
    let pairs = [
        vec![named("grpo"), named("stapo")],
        vec![named("ward/healthy"), named("ward/hot")],
        vec![named("grpo"), named("stapo"), "--steps".into(), "..30".into()],
        vec![
            "--arm".into(),
            format!("arm_one={},{}", log("ward/healthy"), log("ward/easy")),
            "--arm".into(),
            format!("arm_two={},{}", log("ward/hot"), log("ward/temperature")),
        ],
    ];
    for pair in pairs {
        let arguments = [vec!["compare".to_owned()], pair, draws.to_vec()].concat();
        made.push((arguments.join(" "), report(&arguments, "compare", "compare.json")));
    }
    let folder = tempfile::tempdir().unwrap();
    let small = small_log(folder.path(), 2, 16, |batch| batch).display().to_string();
    let options = "--objective dapo,stapo --seeds 3 --minibatch 8 --lr 1e-4 --tau-p 0.05 --holdout 0.3";
    let mut arguments =
        vec!["replay".to_owned(), small, "--model".into(), sample("model").display().to_string()];
    arguments.extend(options.split(' ').map(str::to_owned));
    made.push(("replay".into(), report(&arguments, "replay", "replay.json")));
    made
}

/// Holds what was found against a list, or writes the list.
fn hold(file: &str, found: &BTreeSet<String>) {
    let path = root(&format!("tests/sentences/{file}"));
    if std::env::var_os("UPDATE_SENTENCES").is_some() {
        std::fs::write(&path, found.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    }
    let listed = std::fs::read_to_string(&path).unwrap_or_default();
    let listed: BTreeSet<String> = listed.lines().map(str::to_owned).collect();
    let new: Vec<&String> = found.difference(&listed).collect();
    let gone: Vec<&String> = listed.difference(found).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "{file}: read these, then write them with UPDATE_SENTENCES=1\nnew: {new:#?}\ngone: {gone:#?}"
    );
}

#[test]
fn every_sentence_is_listed_and_its_numbers_are_those_of_the_report() {
    let (mut said, mut words, mut wrong) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for (name, report) in reports() {
        let names = names(&report.json);
        let mut known = report.charts.clone();
        numbers_of(&report.json, &mut known);
        let confidence = report.json["settings"]["confidence"].as_f64();
        known.extend(confidence.map(|confidence| 1.0 - confidence));
        let percents: Vec<f64> = known.iter().map(|number| 100.0 * number).collect();
        known.extend(percents);
        known.extend(derived(&report.json, &report.charts));
        known.extend(groups_in_evidence(&report.json));
        for sentence in page::blocks(&report.page) {
            let (text, numbers) = template(&sentence, &names);
            if text.split(' ').filter(|word| word.chars().any(char::is_alphabetic)).count() < 4
                || is_quoted(&sentence)
            {
                continue;
            }
            let elsewhere = name.starts_with("compare") && is_repeated(&sentence);
            let numbers = if elsewhere || is_made_of_others(&sentence) { Vec::new() } else { numbers };
            for number in numbers.iter().filter(|n| !known.iter().any(|value| is_rounded(n, *value))) {
                wrong.push(format!("{name}: {number} is nowhere: {sentence}"));
            }
            said.insert(text);
        }
        // Names of evidence and of what was not checked, and the words in drawings.
        let mut others = report.drawn.clone();
        strings(&report.json, &mut others);
        words.extend(others.iter().map(|text| template(text, &names).0));
    }
    wrong.sort();
    wrong.dedup();
    let listed = source::literals(&std::fs::read_to_string(root("tests/analyze/sentences.rs")).unwrap());
    let all: Vec<&String> = said.iter().chain(&words).chain(&listed).collect();
    let mut unsaid = BTreeSet::new();
    for file in SOURCES.iter().flat_map(|path| source::files(&root(path))) {
        for literal in source::literals(&std::fs::read_to_string(&file).unwrap()) {
            let Some(pieces) = source::pieces(&literal) else { continue };
            if !all.iter().any(|line| source::is_said(&pieces, line)) {
                let place = file.strip_prefix(root("src")).unwrap().display().to_string();
                unsaid.insert(format!("{place}: {literal}"));
            }
        }
    }
    hold("said.txt", &said);
    hold("unsaid.txt", &unsaid);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_wrong_number_and_a_new_sentence_are_found() {
    assert!(is_rounded("0.16", 0.1649) && !is_rounded("0.17", 0.1649));
    assert!(is_rounded("7.6e-5", 7.607e-5) && !is_rounded("7.7e-5", 7.607e-5));
    assert!(is_rounded("1,868", 1868.4) && !is_rounded("1,869", 1868.4));
    let (text, numbers) =
        taken_apart("pass@1 fell from 0.20 to 0.1: \"a 7\" and reward/x, k3 1.5e-3, 2 of 3.");
    assert_eq!(text, "pass@1 fell from # to #: … and reward/…, k3 #, # of #.");
    assert_eq!(numbers, ["0.20", "0.1", "1.5e-3", "2", "3"]);
    let source = "let a = format!(\"the run {name} lost {:.2} of \\\n    its reward at step 7\");\n#[cfg(test)]\n\"x y z w\"";
    let literals = source::literals(source);
    assert_eq!(literals, ["the run {name} lost {:.2} of its reward at step 7"]);
    let pieces = source::pieces(&literals[0]).unwrap();
    assert_eq!(pieces, ["the run ", " lost ", " of its reward at step #"]);
    assert!(source::is_said(&pieces, "the run … lost # of its reward at step #."));
    assert!(!source::is_said(&pieces, "the run … gained # of its reward at step #."));
}
