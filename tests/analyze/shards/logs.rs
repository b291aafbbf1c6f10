//! Small logs of all shapes: nested, long and JSON, with and without ids and texts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::{Float32Type, Int32Type};
use arrow_array::{ArrayRef, Float32Array, Int32Array, Int64Array, ListArray, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use stapo_analyze::stats::random::Random;

/// How a log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Nested,
    Long,
    Json,
}

/// What a log holds.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    pub shape: Shape,
    pub ids: bool,
    pub texts: bool,
    pub steps: i64,
}

impl Content {
    pub fn new(shape: Shape) -> Self {
        Self { shape, ids: true, texts: false, steps: 5 }
    }
}

/// A response.
#[derive(Clone)]
struct Response {
    step: i64,
    group: i64,
    sample: i64,
    reward: f32,
    correct: f32,
    version: i64,
    finish: &'static str,
    prompt: Vec<i32>,
    ids: Vec<i32>,
    logprob: Vec<f32>,
    logprob_new: Vec<f32>,
    rollout: Vec<f32>,
    entropy: Vec<f32>,
    advantage: Vec<f32>,
}

fn responses(steps: i64) -> Vec<Response> {
    let mut random = Random::splitmix(7);
    let mut all = Vec::new();
    for step in 1..=steps {
        for group in 0..6 {
            let prompt: Vec<i32> = (0..5).map(|_| random.below(900) as i32).collect();
            let rewards: Vec<f32> = (0..4).map(|_| random.below(2) as f32).collect();
            let mean = rewards.iter().sum::<f32>() / 4.0;
            for (sample, reward) in rewards.iter().copied().enumerate() {
                let n = 20 + random.below(120);
                let advantage = (reward - mean) * 2.0;
                let mut response = Response {
                    step,
                    group,
                    sample: group * 4 + sample as i64,
                    reward,
                    correct: reward * 0.5,
                    version: step - (sample as i64 % 3),
                    finish: if n > 120 { "length" } else { "stop" },
                    prompt: prompt.clone(),
                    ids: Vec::new(),
                    logprob: Vec::new(),
                    logprob_new: Vec::new(),
                    rollout: Vec::new(),
                    entropy: Vec::new(),
                    advantage: vec![advantage; n],
                };
                for _ in 0..n {
                    let rare = random.below(12) == 0;
                    let p = if rare {
                        0.0003 + 0.004 * random.unit() as f32
                    } else {
                        0.2 + 0.79 * random.unit() as f32
                    };
                    let logprob = p.ln();
                    response.ids.push(random.below(900) as i32);
                    response.logprob.push(logprob);
                    response.logprob_new.push((logprob + 0.3 * (random.unit() as f32 - 0.5)).min(0.0));
                    response.rollout.push((logprob + 0.1 * (random.unit() as f32 - 0.5)).min(0.0));
                    response.entropy.push(random.unit() as f32 * 1.8 + 0.01);
                }
                all.push(response);
            }
        }
    }
    all
}

fn text(id: i32) -> String {
    format!("w{id}")
}

/// Writes the log into `files` files; long ones are cut inside of responses.
pub fn write(folder: &Path, content: Content, files: usize) -> Vec<PathBuf> {
    let all = responses(content.steps);
    match content.shape {
        Shape::Long => write_long(folder, content, &all, files),
        _ => {
            let share = all.len().div_ceil(files);
            all.chunks(share).enumerate().map(|(i, part)| write_rows(folder, content, part, i)).collect()
        }
    }
}

fn write_rows(folder: &Path, content: Content, rows: &[Response], number: usize) -> PathBuf {
    match content.shape {
        Shape::Json => {
            let path = folder.join(format!("log-{number:03}.jsonl"));
            let lines: Vec<String> = rows.iter().map(|r| json(r, content)).collect();
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
            path
        }
        _ => {
            let path = folder.join(format!("log-{number:03}.parquet"));
            write_batch(&path, &nested(rows, content), 6);
            path
        }
    }
}

fn json(r: &Response, content: Content) -> String {
    let mut row = serde_json::json!({
        "step": r.step, "reward": r.reward, "reward/correct": r.correct, "policy_version": r.version,
        "finish_reason": r.finish, "prompt_ids": r.prompt, "token_id": r.ids, "logprob": r.logprob,
        "logprob_new": r.logprob_new, "logprob_rollout": r.rollout, "entropy": r.entropy,
        "advantage": r.advantage,
    });
    if content.ids {
        row["group_id"] = format!("g{}", r.group).into();
        row["sample_id"] = r.sample.into();
    }
    if content.texts {
        row["token_text"] = r.ids.iter().map(|id| text(*id)).collect::<Vec<_>>().into();
    }
    row.to_string()
}

fn lists_of(rows: &[Response], of: impl Fn(&Response) -> &Vec<f32>) -> ArrayRef {
    let lists = rows.iter().map(|r| Some(of(r).iter().map(|v| Some(*v)).collect::<Vec<_>>()));
    Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(lists))
}

fn ints_of(rows: &[Response], of: impl Fn(&Response) -> &Vec<i32>) -> ArrayRef {
    let lists = rows.iter().map(|r| Some(of(r).iter().map(|v| Some(*v)).collect::<Vec<_>>()));
    Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))
}

fn nested(rows: &[Response], content: Content) -> RecordBatch {
    let whole = |of: fn(&Response) -> i64| -> ArrayRef {
        Arc::new(Int64Array::from(rows.iter().map(of).collect::<Vec<_>>()))
    };
    let number = |of: fn(&Response) -> f32| -> ArrayRef {
        Arc::new(Float32Array::from(rows.iter().map(of).collect::<Vec<_>>()))
    };
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("step", whole(|r| r.step)),
        ("reward", number(|r| r.reward)),
        ("reward/correct", number(|r| r.correct)),
        ("policy_version", whole(|r| r.version)),
        ("finish_reason", Arc::new(StringArray::from_iter_values(rows.iter().map(|r| r.finish)))),
        ("prompt_ids", ints_of(rows, |r| &r.prompt)),
        ("token_id", ints_of(rows, |r| &r.ids)),
        ("logprob", lists_of(rows, |r| &r.logprob)),
        ("logprob_new", lists_of(rows, |r| &r.logprob_new)),
        ("logprob_rollout", lists_of(rows, |r| &r.rollout)),
        ("entropy", lists_of(rows, |r| &r.entropy)),
        ("advantage", lists_of(rows, |r| &r.advantage)),
    ];
    if content.ids {
        let groups = rows.iter().map(|r| format!("g{}", r.group));
        columns.push(("group_id", Arc::new(StringArray::from_iter_values(groups))));
        columns.push(("sample_id", whole(|r| r.sample)));
    }
    if content.texts {
        let mut lists = arrow_array::builder::ListBuilder::new(arrow_array::builder::StringBuilder::new());
        for row in rows {
            row.ids.iter().for_each(|id| lists.values().append_value(text(*id)));
            lists.append(true);
        }
        columns.push(("token_text", Arc::new(lists.finish())));
    }
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true))).unwrap()
}

/// A row a token; files are cut where their share of the rows ends.
fn write_long(folder: &Path, content: Content, all: &[Response], files: usize) -> Vec<PathBuf> {
    let places: Vec<(&Response, usize)> =
        all.iter().flat_map(|r| (0..r.ids.len()).map(move |t| (r, t))).collect();
    let share = places.len().div_ceil(files);
    let mut paths = Vec::new();
    for (number, part) in places.chunks(share).enumerate() {
        let whole = |of: &dyn Fn(&Response) -> i64| -> ArrayRef {
            Arc::new(Int64Array::from(part.iter().map(|(r, _)| of(r)).collect::<Vec<_>>()))
        };
        let number_of = |of: &dyn Fn(&Response, usize) -> f32| -> ArrayRef {
            Arc::new(Float32Array::from(part.iter().map(|(r, t)| of(r, *t)).collect::<Vec<_>>()))
        };
        let ids = part.iter().map(|(r, t)| r.ids[*t]).collect::<Vec<_>>();
        let positions = part.iter().map(|(_, t)| *t as i32).collect::<Vec<_>>();
        let mut columns: Vec<(&str, ArrayRef)> = vec![
            ("step", whole(&|r| r.step)),
            ("position", Arc::new(Int32Array::from(positions))),
            ("reward", number_of(&|r, _| r.reward)),
            ("reward/correct", number_of(&|r, _| r.correct)),
            ("policy_version", whole(&|r| r.version)),
            ("finish_reason", Arc::new(StringArray::from_iter_values(part.iter().map(|(r, _)| r.finish)))),
            ("token_id", Arc::new(Int32Array::from(ids.clone()))),
            ("logprob", number_of(&|r, t| r.logprob[t])),
            ("logprob_new", number_of(&|r, t| r.logprob_new[t])),
            ("logprob_rollout", number_of(&|r, t| r.rollout[t])),
            ("entropy", number_of(&|r, t| r.entropy[t])),
            ("advantage", number_of(&|r, t| r.advantage[t])),
        ];
        if content.ids {
            let groups = part.iter().map(|(r, _)| format!("g{}", r.group));
            columns.push(("group_id", Arc::new(StringArray::from_iter_values(groups))));
            columns.push(("sample_id", whole(&|r| r.sample)));
        }
        if content.texts {
            let texts = ids.iter().map(|id| text(*id));
            columns.push(("token_text", Arc::new(StringArray::from_iter_values(texts))));
        }
        let columns = columns.into_iter().map(|(n, c)| (n, c, true));
        let path = folder.join(format!("log-{number:03}.parquet"));
        write_batch(&path, &RecordBatch::try_from_iter_with_nullable(columns).unwrap(), 333);
        paths.push(path);
    }
    paths
}

fn write_batch(path: &Path, batch: &RecordBatch, rows: usize) {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(rows)).build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}
