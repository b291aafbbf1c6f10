//! Where fuzzers come in: bytes of one kind each, read as the program would. Not a part of the
//! library's interface; see `fuzz/` and `tests/program/fuzz_corpus.rs`.
//!
//! Whatever the bytes are, the answer is a result or an error of the bytes. A panic, also one that
//! came back as [`Error::Internal`], is a finding.

use std::path::Path;

use stapo_base::error::{Error, Result};
use stapo_batch::batch::TokenBatch;
use stapo_batch::columns::Column;
use stapo_batch::limits::Limits;
use stapo_batch::progress::Silent;
use stapo_batch::sink::Sink;
use stapo_ingest::{HybridRuns, IngestSettings, Run, Wanted, read_all, scan};

/// What bytes can be read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A Parquet log, either layout: footers, pages, the run-length decoder, sparse lists.
    Parquet,
    /// Run lengths and packed values alone: a width, then their bytes.
    RunLength,
    /// JSON lines of any framework.
    Json,
    /// JSON lines, compressed.
    JsonGz,
    /// One JSON document.
    JsonDocument,
    /// JSON lines of texts and rewards, analysed; in two files, the second held out, with a tokenizer.
    Texts,
    /// Training curves, analysed: the first byte says in which form.
    Curves,
    /// A trainer's metrics.
    Csv,
    /// A vocabulary.
    Tokenizer,
    /// Weights of a model whose configuration is right.
    Safetensors,
    /// The configuration of a model.
    Config,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Parquet,
        Self::RunLength,
        Self::Json,
        Self::JsonGz,
        Self::JsonDocument,
        Self::Texts,
        Self::Curves,
        Self::Csv,
        Self::Tokenizer,
        Self::Safetensors,
        Self::Config,
    ];

    /// The name of its corpus and its fuzz target.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::RunLength => "run_length",
            Self::Json => "json",
            Self::JsonGz => "json_gz",
            Self::JsonDocument => "json_document",
            Self::Texts => "texts",
            Self::Curves => "curves",
            Self::Csv => "csv",
            Self::Tokenizer => "tokenizer",
            Self::Safetensors => "safetensors",
            Self::Config => "config",
        }
    }

    const fn file(self) -> &'static str {
        match self {
            Self::Parquet => "run.parquet",
            Self::RunLength => "run_length",
            Self::Json => "run.jsonl",
            Self::JsonGz => "run.jsonl.gz",
            Self::JsonDocument => "run.json",
            Self::Texts => "1.jsonl",
            Self::Curves => "curves",
            Self::Csv => "metrics.csv",
            Self::Tokenizer => "tokenizer.json",
            Self::Safetensors => "model.safetensors",
            Self::Config => "config.json",
        }
    }
}

/// A configuration that the weights of the corpus fit.
const CONFIG: &str = include_str!("../tests/data/replay/llama/config.json");
/// Memory that a fuzzed log may take.
const MEMORY: u64 = 64_000_000;

/// Reads bytes as what they are said to be, in a folder that is for this alone. `Some` is a finding.
pub fn finding(kind: Kind, bytes: &[u8], folder: &Path) -> Option<String> {
    let path = folder.join(kind.file());
    if let Err(error) = std::fs::write(&path, bytes) {
        return Some(error.to_string());
    }
    match stapo_base::guard::internal(|| read(kind, bytes, &path, folder)) {
        Err(error @ Error::Internal { .. }) => Some(error.to_string()),
        Ok(()) | Err(_) => None,
    }
}

fn read(kind: Kind, bytes: &[u8], path: &Path, folder: &Path) -> Result<()> {
    match kind {
        Kind::Parquet | Kind::Json | Kind::JsonGz | Kind::JsonDocument => {
            let settings = IngestSettings { threads: 1, limits: Limits::new(MEMORY), ..Default::default() };
            let paths = [path.to_owned()];
            if kind == Kind::Parquet {
                // As an analysis reads it: prompts once a group, by the reader of sparse lists.
                let run = Run::open(&paths, &settings)?;
                let wanted = Wanted { columns: Column::ALL, others: &[], prompts_by_group: true };
                scan(&run, wanted, &Silent, || Nothing)?;
            }
            read_all(&paths, &settings).map(|_| ())
        }
        Kind::RunLength => {
            runs(bytes);
            Ok(())
        }
        Kind::Texts => texts(bytes, folder),
        Kind::Curves => curves(bytes, folder),
        Kind::Csv => stapo_curves::read_bytes(kind.file(), bytes, &Default::default()).map(|_| ()),
        Kind::Tokenizer => stapo_ingest::texts::Tokenizer::read(path).map(|_| ()),
        Kind::Safetensors => {
            std::fs::write(folder.join("config.json"), CONFIG).map_err(|e| Error::write(folder, e))?;
            stapo_replay::model::read_checkpoint(folder)
        }
        Kind::Config => {
            let text = std::fs::read_to_string(path).map_err(|e| Error::read(path, e))?;
            let corrupt = |e: serde_json::Error| Error::Corrupt {
                path: path.to_owned(),
                place: String::new(),
                message: e.to_string(),
            };
            let json = serde_json::from_str(&text).map_err(corrupt)?;
            stapo_replay::model::ModelConfig::parse(path, &json).map(|_| ())
        }
    }
}

/// A tokenizer of three merges.
const TOKENIZER: &str = include_str!("../tests/data/texts/tokenizer.json");
/// Between the rows that are trained on and those that are held out.
const SEPARATOR: &[u8] = b"\n----\n";

/// Analyses texts.
fn texts(bytes: &[u8], folder: &Path) -> Result<()> {
    let at = bytes.windows(SEPARATOR.len()).position(|part| part == SEPARATOR);
    let (train, held_out) = at.map_or((bytes, &[][..]), |at| (&bytes[..at], &bytes[at + SEPARATOR.len()..]));
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).map(|()| path.clone()).map_err(|e| Error::write(&path, e))
    };
    let (log, tokenizer) = (write("1.jsonl", train)?, write("tokenizer.json", TOKENIZER.as_bytes())?);
    let held_out = if held_out.is_empty() { Vec::new() } else { vec![write("2.jsonl", held_out)?] };
    for tokenizer in [None, Some(tokenizer)] {
        let limits = Limits::new(MEMORY);
        let settings = IngestSettings {
            threads: 1,
            limits,
            tokenizer,
            held_out: held_out.clone(),
            ..Default::default()
        };
        let run = Run::open(std::slice::from_ref(&log), &settings)?;
        if run.is_of_texts() {
            crate::analyze::analyze_partial(&run, &Default::default(), None, &Silent)?;
        }
    }
    Ok(())
}

/// Analyses curves.
fn curves(bytes: &[u8], folder: &Path) -> Result<()> {
    let Some((form, bytes)) = bytes.split_first() else { return Ok(()) };
    let names = ["run.log", "run.csv", "run.jsonl", "trainer_state.json", "rows.json"];
    let path = folder.join(names[usize::from(*form) % names.len()]);
    std::fs::write(&path, bytes).map_err(|e| Error::write(&path, e))?;
    let found = crate::analyze::analyze_curves(std::slice::from_ref(&path), &[], None).map(|_| ());
    std::fs::remove_file(&path).map_err(|e| Error::write(&path, e))?;
    found
}

/// Takes batches and leaves them.
struct Nothing;

impl Sink for Nothing {
    fn accept(&mut self, _: &TokenBatch) -> Result<()> {
        Ok(())
    }
}

/// Reads all runs; as many values as a page can have.
fn runs(bytes: &[u8]) {
    let Some((width, rest)) = bytes.split_first() else { return };
    let Ok(mut runs) = HybridRuns::new(bytes::Bytes::copy_from_slice(rest), (*width).into()) else { return };
    let mut values = 0_usize;
    while values < 1 << 24
        && let Ok(run) = runs.next_run()
    {
        assert!(u64::from(run.value) < 1_u64 << (*width).min(32), "a value of more bits than it has");
        values = values.saturating_add(run.len);
    }
}
