#![no_main]

use std::cell::OnceCell;

use libfuzzer_sys::fuzz_target;
use stapo_analyze::fuzzing::{Kind, finding};

thread_local! {
    static FOLDER: OnceCell<tempfile::TempDir> = const { OnceCell::new() };
}

fuzz_target!(|bytes: &[u8]| {
    FOLDER.with(|folder| {
        let folder = folder.get_or_init(|| tempfile::tempdir().expect("a temporary folder"));
        if let Some(finding) = finding(Kind::Parquet, bytes, folder.path()) {
            panic!("{finding}");
        }
    });
});
