//! Rows that were written twice into one file.

use stapo_analyze::error::Error;
use stapo_analyze::ingest::{IngestSettings, read_all};

use super::rows::{Row, rows, write_long, write_nested};
use super::{program, read};

#[test]
fn rows_that_stand_twice_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let once = rows(3);
    let twice = [&once[..], &once[..]].concat();
    let path = folder.path().join("twice.parquet");
    write_nested(&path, &twice);
    let error = read(&path).map(|_| ()).unwrap_err();
    let Error::RowsTwice { responses, about, .. } = &error else { panic!("{error}") };
    assert_eq!((*responses, *about), (once.len() as u64, false));
    let text = path.display().to_string();
    for command in [vec![text.as_str()], vec!["check", &text]] {
        let (code, said) = program(&command);
        assert!(code == 2 && said.contains("48 responses stand there twice"), "{code}: {said}");
    }
    let pooled = IngestSettings { pool: true, ..IngestSettings::default() };
    let all: usize = read_all(std::slice::from_ref(&path), &pooled).unwrap().iter().map(|b| b.len()).sum();
    assert_eq!(all, twice.len());
    // Part of them, appended again after a crash.
    write_nested(&path, &[&once[..], &once[40..]].concat());
    assert!(matches!(read(&path), Err(Error::RowsTwice { responses: 8, .. })));
}

/// The same ids with other values, as of ranks that number their samples each for itself, or one slip.
#[test]
fn other_values_under_the_same_ids_are_other_responses() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.parquet");
    let once = rows(3);
    let mut others: Vec<Row> = once.clone();
    others.iter_mut().for_each(|row| row.logprob[3] = Some(-0.25));
    for again in [&others[..], &once[..1]] {
        let both = [&once[..], again].concat();
        write_nested(&path, &both);
        assert_eq!(read(&path).unwrap().iter().map(|b| b.len()).sum::<usize>(), both.len());
    }
    // A part of the run that was logged again is said.
    write_nested(&path, &[&once[..], &others[40..]].concat());
    let (code, said) = program(&[&path.display().to_string(), "--verbose"]);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        code == 0 && said.contains("16 responses have the step, group and sample of another one"),
        "{said}"
    );
    write_long(&path, &once);
    assert!(read(&path).is_ok());
}

/// Copies of responses that the log does not number, of whole files and of the last rows, in one file and in two.
#[test]
fn rows_without_sample_ids_that_stand_twice_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut once = rows(3);
    once.iter_mut().for_each(|row| row.sample = None);
    write_nested(&at("twice.parquet"), &[&once[..], &once[..]].concat());
    let error = read(&at("twice.parquet")).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::RowsTwice { responses: 48, about: false, .. }), "{error}");
    write_nested(&at("twice.parquet"), &[&once[..], &once[40..]].concat());
    assert!(matches!(read(&at("twice.parquet")), Err(Error::RowsTwice { responses: 8, .. })));
    write_nested(&at("twice.parquet"), &once);
    write_nested(&at("again.parquet"), &once);
    let both = [at("again.parquet"), at("twice.parquet")];
    let error = read_all(&both, &IngestSettings::default()).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::SeveralRuns { .. }), "{error}");
}

/// Ranks of one run number their samples each for itself: other values under the same ids are other responses, copies
/// are not; and ranks in two folders are two runs.
#[test]
fn copies_of_a_rank_and_ranks_of_two_runs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let once = rows(3);
    let mut others: Vec<Row> = once.clone();
    others.iter_mut().for_each(|row| row.logprob[3] = Some(-0.25));
    for name in ["a", "b"] {
        std::fs::create_dir(at(name)).unwrap();
    }
    write_nested(&at("a/rank_0.parquet"), &once);
    write_nested(&at("a/rank_1.parquet"), &others);
    write_nested(&at("b/rank_1.parquet"), &others);
    let both = |names: [&str; 2]| {
        read_all(&names.map(at), &IngestSettings::default()).map(|all| all.len()).map_err(|e| e.to_string())
    };
    assert!(both(["a/rank_0.parquet", "a/rank_1.parquet"]).is_ok());
    let two = both(["a/rank_0.parquet", "b/rank_1.parquet"]).unwrap_err();
    assert!(two.contains("at least 48 responses"), "{two}");
    write_nested(&at("a/rank_1.parquet"), &once);
    let copy = both(["a/rank_0.parquet", "a/rank_1.parquet"]).unwrap_err();
    assert!(copy.contains("at least 48 responses of one stand in the other, value by value"), "{copy}");
}

/// How many responses are read of groups in which response `i` says what `of(i)` does, cut after some tokens;
/// `sample` numbers the responses.
fn siblings(
    of: impl Fn(usize) -> usize,
    tokens: usize,
    sample: impl Fn(usize) -> Option<i64>,
) -> Result<usize, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("siblings.parquet");
    let from = rows(6);
    let mut rows: Vec<Row> =
        (0..from.len()).map(|i| Row { sample: sample(i), ..from[i - i % 4 + of(i % 4)].clone() }).collect();
    for row in &mut rows {
        row.ids.truncate(tokens);
        row.logprob.truncate(tokens);
        row.entropy.truncate(tokens);
    }
    write_nested(&path, &rows);
    read(&path).map(|batches| batches.iter().map(|b| b.len()).sum::<usize>())
}

/// Siblings that say the same, all or some of them, and short answers.
#[test]
fn siblings_without_ids_may_say_the_same() {
    let alike = |of: &dyn Fn(usize) -> usize, tokens: usize| siblings(of, tokens, |_| None);
    assert!(alike(&|_| 0, 20).is_ok_and(|n| n == 96));
    assert!(alike(&|i| i.min(2), 20).is_ok_and(|n| n == 96));
    assert!(alike(&|i| i % 2, 3).is_ok_and(|n| n == 96));
    assert!(alike(&|i| i % 2, 20).is_err(), "every response of every group, and long ones");
}

/// A sample id that is the prompt's: siblings share it, and short answers come again.
#[test]
fn ids_of_prompts_are_not_ids_of_responses() {
    let numbered =
        |of: &dyn Fn(usize) -> usize, tokens: usize| siblings(of, tokens, |i| Some((i / 4) as i64));
    assert!(numbered(&|_| 0, 3).is_ok_and(|n| n == 96), "one short answer, again and again");
    assert!(numbered(&|i| i % 2, 20).is_ok_and(|n| n == 96), "two answers under one id");
}
