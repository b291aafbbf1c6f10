//! What the command line asks for.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub const PARTS: [&str; 3] = ["shards", "cache", "merge"];

pub struct Arguments {
    pub parts: Vec<String>,
    pub files: usize,
    /// Tokens of a file.
    pub tokens: u64,
    /// No part begins another round after this.
    pub limit: Duration,
    pub program: PathBuf,
    pub sample: PathBuf,
    /// Processes side by side.
    pub processes: usize,
    /// Whether the figures go into the documentation.
    pub write: bool,
}

impl Arguments {
    pub fn read() -> Self {
        let mut read = Self {
            parts: Vec::new(),
            files: 20,
            tokens: 2_000_000,
            limit: Duration::from_secs(120),
            program: env!("CARGO_BIN_EXE_stapo-analyze").into(),
            sample: Path::new(env!("CARGO_MANIFEST_DIR")).join("notebooks-data/grpo.parquet"),
            processes: super::process::cores(),
            write: false,
        };
        let mut numbers = Vec::new();
        let mut rest = std::env::args().skip(1).filter(|argument| argument != "--bench");
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().unwrap_or_else(|| panic!("{argument} needs a value"));
            match argument.as_str() {
                "--write" => read.write = true,
                "--program" => read.program = value().into(),
                "--sample" => read.sample = value().into(),
                "--seconds" => read.limit = Duration::from_secs_f64(value().parse().unwrap()),
                "--processes" => read.processes = value().parse().unwrap(),
                part if PARTS.contains(&part) => read.parts.push(part.to_owned()),
                number => match number.parse::<f64>() {
                    Ok(number) => numbers.push(number),
                    Err(_) => panic!("`{number}` is no part ({}) and no number", PARTS.join(", ")),
                },
            }
        }
        if read.parts.is_empty() {
            read.parts = PARTS.map(str::to_owned).to_vec();
        }
        read.files = numbers.first().map_or(read.files, |files| *files as usize);
        read.tokens = numbers.get(1).map_or(read.tokens, |millions| (millions * 1e6) as u64);
        read
    }

    /// Three rounds, or as many as begin in time; one at least.
    pub fn rounds(&self, mut round: impl FnMut()) {
        let began = Instant::now();
        for done in 0..3 {
            if done > 0 && began.elapsed() + began.elapsed() / done > self.limit {
                break;
            }
            round();
        }
    }
}
