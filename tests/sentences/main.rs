//! Every sentence of every report, in one place: reports are made of sick and healthy runs, of a run without
//! entropy, of comparisons and of a replay. What their pages say, numbers taken out, is `said.txt`; each number is
//! that of the field that `fields.txt` names for it. And every sentence in the source is one of these, or of the
//! findings in `fields.txt` (`tests/analyze/sentences.rs` holds those of made-up runs against it), or listed in
//! `unsaid.txt`: a new one fails here until it is. `UPDATE_SENTENCES=1` writes `said.txt` and `unsaid.txt` anew; read
//! what changed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod apart;
mod compared;
mod fields;
mod page;
mod source;
#[path = "../support/mod.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use apart::{is_rounded, taken_apart};
use fields::{Part, Sentence, Table, Told, unsigned};
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
    /// Tables of charts by name.
    charts: BTreeMap<String, Table>,
    /// Texts in charts.
    drawn: Vec<String>,
    /// What the analysis of each compared run says of it.
    own: Vec<Value>,
}

/// The summary of a run.
fn summary(arguments: &[String]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stapo-analyze"));
    let output = command.args(arguments).args(["-q", "--format", "json"]).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A table of a chart; its first row is that of the titles.
fn table(text: &str) -> Table {
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// Runs the program and reads the report it leaves.
fn report(arguments: &[String], kind: &str, json: &str) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_stapo-analyze"));
    let output = command.args(arguments).arg("-q").arg("--report").arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let (mut charts, mut drawn) = (BTreeMap::new(), Vec::new());
    for entry in std::fs::read_dir(folder.path().join("charts")).unwrap() {
        let path = entry.unwrap().path();
        match path.extension().and_then(|e| e.to_str()) {
            Some("csv") => {
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                charts.insert(name, table(&std::fs::read_to_string(&path).unwrap()));
            }
            Some("svg") => drawn.extend(page::drawn(&std::fs::read_to_string(&path).unwrap())),
            _ => {}
        }
    }
    let json = serde_json::from_str(&read(json)).unwrap();
    Report { page: read(&format!("{kind}.html")), json, charts, drawn, own: Vec::new() }
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

/// A sentence whose numbers a program can read.
fn with_plain_numbers(sentence: &str) -> String {
    let mut plain = sentence.replace('−', "-").replace("·10⁻", "e-");
    for (digit, plain_digit) in "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().zip('0'..='9') {
        plain = plain.replace(&format!("e-{digit}"), &format!("e-{plain_digit}"));
    }
    plain
}

/// A sentence without names and numbers, and its numbers.
fn template(sentence: &str, names: &[String]) -> (String, Vec<String>) {
    let mut plain = with_plain_numbers(sentence);
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
    let early = ["--steps".to_owned(), "..30".to_owned()];
    let pairs = [
        (vec![named("grpo"), named("stapo")], vec!["grpo", "stapo"]),
        (vec![named("ward/healthy"), named("ward/hot")], vec!["ward/healthy", "ward/hot"]),
        ([vec![named("grpo"), named("stapo")], early.to_vec()].concat(), vec!["grpo", "stapo"]),
        (
            vec![
                "--arm".into(),
                format!("arm_one={},{}", log("ward/healthy"), log("ward/easy")),
                "--arm".into(),
                format!("arm_two={},{}", log("ward/hot"), log("ward/temperature")),
            ],
            vec!["ward/healthy", "ward/easy", "ward/hot", "ward/temperature"],
        ),
    ];
    for (pair, runs) in pairs {
        let part = if pair.contains(&early[0]) { early.to_vec() } else { Vec::new() };
        let arguments = [vec!["compare".to_owned()], pair, draws.to_vec()].concat();
        let own = runs.iter().map(|run| summary(&[vec![log(run)], part.clone()].concat())).collect();
        let report = Report { own, ..report(&arguments, "compare", "compare.json") };
        made.push((arguments.join(" "), report));
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

/// The list of fields, and what of it was met.
struct Checker {
    list: BTreeMap<String, Vec<Part>>,
    met: BTreeSet<String>,
}

impl Checker {
    /// Claims what a sentence says of a run: its findings, their evidence, and all that is listed.
    fn claim_run(&mut self, sentence: &mut Sentence, json: &Value, charts: &BTreeMap<String, Table>) {
        for finding in findings(json) {
            sentence.leave(finding["message"].as_str().unwrap());
        }
        let told = Told { json, finding: None, charts };
        for (name, values) in &evidence(json) {
            if sentence.begins(name) {
                sentence.claim(&line(name, values), &told);
            }
        }
        sentence.claim_all(&self.list["summary"], &told, &mut self.met);
    }

    /// What is wrong with the numbers of a sentence; `before` is the one before it, whose number it may be.
    fn wrong(&mut self, report: &Report, before: &str, sentence: &str) -> Vec<String> {
        let plain = |sentence: &str| source::unticked(&with_plain_numbers(sentence));
        let Report { json, charts, own, .. } = report;
        let told = Told { json, finding: None, charts };
        let mut tile = Sentence::new(&format!("{} {}", plain(before), plain(sentence)));
        tile.claim_all(&self.list["tiles"], &told, &mut self.met);
        compared::rows(json).iter().for_each(|part| _ = tile.claim(part, &told));
        let tile = tile.faults;
        if !is_sentence(&plain(sentence)) {
            return tile;
        }
        let mut sentence = Sentence::new(&plain(sentence));
        // What a comparison repeats of a run's own report, where its numbers are.
        for run in own {
            let said = run["diagnosis"]["sentence"].as_str().unwrap();
            let mut repeated = Sentence::new(&plain(said));
            self.claim_run(&mut repeated, run, charts);
            sentence.faults.extend(repeated.end());
            sentence.leave(&plain(said));
            findings(run).for_each(|finding| sentence.leave(finding["message"].as_str().unwrap()));
        }
        if json.get("s2t").or(json.get("partial")).is_some() {
            self.claim_run(&mut sentence, json, charts);
        }
        for (kind, field) in [("compare", "metrics"), ("replay", "training")] {
            if json.get(field).is_some() {
                compared::rows(json).iter().for_each(|part| _ = sentence.claim(part, &told));
                sentence.claim_all(&self.list[kind], &told, &mut self.met);
            }
        }
        tile.into_iter().chain(sentence.end()).collect()
    }
}

/// Causes and warnings of a summary.
fn findings(json: &Value) -> impl Iterator<Item = &Value> {
    let causes = json.pointer("/diagnosis/causes").and_then(Value::as_array);
    causes.into_iter().flatten().chain(json["warnings"].as_array().into_iter().flatten())
}

/// The evidence of all findings by how its lines begin: “step 3: update k3 = ”.
fn evidence(json: &Value) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for evidence in findings(json).flat_map(|finding| finding["evidence"].as_array().into_iter().flatten()) {
        let step = evidence["step"].as_i64().map_or(String::new(), |step| format!("step {step}: "));
        let name = format!("{step}{} = ", evidence["what"].as_str().unwrap());
        let value = format!("={}", evidence["value"]);
        all.entry(source::unticked(&with_plain_numbers(&name))).or_default().push(value);
    }
    all
}

/// A line of evidence; several of one name have several values.
fn line(name: &str, values: &[String]) -> Part {
    let (text, numbers) = unsigned(name);
    let fixed = numbers.iter().map(|number| format!("={}", number.replace(',', "")));
    Part::new(format!("{text}#"), fixed.chain([values.join("|")]).collect())
}

/// Whether a text is more than a name or a number.
fn is_sentence(text: &str) -> bool {
    text.split(' ').filter(|word| word.chars().any(char::is_alphabetic)).count() >= 4
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
fn every_sentence_is_listed_and_its_numbers_are_those_of_their_fields() {
    let (mut said, mut words, mut wrong) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    let mut checker = Checker { list: fields::listed(), met: BTreeSet::new() };
    let mut met = BTreeSet::new();
    for (name, report) in reports() {
        let names = names(&report.json);
        if report.json.get("diagnosis").is_some() {
            for finding in findings(&report.json) {
                let told = Told { json: &report.json, finding: Some(finding), charts: &report.charts };
                wrong.extend(fields::finding(&checker.list, &told, &mut met));
            }
        }
        let mut before = String::new();
        for sentence in page::blocks(&report.page).into_iter().filter(|sentence| !is_quoted(sentence)) {
            let faults = checker.wrong(&report, &before, &sentence);
            wrong.extend(faults.into_iter().map(|fault| format!("{name}: {fault}")));
            before.clone_from(&sentence);
            let text = template(&sentence, &names).0;
            if is_sentence(&text) {
                said.insert(text);
            }
        }
        // Names of evidence and of what was not checked, and the words in drawings.
        let mut others = report.drawn.clone();
        strings(&report.json, &mut others);
        words.extend(others.iter().map(|text| template(text, &names).0));
    }
    wrong.sort();
    wrong.dedup();
    let listed: Vec<String> = checker.list.values().flatten().map(|part| part.text.clone()).collect();
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
    let kinds = ["summary", "compare", "replay", "tiles"].iter().flat_map(|kind| &checker.list[*kind]);
    let unmet: Vec<&str> =
        kinds.map(|part| part.text.as_str()).filter(|text| !checker.met.contains(*text)).collect();
    assert_eq!(unmet, Vec::<&str>::new(), "no report says these");
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
