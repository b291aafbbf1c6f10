//! What cannot be merged is refused by name.

use std::path::{Path, PathBuf};

use stapo_analyze::Error;
use stapo_analyze::analyze::{MergedParts, Purpose, ShardPlan, analyze_merged, collect_shard};
use stapo_analyze::error::PartFault;
use stapo_analyze::framework::s2t::S2tSettings;
use stapo_analyze::ingest::Silent;

use crate::shards::logs::{Content, Shape, write};
use crate::shards::{open, preset};

struct Work {
    _folder: tempfile::TempDir,
    logs: Vec<PathBuf>,
    plan: ShardPlan,
    parts: Vec<PathBuf>,
}

fn work() -> Work {
    let folder = tempfile::tempdir().unwrap();
    let logs = write(folder.path(), Content { steps: 2, ..Content::new(Shape::Nested) }, 2);
    let plan = ShardPlan::new(&open(&logs), &preset(S2tSettings::v5()), Purpose::Report, 1_000).unwrap();
    let out = folder.path().join("work");
    let parts =
        (0..plan.shards()).map(|k| collect_shard(&plan, k, &out, 1, |_| Silent).unwrap().path).collect();
    Work { _folder: folder, logs, plan, parts }
}

#[track_caller]
fn fault(plan: &ShardPlan, inputs: &[PathBuf]) -> (PathBuf, PartFault) {
    match MergedParts::read(plan, inputs).and_then(|merged| analyze_merged(merged).map(|_| ())) {
        Err(Error::Part { path, fault }) => (path, fault),
        Err(error) => panic!("{error}"),
        Ok(()) => panic!("it was merged"),
    }
}

fn folder_of(path: &Path) -> PathBuf {
    path.parent().unwrap().to_owned()
}

#[test]
fn cut_and_changed_parts_are_refused_by_name() {
    let work = work();
    let path = &work.parts[1];
    let whole = std::fs::read(path).unwrap();
    for i in 0..15 {
        std::fs::write(path, &whole[..whole.len() * i / 15]).unwrap();
        let (named, fault) = fault(&work.plan, &work.parts);
        assert_eq!(named, *path);
        let known = matches!(fault, PartFault::Truncated | PartFault::NotAPart | PartFault::Damaged { .. });
        assert!(known, "{fault:?}");
    }
    for i in 0..21 {
        let mut bytes = whole.clone();
        let at = (bytes.len() - 1) * i / 20;
        bytes[at] ^= 1 << (i % 8);
        std::fs::write(path, &bytes).unwrap();
        let (named, fault) = fault(&work.plan, &work.parts);
        assert_eq!(named, *path, "byte {at}");
        let known = matches!(
            fault,
            PartFault::Damaged { .. }
                | PartFault::NotAPart
                | PartFault::OtherFormat { .. }
                | PartFault::Truncated
        );
        assert!(known, "byte {at}: {fault:?}");
        // Collected again, it is whole: a part that is not valid is not taken for done.
        if i % 10 == 0 {
            let made = collect_shard(&work.plan, 1, &folder_of(path), 1, |_| Silent).unwrap();
            assert!(!made.was_there && std::fs::read(path).unwrap() == whole);
        }
    }
    let mut longer = whole.clone();
    longer.push(0);
    std::fs::write(path, &longer).unwrap();
    assert!(matches!(fault(&work.plan, &work.parts).1, PartFault::Damaged { .. }));
    std::fs::write(path, &whole).unwrap();
    assert!(collect_shard(&work.plan, 1, &folder_of(path), 1, |_| Silent).unwrap().was_there);
    assert!(analyze_merged(MergedParts::read(&work.plan, &work.parts).unwrap()).is_ok());
}

#[test]
fn missing_and_duplicate_parts_are_refused_by_name() {
    let work = work();
    let folder = folder_of(&work.parts[0]);
    let twice = folder.join("part-00001-copy.part");
    std::fs::copy(&work.parts[1], &twice).unwrap();
    let (named, found) = fault(&work.plan, std::slice::from_ref(&folder));
    assert_eq!((named, found), (work.parts[1].clone(), PartFault::Duplicate { other: twice.clone() }));
    std::fs::remove_file(twice).unwrap();
    let others = [&work.parts[..1], &work.parts[2..]].concat();
    let (named, found) = fault(&work.plan, &others);
    assert_eq!((named, found), (folder.clone(), PartFault::NotGiven { missing: "shard 1".into() }));
    std::fs::remove_file(&work.parts[1]).unwrap();
    assert_eq!(fault(&work.plan, &others).1, PartFault::Missing { missing: "shard 1".into() });
    let (named, found) = fault(&work.plan, std::slice::from_ref(&folder));
    assert_eq!((named, found), (folder, PartFault::Missing { missing: "shard 1".into() }));
    // What is there may still become a bigger part.
    let rest = MergedParts::read(&work.plan, &work.parts[2..3]).unwrap();
    rest.write(&work.parts[1]).unwrap();
    let (named, found) = fault(&work.plan, &work.parts);
    assert!(matches!(found, PartFault::Duplicate { .. }), "{found:?} of {named:?}");
}

#[test]
fn parts_of_others_are_refused_by_name() {
    let work = work();
    let other =
        ShardPlan::new(&open(&work.logs), &preset(S2tSettings::v1()), Purpose::Report, 1_000).unwrap();
    let (named, found) = fault(&other, &work.parts);
    assert!(work.parts.contains(&named) && matches!(found, PartFault::OtherPlan { .. }), "{found:?}");
    let error = MergedParts::read(&work.plan, &[work.logs[0].clone()]).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::Part { fault: PartFault::NotAPart, .. }));
    // Another format, another version of the program: as an old file would say.
    let path = &work.parts[0];
    let whole = std::fs::read(path).unwrap();
    let mut old = whole.clone();
    old[8] = 0;
    std::fs::write(path, &old).unwrap();
    assert!(matches!(fault(&work.plan, &work.parts).1, PartFault::OtherFormat { found: 0, .. }));
    assert!(collect_shard(&work.plan, work.plan.shards(), path.parent().unwrap(), 1, |_| Silent).is_err());
}

#[test]
fn plans_of_others_and_changed_files_are_refused() {
    let work = work();
    let path = folder_of(&work.parts[0]).join("plan.json");
    work.plan.write(&path).unwrap();
    assert_eq!(ShardPlan::read(&path).unwrap().hash(), work.plan.hash());
    let text = std::fs::read_to_string(&path).unwrap();
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        match ShardPlan::read(&path) {
            Err(Error::Part { fault, .. }) => fault,
            other => panic!("{:?}", other.map(|_| ())),
        }
    };
    let version = format!("\"program\": \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(matches!(changed(&version, "\"program\": \"0.0.1\""), PartFault::OtherProgram { .. }));
    assert!(matches!(changed("\"format\": ", "\"format\": 7"), PartFault::OtherFormat { .. }));
    assert!(matches!(changed("\"target\": \"", "\"target\": \"sparc-"), PartFault::OtherTarget { .. }));
    assert!(matches!(changed("\"kernel\": \"", "\"kernel\": \"0"), PartFault::OtherKernel));
    assert!(matches!(changed("\"shards\"", "\"sherds\""), PartFault::NotAPlan));
    // A file that was written on after the plan was made.
    let log = &work.logs[1];
    let mut bytes = std::fs::read(log).unwrap();
    bytes.extend_from_slice(b"more");
    std::fs::write(log, bytes).unwrap();
    let empty = tempfile::tempdir().unwrap();
    let refused = (0..work.plan.shards())
        .filter_map(|k| collect_shard(&work.plan, k, empty.path(), 1, |_| Silent).err())
        .collect::<Vec<_>>();
    assert!(!refused.is_empty());
    for error in refused {
        let known =
            matches!(&error, Error::ChangedSincePlan { path } | Error::Corrupt { path, .. } if path == log);
        assert!(known, "{error}");
    }
}
