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
fn write_as_texts(log: &Path, (verl, trl): (&Path, &Path), parts_make_it: bool) {
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
            ("completion", texts(&|response| response.text())),
        ];
        let functions = match responses[0].parts().is_empty() || !parts_make_it {
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

/// Log, state, likely causes as texts can show them (verl's has no advantages, TRL's has them), and whether the parts make the
/// reward: TRL's functions do.
const LABELLED: &[(&str, RunState, &str, &str, bool)] = &[
    ("real/healthy.parquet", RunState::Healthy, "", "", true),
    ("real/healthy_two_turns_lag1.parquet", RunState::Healthy, "", "", true),
    ("real/arms/grpo_1.parquet", RunState::Healthy, "", "", true),
    ("real/coin_json.parquet", RunState::Damaged, "uninformative_reward", "", false),
    ("ward/healthy.parquet", RunState::Healthy, "", "", true),
    ("ward/hacked.parquet", RunState::Collapsed, "reward_hacking", "reward_hacking", true),
    ("ward/noise.parquet", RunState::Damaged, "uninformative_reward", "", false),
];

#[test]
fn texts_tell_what_their_whole_log_tells() {
    let mut wrong = Vec::new();
    for (log, state, of_verl, of_trl, parts_make_it) in LABELLED {
        let folder = tempfile::tempdir().unwrap();
        let (verl, trl) = (folder.path().join("verl"), folder.path().join("trl"));
        std::fs::create_dir_all(&verl).unwrap();
        std::fs::create_dir_all(&trl).unwrap();
        write_as_texts(&sample(log), (&verl, &trl), *parts_make_it);
        for (form, cause) in [(&verl, of_verl), (&trl, of_trl)] {
            let found = of(form);
            let causes = likely(&found);
            let named = if cause.is_empty() { causes.is_empty() } else { causes.contains(cause) };
            // Where parts do not make the reward, TRL's log has nothing that was lost.
            let shows = form == &verl || *parts_make_it;
            if shows && found.diagnosis.state != *state || !named {
                wrong.push(format!("{log} as {}: {:?} {causes:?}", form.display(), found.diagnosis.state));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A small run of verl: five prompts of four responses a step; later more of them are right.
fn small(folder: &Path, steps: i64, extra: impl Fn(i64, usize) -> String) -> PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    for step in 1..=steps {
        let line = |at: usize| {
            let right = (at * 7 + 3) % 20 < usize::try_from(step).unwrap();
            let answer = if at.is_multiple_of(9) {
                "no no no no no no no no no no".to_owned()
            } else {
                format!("it is {at}")
            };
            format!(
                r#"{{"input":"q{}","output":"{answer}","gts":null,"score":{}{}}}"#,
                at / 4,
                f64::from(u8::from(right)),
                extra(step, at)
            )
        };
        let lines: Vec<String> = (0..20).map(line).collect();
        std::fs::write(folder.join(format!("{step}.jsonl")), lines.join("\n")).unwrap();
    }
    folder.to_owned()
}

#[test]
fn what_texts_say_is_told_and_what_they_do_not_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let log = small(&folder.path().join("train"), 16, |_, at| {
        format!(
            r#","finish_reason":"{}","level":{}"#,
            ["stop", "length", "timeout"][usize::from(at == 1) + 2 * usize::from(at == 2)],
            at % 2
        )
    });
    let found = of(&log);
    // It learns; what timed out is trained on all the same.
    assert_eq!(found.diagnosis.state, RunState::Suspicious, "{}", found.diagnosis.sentence);
    assert_eq!(likely(&found), ["failures_trained"]);
    assert_eq!((found.totals.responses, found.totals.groups), (320, Some(80)));
    assert_eq!(found.partial.missing_columns, ["logprob", "entropy", "advantage"]);
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["partial"]["texts_in"], "characters");
    let hint = &found.partial.hint;
    assert!(
        hint.contains("verl") && hint.contains("`logprob`") && hint.contains("stapo_analyze.verl"),
        "{hint}"
    );
    assert!(!found.verdict.health.contains("Only a part"), "{}", found.verdict.health);
    // Groups by their rewards, pass@k, cut responses, loops.
    let groups = found.answers.groups.as_ref().unwrap();
    assert!(groups.pass_at.contains_key(&4) && groups.counts.dead > 0 && groups.counts.dead < 80);
    let truncated = found.answers.truncated.as_ref().unwrap();
    assert_eq!((truncated.responses, truncated.known), (16, 16 * 19));
    let repetition = found.answers.repetition.as_ref().unwrap();
    assert_eq!(repetition.looping, 16 * 3);
    assert_eq!(found.answers.slices["finish_reason"].len(), 3);
    // Nothing stands for what is not known.
    assert!(found.totals.mean_prob.is_none() && found.steps.iter().all(|step| step.mean_prob.is_none()));
    assert!(found.answers.slices["finish_reason"].iter().all(|row| row.mean_prob.is_none()));
    let open: Vec<&str> = found.diagnosis.not_checked.iter().map(|open| open.code.name()).collect();
    for cause in
        ["large_updates", "sampler_frozen", "entropy_consumed", "spurious_tokens", "duplicate_rollouts"]
    {
        assert!(open.contains(&cause), "{cause} is not said to be open: {open:?}");
    }
}

#[test]
fn held_out_rows_are_a_series_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let train = small(&folder.path().join("train"), 12, |_, _| String::new());
    let validation = small(&folder.path().join("val"), 12, |_, _| String::new());
    let settings = IngestSettings { held_out: vec![validation], ..IngestSettings::default() };
    let found = analysis(&[train], &settings);
    assert_eq!(found.totals.responses, 240);
    let named: Vec<_> = found.diagnosis.signals.iter().map(|signal| signal.name.to_string()).collect();
    assert!(named.iter().any(|name| name == "held_out"), "{named:?}");
}

#[test]
fn the_weights_of_functions_are_those_that_the_advantages_follow() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = 7_u64;
    let mut coin = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        f32::from(u8::from(random >> 63 == 1))
    };
    for step in 1..=8 {
        let (correct, format): (Vec<f32>, Vec<f32>) = (0..32).map(|_| (coin(), coin())).unzip();
        let rewards: Vec<f32> = correct.iter().zip(&format).map(|(c, f)| c + 0.25 * f).collect();
        let advantages: Vec<f32> = rewards
            .chunks(8)
            .flat_map(|group| {
                let mean = group.iter().sum::<f32>() / 8.0;
                let deviation = (group.iter().map(|r| (r - mean).powi(2)).sum::<f32>() / 7.0).sqrt() + 1e-4;
                group.iter().map(move |r| (r - mean) / deviation).collect::<Vec<_>>()
            })
            .collect();
        let texts = |of: &dyn Fn(usize) -> String| -> ArrayRef {
            Arc::new((0..32).map(|at| Some(of(at))).collect::<StringArray>())
        };
        let columns = vec![
            ("step", ints(&[step; 32])),
            ("prompt", texts(&|at| format!("q{}", at / 8))),
            ("completion", texts(&|at| format!("a{at}"))),
            ("correct", floats(&correct)),
            ("format", floats(&format)),
            ("advantage", floats(&advantages)),
        ];
        write_parquet(&folder.path().join(format!("completions_{step:05}.parquet")), columns, 64);
    }
    let run = Run::open(&[folder.path().to_owned()], &IngestSettings::default()).unwrap();
    assert!(run.notes.iter().any(|note| note.contains("1.000 correct + 0.250 format")), "{:?}", run.notes);
    let found = of(folder.path());
    let (mean, parts) = (found.totals.mean_reward.unwrap(), &found.answers.reward_parts);
    assert!((mean - parts[0].mean - 0.25 * parts[1].mean).abs() < 1e-6, "{mean} {parts:?}");
    assert!(!likely(&found).contains(&"advantage_contradicts_reward"));
}
