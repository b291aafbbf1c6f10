//! Logs as TRL writes them, with token columns that were added: no ids, a column for each function of the reward.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use stapo_analyze::analyze::AnalyzeSettings;
use stapo_analyze::ingest::{Column, IngestSettings, Run, UserMap};

use super::log::Log;
use super::maker::Maker;
use super::run::Fault;
use super::{SHAPE, alarms, told};
use crate::run::analyzed;
use crate::run::support::{float_lists, floats, int_lists, ints, write_parquet};

fn write(log: &Log, prompts: &[String], path: &Path) {
    let texts = |texts: &[String]| Arc::new(StringArray::from(texts.to_vec())) as ArrayRef;
    let lists = |rows: &[Vec<f32>]| float_lists(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let completions: Vec<String> = log.ids.iter().map(|ids| format!("{ids:?}")).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("step", ints(&log.steps)),
        ("prompt", texts(prompts)),
        ("completion", texts(&completions)),
        ("accuracy_reward", floats(&log.parts[0].1)),
        ("format_reward", floats(&log.parts[1].1)),
        ("advantage", floats(&log.advantages)),
        ("completion_ids", int_lists(&log.ids.iter().map(Vec::as_slice).collect::<Vec<_>>())),
        ("old_per_token_logps", lists(&log.values[0])),
        ("entropies", lists(&log.values[3])),
    ];
    write_parquet(path, columns, 4_096);
}

#[test]
fn reward_functions_are_parts_and_prompts_are_groups() {
    let log = Maker::run(Fault::Nothing, SHAPE, 5);
    let prompts: Vec<String> = log.groups.iter().map(|group| format!("prompt {group}")).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("completions.parquet");
    write(&log, &prompts, &path);
    let run = Run::open(std::slice::from_ref(&path), &IngestSettings::default()).unwrap();
    let parts = ["accuracy_reward", "format_reward"].map(|name| (name.to_owned(), name.to_owned()));
    assert_eq!(run.mappings[0].reward_parts, parts);
    assert!(run.mappings[0].groups_are_prompts() && run.mappings[0].unused.is_empty());
    assert!(run.notes.iter().any(|note| note.contains("same `prompt`")), "{:?}", run.notes);
    let map = UserMap::parse(&["group_id=".to_owned()]).unwrap();
    let dropped =
        Run::open(std::slice::from_ref(&path), &IngestSettings { map, ..Default::default() }).unwrap();
    assert!(!dropped.has(Column::GroupId));

    let settings = AnalyzeSettings { vocab_size: Some(SHAPE.vocabulary as u32), ..Default::default() };
    let found = analyzed(&[path], &settings);
    assert!(found.steps.iter().all(|step| step.groups == Some(SHAPE.groups as u64)));
    assert!(alarms(&found).is_empty(), "{}", told(&found));
}
