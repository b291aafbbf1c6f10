//! Bad input: each kind gets one clear message, and nothing half-written stays.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::support::{column, float_lists, floats, int_lists, ints, sample, write_parquet};
use assert_cmd::Command;
use stapo_analyze::analyze::{AnalyzeSettings, analyze};
use stapo_analyze::error::Error;
use stapo_analyze::ingest::{Column, IngestSettings, Run, Silent, Sink, TokenBatch, UserMap, read_all, scan};

fn fail(path: &Path) -> Error {
    read_all(&[path.to_owned()], &IngestSettings::default()).map(|_| "read without an error").unwrap_err()
}

fn log(folder: &Path, name: &str, logprobs: &[f32], entropies: &[f32]) -> PathBuf {
    let path = folder.join(name);
    let ids = vec![1; logprobs.len()];
    let columns = vec![
        ("step", ints(&[0])),
        ("token_ids", int_lists(&[&ids])),
        ("logprob", float_lists(&[logprobs])),
        ("entropy", float_lists(&[entropies])),
        ("advantage", floats(&[1.0])),
    ];
    write_parquet(&path, columns, 8);
    path
}

#[test]
fn truncated_and_corrupt_parquet() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = fs::read(sample("grpo.parquet")).unwrap();
    let short = folder.path().join("short.parquet");
    fs::write(&short, &bytes[..bytes.len() / 2]).unwrap();
    let error = fail(&short);
    assert!(matches!(&error, Error::Corrupt { place, .. } if place == "footer"), "{error}");
    assert!(error.to_string().contains("short.parquet"));
    let text = folder.path().join("text.parquet");
    fs::write(&text, "this is not Parquet at all").unwrap();
    assert!(matches!(fail(&text), Error::Corrupt { .. }));
    let empty = folder.path().join("empty.parquet");
    fs::write(&empty, "").unwrap();
    assert!(matches!(fail(&empty), Error::Empty { .. }));
}

/// No rows, and rows without a token: of nothing, nothing is said.
#[test]
fn logs_without_a_token_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (responses, said) in [(0, "the log has no rows"), (3, "all 3 responses are empty")] {
        let path = folder.path().join(format!("{responses}.parquet"));
        let (lists, ids) = (vec![&[][..]; responses], vec![&[][..]; responses]);
        let columns = vec![
            ("step", ints(&vec![0; responses])),
            ("token_ids", int_lists(&ids)),
            ("logprob", float_lists(&lists)),
            ("entropy", float_lists(&lists)),
            ("advantage", floats(&vec![1.0; responses])),
        ];
        write_parquet(&path, columns, 8);
        let run = Run::open(&[path], &IngestSettings::default()).unwrap();
        let error = analyze(&run, &AnalyzeSettings::default(), &Silent).unwrap_err();
        assert!(matches!(error, Error::NoTokens { .. }), "{error}");
        assert!(error.to_string().ends_with(&format!("{responses}.parquet: {said}")), "{error}");
        assert!(error.hint().is_some());
    }
}

#[test]
fn damaged_pages_name_file_and_row_group() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = fs::read(sample("grpo.parquet")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 1_500_000].fill(0xA5);
    let path = folder.path().join("damaged.parquet");
    fs::write(&path, bytes).unwrap();
    let error = fail(&path);
    assert!(matches!(&error, Error::Corrupt { place, .. } if place.contains("row group")), "{error}");
    assert!(error.hint().is_some());
}

#[test]
fn a_wrong_page_checksum_is_found() {
    // Written by pyarrow with `write_page_checksum=True`, uncompressed.
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/checksummed.parquet");
    let whole = read_all(std::slice::from_ref(&data), &IngestSettings::default()).unwrap();
    assert_eq!(column(&whole, Column::Logprob).len(), 600);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("crc.parquet");
    let mut bytes = fs::read(&data).unwrap();
    // One bit of a float: the value still decodes, only the checksum tells.
    let target = (-1.0f32 - 50.0 * 0.01).to_le_bytes();
    let at = bytes.windows(4).position(|w| w == target).unwrap();
    bytes[at] ^= 1;
    fs::write(&path, bytes).unwrap();
    let error = fail(&path);
    assert!(error.to_string().to_lowercase().contains("crc"), "{error}");
}

#[test]
fn lists_of_unequal_length_name_row_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("unequal.parquet");
    let columns = vec![
        ("token_ids", int_lists(&[&[1, 2, 3, 4], &[1, 2, 3, 4]])),
        ("logprob", float_lists(&[&[-1.0; 4], &[-1.0; 2]])),
    ];
    write_parquet(&path, columns, 8);
    let message = fail(&path).to_string();
    assert!(message.contains("row 1") && message.contains("`logprob` has 2"), "{message}");
}

#[test]
fn single_bad_values_become_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path =
        log(folder.path(), "bad.parquet", &[-1.0, f32::NAN, 0.5, f32::NEG_INFINITY], &[1.0, 1.0, -1.0, 1.0]);
    let batches = read_all(&[path], &IngestSettings::default()).unwrap();
    let logprobs = column(&batches, Column::Logprob);
    assert_eq!(logprobs.iter().filter(|v| v.is_nan()).count(), 3);
    assert_eq!(column(&batches, Column::Entropy).iter().filter(|v| v.is_nan()).count(), 1);
}

#[test]
fn missing_values_are_counted_with_their_place_and_refused_where_no_other_is_left() {
    struct Nothing;
    impl Sink for Nothing {
        fn accept(&mut self, _: &TokenBatch) -> Result<(), Error> {
            Ok(())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let quality = |name: &str, logprobs: &[f32]| {
        let path = log(folder.path(), name, logprobs, &[1.0; 4]);
        let run = Run::open(&[path], &IngestSettings::default()).unwrap();
        let quality = scan(&run, Column::ALL, &Silent, || Nothing).unwrap().quality;
        let required = quality.require_values(&[Column::Logprob], |f| run.file_name(f));
        (quality.get(Column::Logprob).unwrap().clone(), required)
    };
    let (counts, required) = quality("some.parquet", &[-1.0, f32::NAN, f32::NAN, f32::NAN]);
    assert_eq!((counts.values, counts.not_finite, counts.missing_share()), (4, 3, 0.75));
    assert_eq!(counts.first_bad.map(|place| (place.row, place.position)), Some((0, 1)));
    assert!(required.is_ok());

    let (_, required) = quality("none.parquet", &[f32::NAN; 4]);
    let error = required.unwrap_err();
    let message = error.to_string();
    assert!(message.contains("all of its 4 values") && message.contains("row 0 position 0"), "{message}");
    assert!(error.hint().unwrap().contains("log it"));
}

#[test]
fn conflicting_types_name_both_files() {
    let folder = tempfile::tempdir().unwrap();
    let a = log(folder.path(), "a.parquet", &[-1.0], &[1.0]);
    let b = folder.path().join("b.parquet");
    write_parquet(&b, vec![("token_ids", int_lists(&[&[1]])), ("logprob", floats(&[-1.0]))], 8);
    let error = read_all(&[a, b], &IngestSettings::default()).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("a.parquet") && message.contains("b.parquet") && message.contains("`logprob`"),
        "{message}"
    );
}

#[test]
fn maps_that_cannot_be_followed() {
    let parse = |maps: &[&str]| UserMap::parse(&maps.iter().map(|m| (*m).to_owned()).collect::<Vec<_>>());
    assert!(parse(&["logprob=x", "entropy=x"]).unwrap_err().to_string().contains("mapped twice"));
    assert!(parse(&["logprob=x", "logprob=y"]).unwrap_err().to_string().contains("mapped twice"));
    assert!(parse(&["nonsense=x"]).unwrap_err().hint().unwrap().contains("logprob"));
    assert!(parse(&["logprob"]).is_err());
    let settings = IngestSettings { map: parse(&["logprob=gone"]).unwrap(), ..Default::default() };
    let error = read_all(&[sample("grpo.parquet")], &settings).unwrap_err();
    assert!(error.hint().unwrap().contains("entropy"), "{error}");
}

#[test]
fn errors_reach_the_user_with_a_hint_and_exit_code_two() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().join("gone.parquet"), folder.path().to_owned()] {
        let output = Command::cargo_bin("stapo-analyze").unwrap().arg("check").arg(&path).output().unwrap();
        let talk = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(talk.starts_with("error: ") && talk.contains("\nhint: "), "{talk}");
    }
}

#[cfg(unix)]
#[test]
fn paths_need_not_be_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let name = std::ffi::OsStr::from_bytes(b"step_3_\xff.parquet");
    let path = folder.path().join(name);
    fs::copy(log(folder.path(), "a.parquet", &[-1.0], &[1.0]), &path).unwrap();
    assert_eq!(read_all(std::slice::from_ref(&path), &IngestSettings::default()).unwrap().len(), 1);
    let output = Command::cargo_bin("stapo-analyze").unwrap().arg("check").arg(&path).output().unwrap();
    assert!(output.status.success());
}

#[test]
fn a_failed_conversion_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = fs::read(sample("grpo.parquet")).unwrap();
    let late = bytes.len() * 8 / 10;
    bytes[late..late + 900_000].fill(0xA5);
    let source = folder.path().join("damaged.parquet");
    fs::write(&source, bytes).unwrap();
    let out = folder.path().join("out");
    let target = out.join("target.parquet");
    let output = Command::cargo_bin("stapo-analyze")
        .unwrap()
        .args(["convert".as_ref(), source.as_os_str(), "-o".as_ref(), target.as_os_str()])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
}

/// A full disk, played by the limit on file sizes: writing beyond it fails as on a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("target.parquet");
    let program = assert_cmd::cargo::cargo_bin("stapo-analyze");
    let script = format!(
        "trap '' XFSZ; ulimit -f 512; exec '{}' convert '{}' -o '{}'",
        program.display(),
        sample("grpo.parquet").display(),
        target.display()
    );
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{talk}");
    assert!(
        talk.contains("cannot write") && talk.contains("target.parquet") && talk.contains("hint: "),
        "{talk}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Any byte of a file may be wrong: an error or other values, never a crash.
#[test]
fn flipped_bytes_never_crash() {
    let folder = tempfile::tempdir().unwrap();
    let good = fs::read(log(folder.path(), "good.parquet", &[-1.0; 40], &[1.0; 40])).unwrap();
    let path = folder.path().join("flipped.parquet");
    // The scan turns panics of decoders into errors; a panic of ours must not hide among them.
    let ours = Arc::new(Mutex::new(Vec::new()));
    let (seen, before) = (Arc::clone(&ours), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        if !place.contains("/registry/") && !place.contains("/library/") {
            seen.lock().unwrap().push(place);
        }
    }));
    let mut refused = 0;
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 0x5A;
        fs::write(&path, bytes).unwrap();
        match read_all(std::slice::from_ref(&path), &IngestSettings::default()) {
            Ok(batches) => {
                let tokens: usize = batches.iter().map(TokenBatch::token_count).sum();
                assert_eq!(tokens, 40, "byte {at} lost tokens in silence");
            }
            Err(error) => {
                assert!(error.to_string().contains("flipped.parquet"), "byte {at}: {error}");
                refused += 1;
            }
        }
    }
    std::panic::set_hook(before);
    assert_eq!(*ours.lock().unwrap(), Vec::<String>::new(), "panics in our own code");
    assert!(refused > good.len() / 10, "{refused} of {} flips were refused", good.len());
}

/// What is left out for a shorter build is said, with how to get it.
#[test]
#[cfg(not(feature = "cloud"))]
fn buckets_need_another_build() {
    let error = stapo_analyze::ingest::Run::glance(&["s3://runs/log.parquet".into()]).unwrap_err();
    let (said, hint) = (error.to_string(), error.hint().unwrap_or_default().to_string());
    assert!(said.contains("s3://runs/log.parquet") && hint.contains("--features cloud"), "{said}: {hint}");
}
