//! Bytes of the kind that `FUZZ_KIND` names, as libFuzzer makes them up.
#![no_main]
#![allow(clippy::expect_used, clippy::panic)]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use stapo_analyze::fuzzing::{Kind, finding};

static KIND: OnceLock<(Kind, tempfile::TempDir)> = OnceLock::new();

fn kind() -> (Kind, tempfile::TempDir) {
    // Panics that the decoders' guard takes are no findings; libFuzzer's hook would end the program.
    stapo_analyze::ingest::quieten_guarded_panics();
    let wanted = std::env::var("FUZZ_KIND").unwrap_or_default();
    let names = Kind::ALL.map(Kind::name);
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == wanted);
    let kind = kind.unwrap_or_else(|| panic!("FUZZ_KIND is one of {}", names.join(", ")));
    (kind, tempfile::tempdir().expect("a temporary folder"))
}

fuzz_target!(|bytes: &[u8]| {
    let (kind, folder) = KIND.get_or_init(kind);
    if let Some(finding) = finding(*kind, bytes, folder.path()) {
        eprintln!("finding: {finding}");
        std::process::abort();
    }
});
