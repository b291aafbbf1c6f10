//! Masks that some rows or files lack, or that cannot be read.

use super::*;

/// A mask by the name that a framework gives it, whose values cannot be one: all tokens would count as trained.
#[test]
fn a_mask_that_cannot_be_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let texts = list(r#""true""#, TOKENS);
    for name in ["mask", "loss_mask", "response_mask", "action_mask"] {
        let more = format!(r#"{},"{name}":{texts}"#, logprobs());
        let path = log(folder.path(), "texts.jsonl", (0..3).map(|i| line(i, &more)));
        let error =
            counted(std::slice::from_ref(&path), &IngestSettings::default()).map(|c| c.1).unwrap_err();
        let message = error.to_string();
        assert!(matches!(error, Error::ColumnType { .. }) && message.contains(name), "{message}");
        let hint = error.hint().unwrap();
        assert!(hint.contains("train on every token (--map mask=)"), "{hint}");
        let (_, trained, _) = counted(&[path], &settings(&["mask="])).unwrap();
        assert_eq!(trained, 3 * TOKENS, "{name}");
    }
}

/// The same of objects and lists of lists in JSON, which no flat table has: the first line is named.
#[test]
fn a_mask_of_objects_or_lists_of_lists_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let flat = list("1", TOKENS);
    let kinds = [
        (format!(r#"{{"values":{flat}}}"#), "an object"),
        (list(r#"{"trained":1}"#, TOKENS), "a list of objects"),
        (format!("[{flat}]"), "a list of lists"),
        (list("[1]", TOKENS), "a list of lists"),
        (r#"[1,"x"]"#.to_owned(), "a list of several kinds"),
    ];
    for (mask, kind) in &kinds {
        for name in ["mask", "loss_mask"] {
            let more = |i: usize| match i {
                0 => logprobs(),
                _ => format!(r#"{},"{name}":{mask}"#, logprobs()),
            };
            let path = log(folder.path(), "odd.jsonl", (0..3).map(|i| line(i, &more(i))));
            let refused = |settings: &IngestSettings| {
                counted(std::slice::from_ref(&path), settings).map(|c| c.1).unwrap_err()
            };
            let error = refused(&IngestSettings::default());
            let message = error.to_string();
            let place = format!("odd.jsonl: column `{name}` is {kind} in line 2, expected flags");
            assert!(message.contains(&place), "{message}");
            assert!(error.hint().unwrap().contains("train on every token (--map mask=)"));
            let (_, trained, _) = counted(std::slice::from_ref(&path), &settings(&["mask="])).unwrap();
            assert_eq!(trained, 3 * TOKENS, "{name}");
        }
    }
    // Beside lists of flags, one of them is a slip: it is named, too.
    let more = |i: usize| format!(r#"{},"mask":{}"#, logprobs(), if i == 2 { &kinds[0].0 } else { &flat });
    let path = log(folder.path(), "slip.jsonl", (0..3).map(|i| line(i, &more(i))));
    let message = counted(&[path], &IngestSettings::default()).map(|c| c.1).unwrap_err().to_string();
    assert!(message.contains("column `mask` is an object in line 3"), "{message}");
    // By a name that the user gave.
    let more = format!(r#"{},"mine":{}"#, logprobs(), kinds[0].0);
    let path = log(folder.path(), "named.jsonl", (0..3).map(|i| line(i, &more)));
    let message = counted(&[path], &settings(&["mask=mine"])).map(|c| c.1).unwrap_err().to_string();
    assert!(message.contains("column `mine` is an object in line 1"), "{message}");
}

#[test]
fn conversion_keeps_tokens_trained_where_only_some_files_have_a_mask() {
    let folder = tempfile::tempdir().unwrap();
    let mask: Vec<i32> = (0..10).map(|i| i32::from(i < 4)).collect();
    let paths = [
        small(folder.path(), "masked.parquet", vec![("mask", int_lists(&[&mask]))]),
        small(folder.path(), "plain.parquet", Vec::new()),
    ];
    assert_eq!(counted(&paths, &IngestSettings::default()).unwrap().1, 14);
    let run = Run::open(&paths, &IngestSettings::default()).unwrap();
    for layout in [Layout::Nested, Layout::Long] {
        let target = folder.path().join("converted.parquet");
        convert(&run, &target, layout, &Silent).unwrap();
        assert_eq!(counted(&[target], &IngestSettings::default()).unwrap().1, 14, "{layout:?}");
    }
}

#[test]
fn masks_that_say_nothing_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mask = |i: usize| if i.is_multiple_of(2) { "null".to_owned() } else { list("1", TOKENS) };
    let lines = (0..8).map(|i| line(i, &format!(r#"{},"mask":{}"#, logprobs(), mask(i))));
    let path = log(folder.path(), "masks.jsonl", lines);
    let (_, trained, quality) = counted(&[path], &IngestSettings::default()).unwrap();
    assert_eq!(trained, 4 * TOKENS);
    assert_eq!(missing(&quality, Column::Mask), Some((8 * TOKENS as u64, 4 * TOKENS as u64)));
    let full = log(
        folder.path(),
        "full.jsonl",
        (0..2).map(|i| line(i, &format!(r#"{},"mask":{}"#, logprobs(), mask(1)))),
    );
    assert_eq!(missing(&counted(&[full], &IngestSettings::default()).unwrap().2, Column::Mask), None);
}
