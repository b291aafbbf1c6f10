//! Every file of the fuzz corpus, and what chance makes of it, is read or refused: nothing panics.
//!
//! `FUZZ_SECONDS=600 cargo test --release --test program fuzz_corpus` goes on for longer, with other chances.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use stapo_analyze::fuzzing::{Kind, finding};
use stapo_analyze::stats::random::Random;

/// Numbers that break things.
const MAGIC: [u8; 9] = [0, 1, 3, 0x7f, 0x80, 0xff, 0xfe, b'"', b'['];

fn corpus(kind: Kind) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(kind.name());
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Chances of bytes to change.
struct Chance(Random);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0.below(n.max(1))
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            match self.below(8) {
                _ if bytes.is_empty() => bytes.extend_from_slice(other),
                0 => bytes[at] ^= 1 << self.below(8),
                1 => bytes[at] = MAGIC[self.below(MAGIC.len())],
                2 => bytes.truncate(at),
                3 => bytes.insert(at, MAGIC[self.below(MAGIC.len())]),
                4 => {
                    let end = (at + 1 + self.below(8)).min(bytes.len());
                    bytes.drain(at..end);
                }
                5 => {
                    let end = (at + 1 + self.below(32)).min(bytes.len());
                    let copy = bytes[at..end].to_vec();
                    let to = self.below(bytes.len());
                    bytes.splice(to..to, copy);
                }
                6 => bytes[at] = bytes[at].wrapping_add(1),
                _ => {
                    let from = self.below(other.len());
                    let piece = other[from..(from + self.below(24)).min(other.len())].to_vec();
                    let end = (at + piece.len()).min(bytes.len());
                    bytes.splice(at..end, piece);
                }
            }
        }
    }
}

#[test]
fn no_bytes_make_the_readers_panic() {
    stapo_analyze::ingest::quieten_guarded_panics();
    let seconds: u64 = std::env::var("FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let longer = seconds > 0;
    let seed = if longer { std::process::id().into() } else { 1 };
    let folder = tempfile::tempdir().unwrap();
    let mut counts = Vec::new();
    for kind in Kind::ALL {
        let files = corpus(kind);
        let mut chance = Chance(Random::splitmix(seed));
        let (started, mut tried) = (Instant::now(), 0_u64);
        let share = Duration::from_secs(seconds) / Kind::ALL.len() as u32;
        // A few hundred each in every run of the tests.
        let rounds = if longer { u64::MAX } else { 300 };
        for (path, bytes) in &files {
            let found = finding(kind, bytes, folder.path());
            assert_eq!(found, None, "{}", path.display());
        }
        while tried < rounds && (!longer || started.elapsed() < share) {
            let mut bytes = files[chance.below(files.len())].1.clone();
            let other = &files[chance.below(files.len())].1;
            chance.mutate(&mut bytes, other);
            if let Some(found) = finding(kind, &bytes, folder.path()) {
                let kept = std::env::temp_dir().join(format!("finding-{}-{tried}", kind.name()));
                std::fs::write(&kept, &bytes).unwrap();
                panic!("{}: {found}; the bytes are in {}", kind.name(), kept.display());
            }
            tried += 1;
        }
        counts.push(format!("{} {tried}", kind.name()));
    }
    println!("{}", counts.join(", "));
}
