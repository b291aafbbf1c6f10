//! What may import what: the rooms of ARCHITECTURE.md, each after those that it knows.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
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
    (
        "replay",
        &[
            "error",
            "format",
            "output",
            "simd",
            "stats",
            "framework",
            "ingest",
            "tables",
            "analyze",
            "convert",
        ],
    ),
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

/// A module, by the names that lead to it.
type Module = Vec<String>;

/// What each file imports.
type Imports = BTreeMap<Module, BTreeSet<Module>>;

/// The paths of a tree such as `a::{b, c::d as e}`; gives what comes after it.
fn paths<'a>(text: &'a str, before: &[&'a str], found: &mut Vec<Vec<&'a str>>) -> &'a str {
    let text = text.trim_start();
    if let Some(mut inside) = text.strip_prefix('{') {
        loop {
            inside = inside.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            match inside.strip_prefix('}') {
                Some(after) => return after,
                None => inside = paths(inside, before, found),
            }
        }
    }
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '*';
    let (name, after) = text.split_at(text.find(|c| !is_name(c)).unwrap_or(text.len()));
    let path = [before, &[name]].concat();
    if let Some(more) = after.strip_prefix("::") {
        return paths(more, &path, found);
    }
    found.push(path);
    after.strip_prefix(" as ").map_or(after, |alias| alias.trim_start_matches(is_name))
}

/// What code names by a path of this crate.
fn named(code: &str) -> Vec<Vec<&str>> {
    let mut found = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            let is_inside = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            if !code[..at].ends_with(is_inside) {
                paths(&code[at..], &[], &mut found);
            }
        }
    }
    found
}

/// Tests may name what they hold a file against.
fn without_tests(text: &str) -> String {
    let code = text.split("mod tests {").next().unwrap_or_default();
    code.lines()
        .map(|line| line.split_once("//").map_or(line, |(code, _)| code))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The files that each file imports; of a folder's own file and what lies in the folder, either may name the other.
fn imports(files: &BTreeMap<Module, String>) -> Imports {
    let of = |module: &Module, code: &str| {
        let resolve = |path: Vec<&str>| {
            let own = usize::from(path[0] == "self") * module.len();
            let ups = path.iter().take_while(|name| **name == "super").count();
            let base = if ups > 0 { module.len().checked_sub(ups)? } else { own };
            let mut place = module[..base].to_vec();
            for name in &path[ups.max(1)..] {
                place.push((*name).to_owned());
                if !files.contains_key(&place) {
                    place.pop();
                    break;
                }
            }
            Some(place)
        };
        let apart = |other: &Module| !other.starts_with(module) && !module.starts_with(other);
        named(code).into_iter().filter_map(resolve).filter(apart).collect()
    };
    files.iter().map(|(module, code)| (module.clone(), of(module, code))).collect()
}

/// Files that import each other, one after the other.
fn circle<'a>(
    at: &'a Module,
    imports: &'a Imports,
    way: &mut Vec<&'a Module>,
    done: &mut BTreeSet<&'a Module>,
) -> Option<Vec<String>> {
    if let Some(from) = way.iter().position(|module| *module == at) {
        return Some(way[from..].iter().map(|module| module.join("/")).collect());
    }
    if !done.insert(at) {
        return None;
    }
    way.push(at);
    let found = imports[at].iter().find_map(|next| circle(next, imports, way, done));
    way.pop();
    found
}

fn first_circle(imports: &Imports) -> Option<Vec<String>> {
    let mut done = BTreeSet::new();
    imports.keys().find_map(|module| circle(module, imports, &mut Vec::new(), &mut done))
}

#[test]
fn no_files_import_each_other() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = BTreeMap::new();
    for path in sources(&src) {
        let module = path.strip_prefix(&src).unwrap().with_extension("");
        let mut module: Module = module.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
        if ["lib", "main"].contains(&module[0].as_str()) || module.last().unwrap() == "tests" {
            continue;
        }
        module.pop_if(|name| name == "mod");
        files.insert(module, without_tests(&std::fs::read_to_string(&path).unwrap()));
    }
    let imports = imports(&files);
    let all: usize = imports.values().map(BTreeSet::len).sum();
    assert!(all > 3 * imports.len(), "{all} imports of {} files were seen", imports.len());
    assert_eq!(first_circle(&imports), None);
}

#[test]
fn circles_are_seen() {
    let files = |texts: &[(&str, &str)]| -> BTreeMap<Module, String> {
        let module = |name: &str| name.split('/').map(str::to_owned).collect();
        texts.iter().map(|(name, text)| (module(name), without_tests(text))).collect()
    };
    let round = [
        ("a", "use crate::b::{self, c::{D as E, F}, G};"),
        ("b", "mod c;"),
        ("b/c", "use super::super::d::H; // use crate::a::I;"),
        ("d", "fn f() { crate::a::g() }"),
    ];
    assert_eq!(first_circle(&imports(&files(&round))), Some(["a", "b/c", "d"].map(Into::into).to_vec()));
    let mut straight = round;
    straight[3].1 = "mod tests { use crate::a::I; }";
    assert_eq!(first_circle(&imports(&files(&straight))), None);
}
