//! An analysis in shards beside one process, a run that grows with a cache, and a merge of many
//! candidates: real processes of the program on logs made from the sample run.
//!
//!     cargo bench --bench scale                          # everything: 20 files of 2 M tokens
//!     cargo bench --bench scale -- cache 100 2           # one part: files, millions of tokens of each
//!     cargo bench --bench scale -- cache 100 2 --write   # and put its figures into docs/scale.md
//!
//! Parts: `shards`, `cache`, `merge`. Each prints its figures as they are measured, and begins no round that
//! would take it beyond `--seconds` (120). `--program PATH` times another build, `--sample PATH` and
//! `--processes N` are for a machine without the sources. Logs take 12 bytes a token in the temporary folder.
//!
//! A file is a step, as trainers write them: 2 M tokens are 512 prompts with 8 answers of 500 tokens.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs)]

#[path = "../support/mod.rs"]
mod support;

mod arguments;
mod cache;
mod figures;
mod logs;
mod merge;
mod on_paper;
mod process;
mod shards;

use std::path::Path;

use arguments::Arguments;
use figures::Figures;

fn main() {
    let arguments = Arguments::read();
    let folder = tempfile::tempdir().unwrap();
    let mut figures = Figures::new(&arguments);
    let asked = |part: &str| arguments.parts.iter().any(|name| name == part);
    let logs = folder.path().join("logs");
    let files = if asked("merge") { merge::files_needed(&arguments) } else { 0 };
    let log = logs::write(&logs, &arguments, arguments.files.max(files));
    figures.say(&format!(
        "{:.0} M tokens in {} files, {:.2} GB, {} cores",
        log.tokens as f64 / 1e6,
        log.files,
        log.bytes / 1e9,
        process::cores()
    ));
    let measured = asked("shards").then(|| shards::measure(&arguments, &log, folder.path(), &mut figures));
    if asked("cache") {
        cache::measure(&arguments, &log, folder.path(), &mut figures);
    }
    let merged = asked("merge").then(|| merge::measure(&arguments, &log, folder.path(), &mut figures));
    if let (Some(shards), Some(merge)) = (measured, merged) {
        on_paper::estimate(&log, shards, merge, &mut figures);
    }
    if arguments.write {
        figures.write(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/scale.md")));
    }
}
