//! Every log format, from a file with the framework's own field names to values on the right
//! response tokens.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod prime_rl;
mod texts;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::support::{float_lists, int_lists, ints, write_parquet};
use arrow_array::{ArrayRef, StringArray};
use stapo_analyze::Error;
use stapo_analyze::ingest::{Column, Id, IngestSettings, ListAlignment, Run, Silent, TokenBatch, read_all};

/// Logs of one test.
struct Logs(tempfile::TempDir);

impl Logs {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

/// A response of the token stream.
#[derive(Debug)]
struct Response {
    batch: TokenBatch,
    i: usize,
}

impl Response {
    fn step(&self) -> i64 {
        self.batch.responses.step[self.i]
    }

    fn id(&self, column: Column) -> String {
        self.batch.ids(column).map_or(Id::Missing, |ids| ids[self.i].clone()).to_string()
    }

    fn number(&self, column: Column) -> Option<f32> {
        self.batch.responses.floats.get(column).map(|v| v[self.i]).filter(|v| !v.is_nan())
    }

    fn part(&self, name: &str) -> Option<f32> {
        let parts = &self.batch.responses.reward_parts;
        parts.iter().find(|(n, _)| &**n == name).map(|(_, v)| v[self.i])
    }

    fn text(&self, column: Column) -> Option<String> {
        self.batch.responses.texts.get(column)?[self.i].as_ref().map(ToString::to_string)
    }

    fn prompt(&self) -> Vec<i32> {
        let prompts = self.batch.responses.prompt_ids.as_ref().expect("prompts");
        prompts[self.i].as_ref().expect("a prompt").to_vec()
    }

    fn tokens(&self) -> Vec<i32> {
        self.batch.token_ids().expect("token ids")[self.batch.range(self.i)].to_vec()
    }

    fn token_texts(&self) -> Vec<String> {
        self.batch.range(self.i).map(|t| self.batch.token_text(t).unwrap_or("?").to_owned()).collect()
    }

    fn mask(&self) -> Vec<u8> {
        self.batch.mask().expect("a mask")[self.batch.range(self.i)].to_vec()
    }

    fn ints(&self, column: Column) -> Vec<i32> {
        self.batch.tokens.ints.get(column).expect("the column")[self.batch.range(self.i)].to_vec()
    }

    /// Values of a token column; missing ones are 99.
    fn values(&self, column: Column) -> Vec<f32> {
        let all = self.batch.floats(column).unwrap_or_else(|| panic!("no {column}"));
        all[self.batch.range(self.i)].iter().map(|v| if v.is_nan() { 99.0 } else { *v }).collect()
    }

    fn has(&self, column: Column) -> bool {
        self.batch.floats(column).is_some()
    }
}

const NONE: f32 = 99.0;

fn read_with(paths: &[PathBuf], settings: &IngestSettings) -> Vec<Response> {
    let batches = read_all(paths, settings).unwrap();
    let each = |batch: TokenBatch| (0..batch.len()).map(move |i| Response { batch: batch.clone(), i });
    batches.into_iter().flat_map(each).collect()
}

fn read(path: &Path) -> Vec<Response> {
    read_with(&[path.to_owned()], &IngestSettings::default())
}

fn framework(path: &Path) -> &'static str {
    Run::open(&[path.to_owned()], &IngestSettings::default()).unwrap().mappings[0].dialect.name()
}

fn texts(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

fn refusal(path: &Path) -> Error {
    read_all(&[path.to_owned()], &IngestSettings::default()).expect_err("a refusal")
}

#[test]
fn older_verifiers_results() {
    let logs = Logs::new();
    let row = r#"{"example_id":5,"prompt":[{"role":"user"}],"completion":[],"reward":1.0,"trajectory":[{"tokens":{"prompt_ids":[1],"prompt_mask":[0],"completion_ids":[2,3],"completion_mask":[1,1],"completion_logprobs":[-0.2,-0.3]}}]}"#;
    let responses = read(&logs.write("results.jsonl", row));
    assert_eq!(responses[0].tokens(), [2, 3]);
    assert_eq!(responses[0].prompt(), [1]);
    assert_eq!(responses[0].values(Column::Logprob), [-0.2, -0.3]);
    assert_eq!(responses[0].id(Column::GroupId), "5");
    assert_eq!(responses[0].number(Column::Reward), Some(1.0));
}

fn nemo(prev: &str, sample: u8) -> String {
    format!(
        r#"{{"content":["text"],"rewards":[1.0],"input_lengths":[6],"token_ids":[[1,2,3,4,5,6,0,0]],"token_loss_mask":[[0,0,1,0,1,1,0,0]],"sample_loss_mask":[{sample}.0],"advantages":[[0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5]],"generation_logprobs":[[0.0,0.0,-0.1,0.0,-0.2,-0.3,0.0,0.0]],"prev_logprobs":[[{prev}]],"idx":3}}"#
    )
}

#[test]
fn nemo_rl_train_data() {
    let logs = Logs::new();
    let good = "0.0,-3.0,-0.4,-9.0,-0.5,-0.6,0.0,0.0";
    let rows = format!("{}\n{}\n", nemo(good, 1), nemo(good, 0));
    let responses = read(&logs.write("train_data_step7.jsonl", rows));
    let r = &responses[0];
    assert_eq!((r.step(), r.id(Column::SampleId).as_str()), (7, "3"));
    assert_eq!(r.number(Column::Reward), Some(1.0));
    assert_eq!(r.prompt(), [1, 2]);
    assert_eq!(r.tokens(), [3, 4, 5, 6]);
    assert_eq!(r.mask(), [1, 0, 1, 1]);
    assert_eq!(r.values(Column::Logprob), [-0.4, -9.0, -0.5, -0.6]);
    assert_eq!(r.values(Column::LogprobRollout), [-0.1, NONE, -0.2, -0.3]);
    assert_eq!(r.values(Column::Advantage), [0.5; 4]);
    assert_eq!(responses[1].tokens(), [3, 4, 5, 6]);
    assert_eq!(responses[1].mask(), [0; 4], "the flag of the sample counts");
}

#[test]
fn nemo_rl_zeros_are_not_certainty() {
    let logs = Logs::new();
    let row = nemo("0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0", 1) + "\n";
    let path = logs.write("train_data_step8.jsonl", row.repeat(4));
    let responses = read(&path);
    assert_eq!(responses[0].values(Column::Logprob), [-0.1, NONE, -0.2, -0.3]);
    assert!(!responses[0].has(Column::LogprobRollout));
    let notes = Run::open(&[path], &IngestSettings::default()).unwrap().notes.join("\n");
    assert!(notes.contains("zero everywhere"), "{notes}");
}

#[test]
fn open_instruct_rollouts() {
    let logs = Logs::new();
    let row = |sample: u8, reward: f32| {
        format!(
            r#"{{"step":9,"sample_idx":{sample},"prompt_idx":2,"prompt_tokens":[1,2],"response_tokens":[3,4,5],"reward":{reward},"advantage":0.25,"finish_reason":"stop","dataset":"math","ground_truth":"4","request_info":{{"n":1}},"logprobs":[-0.1,-0.2,NaN]}}"#
        )
    };
    let path = logs.write("run_rollouts_000003.jsonl", format!("{}\n{}\n", row(0, 1.0), row(1, 0.0)));
    let responses = read(&path);
    let r = &responses[1];
    assert_eq!((r.step(), r.id(Column::GroupId), r.id(Column::SampleId)), (9, "2".into(), "1".into()));
    assert_eq!((r.prompt(), r.tokens()), (vec![1, 2], vec![3, 4, 5]));
    assert_eq!(r.values(Column::Logprob), [-0.1, -0.2, NONE]);
    assert_eq!((r.number(Column::Reward), r.number(Column::AdvantageSeq)), (Some(0.0), Some(0.25)));
    assert_eq!(r.batch.advantages().unwrap()[0], 0.25);
    assert_eq!(r.text(Column::FinishReason).as_deref(), Some("stop"));
}

#[test]
fn rl_logging_board() {
    let logs = Logs::new();
    let row = r#"{"step":3,"prompt":"p","response":"ab","response_tokens":["a","b"],"logprobs":[-0.1,-0.2],"ref_logprobs":[-1,-2],"token_rewards":[0,1],"values":[0.5,0.25],"reward":1.0}"#;
    let path = logs.write("rollout_samples/run/data.jsonl", row);
    let responses = read(&path);
    let r = &responses[0];
    assert_eq!((r.step(), r.token_texts()), (3, vec!["a".into(), "b".into()]));
    assert_eq!(r.values(Column::Logprob), [-0.1, -0.2]);
    assert_eq!(r.values(Column::LogprobRef), [-1.0, -2.0]);
    assert_eq!(r.values(Column::TokenReward), [0.0, 1.0]);
    assert_eq!(r.values(Column::Value), [0.5, 0.25]);
    assert!(!r.has(Column::LogprobRollout));
    assert_eq!(framework(&path), "RLLoggingBoard");
}

#[test]
fn roll_logging_board() {
    let logs = Logs::new();
    let row = r#"{"step":4,"prompt":"p","response":"ab","response_tokens":["a","b","<pad>","<pad>"],"logprobs":[-0.1,-0.2,0],"log_probs2":[-0.1,-0.2,0],"ref_logprobs":[-1,-2,0],"old_log_probs2_entropy":[0.5,0.75,0],"new_response_mask":[1,1,0],"token_rewards":[0,1,0],"values":[0,1,0],"reward":1.0}"#;
    let responses = read(&logs.write("board/data_20260101.jsonl", row));
    let r = &responses[0];
    assert_eq!((r.step(), r.token_texts()), (4, vec!["a".into(), "b".into()]));
    assert_eq!(r.values(Column::Logprob), [-0.1, -0.2]);
    assert_eq!(r.values(Column::Entropy), [0.5, 0.75]);
    assert_eq!(r.values(Column::TokenReward), [0.0, 1.0]);
    assert!(!r.has(Column::Value), "ROLL's values are its token rewards");
}

#[test]
fn atropos_groups() {
    let logs = Logs::new();
    let row = r#"{"tokens":[[1,2,3,4],[1,2,5]],"masks":[[-100,-100,3,4],[-100,-100,5]],"scores":[1.0,0.0],"inference_logprobs":[[1.0,1.0,-0.1,-0.2],[1.0,1.0,-0.3]],"advantages":[[0,0,0.5,0.5],[0,0,-0.5]],"ref_logprobs":null}"#;
    let path = logs.write("groups.jsonl", format!("{row}\n{row}\n"));
    let responses = read(&path);
    assert_eq!(responses.len(), 4);
    let groups: Vec<_> = responses.iter().map(|r| r.id(Column::GroupId)).collect();
    assert!(groups[0] == groups[1] && groups[1] != groups[2] && groups[2] == groups[3], "{groups:?}");
    let r = &responses[1];
    assert_eq!((r.prompt(), r.tokens(), r.mask()), (vec![1, 2], vec![5], vec![1]));
    assert_eq!(responses[0].values(Column::Logprob), [-0.1, -0.2]);
    assert_eq!(responses[0].values(Column::Advantage), [0.5, 0.5]);
    assert_eq!(responses[0].number(Column::Reward), Some(1.0));
}

#[test]
fn tinker_captures() {
    let logs = Logs::new();
    for (file, tokens) in [("a/capture/sample.jsonl", "sampled_tokens"), ("b/capture/sample.jsonl", "tokens")]
    {
        let row = format!(
            r#"{{"run_id":"r","run_attempt":0,"split":"train","iteration":6,"group_idx":2,"traj_idx":1,"purpose":"policy","seq_id":5,"sample_idx":0,"policy_version":"v","created_at":1.5,"prompt_tokens":[1],"{tokens}":[2,3],"logprobs":[-0.1,-0.2],"metadata":{{}}}}"#
        );
        let responses = read(&logs.write(file, row));
        let r = &responses[0];
        assert_eq!(
            (r.step(), r.id(Column::GroupId), r.id(Column::SampleId)),
            (6, "2".into(), "2-1-5-0".into())
        );
        assert_eq!((r.prompt(), r.tokens()), (vec![1], vec![2, 3]));
        assert_eq!(r.values(Column::Logprob), [-0.1, -0.2]);
        assert_eq!(r.text(Column::Split).as_deref(), Some("train"));
    }
}

#[test]
fn miles_dashboard_columns() {
    let logs = Logs::new();
    let path = logs.path("dashboard_columns/rollout_9.parquet");
    let columns = vec![
        ("sample_index", ints(&[4, 5])),
        ("response_length", ints(&[3, 1])),
        ("total_length", ints(&[5, 4])),
        ("tokens", int_lists(&[&[1, 2, 3, 4, 5], &[1, 2, 6, 7]])),
        ("loss_mask", int_lists(&[&[1, 0, 1], &[1]])),
        ("rollout_log_probs", float_lists(&[&[-0.1, -0.2, -0.3], &[-0.4]])),
    ];
    write_parquet(&path, columns, 8);
    let responses = read(&path);
    let r = &responses[0];
    assert_eq!((r.step(), r.id(Column::SampleId).as_str()), (9, "4"));
    assert_eq!((r.prompt(), r.tokens(), r.mask()), (vec![1, 2], vec![3, 4, 5], vec![1, 0, 1]));
    assert_eq!(r.values(Column::Logprob), [-0.1, -0.2, -0.3]);
    assert_eq!((responses[1].prompt(), responses[1].tokens()), (vec![1, 2, 6], vec![7]));
    assert_eq!(framework(&path), "miles");
}

#[test]
fn areal_tensors_before_and_after_the_roll() {
    let logs = Logs::new();
    let raw =
        r#"{"input_ids":[1,2,3,4],"loss_mask":[0,0,1,1],"logprobs":[0,0,-0.1,-0.2],"rewards":1.0,"step":1}"#;
    let responses = read(&logs.write("raw.jsonl", raw));
    assert_eq!((responses[0].prompt(), responses[0].tokens()), (vec![1, 2], vec![3, 4]));
    assert_eq!(responses[0].values(Column::Logprob), [-0.1, -0.2]);

    // `compute_advantages` rolls mask and values by one; tensors of L − 1 values mean the same.
    let rolled = r#"{"input_ids":[1,2,3,4],"loss_mask":[0,1,1,0],"prox_logp":[0,-0.3,-0.4,0],"entropy":[1,0.3,0.4,1],"step":1}"#;
    let shorter = r#"{"input_ids":[1,2,3,4],"loss_mask":[0,1,1],"prox_logp":[0,-0.3,-0.4],"entropy":[1,0.3,0.4],"step":1}"#;
    let settings = IngestSettings { alignment: Some(ListAlignment::Shifted), ..IngestSettings::default() };
    for (name, row) in [("rolled.jsonl", rolled), ("shorter.jsonl", shorter)] {
        let responses = read_with(&[logs.write(name, row)], &settings);
        let r = &responses[0];
        assert_eq!((r.prompt(), r.tokens(), r.mask()), (vec![1, 2], vec![3, 4], vec![1, 1]), "{name}");
        assert_eq!(r.values(Column::Logprob), [-0.3, -0.4], "{name}");
        assert_eq!(r.values(Column::Entropy), [0.3, 0.4], "{name}");
    }
}

#[test]
fn verl_rollouts_with_added_token_columns() {
    let logs = Logs::new();
    let row = r#"{"input":"q","output":"a","gts":"4","score":1.0,"step":2,"uid":"ab_c_0_3","responses":[7,8,9],"response_mask":[1,0,1],"old_log_probs":[-0.1,-0.2,-0.3],"rollout_log_probs":[-0.4,0.0,-0.6],"entropy":[0.1,0.2,0.3],"advantages":[1,1,1]}"#;
    let responses = read(&logs.write("2.jsonl", row));
    let r = &responses[0];
    assert_eq!((r.step(), r.id(Column::GroupId).as_str()), (2, "ab_c"));
    assert_eq!((r.tokens(), r.mask()), (vec![7, 8, 9], vec![1, 0, 1]));
    assert_eq!(r.values(Column::Logprob), [-0.1, -0.2, -0.3]);
    assert_eq!(r.values(Column::Entropy), [0.1, 0.2, 0.3]);
    assert_eq!(r.number(Column::Reward), Some(1.0));
}

#[test]
fn compressed_lines_read_the_same() {
    let logs = Logs::new();
    let rows = nemo("0.0,-3.0,-0.4,-9.0,-0.5,-0.6,0.0,0.0", 1) + "\n";
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(rows.as_bytes()).unwrap();
    let paths = [
        logs.write("a/train_data_step7.jsonl", &rows),
        logs.write("b/train_data_step7.jsonl.gz", gz.finish().unwrap()),
        logs.write("c/train_data_step7.jsonl.zst", zstd::encode_all(rows.as_bytes(), 3).unwrap()),
    ];
    for path in &paths {
        let responses = read(path);
        assert_eq!((responses[0].step(), responses[0].tokens()), (7, vec![3, 4, 5, 6]), "{}", path.display());
    }
}

#[test]
fn pickles_are_refused_with_their_converter() {
    let logs = Logs::new();
    let cases = [
        ("rollout_data/3.pt", "slime_to_parquet.py"),
        ("train_data/3_0.pt", "slime_to_parquet.py"),
        ("12/gen_batch.dp", "verl_dataproto_to_parquet.py"),
        ("12/tq_batch.pt", "verl_dataproto_to_parquet.py"),
        ("dumped_data/global_step_4_training_input.pkl", "skyrl_to_parquet.py"),
        ("buffer_step00017.pkl", "oat_to_parquet.py"),
    ];
    for (name, converter) in cases {
        let error = refusal(&logs.write(name, b"PK"));
        let hint = error.hint().unwrap();
        assert!(matches!(error, Error::Pickle { .. }) && hint.contains(converter), "{name}: {hint}");
        let script = hint.split_whitespace().find(|w| w.ends_with(".py")).unwrap();
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(script).exists(), "{script} is not there");
    }
}

#[test]
fn broken_lines_name_file_and_line() {
    let logs = Logs::new();
    let good = nemo("0.0,-3.0,-0.4,-9.0,-0.5,-0.6,0.0,0.0", 1);
    let cut = logs.write("train_data_step1.jsonl", format!("{good}\n{}", &good[..40]));
    let error = refusal(&cut).to_string();
    assert!(error.contains("train_data_step1.jsonl") && error.contains("line 2"), "{error}");
    let uneven = good.replace(r#""advantages":[[0.5,"#, r#""advantages":[["#);
    let error = refusal(&logs.write("train_data_step2.jsonl", uneven)).to_string();
    assert!(
        error.contains("line 1") && error.contains("`advantages`") && error.contains("7 values"),
        "{error}"
    );
    let error = refusal(&logs.write("train_data_step3.jsonl", "")).to_string();
    assert!(error.contains("empty"), "{error}");
}
