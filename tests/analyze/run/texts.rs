//! Logs of texts and rewards: a run that is written as frameworks write texts has the state and the cause of its whole log,
//! where texts and rewards can show them.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use serde_json::json;
use stapo_analyze::analyze::result::{Confidence, RunState};
use stapo_analyze::analyze::{AnalyzeSettings, PartialAnalysis, analyze_partial, is_partial};
use stapo_analyze::ingest::{Column, IngestSettings, Run, Silent, TokenBatch, read_all};

use super::support::{floats, ints, sample, write_parquet};

fn analysis(paths: &[PathBuf], settings: &IngestSettings) -> PartialAnalysis {
    let run = Run::open(paths, settings).unwrap();
    assert!(is_partial(&run));
    analyze_partial(&run, &AnalyzeSettings::default(), None, &Silent).unwrap()
}

fn of(folder: &Path) -> PartialAnalysis {
    analysis(&[folder.to_owned()], &IngestSettings::default())
}

fn likely(analysis: &PartialAnalysis) -> Vec<&str> {
    let causes = analysis.diagnosis.causes.iter().filter(|cause| cause.confidence == Confidence::Likely);
    causes.map(|cause| cause.code.name()).collect()
}

/// One response of a log of tokens.
struct Response<'a> {
    batch: &'a TokenBatch,
    i: usize,
}

impl Response<'_> {
    fn group(&self) -> String {
        self.batch.ids(Column::GroupId).unwrap()[self.i].to_string()
    }

    fn text(&self) -> String {
        let ids = &self.batch.token_ids().unwrap()[self.batch.range(self.i)];
        ids.iter().map(|id| format!("w{id}")).collect::<Vec<_>>().join(" ")
    }

    fn number(&self, column: Column) -> f32 {
        self.batch.responses.floats.get(column).map_or(f32::NAN, |values| values[self.i])
    }

    fn advantage(&self) -> f32 {
        let of_tokens = self.batch.advantages().map(|all| all[self.batch.range(self.i)].to_vec());
        of_tokens.into_iter().flatten().find(|a| !a.is_nan()).unwrap_or(f32::NAN)
    }

    fn parts(&self) -> Vec<(String, f32)> {
        let parts = &self.batch.responses.reward_parts;
        parts.iter().map(|(name, values)| (name.to_string(), values[self.i])).collect()
    }

    fn word(&self, column: Column) -> Option<String> {
        self.batch.responses.texts.get(column)?[self.i].as_deref().map(str::to_owned)
    }
}

/// Writes a run as verl and TRL would; each response once, whatever the number of its updates.
fn write_as_texts(log: &Path, verl: &Path, trl: &Path) {
    let batches = read_all(&[log.to_owned()], &IngestSettings::default()).unwrap();
    let mut steps: BTreeMap<i64, Vec<Response<'_>>> = BTreeMap::new();
    let mut seen = std::collections::BTreeSet::new();
    for batch in &batches {
        for i in 0..batch.len() {
            let id = |column| batch.ids(column).map(|ids| ids[i].clone());
            let key = (batch.responses.step[i], id(Column::GroupId), id(Column::SampleId));
            if key.2.is_none() || seen.insert(key) {
                steps.entry(batch.responses.step[i]).or_default().push(Response { batch, i });
            }
        }
    }
    for (step, responses) in steps {
        let mut file = std::fs::File::create(verl.join(format!("{step}.jsonl"))).unwrap();
        for response in &responses {
            let mut line = json!({
                "input": format!("question {}", response.group()), "output": response.text(), "gts": null,
                "score": response.number(Column::Reward), "step": step,
            });
            for (name, value) in response.parts() {
                line[name] = json!(value);
            }
            for (name, column) in [("data_source", Column::Source), ("finish_reason", Column::FinishReason)] {
                line[name] = json!(response.word(column));
            }
            writeln!(file, "{line}").unwrap();
        }
        let texts = |of: &dyn Fn(&Response<'_>) -> String| -> ArrayRef {
            Arc::new(responses.iter().map(|response| Some(of(response))).collect::<StringArray>())
        };
        let mut columns = vec![
            ("step", ints(&vec![step; responses.len()])),
            ("prompt", texts(&|response| format!("question {}", response.group()))),
            ("completion", texts(&Response::text)),
        ];
        let functions = match responses[0].parts().is_empty() {
            true => {
                vec![("reward_func".to_owned(), responses.iter().map(|r| r.number(Column::Reward)).collect())]
            }
            false => {
                let names = responses[0].parts().into_iter().map(|(name, _)| name);
                let values = |at: usize| responses.iter().map(|r| r.parts()[at].1).collect::<Vec<_>>();
                names.enumerate().map(|(at, name)| (name, values(at))).collect()
            }
        };
        for (name, values) in &functions {
            columns.push((name, floats(values)));
        }
        let advantages: Vec<f32> = responses.iter().map(Response::advantage).collect();
        columns.push(("advantage", floats(&advantages)));
        write_parquet(&trl.join(format!("completions_{step:05}.parquet")), columns, 4096);
    }
}

/// Log, state and cause as texts can show them: verl's has no advantages, TRL's has them.
const LABELLED: &[(&str, RunState, &str, &str)] = &[
    ("real/healthy.parquet", RunState::Healthy, "", ""),
    ("real/healthy_two_turns_lag1.parquet", RunState::Healthy, "", ""),
    ("real/arms/grpo_1.parquet", RunState::Healthy, "", ""),
    ("real/coin_json.parquet", RunState::Damaged, "uninformative_reward", "uninformative_reward"),
    ("ward/healthy.parquet", RunState::Healthy, "", ""),
    ("ward/hacked.parquet", RunState::Collapsed, "reward_hacking", "reward_hacking"),
    ("ward/noise.parquet", RunState::Damaged, "uninformative_reward", "uninformative_reward"),
];

#[test]
fn texts_tell_what_their_whole_log_tells() {
    let mut wrong = Vec::new();
    for (log, state, of_verl, of_trl) in LABELLED {
        let folder = tempfile::tempdir().unwrap();
        let (verl, trl) = (folder.path().join("verl"), folder.path().join("trl"));
        std::fs::create_dir_all(&verl).unwrap();
        std::fs::create_dir_all(&trl).unwrap();
        write_as_texts(&sample(log), &verl, &trl);
        for (form, cause) in [(&verl, of_verl), (&trl, of_trl)] {
            let found = of(form);
            let causes = likely(&found);
            let named = if cause.is_empty() { causes.is_empty() } else { causes.contains(cause) };
            if found.diagnosis.state != *state || !named {
                wrong.push(format!("{log} as {}: {:?} {causes:?}", form.display(), found.diagnosis.state));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
