//! Both layouts, every accepted type, row groups of any size.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::support;
mod of_responses;

use std::sync::Arc;

use crate::support::{
    column, describe_all, float_lists, floats, int_lists, ints, lengths, read, sample, token_ids,
    write_parquet,
};
use arrow_array::builder::{
    BooleanBuilder, FixedSizeListBuilder, Float16Builder, Float64Builder, Int8Builder, Int64Builder,
    LargeListBuilder, ListBuilder, StringBuilder, UInt16Builder,
};
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, RecordBatch, StringArray};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use stapo_analyze::convert::convert;
use stapo_analyze::ingest::{
    Column, Id, IngestSettings, Layout, ListAlignment, Run, Silent, UserMap, read_all,
};

fn settings(maps: &[&str]) -> IngestSettings {
    let maps: Vec<String> = maps.iter().map(|m| (*m).to_owned()).collect();
    IngestSettings { map: UserMap::parse(&maps).unwrap(), ..Default::default() }
}

#[test]
fn every_list_and_number_type_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("types.parquet");
    let mut ids = LargeListBuilder::new(Int64Builder::new());
    let mut logprobs = FixedSizeListBuilder::new(Float16Builder::new(), 2);
    let mut entropies = ListBuilder::new(Float64Builder::new());
    let mut masks = ListBuilder::new(Int8Builder::new());
    let mut turns = ListBuilder::new(UInt16Builder::new());
    for row in 0..3i64 {
        ids.values().append_slice(&[row, row + 1]);
        ids.append(true);
        logprobs.values().append_slice(&[half::f16::from_f32(-0.5), half::f16::from_f32(-1.0)]);
        logprobs.append(true);
        entropies.values().append_slice(&[0.25, 0.75]);
        entropies.append(true);
        masks.values().append_slice(&[1, 1]);
        masks.append(true);
        turns.values().append_slice(&[0, 1]);
        turns.append(true);
    }
    let groups: DictionaryArray<Int32Type> = vec!["a", "a", "b"].into_iter().collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("step", Arc::new(StringArray::from(vec!["7", "7", "8"]))),
        ("group_id", Arc::new(groups)),
        ("input_ids", Arc::new(ids.finish())),
        ("old_log_probs", Arc::new(logprobs.finish())),
        ("entropys", Arc::new(entropies.finish())),
        ("loss_mask", Arc::new(masks.finish())),
        ("turn", Arc::new(turns.finish())),
        ("advantages", floats(&[1.0, -1.0, 0.0])),
    ];
    write_parquet(&path, columns, 8);
    let batches = read(&path);
    assert_eq!(token_ids(&batches), [0, 1, 1, 2, 2, 3]);
    assert_eq!(column(&batches, Column::Logprob), [-0.5, -1.0, -0.5, -1.0, -0.5, -1.0]);
    assert_eq!(column(&batches, Column::Entropy), [0.25, 0.75, 0.25, 0.75, 0.25, 0.75]);
    assert_eq!(batches[0].responses.step, [7, 7, 8]);
    assert_eq!(batches[0].advantages().unwrap()[..], [1.0, 1.0, -1.0, -1.0, 0.0, 0.0]);
    assert_eq!(batches[0].ids(Column::GroupId).unwrap()[2], Id::Text("b".into()));
}

#[test]
fn masks_come_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let mut bools = ListBuilder::new(BooleanBuilder::new());
    bools.values().append_slice(&[true, false, true]);
    bools.append(true);
    let forms: [(&str, ArrayRef); 4] = [
        ("bool", Arc::new(bools.finish())),
        ("int", int_lists(&[&[1, 0, 1]])),
        ("float", float_lists(&[&[1.0, 0.0, 1.0]])),
        // Labels: the id where trained (id 0 included), −100 elsewhere.
        ("labels", int_lists(&[&[0, -100, 9]])),
    ];
    for (name, mask) in forms {
        let path = folder.path().join(format!("{name}.parquet"));
        let columns = vec![
            ("token_ids", int_lists(&[&[0, 5, 9]])),
            ("logprob", float_lists(&[&[-1.0, -2.0, -3.0]])),
            ("mask", mask),
        ];
        write_parquet(&path, columns, 8);
        assert_eq!(read(&path)[0].mask().unwrap(), [1, 0, 1], "{name}");
    }
}

#[test]
fn masks_of_tools_and_samples_are_combined() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("masks.parquet");
    let columns = vec![
        ("completion_ids", int_lists(&[&[4, 5, 6], &[7, 8, 9]])),
        ("logprob", float_lists(&[&[-1.0, -2.0, -3.0], &[-1.0, -2.0, -3.0]])),
        ("completion_mask", int_lists(&[&[1, 1, 1], &[1, 1, 1]])),
        ("tool_mask", int_lists(&[&[1, 0, 1], &[1, 1, 1]])),
        ("sample_loss_mask", floats(&[1.0, 0.0])),
    ];
    write_parquet(&path, columns, 8);
    let batches = read(&path);
    assert_eq!(batches[0].mask().unwrap(), [1, 0, 1, 0, 0, 0]);
}

#[test]
fn padded_rows_are_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("padded.parquet");
    let columns = vec![
        ("responses", int_lists(&[&[4, 5, 6, 0, 0], &[4, 5, 6, 7, 8]])),
        ("old_log_probs", float_lists(&[&[-1.0, -2.0, -3.0, 0.0, 0.0], &[-1.0; 5]])),
        ("response_mask", int_lists(&[&[1, 1, 1, 0, 0], &[1, 1, 1, 1, 1]])),
    ];
    write_parquet(&path, columns, 8);
    let batches = read(&path);
    assert_eq!(lengths(&batches), [3, 5]);
    assert_eq!(token_ids(&batches), [4, 5, 6, 4, 5, 6, 7, 8]);
}

#[test]
fn a_prompt_before_the_response_is_split_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("full.parquet");
    let columns = vec![
        ("input_ids", int_lists(&[&[1, 2, 30, 31, 32]])),
        ("old_log_probs", float_lists(&[&[0.0, 0.0, -1.0, 0.0, -3.0]])),
        ("loss_mask", int_lists(&[&[0, 0, 1, 0, 1]])),
    ];
    write_parquet(&path, columns, 8);
    let batches = read(&path);
    assert_eq!(token_ids(&batches), [30, 31, 32]);
    let logprobs = column(&batches, Column::Logprob);
    assert_eq!((logprobs[0], logprobs[2]), (-1.0, -3.0));
    assert!(logprobs[1].is_nan(), "a tool's token has no log-probability");
    assert_eq!(batches[0].responses.prompt_ids.as_ref().unwrap()[0].as_ref().unwrap()[..], [1, 2]);
}

#[test]
fn shifted_values_are_moved_to_their_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shifted.parquet");
    let columns = vec![
        ("input_ids", int_lists(&[&[1, 2, 30, 31]])),
        ("logprobs", float_lists(&[&[-9.0, -1.0, -2.0, 0.0]])),
        ("loss_mask", int_lists(&[&[0, 1, 1, 0]])),
    ];
    write_parquet(&path, columns, 8);
    let shifted = IngestSettings { alignment: Some(ListAlignment::Shifted), ..Default::default() };
    let batches = read_all(&[path], &shifted).unwrap();
    assert_eq!(token_ids(&batches), [30, 31]);
    assert_eq!(column(&batches, Column::Logprob), [-1.0, -2.0]);
}

#[test]
fn probabilities_and_bits_are_converted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prob.parquet");
    let columns = vec![
        ("token_ids", int_lists(&[&[1, 2]])),
        ("prob", float_lists(&[&[0.5, 1.0]])),
        ("entropy", float_lists(&[&[1.0, 0.0]])),
    ];
    write_parquet(&path, columns, 8);
    let batches = read_all(
        std::slice::from_ref(&path),
        &IngestSettings { entropy_in_bits: true, ..Default::default() },
    )
    .unwrap();
    assert_eq!(column(&batches, Column::Logprob), [0.5f32.ln(), 0.0]);
    assert_eq!(column(&batches, Column::Entropy), [std::f32::consts::LN_2, 0.0]);
    let mapped = read_all(&[path], &settings(&["prob=entropy", "entropy="])).unwrap();
    assert_eq!(column(&mapped, Column::Logprob)[0], 0.0);
    assert!(mapped[0].floats(Column::Entropy).is_none());
}

#[test]
fn a_column_of_zeros_is_missing_and_the_rollout_serves() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zeros.parquet");
    let columns = vec![
        ("token_ids", int_lists(&[&[1; 9]])),
        ("prev_logprobs", float_lists(&[&[0.0; 9]])),
        ("generation_logprobs", float_lists(&[&[-1.5; 9]])),
    ];
    write_parquet(&path, columns, 8);
    let run = Run::open(std::slice::from_ref(&path), &IngestSettings::default()).unwrap();
    assert!(run.notes.iter().any(|n| n.contains("zero everywhere")), "{:?}", run.notes);
    assert_eq!(column(&read(&path), Column::Logprob), [-1.5; 9]);
}

#[test]
fn a_ratio_gives_the_new_logprob() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ratio.parquet");
    let columns = vec![
        ("token_ids", int_lists(&[&[1, 2, 3]])),
        ("old_per_token_logps", float_lists(&[&[-1.0, -2.0, -0.1]])),
        ("coef_1", float_lists(&[&[1.0, 2.0, 0.0]])),
    ];
    write_parquet(&path, columns, 8);
    let new = column(&read(&path), Column::LogprobNew);
    assert_eq!(new[..2], [-1.0, -2.0 + 2.0f32.ln()]);
    assert!(new[2].is_nan(), "a ratio of zero has no logarithm");
}

#[test]
fn tiny_row_groups_and_giant_rows() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = folder.path().join("tiny.parquet");
    let rows: Vec<Vec<i32>> = (0..100).map(|i| vec![i, i + 1, i + 2]).collect();
    let values: Vec<Vec<f32>> = (0..100).map(|i| vec![-(i as f32), -0.5, -0.25]).collect();
    let ids: Vec<&[i32]> = rows.iter().map(|r| &r[..]).collect();
    let logprobs: Vec<&[f32]> = values.iter().map(|r| &r[..]).collect();
    write_parquet(&tiny, vec![("token_id", int_lists(&ids)), ("logprob", float_lists(&logprobs))], 8);
    let batches = read(&tiny);
    assert_eq!(token_ids(&batches), rows.concat());
    let giant = folder.path().join("giant.parquet");
    let long: Vec<i32> = (0..131_072).collect();
    let flat = vec![-0.5f32; 131_072];
    let ids: [&[i32]; 3] = [&[1], &long, &[2]];
    let logprobs: [&[f32]; 3] = [&[-1.0], &flat, &[-1.0]];
    write_parquet(&giant, vec![("token_id", int_lists(&ids)), ("logprob", float_lists(&logprobs))], 8);
    assert_eq!(lengths(&read(&giant)), [1, 131_072, 1]);
}

/// A long file of the sample run whose row groups end anywhere.
fn long_sample(folder: &std::path::Path, rows: usize) -> std::path::PathBuf {
    let plain = folder.join("long.parquet");
    let run = Run::open(&[sample("grpo.parquet")], &IngestSettings::default()).unwrap();
    convert(&run, &plain, Layout::Long, &Silent).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(&plain).unwrap()).unwrap();
    let batches: Vec<RecordBatch> =
        reader.with_batch_size(1 << 20).build().unwrap().map(Result::unwrap).collect();
    assert_eq!(batches.len(), 1);
    let cut = folder.join(format!("cut_{rows}.parquet"));
    support::write_batch(&cut, &batches[0], rows);
    cut
}

#[test]
fn responses_across_row_groups_are_joined() {
    let folder = tempfile::tempdir().unwrap();
    let expected = describe_all(&read(&sample("grpo.parquet")));
    for rows in [131_073, 200_001] {
        let cut = long_sample(folder.path(), rows);
        for threads in [1, 3] {
            let settings = IngestSettings {
                threads,
                map: UserMap::parse(&["advantage=".into()]).unwrap(),
                ..Default::default()
            };
            let found = describe_all(&read_all(std::slice::from_ref(&cut), &settings).unwrap());
            assert_eq!(found.len(), expected.len());
            assert!(found.iter().zip(&expected).all(|(a, b)| a == b), "rows {rows}, threads {threads}");
        }
    }
}

#[test]
fn rows_are_numbered_over_files_and_cut_responses_are_counted_once() {
    use stapo_analyze::error::Result;
    use stapo_analyze::ingest::{Sink, TokenBatch, scan};
    #[derive(Default)]
    struct Rows {
        rows: Vec<(u32, u64, i64, Id, usize)>,
        /// Whether batches may go to other workers.
        parts: bool,
        /// Batches that came from others.
        taken: usize,
    }
    impl Sink for Rows {
        fn accept(&mut self, batch: &TokenBatch) -> Result<()> {
            for i in 0..batch.len() {
                let sample = batch.ids(Column::SampleId).map_or(Id::Missing, |ids| ids[i].clone());
                let origin = batch.origin;
                self.rows.push((
                    origin.unit,
                    origin.first_response + i as u64,
                    batch.responses.step[i],
                    sample,
                    batch.range(i).len(),
                ));
            }
            if self.parts {
                // So long that who has nothing to do waits for a batch.
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            Ok(())
        }

        fn accept_joined(&mut self, batch: &TokenBatch) -> Result<()> {
            self.taken += usize::from(batch.len() > 1);
            self.accept(batch)
        }

        fn may_part_with(&self, _: &TokenBatch) -> bool {
            self.parts
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let cut = long_sample(folder.path(), 131_073);
    let numbered = |path: std::path::PathBuf, threads: usize, parts: bool| {
        let run = Run::open(&[path], &IngestSettings { threads, ..Default::default() }).unwrap();
        let made = || Rows { parts, ..Rows::default() };
        let scanned = scan(&run, Column::ALL, &Silent, made).unwrap();
        let (rows, taken) = (scanned.rows, scanned.sinks.iter().map(|sink| sink.taken).sum::<usize>());
        let all = scanned.sinks.into_iter().flat_map(|sink| sink.rows);
        let mut all: Vec<_> = all.map(|(unit, at, step, id, n)| (rows.row(unit, at), step, id, n)).collect();
        all.sort();
        ((rows.responses, all), taken)
    };
    let (expected, _) = numbered(sample("grpo.parquet"), 2, false);
    assert_eq!(expected.0, 5632);
    assert_eq!(expected.1.iter().map(|r| r.0).collect::<Vec<_>>(), (0..5632).collect::<Vec<u64>>());
    for threads in [1, 2, 4] {
        let (found, taken) = numbered(cut.clone(), threads, false);
        assert_eq!((found, taken), (expected.clone(), 0), "{threads} threads");
    }
    let mut shared = 0;
    for threads in 1..=5 {
        let (found, taken) = numbered(cut.clone(), threads, true);
        assert_eq!(found, expected, "{threads} threads that help each other");
        assert!(threads > 1 || taken == 0);
        shared += taken;
    }
    assert!(shared > 0, "nobody helped");
}

#[test]
fn a_response_cut_between_files_is_one_response_in_any_order() {
    use stapo_analyze::error::Result;
    use stapo_analyze::ingest::{Sink, TokenBatch, scan};
    struct Described(Vec<String>);
    impl Sink for Described {
        fn accept(&mut self, batch: &TokenBatch) -> Result<()> {
            self.0.extend((0..batch.len()).map(|i| support::describe(batch, i)));
            Ok(())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let part = |name: &str, sample: &[i64], position: &[i64], id: &[i64]| {
        let path = folder.path().join(name);
        let values: Vec<f32> = id.iter().map(|i| -(*i as f32)).collect();
        let columns = vec![
            ("step", ints(&vec![1; id.len()])),
            ("sample_id", ints(sample)),
            ("position", ints(position)),
            ("token_id", ints(id)),
            ("logprob", floats(&values)),
        ];
        write_parquet(&path, columns, 100);
        path
    };
    let a = part("a.parquet", &[0, 0, 1, 1], &[0, 1, 0, 1], &[10, 11, 20, 21]);
    let b = part("b.parquet", &[1, 1, 2], &[2, 3, 0], &[22, 23, 30]);
    let described = |files: [&std::path::PathBuf; 2]| {
        let files: Vec<_> = files.into_iter().cloned().collect();
        let run = Run::open(&files, &IngestSettings::default()).unwrap();
        let scanned = scan(&run, Column::ALL, &Silent, || Described(Vec::new())).unwrap();
        let mut all: Vec<String> = scanned.sinks.into_iter().flat_map(|s| s.0).collect();
        all.sort();
        (scanned.rows.responses, all)
    };
    let forward = described([&a, &b]);
    assert_eq!(forward.0, 3);
    assert_eq!(forward.1.len(), 3);
    assert!(forward.1[1].contains("token_id=23"), "{}", forward.1[1]);
    assert_eq!(described([&b, &a]), forward);
}

#[test]
fn a_long_file_may_carry_a_list_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.parquet");
    let columns = vec![
        ("step", ints(&[3, 3, 3])),
        ("sample_id", ints(&[0, 0, 1])),
        ("token_id", ints(&[5, 6, 7])),
        ("logprob", floats(&[-1.0, -2.0, -3.0])),
        ("prompt_ids", int_lists(&[&[1, 2], &[], &[9]])),
    ];
    write_parquet(&path, columns, 100);
    let run = Run::open(std::slice::from_ref(&path), &IngestSettings::default()).unwrap();
    assert_eq!(run.mappings[0].layout, Layout::Long);
    let batches = read(&path);
    assert_eq!(lengths(&batches), [2, 1]);
    assert_eq!(batches[0].responses.prompt_ids.as_ref().unwrap()[0].as_ref().unwrap().len(), 2);
}

#[test]
fn null_lists_are_missing_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nulls.parquet");
    let mut rollout = ListBuilder::new(Float64Builder::new());
    rollout.values().append_slice(&[-1.0, -2.0]);
    rollout.append(true);
    rollout.append(false);
    let mut texts = ListBuilder::new(StringBuilder::new());
    for _ in 0..2 {
        texts.values().append_value("a");
        texts.values().append_null();
        texts.append(true);
    }
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("token_ids", int_lists(&[&[1, 2], &[3, 4]])),
        ("logprob", float_lists(&[&[-1.0, -2.0], &[-3.0, -4.0]])),
        ("rollout_log_probs", Arc::new(rollout.finish())),
        ("token_text", Arc::new(texts.finish())),
    ];
    write_parquet(&path, columns, 100);
    let batches = read(&path);
    let rollout = column(&batches, Column::LogprobRollout);
    assert_eq!(rollout[..2], [-1.0, -2.0]);
    assert!(rollout[2].is_nan() && rollout[3].is_nan());
    assert_eq!(batches[0].token_text(2), Some("a"));
    assert_eq!(batches[0].token_text(3), None);
    assert_eq!(batches[0].tokens.texts.as_ref().unwrap().len(), 4);
}
