//! What cannot be replayed is named, with a way out.

use std::sync::Arc;

use arrow_array::{Array, Int32Array, ListArray};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use serde_json::Value;

use super::changed_logs::{changed, replaced, without};
use super::support::{sample, small_log};
use super::{command, done, refused, result, with_model};

#[test]
fn missing_columns_are_named() {
    let folder = tempfile::tempdir().unwrap();
    for (column, canonical) in [("prompt_ids", "prompt_ids"), ("token_ids", "token_id")] {
        let log = small_log(folder.path(), 1, 8, |batch| without(&batch, column));
        let message = refused(with_model(&log, &folder.path().join("out"), ""));
        assert!(message.contains(&format!("`{canonical}`")) && message.contains("hint:"), "{message}");
    }
    let log = small_log(folder.path(), 1, 8, |batch| batch);
    let message = refused(with_model(&log, &folder.path().join("out"), "--objective dasd"));
    assert!(message.contains("`logprob_ref`"), "{message}");
    let message = refused(with_model(&log, &folder.path().join("out"), "--objective ppo"));
    assert!(message.contains("ppo") && message.contains("stapo"), "{message}");
    let message = refused(with_model(&log, &folder.path().join("out"), "--objective dapo,dapo"));
    assert!(message.contains("twice"), "{message}");
}

#[test]
fn ids_beyond_the_vocabulary_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let log = small_log(folder.path(), 1, 8, |batch| {
        let rows = vec![Some(vec![Some(9), Some(4_000)]); batch.num_rows()];
        let ids = ListArray::from_iter_primitive::<arrow_array::types::Int32Type, _, _>(rows);
        replaced(&batch, "prompt_ids", Arc::new(ids))
    });
    let message = refused(with_model(&log, &folder.path().join("out"), "--objective dapo --holdout 0"));
    assert!(message.contains("4000") && message.contains("256") && message.contains("--model"), "{message}");
    let named =
        message.contains(log.to_str().unwrap()) && message.contains(sample("model").to_str().unwrap());
    assert!(named, "the log and the checkpoint: {message}");
}

/// The rows of a small log.
fn batch_of(log: &std::path::Path) -> arrow_array::RecordBatch {
    let file = std::fs::File::open(log).unwrap();
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    reader.build().unwrap().next().unwrap().unwrap()
}

/// A log of another vocabulary whose ids happen to fit, and a checkpoint that says something else of every token.
#[test]
fn a_log_and_a_checkpoint_that_do_not_belong_together_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let options = "--objective dapo --minibatch 8 --holdout 0";
    let log = small_log(folder.path(), 1, 8, |batch| {
        let ids = batch.column_by_name("token_ids").unwrap().as_any().downcast_ref::<ListArray>().unwrap();
        let moved = (0..ids.len()).map(|row| {
            let ids = ids.value(row);
            let ids = ids.as_any().downcast_ref::<Int32Array>().unwrap();
            Some(ids.values().iter().map(|id| Some((id + 7) % 256)).collect::<Vec<_>>())
        });
        let moved = ListArray::from_iter_primitive::<arrow_array::types::Int32Type, _, _>(moved);
        replaced(&batch, "token_ids", Arc::new(moved))
    });
    let message = refused(with_model(&log, &out, options));
    assert!(message.contains("do not belong together") && message.contains("by a factor of"), "{message}");
    assert!(message.contains(log.to_str().unwrap()) && message.contains("--old recompute"), "{message}");
    // A log that says how large its vocabulary is.
    let (named, batch) = (folder.path().join("named.parquet"), batch_of(&log));
    let size = KeyValue::new("vocab_size".to_owned(), "151936".to_owned());
    let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![size])).build();
    let file = std::fs::File::create(&named).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let message = refused(with_model(&named, &out, options));
    assert!(message.contains("151,936 tokens") && message.contains("has 256 tokens"), "{message}");
    assert!(!out.join("replay.json").exists());
    // Who wants it trains on it all the same.
    done(with_model(&log, &out, &format!("{options} --old recompute -q")));
}

/// Without a model the vocabulary is as large as the ids: one that no tokenizer has would take all memory.
#[test]
fn ids_that_no_surrogate_can_have_are_named() {
    let folder = tempfile::tempdir().unwrap();
    for (id, size) in [(4_000, "256 tokens (`vocab_size`)"), (i32::MAX, "256 tokens (`vocab_size`)")] {
        let log = small_log(folder.path(), 1, 8, |batch| {
            let rows = vec![Some(vec![Some(9), Some(id)]); batch.num_rows()];
            let ids = ListArray::from_iter_primitive::<arrow_array::types::Int32Type, _, _>(rows);
            replaced(&batch, "prompt_ids", Arc::new(ids))
        });
        let message = refused(command(&log, &folder.path().join("out"), "--objective dapo --holdout 0"));
        assert!(message.contains(&id.to_string()) && message.contains(size), "{message}");
        assert!(message.contains("--model"), "{message}");
        // A log that does not say how large its vocabulary is.
        let unsaid = folder.path().join("unsaid.jsonl");
        let row = format!(
            "{{\"step\": 0, \"group_id\": 0, \"prompt_ids\": [1], \"token_id\": [{id}, 5], \"logprob\": [-1.0, -0.5], \"entropy\": [0.5, 0.5], \"advantage\": 1.0, \"reward\": 1.0}}\n"
        );
        std::fs::write(&unsaid, row.repeat(4)).unwrap();
        if id == i32::MAX {
            let message =
                refused(command(&unsaid, &folder.path().join("out"), "--objective dapo --holdout 0"));
            assert!(message.contains("at most 524,288 tokens"), "{message}");
        }
    }
}

/// An old log-probability of −1000 makes ρ infinite: clipping bounds the loss of `dapo`, nothing
/// bounds that of `kl_cov`.
#[test]
fn an_arm_without_a_finite_loss_stops_and_the_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let log = small_log(folder.path(), 1, 24, |batch| {
        let rewarded: Vec<f32> = {
            let array = batch.column_by_name("advantage").unwrap();
            array.as_any().downcast_ref::<arrow_array::Float32Array>().unwrap().values().to_vec()
        };
        let row = rewarded.iter().position(|a| *a > 0.0).unwrap();
        let old = changed(&batch, "logprob", |r, t, v| if (r, t) == (row, 3) { -1000.0 } else { v });
        replaced(&batch, "logprob", old)
    });
    let out = folder.path().join("out");
    let options = "--objective dapo,kl_cov,cispo --minibatch 8 --holdout 0 --old log --no-shuffle -q";
    let output = done(with_model(&log, &out, options));
    let result = result(&out);
    let arm = |name: &str| {
        let arms = result["arms"].as_array().unwrap();
        arms.iter().find(|a| a["objective"] == name).unwrap().clone()
    };
    assert_eq!(
        (&arm("dapo")["stopped"], arm("dapo")["updates"].as_array().unwrap().len()),
        (&Value::Null, 3)
    );
    assert_eq!(arm("cispo")["stopped"], Value::Null);
    let stopped = arm("kl_cov")["stopped"].clone();
    assert!(stopped["reason"].as_str().unwrap().contains("loss"), "{stopped}");
    assert_eq!(stopped["update"], stopped["minibatch"]);
    assert!(!stopped["tokens"].as_array().unwrap().is_empty());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("kl_cov with seed 1 stopped at update"), "{text}");
}

#[test]
fn bad_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (options, why) in [
        ("--holdout 1", "not a number below 1"),
        ("--betas 0.9", "not two numbers"),
        ("--lr x", "not a number of 0 or more"),
        ("--minibatch 0", "not in 1.."),
        ("--seeds 0", "not in 1.."),
        ("--device gpu", "not a device"),
    ] {
        let message = refused(command(&sample("grpo.parquet"), folder.path(), options));
        let option = options.split(' ').next().unwrap();
        assert!(message.contains(option) && message.contains(why), "{options}: {message}");
    }
}
