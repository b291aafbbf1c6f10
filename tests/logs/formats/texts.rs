//! Logs of texts and rewards: what frameworks write without a patch.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, ListArray, StructArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field};
use stapo_analyze::Error;
use stapo_analyze::ingest::{Column, IngestSettings, Run, read_all};

use super::{Logs, Response, refusal, texts};
use crate::support::{floats, ints, write_parquet};

/// All responses of a log.
fn responses(paths: &[std::path::PathBuf]) -> Vec<Response> {
    let batches = read_all(paths, &IngestSettings::default()).unwrap();
    batches
        .into_iter()
        .flat_map(|batch| (0..batch.len()).map(move |i| Response { batch: batch.clone(), i }))
        .collect()
}

fn text_of(response: &Response) -> String {
    let ids = &response.batch.token_ids().unwrap()[response.batch.range(response.i)];
    ids.iter().map(|id| char::from_u32(id.cast_unsigned()).unwrap()).collect()
}

fn verl(prompt: &str, answer: &str, score: f64, rest: &str) -> String {
    format!(r#"{{"input":"{prompt}","output":"{answer}","gts":"4","score":{score}{rest}}}"#)
}

#[test]
fn a_folder_of_verl_is_one_run() {
    let logs = Logs::new();
    let first = [
        verl("q", "four €", 1.0, r#","step":1,"acc":true"#),
        verl("q", "5", 0.0, r#","step":1,"acc":false"#),
    ];
    logs.write("rollout/1.jsonl", first.join("\n"));
    // Without a column, the name says the step.
    logs.write("rollout/2.jsonl", verl("other", "4", 1.0, r#","acc":true,"level":3"#));
    logs.write("rollout/10.jsonl", verl("q", "", 1.0, r#","acc":null,"uid":"a_0_1""#));
    let found = responses(&[logs.path("rollout")]);
    assert_eq!(found.iter().map(Response::step).collect::<Vec<_>>(), [1, 1, 2, 10]);
    assert_eq!(text_of(&found[0]), "four €");
    assert_eq!(found[3].batch.range(found[3].i).len(), 0);
    let acc: Vec<_> = found.iter().map(|r| r.part("acc")).collect();
    assert_eq!(acc, [Some(1.0), Some(0.0), Some(1.0), None]);
    assert_eq!(found[0].number(Column::Reward), Some(1.0));
    assert_eq!(found[2].part("level"), None);
    let groups: Vec<_> = found.iter().map(|r| r.id(Column::GroupId)).collect();
    assert!(
        groups[0] == groups[1] && groups[0] != groups[2] && groups[0].starts_with("prompt-"),
        "{groups:?}"
    );
    assert_eq!(groups[3], "a");
}

#[test]
fn the_reward_of_trl_is_the_sum_of_its_functions() {
    let logs = Logs::new();
    for step in [1, 2] {
        let columns = vec![
            ("step", ints(&[step; 4])),
            ("prompt", texts(&["p", "p", "q", "q"])),
            ("completion", texts(&["a", "b", "c", "d"])),
            ("accuracy_reward", floats(&[1.0, 0.0, 1.0, f32::NAN])),
            ("format_reward", floats(&[0.5, 0.5, f32::NAN, f32::NAN])),
            ("advantage", floats(&[0.7, -0.7, 0.0, 0.0])),
        ];
        write_parquet(&logs.path(&format!("completions/completions_0000{step}.parquet")), columns, 8);
    }
    let found = responses(&[logs.path("completions")]);
    assert_eq!(found.len(), 8);
    let rewards: Vec<_> = found.iter().take(4).map(|r| r.number(Column::Reward)).collect();
    assert_eq!(rewards, [Some(1.5), Some(0.5), Some(1.0), None]);
    assert_eq!(found[0].number(Column::AdvantageSeq), Some(0.7));
    assert_eq!(found[1].part("format_reward"), Some(0.5));
    assert!(found[2].part("format_reward").is_none_or(f32::is_nan));
    assert_ne!(found[0].id(Column::GroupId), found[2].id(Column::GroupId));
    let run = Run::open(&[logs.path("completions")], &IngestSettings::default()).unwrap();
    assert!(
        run.is_of_texts() && run.notes.iter().any(|note| note.contains("accuracy_reward + format_reward"))
    );
}

#[test]
fn batches_and_chats_become_responses() {
    let logs = Logs::new();
    let swift = r#"{"step":["1","1"],"prompt":["a","a"],"completion":["c","dd"],"accuracy":[1,0],"advantages":[0.5,-0.5]}"#;
    let roll =
        r#"{"global_step":[6,6],"id":["a","b"],"prompts":["p","p"],"responses":["c","d"],"scores":[1,0]}"#;
    let areal = r#"{"task_id":"t","sample_idx":0,"seqlen":9,"prompt_len":4,"head_version":1,"tail_version":2,"reward":1,"prompt":"p","completion":"c"}"#;
    let art = r#"{"group_index":0,"messages":[{"role":"user","content":"why"},{"role":"assistant","content":"so"}],"reward":1.0}"#;
    let skyrl = r#"{"input_prompt":"p","output_response":"r","score":1,"stop_reason":"length","env_class":"e","env_extras":{},"data_source":"d"}"#;
    let verifiers = r#"{"example_id":3,"prompt":[{"role":"user","content":"why"}],"completion":[{"role":"assistant","content":[{"type":"text","text":"so"}]}],"reward":0.5,"format_reward":0.25}"#;
    let platform = r#"{"run_id":"r","problem_id":7,"sample_id":1,"completion":"hm","reward":0.0}"#;
    let bare = r#"{"prompt":"p","response":"free","reward":0.5,"helpful":0.75,"turns":3,"tag":"x"}"#;
    let cases = [
        ("swift.jsonl", swift, vec![("c", 1.0), ("dd", 0.0)], 1),
        ("rollout_dump_data.step_6.jsonl", roll, vec![("c", 1.0), ("d", 0.0)], 6),
        ("areal.jsonl", areal, vec![("c", 1.0)], 2),
        ("art.jsonl", art, vec![("so", 1.0)], 0),
        ("skyrl.jsonl", skyrl, vec![("r", 1.0)], 0),
        ("verifiers.jsonl", verifiers, vec![("so", 0.5)], 0),
        ("platform.jsonl", platform, vec![("hm", 0.0)], 0),
        ("bare.jsonl", bare, vec![("free", 0.5)], 0),
    ];
    for (name, line, expected, step) in cases {
        let found = responses(&[logs.write(name, line)]);
        let told: Vec<_> = found.iter().map(|r| (text_of(r), r.number(Column::Reward).unwrap())).collect();
        let told: Vec<_> = told.iter().map(|(text, reward)| (text.as_str(), *reward)).collect();
        assert_eq!(told, expected, "{name}");
        assert!(found.iter().all(|r| r.step() == step), "{name}");
    }
    let found = responses(&[logs.path("bare.jsonl")]);
    assert_eq!((found[0].part("helpful"), found[0].part("turns")), (Some(0.75), None));
    let uneven = swift.replace(r#"["c","dd"]"#, r#"["c","dd","e"]"#);
    let error = refusal(&logs.write("uneven.jsonl", uneven)).to_string();
    assert!(error.contains("line 1") && error.contains("3 responses"), "{error}");
}

#[test]
fn held_out_rows_are_marked_whatever_they_say() {
    let logs = Logs::new();
    logs.write("train/1.jsonl", verl("q", "4", 1.0, r#","step":1"#));
    logs.write("val/1.jsonl", verl("q", "4", 0.0, r#","step":1"#));
    let settings = IngestSettings { held_out: vec![logs.path("val")], ..IngestSettings::default() };
    let batches = read_all(&[logs.path("train")], &settings).unwrap();
    let marks = |batch: &stapo_analyze::ingest::TokenBatch| batch.responses.is_evaluation(0);
    assert_eq!(batches.iter().map(marks).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn lengths_are_in_tokens_where_a_tokenizer_is_given() {
    let logs = Logs::new();
    let tokenizer = bytes_and(&[("a", "b"), ("ab", "c"), ("Ġ", "ab")]);
    let path = logs.write("tokenizer.json", tokenizer);
    let log = logs.write("1.jsonl", verl("q", "abc ab<|end|>é", 1.0, r#","step":1"#));
    let settings = IngestSettings { tokenizer: Some(path), ..IngestSettings::default() };
    let batches = read_all(std::slice::from_ref(&log), &settings).unwrap();
    // abc, " ab", the end, and two bytes.
    assert_eq!(batches[0].token_ids().unwrap()[..3], [257, 258, 300]);
    assert_eq!(batches[0].token_count(), 5);
}

/// A byte-level tokenizer of all bytes, with these merges.
fn bytes_and(merges: &[(&str, &str)]) -> String {
    let stands = |byte: u8| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
    let mut moved = 256;
    let mut letter = |byte: u8| match stands(byte) {
        true => char::from(byte),
        false => {
            moved += 1;
            char::from_u32(moved - 1).unwrap()
        }
    };
    let mut vocab: serde_json::Map<String, serde_json::Value> =
        (0..=255_u8).map(|byte| (letter(byte).to_string(), u32::from(byte).into())).collect();
    for (id, (left, right)) in (256..).zip(merges) {
        vocab.insert(format!("{left}{right}"), id.into());
    }
    let merges: Vec<String> = merges.iter().map(|(left, right)| format!("{left} {right}")).collect();
    serde_json::json!({
        "added_tokens": [{"id": 300, "content": "<|end|>"}],
        "decoder": {"type": "ByteLevel"},
        "pre_tokenizer": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": vocab, "merges": merges}
    })
    .to_string()
}

#[test]
fn texts_that_cannot_be_judged_are_refused_with_the_smallest_hook() {
    let logs = Logs::new();
    let openai = r#"{"id":"x","choices":[{"logprobs":{"content":[{"token":"a","logprob":-0.1}]}}]}"#;
    let traces =
        r#"{"id":"t","task":{"hash":"h"},"nodes":[{"message":{"content":"x"},"token_ids":[],"mask":[]}]}"#;
    let tinker = r#"{"total_reward":1.0,"iteration":3,"group_idx":0,"traj_idx":1}"#;
    let cases = [
        (logs.write("openai.jsonl", openai), "OpenAI", "stapo_analyze.TokenLog"),
        (logs.write("traces.jsonl", traces), "verifiers", "token ids"),
        (logs.write("tinker.jsonl", tinker), "Tinker", "capture store"),
    ];
    for (path, name, advice) in cases {
        let error = refusal(&path);
        let Error::TextOnly { framework, missing, how, .. } = &error else { panic!("{name}: {error}") };
        assert!(framework.contains(name) && how.contains(advice), "{error} {how}");
        assert!(missing.contains("logprob") && missing.contains("entropy"), "{name} misses {missing}");
        assert!(error.hint().is_some_and(|hint| hint.contains(advice)));
    }
    // Texts that nothing judges.
    let error = refusal(&logs.write("plain.jsonl", r#"{"prompt":"a","completion":"b"}"#));
    assert!(matches!(error, Error::MissingColumn { .. }), "{error}");
    // What needs tokens says how this framework writes them.
    let run =
        Run::open(&[logs.write("1.jsonl", verl("q", "4", 1.0, ""))], &IngestSettings::default()).unwrap();
    assert!(matches!(run.require(Column::Logprob), Err(Error::TextOnly { framework: "verl", .. })));
}

#[test]
fn hostile_texts_are_read_or_refused() {
    let logs = Logs::new();
    let odd = "\\u0000\\u001b[31m\\u202e<script>\\ud83d\\ude00".repeat(50);
    let long = "x".repeat(3_000_000);
    let lines = [verl(&odd, &odd, 1.0, ""), verl("q", &long, 0.0, ""), verl("", "", -0.0, "")];
    let found = responses(&[logs.write("1.jsonl", lines.join("\n"))]);
    assert_eq!(found.len(), 3);
    assert_eq!(found[1].batch.range(found[1].i).len(), 3_000_000);
    let wide: Vec<String> = (0..5000).map(|at| format!(r#""c{at}":1"#)).collect();
    let error = refusal(
        &logs.write("2.jsonl", format!(r#"{{"input":"a","output":"b","score":1,{}}}"#, wide.join(","))),
    );
    assert!(error.to_string().contains("columns"), "{error}");
    let lone = r#"{"input":"a","output":"\ud800","score":1,"step":1}"#;
    assert!(refusal(&logs.write("3.jsonl", lone)).to_string().contains("line 1"));
}

/// TRL's conversational data: prompt and completion are lists of messages.
#[test]
fn chats_of_parquet_are_read_as_their_texts() {
    let logs = Logs::new();
    let columns = vec![
        ("step", ints(&[1, 1, 1])),
        ("prompt", chats(&[&["be brief", "2 + 2?"], &["be brief", "2 + 2?"], &["be brief", "3 + 3?"]])),
        ("completion", chats(&[&["four"], &["five", "no: four"], &[]])),
        ("correct", floats(&[1.0, 0.0, 1.0])),
    ];
    write_parquet(&logs.path("completions_00001.parquet"), columns, 3);
    let found = responses(&[logs.path("completions_00001.parquet")]);
    assert_eq!(found.iter().map(text_of).collect::<Vec<_>>(), ["four", "five\nno: four", ""]);
    let groups: Vec<_> = found.iter().map(|r| r.id(Column::GroupId)).collect();
    assert!(groups[0] == groups[1] && groups[0] != groups[2], "{groups:?}");
}

/// A column of chats, each the texts of its messages.
fn chats(rows: &[&[&str]]) -> ArrayRef {
    let said: Vec<&str> = rows.iter().flat_map(|row| row.iter().copied()).collect();
    let field = |name: &str| Arc::new(Field::new(name, DataType::Utf8, true));
    let messages = StructArray::from(vec![
        (field("role"), texts(&vec!["user"; said.len()])),
        (field("content"), texts(&said)),
    ]);
    let lengths = OffsetBuffer::from_lengths(rows.iter().map(|row| row.len()));
    let item = Arc::new(Field::new("item", messages.data_type().clone(), true));
    Arc::new(ListArray::new(item, lengths, Arc::new(messages), None))
}

#[test]
fn texts_and_rewards_that_are_objects_are_opened() {
    let logs = Logs::new();
    let row = |text: &str, reward: f64| {
        format!(
            r#"{{"step":1,"prompt":"q","completion":{{"text":"{text}","finish_reason":"stop"}},"reward":{{"format":0.5,"reward":{reward}}}}}"#
        )
    };
    logs.write("dump.jsonl", [row("four", 1.0), row("5", 0.0)].join("\n"));
    let found = responses(&[logs.path("dump.jsonl")]);
    assert_eq!(found.iter().map(text_of).collect::<Vec<_>>(), ["four", "5"]);
    assert_eq!(found.iter().map(|r| r.number(Column::Reward)).collect::<Vec<_>>(), [Some(1.0), Some(0.0)]);
    assert_eq!(found[0].part("format"), Some(0.5));
}
