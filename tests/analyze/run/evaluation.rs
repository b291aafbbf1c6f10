//! Responses of evaluation are not trained on: an analysis leaves them out, in every layout, and says so.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use serde_json::{Value, json};
use stapo_analyze::Result;
use stapo_analyze::analyze::{AnalyzeSettings, Cache, RunAnalysis, analyze_cached, analyze_for_comparison};
use stapo_analyze::ingest::{
    Column, HeldOut, IngestSettings, ResponseColumns, Run, Silent, Sink, StepRange, TokenBatch, scan,
};

use crate::run::support::{float_lists, floats, int_lists, ints, write_parquet};
use crate::run::{analyzed, open};

/// Tokens of a response.
const LENGTH: usize = 5;

#[derive(Clone)]
struct Row {
    step: i64,
    group: i64,
    sample: i64,
    split: Option<&'static str>,
    reward: f32,
    advantage: f32,
    ids: Vec<i32>,
    logprobs: Vec<f32>,
    entropies: Vec<f32>,
}

/// Six steps of two groups of two, each response with its own values.
fn training(split: Option<&'static str>) -> Vec<Row> {
    let row = |number: i64| {
        let token = |t: usize| (7 * number as usize + 3 * t) % 29;
        Row {
            step: number / 4,
            group: number / 2 % 2,
            sample: number % 2,
            split,
            reward: (number % 2) as f32,
            advantage: if number % 2 == 1 { 1.0 } else { -1.0 },
            ids: (0..LENGTH).map(|t| token(t) as i32).collect(),
            logprobs: (0..LENGTH).map(|t| -0.1 * (1 + token(t)) as f32).collect(),
            entropies: (0..LENGTH).map(|t| 0.05 * (1 + token(t)) as f32).collect(),
        }
    };
    (0..24).map(row).collect()
}

/// Every third response is followed by one of evaluation that has its ids, other tokens and no entropy.
fn with_evaluation(training: &[Row]) -> Vec<Row> {
    let names = ["eval", "Validation", "TEST"];
    let evaluation = |(number, row): (usize, &Row)| {
        let mut other = row.clone();
        other.split = Some(names[number % names.len()]);
        (other.advantage, other.reward) = (0.0, 9.0);
        other.ids.iter_mut().for_each(|id| *id += 40);
        other.entropies.fill(f32::NAN);
        other
    };
    let mut rows = Vec::new();
    for (number, three) in training.chunks(3).enumerate() {
        rows.extend_from_slice(three);
        rows.push(evaluation((number, &three[0])));
    }
    rows
}

fn splits(rows: &[Row], times: usize) -> ArrayRef {
    Arc::new(rows.iter().flat_map(|row| std::iter::repeat_n(row.split, times)).collect::<StringArray>())
}

fn nested(rows: &[Row], path: &Path) {
    fn lists<T>(rows: &[Row], of: impl Fn(&Row) -> &[T]) -> Vec<&[T]> {
        rows.iter().map(of).collect()
    }
    let whole = |of: fn(&Row) -> i64| ints(&rows.iter().map(of).collect::<Vec<_>>());
    let number = |of: fn(&Row) -> f32| floats(&rows.iter().map(of).collect::<Vec<_>>());
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("step", whole(|row| row.step)),
        ("group_id", whole(|row| row.group)),
        ("sample_id", whole(|row| row.sample)),
        ("split", splits(rows, 1)),
        ("reward", number(|row| row.reward)),
        ("advantage", number(|row| row.advantage)),
        ("token_id", int_lists(&lists(rows, |row| &row.ids))),
        ("logprob", float_lists(&lists(rows, |row| &row.logprobs))),
        ("entropy", float_lists(&lists(rows, |row| &row.entropies))),
    ];
    write_parquet(path, columns, 5);
}

/// A row group ends within every other response.
fn long(rows: &[Row], path: &Path) {
    let tokens = || rows.iter().flat_map(|row| (0..LENGTH).map(move |t| (row, t)));
    let whole = |of: fn((&Row, usize)) -> i64| ints(&tokens().map(of).collect::<Vec<_>>());
    let number = |of: fn((&Row, usize)) -> f32| floats(&tokens().map(of).collect::<Vec<_>>());
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("step", whole(|(row, _)| row.step)),
        ("group_id", whole(|(row, _)| row.group)),
        ("sample_id", whole(|(row, _)| row.sample)),
        ("split", splits(rows, LENGTH)),
        ("reward", number(|(row, _)| row.reward)),
        ("advantage", number(|(row, _)| row.advantage)),
        ("position", whole(|(_, t)| t as i64)),
        ("token_id", whole(|(row, t)| i64::from(row.ids[t]))),
        ("logprob", number(|(row, t)| row.logprobs[t])),
        ("entropy", number(|(row, t)| row.entropies[t])),
    ];
    write_parquet(path, columns, 2 * LENGTH - 1);
}

fn lines(rows: &[Row], path: &Path) {
    let line = |row: &Row| {
        let entropies: Vec<Value> =
            row.entropies.iter().map(|h| json!(h.is_finite().then_some(*h))).collect();
        let value = json!({
            "step": row.step, "group_id": row.group, "sample_id": row.sample, "split": row.split,
            "reward": row.reward, "advantage": row.advantage, "token_id": row.ids,
            "logprob": row.logprobs, "entropy": entropies,
        });
        format!("{value}\n")
    };
    std::fs::write(path, rows.iter().map(line).collect::<String>()).unwrap();
}

type Writer = fn(&[Row], &Path);
const LAYOUTS: [(&str, Writer); 3] =
    [("nested.parquet", nested), ("long.parquet", long), ("lines.jsonl", lines)];

fn settings() -> AnalyzeSettings {
    AnalyzeSettings { vocab_size: Some(100), ..Default::default() }
}

/// What is told of a run, beside where its rows are.
fn told(analysis: &RunAnalysis) -> Value {
    let mut whole = analysis.to_value().unwrap();
    // A log without evaluation has no held-out score to look at.
    let open = whole["diagnosis"]["not_checked"].as_array_mut().unwrap();
    open.retain(|cause| cause["code"] != "held_out_falls");
    let fields = ["totals", "steps", "taxonomy", "quality", "diagnosis", "verdict"];
    fields.iter().map(|field| whole[*field].clone()).collect()
}

/// The notes on how the log was read.
fn notes(analysis: &RunAnalysis) -> Vec<&str> {
    let notes = analysis.warnings.iter().filter(|warning| warning.code.name() == "ingest_note");
    notes.map(|warning| warning.message.as_str()).collect()
}

fn in_folder(work: impl Fn(&dyn Fn(&str, &[Row], Writer) -> PathBuf)) {
    let folder = tempfile::tempdir().unwrap();
    work(&|name, rows, write| {
        let path = folder.path().join(name);
        write(rows, &path);
        path
    });
}

#[test]
fn evaluation_is_left_out_in_every_layout() {
    in_folder(|write| {
        for (name, layout) in LAYOUTS {
            let (alone, both) = (training(Some("train")), with_evaluation(&training(Some("train"))));
            let alone = analyzed(&[write(&format!("alone-{name}"), &alone, layout)], &settings());
            let path = write(&format!("both-{name}"), &both, layout);
            let both = analyzed(std::slice::from_ref(&path), &settings());
            assert_eq!(told(&both), told(&alone), "{name}");
            assert_eq!(both.provenance.evaluation_responses, Some(8), "{name}");
            assert_eq!(both.provenance.repeated_ids, None, "{name}");
            let expected = ["left out: 8 responses of evaluation (`split`), from which nothing is learned"];
            assert_eq!(notes(&both), expected, "{name}");
            assert_eq!(notes(&alone), Vec::<&str>::new(), "{name}");

            let run = open(&[path], 2);
            let compared = analyze_for_comparison(&run, &settings(), &Silent).unwrap();
            assert_eq!(compared.totals, alone.totals, "{name}");
            let folder = tempfile::tempdir().unwrap();
            let cache = Cache::open(folder.path()).unwrap();
            for _ in 0..2 {
                let (cached, ..) = analyze_cached(&run, &settings(), &cache, &Silent).unwrap();
                assert_eq!(cached.to_json().unwrap(), both.to_json().unwrap(), "{name}");
            }
        }
    });
}

/// Other names, and none at all, are of training.
#[test]
fn only_evaluation_is_left_out() {
    in_folder(|write| {
        for (name, layout) in LAYOUTS {
            let plain = training(None);
            let mut named = plain.clone();
            named.iter_mut().step_by(2).for_each(|row| row.split = Some("tests-of-units"));
            named[1].split = Some("rollout");
            let plain = analyzed(&[write(&format!("plain-{name}"), &plain, layout)], &settings());
            let named = analyzed(&[write(&format!("named-{name}"), &named, layout)], &settings());
            assert_eq!(told(&named), told(&plain), "{name}");
            assert_eq!(named.totals.responses, 24, "{name}");
            assert_eq!(named.provenance.evaluation_responses, None, "{name}");
        }
    });
}

#[test]
fn a_log_of_evaluation_alone_is_analysed_and_that_is_said() {
    in_folder(|write| {
        for (name, layout) in LAYOUTS {
            let trained =
                analyzed(&[write(&format!("train-{name}"), &training(Some("train")), layout)], &settings());
            let found =
                analyzed(&[write(&format!("eval-{name}"), &training(Some("eval")), layout)], &settings());
            assert_eq!(told(&found), told(&trained), "{name}");
            assert_eq!(found.provenance.evaluation_responses, None, "{name}");
            let said = "`split` says of every response that it is of evaluation";
            assert!(notes(&found).iter().any(|note| note.starts_with(said)), "{name}: {:?}", notes(&found));
        }
    });
}

/// What a sink is given: step, group, sample, reward and tokens of each response.
type Seen = Vec<(i64, String, String, u32, usize)>;

#[derive(Default)]
struct Gathering {
    asked: Seen,
    held_out: Seen,
}

fn seen(responses: &ResponseColumns, i: usize, tokens: usize) -> (i64, String, String, u32, usize) {
    let id = |column| responses.ids.get(column).map(|ids| ids[i].to_string()).unwrap_or_default();
    let reward = responses.floats.get(Column::Reward).map_or(f32::NAN, |rewards| rewards[i]);
    (responses.step[i], id(Column::GroupId), id(Column::SampleId), reward.to_bits(), tokens)
}

impl Sink for Gathering {
    fn accept(&mut self, batch: &TokenBatch) -> Result<()> {
        let those = (0..batch.len()).map(|i| seen(&batch.responses, i, batch.range(i).len()));
        self.asked.extend(those);
        Ok(())
    }

    fn held_out(&mut self, responses: &HeldOut) -> Result<()> {
        assert!((0..responses.len()).all(|i| responses.responses.is_evaluation(i)));
        let those = (0..responses.len()).map(|i| seen(&responses.responses, i, responses.lengths[i]));
        self.held_out.extend(those);
        Ok(())
    }
}

/// A quarter of the rows are of evaluation; in the long layout some of them lie across units.
#[test]
fn a_sink_is_given_every_response_of_evaluation_once_and_apart() {
    in_folder(|write| {
        for (name, layout) in LAYOUTS {
            let rows = with_evaluation(&training(Some("train")));
            let path = write(name, &rows, layout);
            for (threads, unit_tokens, steps) in [(1, 0, None), (3, 1, None), (2, 1, Some("2..4"))] {
                let steps: Option<StepRange> = steps.map(|steps| steps.parse().unwrap());
                let reading =
                    IngestSettings { threads, unit_tokens, steps, training_only: true, ..Default::default() };
                let run = Run::open(std::slice::from_ref(&path), &reading).unwrap();
                let wanted = [Column::Reward, Column::Logprob];
                let sinks = scan(&run, &wanted, &Silent, Gathering::default).unwrap().sinks;
                let all = |of: fn(&Gathering) -> &Seen| {
                    let mut all: Seen = sinks.iter().flat_map(of).cloned().collect();
                    all.sort();
                    all
                };
                let expected = |is_evaluation: bool| {
                    let asked = |row: &&Row| steps.is_none_or(|_| (2..=4).contains(&row.step));
                    let rows = rows.iter().filter(asked);
                    let rows = rows.filter(|row| (row.split != Some("train")) == is_evaluation);
                    let ids = |row: &Row| (row.step, row.group.to_string(), row.sample.to_string());
                    let mut rows: Seen = rows
                        .map(|row| (ids(row), row.reward.to_bits()))
                        .map(|((step, group, sample), reward)| (step, group, sample, reward, LENGTH))
                        .collect();
                    rows.sort();
                    rows
                };
                assert_eq!(all(|sink| &sink.asked), expected(false), "{name} {threads} {steps:?}");
                assert_eq!(all(|sink| &sink.held_out), expected(true), "{name} {threads} {steps:?}");
                assert!(!expected(true).is_empty());
            }
        }
    });
}
