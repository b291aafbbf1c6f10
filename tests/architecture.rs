//! What may import what: the rooms of ARCHITECTURE.md, each after those that it knows.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Rooms in their order, each with what it may import.
const ROOMS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("format", &[]),
    ("named", &[]),
    ("simd", &[]),
    ("output", &["error"]),
    ("store", &["error", "format", "output"]),
    ("parts", &["error", "output", "store"]),
    ("stats", &["simd"]),
    ("framework", &["stats"]),
    ("ingest", &["error", "format", "output", "simd", "store", "parts"]),
    ("tables", &["error", "format", "output"]),
    (
        "analyze",
        &["error", "format", "output", "simd", "store", "parts", "stats", "framework", "ingest", "tables"],
    ),
    ("compare", &["error", "format", "output", "store", "stats", "framework", "ingest", "tables", "analyze"]),
    ("check", &["error", "format", "stats", "framework", "ingest"]),
    ("convert", &["error", "output", "ingest"]),
    ("show", &["error", "format", "ingest", "analyze"]),
    ("replay", &["error", "format", "output", "simd", "stats", "framework", "ingest", "analyze", "convert"]),
    (
        "report",
        &["error", "format", "output", "stats", "framework", "tables", "analyze", "compare", "replay"],
    ),
    ("schemas", &["analyze", "compare", "replay"]),
    ("fuzzing", &["error", "ingest", "analyze", "compare", "replay"]),
    (
        "cli",
        &[
            "error",
            "format",
            "output",
            "store",
            "stats",
            "framework",
            "ingest",
            "tables",
            "analyze",
            "compare",
            "check",
            "convert",
            "show",
            "replay",
            "report",
            "schemas",
        ],
    ),
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// The rooms that a file names, outside of comments.
fn imported(text: &str) -> BTreeSet<&str> {
    let code = text.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    let paths = code.flat_map(|line| line.split("crate::").skip(1));
    paths.filter_map(|path| path.split(|c: char| !c.is_alphanumeric() && c != '_').next()).collect()
}

#[test]
fn nothing_imports_what_comes_after_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut seen = BTreeSet::new();
    for path in sources(&src) {
        let inside = path.strip_prefix(&src).unwrap();
        let room = inside.iter().next().unwrap().to_str().unwrap();
        let room = room.strip_suffix(".rs").unwrap_or(room);
        // The crate's own list of its rooms, and the program.
        if ["lib", "main"].contains(&room) {
            continue;
        }
        let (_, allowed) = ROOMS.iter().find(|(name, _)| *name == room).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        for other in imported(&text) {
            let known = ROOMS.iter().any(|(name, _)| *name == other);
            assert!(!known || other == room || allowed.contains(&other), "{}: {other}", inside.display());
            if known {
                seen.insert((room.to_owned(), other.to_owned()));
            }
        }
    }
    for (place, (room, allowed)) in ROOMS.iter().enumerate() {
        for other in *allowed {
            assert!(ROOMS[..place].iter().any(|(name, _)| name == other), "{room}: {other} comes after it");
            assert!(seen.contains(&((*room).into(), (*other).into())), "{room} does not need {other}");
        }
    }
}
