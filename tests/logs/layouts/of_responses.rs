//! Values of a response, and where logs write them: beside it, in a list, or at its tokens.

use arrow_array::ArrayRef;
use stapo_analyze::ingest::{Column, IngestSettings, Run, TokenBatch, read_all};

use super::settings;
use super::support::{column, float_lists, floats, int_lists, ints, read, write_parquet};

/// GRPO has one advantage a response, and logs call it as they call that of tokens.
#[test]
fn advantage_is_mapped_and_dropped_at_either_level() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.parquet");
    let log = |name: &'static str, values: ArrayRef| {
        let columns = vec![
            ("token_ids", int_lists(&[&[1, 2], &[3, 4]])),
            ("logprob", float_lists(&[&[-0.5, -1.0], &[-0.5, -1.0]])),
            ("entropy", float_lists(&[&[1.0, 0.5], &[1.0, 0.5]])),
            (name, values),
        ];
        write_parquet(&path, columns, 8);
    };
    let known = |maps: &[&str]| {
        let run = Run::open(std::slice::from_ref(&path), &settings(maps)).unwrap();
        [Column::Advantage, Column::AdvantageSeq].map(|column| run.has(column))
    };
    log("adv_x", floats(&[1.0, -1.0]));
    assert_eq!(known(&[]), [false, false]);
    assert_eq!(known(&["advantage=adv_x"]), [false, true]);
    assert_eq!(known(&["advantage_seq=adv_x"]), [false, true]);
    let batches = read_all(std::slice::from_ref(&path), &settings(&["advantage=adv_x"])).unwrap();
    assert_eq!(batches[0].responses.floats.get(Column::AdvantageSeq).unwrap()[..], [1.0, -1.0]);
    log("advantage", floats(&[1.0, -1.0]));
    assert_eq!(known(&[]), [false, true]);
    assert_eq!(known(&["advantage="]), [false, false]);
    log("adv_x", float_lists(&[&[1.0, 1.0], &[-1.0, -1.0]]));
    assert_eq!(known(&["advantage=adv_x"]), [true, false]);
}

/// `[0.5]` beside lists of tokens is the advantage of the response, whatever its length.
#[test]
fn a_list_of_one_advantage_is_that_of_the_response() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.parquet");
    let log = |advantages: &[&[f32]]| {
        let columns = vec![
            ("token_ids", int_lists(&[&[1, 2, 3], &[4, 5], &[6]])),
            ("logprob", float_lists(&[&[-0.5, -1.0, -2.0], &[-0.5, -1.0], &[-0.1]])),
            ("entropy", float_lists(&[&[1.0, 0.5, 0.2], &[1.0, 0.5], &[0.1]])),
            ("advantage", float_lists(advantages)),
        ];
        write_parquet(&path, columns, 8);
    };
    log(&[&[0.5], &[-0.25], &[0.75]]);
    assert_eq!(column(&read(&path), Column::Advantage), [0.5, 0.5, 0.5, -0.25, -0.25, 0.75]);
    // Beside rows that have one a token, entries are missing.
    for advantages in [[&[0.5; 3][..], &[-0.25], &[0.75]], [&[0.5], &[-0.25; 2], &[0.75]]] {
        log(&advantages);
        let error =
            read_all(std::slice::from_ref(&path), &IngestSettings::default()).unwrap_err().to_string();
        assert!(error.contains("`advantage`") && error.contains("entries are missing"), "{error}");
    }
    // A list that fits neither is refused as before.
    log(&[&[0.5, 0.5], &[-0.25], &[0.75]]);
    assert!(read_all(std::slice::from_ref(&path), &IngestSettings::default()).is_err());
}

/// verl's `token_level_scores` are a response's reward in both layouts, wherever row groups end.
#[test]
fn rewards_of_tokens_add_up_in_both_layouts() {
    let folder = tempfile::tempdir().unwrap();
    let rewards = |batches: &[TokenBatch]| -> Vec<f32> {
        batches.iter().flat_map(|b| b.responses.floats.get(Column::Reward).unwrap().clone()).collect()
    };
    let nested = folder.path().join("nested.parquet");
    let columns = vec![
        ("responses", int_lists(&[&[1, 2, 3], &[4, 5], &[6, 7]])),
        ("old_log_probs", float_lists(&[&[-0.5, -1.0, -2.0], &[-0.5, -1.0], &[-0.1, -0.2]])),
        ("token_level_scores", float_lists(&[&[0.0, -0.25, 1.0], &[0.0, 0.0], &[0.5, 0.5]])),
    ];
    write_parquet(&nested, columns, 8);
    assert_eq!(rewards(&read(&nested)), [0.75, 0.0, 0.5]);
    for rows in [1, 2, 100] {
        let long = folder.path().join(format!("long_{rows}.parquet"));
        let columns = vec![
            ("step", ints(&[0; 7])),
            ("sample_id", ints(&[0, 0, 0, 1, 1, 2, 2])),
            ("position", ints(&[0, 1, 2, 0, 1, 0, 1])),
            ("token_id", ints(&[1, 2, 3, 4, 5, 6, 7])),
            ("old_log_probs", floats(&[-0.5, -1.0, -2.0, -0.5, -1.0, -0.1, -0.2])),
            ("token_level_scores", floats(&[0.0, -0.25, 1.0, 0.0, 0.0, 0.5, 0.5])),
            ("token_version", ints(&[3, 2, 3, 4, 4, 5, 5])),
        ];
        write_parquet(&long, columns, rows);
        let run = Run::open(std::slice::from_ref(&long), &IngestSettings::default()).unwrap();
        assert!(run.has(Column::Reward));
        let batches = read(&long);
        assert_eq!(rewards(&batches), [0.75, 0.0, 0.5], "{rows} rows a group");
        let versions: Vec<Option<i64>> = batches
            .iter()
            .flat_map(|b| b.responses.ints.get(Column::PolicyVersion).unwrap().clone())
            .collect();
        assert_eq!(versions, [Some(2), Some(4), Some(5)], "{rows} rows a group");
    }
}
