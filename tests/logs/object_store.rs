//! Logs in buckets and on web servers: the same reports as from the disk, byte for byte, and plain words
//! where something is wrong. The S3 server is a real one.
#![cfg(all(feature = "cloud", feature = "cli", unix))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

use crate::folders;
use crate::object_store_support;
use crate::step_logs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::folders::{assert_same_files, tree};
use crate::object_store_support::liar::{self, Lie};
use crate::object_store_support::seaweed::{self, Seaweed};
use crate::object_store_support::{program, proxy, stderr};
use stapo_analyze::store::Shelf;

/// Both folders hold the same, where names of inputs may differ by where they are.
#[track_caller]
fn assert_same(local: &Path, remote: &Path, bucket: &str) {
    // The page may break an address after each of its parts.
    let plain = |folder: &Path| {
        let mut found = tree(folder);
        for bytes in found.values_mut() {
            if let Ok(text) = str::from_utf8(bytes) {
                *bytes = text.replace("<wbr>", "").replace(bucket, "").into_bytes();
            }
        }
        found
    };
    assert_same_files(&plain(local), &plain(remote));
}

/// A run in three layouts, in `logs/` of a folder.
fn make_logs(root: &Path) {
    let logs = root.join("logs");
    let steps = step_logs::parquet_steps(&logs.join("nested"), 3, 48);
    step_logs::json_steps(&steps, &logs.join("json"), true);
    for step in 0..3 {
        let (from, to) =
            (format!("logs/nested/step_{step}/tokens.parquet"), format!("logs/long/step_{step}.parquet"));
        std::fs::create_dir_all(logs.join("long")).unwrap();
        let output = program(root, &["convert", &from, "-o", &to, "--long", "-q"], &[]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    // What is not to be read: a step in the making, evaluation, something hidden.
    let marked = logs.join("marked");
    step_logs::parquet_steps(&marked, 2, 24);
    std::fs::write(marked.join("step_0/STABLE"), "").unwrap();
    std::fs::create_dir_all(logs.join("nested/_old")).unwrap();
    std::fs::write(logs.join("nested/_old/tokens.parquet"), "no log").unwrap();
    std::fs::write(logs.join("nested/eval_1.parquet"), "no log").unwrap();
}

#[test]
#[ignore = "needs an S3 server, which it installs from PyPI; .ci/run has one"]
fn buckets_are_read_as_folders_are() {
    let server = Seaweed::start().expect("an S3 server");
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    make_logs(root);
    server.put_folder("runs", "logs", &root.join("logs"));
    let environment = server.environment();
    same_reports(root, &environment);
    other_commands(root, &environment);
    state_files(root, &environment);
    refusals(root, &server, &environment);
    replaced(root, &server);
    by_the_web(root, &server);
    shelves(&environment);
    results(root, &environment);
}

/// Results are written to the disk; a folder called `s3:` would be no help.
fn results(root: &Path, environment: &[(&str, String)]) {
    let refused = program(root, &["s3://runs/logs/nested", "--report", "s3://runs/report"], environment);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("to the disk only") && !root.join("s3:").exists());
}

fn same_reports(root: &Path, environment: &[(&str, String)]) {
    let cases = [
        ("nested", "logs/nested", vec!["--max-memory", "40M", "--threads", "3"]),
        ("long", "logs/long", vec![]),
        ("json", "logs/json", vec!["--threads", "1"]),
        ("marked", "logs/marked", vec![]),
        ("glob", "logs/nested/step_*/*.parquet", vec![]),
        ("one", "logs/nested/step_1/tokens.parquet", vec![]),
    ];
    for (name, path, options) in cases {
        let (here, there) = (format!("{name}-local"), format!("{name}-s3"));
        let address = format!("s3://runs/{path}");
        let local = program(root, &[&[path, "--report", &here, "-q"], &options[..]].concat(), &[]);
        assert!(local.status.success(), "{name}: {}", stderr(&local));
        let remote =
            program(root, &[&[&address, "--report", &there, "-q"], &options[..]].concat(), environment);
        assert!(remote.status.success(), "{name}: {}", stderr(&remote));
        assert_eq!(local.stdout, remote.stdout, "{name}");
        assert_same(&root.join(here), &root.join(there), "s3://runs/");
    }
}

/// Plans, parts and caches live in a bucket as they do in a folder.
fn state_files(root: &Path, environment: &[(&str, String)]) {
    let succeeds = |words: &[&str]| {
        let output = program(root, words, environment);
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    };
    let (run, work, plan) = ("s3://runs/logs/long", "s3://runs/shards", "s3://runs/shards/plan.json");
    succeeds(&["plan", run, "--shard-tokens", "4e3", "-o", plan]);
    let mut shards = 0;
    loop {
        let shard = shards.to_string();
        let output = program(root, &["collect", "--plan", plan, "--shard", &shard, "-o", work], environment);
        if output.status.code() == Some(2) {
            assert!(stderr(&output).contains("shards count from 0"), "{}", stderr(&output));
            break;
        }
        assert!(output.status.success(), "{}", stderr(&output));
        shards += 1;
    }
    assert!(shards > 1);
    let again = program(root, &["collect", "--plan", plan, "--shard", "0", "-o", work], environment);
    assert!(stderr(&again).contains("was there"), "{}", stderr(&again));
    succeeds(&["merge", "--plan", plan, work, "--report", "merged-s3", "-q"]);
    assert_same(&root.join("long-local"), &root.join("merged-s3"), "s3://runs/");
    for report in ["cached-s3", "again-s3"] {
        succeeds(&[run, "--cache", "s3://runs/cache", "--report", report, "-q"]);
        assert_same(&root.join("long-local"), &root.join(report), "s3://runs/");
    }
}

fn other_commands(root: &Path, environment: &[(&str, String)]) {
    let s3 = |path: &str| format!("s3://runs/logs/{path}");
    // `@` stands for where the logs are.
    let same = |words: &[&str]| {
        let both = ["logs/", "s3://runs/logs/"].map(|place| {
            let words: Vec<String> = words.iter().map(|word| word.replace('@', place)).collect();
            let output = program(root, &words.iter().map(String::as_str).collect::<Vec<_>>(), environment);
            assert!(output.status.success(), "{words:?}: {}", stderr(&output));
            String::from_utf8(output.stdout).unwrap().replace("s3://runs/", "")
        });
        assert_eq!(both[0], both[1]);
    };
    same(&["check", "@nested", "--format", "json"]);
    same(&["show", "@json", "--limit", "2"]);
    same(&["compare", "@nested", "@long", "-q"]);
    for (name, path) in [("a.parquet", "logs/long".to_owned()), ("b.parquet", s3("long"))] {
        let output = program(root, &["convert", &path, "-o", name, "-q"], environment);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    assert_eq!(
        std::fs::read(root.join("a.parquet")).unwrap(),
        std::fs::read(root.join("b.parquet")).unwrap()
    );
    // Keys of a profile, as `aws configure` leaves them.
    std::fs::create_dir_all(root.join(".aws")).unwrap();
    let keys =
        format!("[lab]\naws_access_key_id = {}\naws_secret_access_key = {}\n", seaweed::KEY, seaweed::SECRET);
    std::fs::write(root.join(".aws/credentials"), keys).unwrap();
    let endpoint = environment.iter().find(|(name, _)| *name == "AWS_ENDPOINT_URL").cloned().unwrap();
    let profile = |name: &str| [endpoint.clone(), ("AWS_PROFILE", name.to_owned())];
    let address = s3("marked");
    assert!(program(root, &["check", &address, "-q"], &profile("lab")).status.success());
    let unknown = program(root, &["check", &address, "-q"], &profile("nobody"));
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("export-credentials --profile nobody"), "{}", stderr(&unknown));
}

fn refused(root: &Path, argument: &str, environment: &[(&str, String)], words: &[&str]) {
    let output = program(root, &["check", argument, "-q"], environment);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("\nhint: "), "{said}");
    for word in words {
        assert!(said.contains(word), "`{word}` is not in: {said}");
    }
}

fn refusals(root: &Path, server: &Seaweed, environment: &[(&str, String)]) {
    let with = |name: &'static str, value: &str| -> Vec<(&str, String)> {
        let others = environment.iter().filter(|(n, _)| *n != name).cloned();
        others.chain([(name, value.to_owned())]).collect()
    };
    let nested = "s3://runs/logs/nested";
    refused(
        root,
        nested,
        &with("AWS_SECRET_ACCESS_KEY", "wrong"),
        &["s3://runs/logs/nested", "403", "AWS_ACCESS_KEY_ID"],
    );
    refused(root, "s3://runs/logs/gone.parquet", environment, &["s3://runs/logs/gone.parquet", "no such"]);
    refused(root, "s3://nowhere/logs", environment, &["s3://nowhere/logs", "no such bucket"]);
    refused(root, "s3://runs/logs/*/none-*.parquet", environment, &["none-*.parquet"]);
    assert!(server.put("runs", "broken/run.parquet", b"PAR1 and no more"));
    refused(root, "s3://runs/broken", environment, &["s3://runs/broken/run.parquet", "footer"]);
    assert!(server.put("runs", "empty/run.jsonl", b""));
    refused(root, "s3://runs/empty/run.jsonl", environment, &["empty"]);
    // Nobody listens, nobody knows the host, plain http to another machine.
    refused(root, nested, &with("AWS_ENDPOINT_URL", "http://127.0.0.1:9"), &["no connection"]);
    refused(root, nested, &with("AWS_ENDPOINT_URL", "http://example.invalid"), &["AWS_ALLOW_HTTP"]);
}

/// An object that is replaced between two reads is refused by name, wherever that happens.
fn replaced(root: &Path, server: &Seaweed) {
    let (filer, s3) = (server.filer, server.s3);
    let other = std::fs::read(root.join("logs/nested/step_2/tokens.parquet")).unwrap();
    let json = std::fs::read(root.join("logs/json/step_2.jsonl")).unwrap();
    let cases = [("step_1/tokens.parquet", "logs/nested", &other), ("step_0.jsonl", "logs/json", &json)];
    for (name, folder, with) in cases {
        let whole = std::fs::read(root.join(folder).join(name)).unwrap();
        let key = format!("replaced/{name}");
        assert!(server.put("runs", &key, &whole));
        let (at, with) = (key.clone(), with.clone());
        // The first read is of the head; the next one is of rows.
        let port = proxy::before_read(s3, 1, move || assert!(seaweed::put(filer, "runs", &at, &with)));
        let address = format!("s3://runs/{key}");
        let output = program(root, &[&address, "-q", "--threads", "1"], &seaweed::environment(port));
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains(&format!("{address}: the file changed while it was read")), "{said}");
    }
}

fn by_the_web(root: &Path, server: &Seaweed) {
    let address = format!("http://127.0.0.1:{}/buckets/runs/logs/nested/step_1/tokens.parquet", server.filer);
    let path = "logs/nested/step_1/tokens.parquet";
    let both = [path, &address].map(|log| {
        let output = program(root, &[log, "--format", "json", "--full", "-q"], &[]);
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    });
    assert_eq!(both[0], both[1].replace(&address, path));
    refused(root, &format!("http://127.0.0.1:{}/buckets/runs/logs/", server.filer), &[], &["no listing"]);
    refused(root, &format!("{address}.gone"), &[], &["404"]);
}

/// Files of our own in a bucket: another process of this test, since the environment is read once.
fn shelves(environment: &[(&str, String)]) {
    let own = std::env::current_exe().unwrap();
    let mut child = std::process::Command::new(own);
    child
        .args(["--exact", "object_store::a_shelf_in_a_bucket", "--ignored"])
        .env("SHELF", "s3://runs/shards/parts");
    environment.iter().for_each(|(name, value)| {
        child.env(name, value);
    });
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "run by `buckets_are_read_as_folders_are`, with a server"]
fn a_shelf_in_a_bucket() {
    let shelf = Shelf::open(Path::new(&std::env::var_os("SHELF").unwrap())).unwrap();
    assert_eq!(shelf.get("a.part").unwrap(), None);
    assert_eq!(shelf.list().unwrap(), []);
    // One request, and several parts.
    let large: Vec<u8> = (0..(17 << 20)).map(|i: u32| (i % 251) as u8).collect();
    shelf.put("b.part", &large).unwrap();
    shelf.put("a.part", b"one").unwrap();
    shelf.put("a.part", b"other").unwrap();
    let names: Vec<(String, u64)> =
        shelf.list().unwrap().into_iter().map(|held| (held.name, held.bytes)).collect();
    assert_eq!(names, [("a.part".to_owned(), 5), ("b.part".to_owned(), 17 << 20)]);
    assert_eq!(shelf.get("a.part").unwrap().unwrap(), b"other");
    assert!(shelf.get("b.part").unwrap().unwrap() == large);
    shelf.remove("a.part").unwrap();
    shelf.remove("a.part").unwrap();
    assert_eq!(shelf.list().unwrap().len(), 1);
}

#[test]
fn servers_that_lie_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    let log = step_logs::parquet_steps(root, 1, 48).remove(0);
    let bytes = std::fs::read(&log).unwrap();
    let address = |lie: Lie| format!("http://127.0.0.1:{}/run.parquet", liar::serve(bytes.clone(), lie));
    let honest = program(root, &[&address(Lie::None), "-q"], &[]);
    assert!(honest.status.success(), "{}", stderr(&honest));
    refused(root, &address(Lie::IgnoresRanges), &[], &["ranges of bytes"]);
    refused(root, &address(Lie::GivesLess), &[], &["fewer bytes"]);
    refused(root, &address(Lie::GivesAnother), &[], &["cannot read bytes"]);
    refused(root, &address(Lie::NeverEnds), &[], &["cannot read bytes"]);
    // Signed links would be told in the report.
    refused(root, "https://host/a.parquet?signature=secret", &[], &["signed links"]);
}

#[test]
fn a_server_that_says_nothing_is_not_waited_for() {
    let root = tempfile::tempdir().unwrap();
    let port = liar::serve(vec![0; 1000], Lie::SaysNothing);
    let environment = [seaweed::environment(port), vec![("AWS_TIMEOUT", "1 second".to_owned())]].concat();
    let started = Instant::now();
    refused(
        root.path(),
        "s3://runs/run.parquet",
        &environment,
        &["no answer in time", "s3://runs/run.parquet"],
    );
    assert!(started.elapsed() < Duration::from_secs(30));
}
