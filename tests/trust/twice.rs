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
    write_long(&path, &once);
    assert!(read(&path).is_ok());
}
