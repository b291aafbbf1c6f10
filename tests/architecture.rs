//! What may import what: the rooms of ARCHITECTURE.md, each after those that it knows.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A room: its name, and what it may import beside the small rooms.
struct Room {
    name: String,
    may_import: BTreeSet<String>,
}

/// The names between backticks.
fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The rooms in their order, as the table of ARCHITECTURE.md has them: the small ones, which stand in its first row, and
/// all others.
fn rooms() -> (Vec<String>, Vec<Room>) {
    let page = include_str!("../ARCHITECTURE.md");
    let table = page.split("| room | what it does | may import |").nth(1).unwrap();
    let rows = table.trim_start().lines().skip(1).map_while(|line| line.strip_prefix("| "));
    let mut rows = rows.map(|row| row.split(" | ").map(quoted).collect::<Vec<_>>());
    let small = rows.next().unwrap().swap_remove(0);
    let rooms = rows.map(|mut cells| {
        let (may_import, names) = (cells.swap_remove(2), cells.swap_remove(0));
        let [name] = &names[..] else { panic!("one room a row: {names:?}") };
        Room { name: name.clone(), may_import: may_import.into_iter().collect() }
    });
    (small, rooms.collect())
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn nothing_imports_what_comes_after_it() {
    let (small, rooms) = rooms();
    assert!(small.len() > 3 && rooms.len() > 10, "{} and {} rooms", small.len(), rooms.len());
    let mut order = small.clone();
    let mut imported: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, others) in imports(&library()) {
        let of_room = imported.entry(module[0].clone()).or_default();
        of_room.extend(
            others.iter().filter_map(|other| other.first()).filter(|other| **other != module[0]).cloned(),
        );
    }
    for name in &small {
        let others = imported.remove(name).unwrap_or_default();
        assert!(others.iter().all(|other| small.contains(other)), "{name}: {others:?}");
    }
    for Room { name, may_import } in rooms {
        let mut others = imported.remove(&name).unwrap_or_else(|| panic!("there is no room {name}"));
        others.retain(|other| !small.contains(other));
        assert_eq!(others, may_import, "{name}: what it imports, and what the table says");
        for other in &may_import {
            assert!(order.contains(other), "{name}: {other} comes after it");
        }
        order.push(name);
    }
    assert!(imported.is_empty(), "not in the table: {:?}", imported.keys());
}

/// A module, by the names that lead to it.
type Module = Vec<String>;

fn module(path: &str) -> Module {
    path.split('/').map(str::to_owned).collect()
}

/// What each file imports.
type Imports = BTreeMap<Module, BTreeSet<Module>>;

/// A path that code names, and the name that it is known by from there on.
struct Named<'a> {
    path: Vec<&'a str>,
    known_as: &'a str,
}

/// The paths of a tree such as `a::{b, c::d as e}`; gives what comes after it.
fn paths<'a>(text: &'a str, before: &[&'a str], found: &mut Vec<Named<'a>>) -> &'a str {
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
    let (name, after) = name(text);
    let path = [before, &[name]].concat();
    if let Some(more) = after.strip_prefix("::") {
        return paths(more, &path, found);
    }
    // `a::{self}` is `a`.
    let (path, name) = match before.last() {
        Some(outer) if name == "self" => (before.to_vec(), *outer),
        _ => (path, name),
    };
    let (known_as, after) = after.strip_prefix(" as ").map_or((name, after), self::name);
    found.push(Named { path, known_as });
    after
}

/// The name that a text begins with, and what comes after it.
fn name(text: &str) -> (&str, &str) {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '*';
    text.split_at(text.find(|c| !is_name(c)).unwrap_or(text.len()))
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
    found.into_iter().map(|named| named.path).collect()
}

/// Names that a file passes on, and where they come from, named from the root of the crate.
type PassedOn = BTreeMap<String, Module>;

/// What `pub use` and `pub(crate) use` of a file pass on; what comes from other crates is none of it.
fn passed_on(module: &Module, code: &str, files: &BTreeMap<Module, String>) -> PassedOn {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let before = code[..at].trim_end();
        let visibility = before.rfind("pub").map_or("", |from| &before[from..]);
        let within = |inside: &str| inside.find(')') == Some(inside.len() - 1);
        if visibility == "pub" || visibility.strip_prefix("pub(").is_some_and(within) {
            paths(&code[at + "use ".len()..], &[], &mut found);
        }
    }
    let from_root =
        |named: Named<'_>| Some((named.known_as.to_owned(), from_root(module, &named.path, files)?));
    found.into_iter().filter_map(from_root).collect()
}

/// A path as it is named from the root of the crate.
fn from_root(module: &Module, path: &[&str], files: &BTreeMap<Module, String>) -> Option<Module> {
    let ups = path.iter().take_while(|name| **name == "super").count();
    let (base, names) = match path[0] {
        "crate" => (0, &path[1..]),
        "self" => (module.len(), &path[1..]),
        "super" => (module.len().checked_sub(ups)?, &path[ups..]),
        _ => (module.len(), path),
    };
    let names = names.iter().map(|name| (*name).to_owned());
    let whole: Module = module[..base].iter().cloned().chain(names).collect();
    let is_ours = base < module.len() || path[0] == "self" || files.contains_key(&whole[..=base]);
    is_ours.then_some(whole)
}

/// Tests may name what they hold a file against.
fn without_tests(text: &str) -> String {
    let code = text.split("mod tests {").next().unwrap_or_default();
    code.lines()
        .map(|line| line.split_once("//").map_or(line, |(code, _)| code))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The file that a path leads to, also where another one passes the name on.
fn file_of(
    path: &[String],
    files: &BTreeMap<Module, String>,
    passed_on: &BTreeMap<&Module, PassedOn>,
) -> Module {
    let inner = (0..=path.len()).rev().find(|length| *length == 0 || files.contains_key(&path[..*length]));
    let (file, rest) = path.split_at(inner.unwrap_or(0));
    let name = rest.first().and_then(|name| passed_on.get(&file.to_vec())?.get(name));
    match name {
        Some(there) => file_of(&[there, &rest[1..]].concat(), files, passed_on),
        None => file.to_vec(),
    }
}

/// The files that each file imports, also through others that pass a name on by `pub use`, unless they
/// pass on all names at once (`*`); of a folder's own file and what lies in the folder, either may name the other.
fn imports(files: &BTreeMap<Module, String>) -> Imports {
    let passed_on: BTreeMap<&Module, PassedOn> =
        files.iter().map(|(module, code)| (module, passed_on(module, code, files))).collect();
    let of = |module: &Module, code: &str| {
        let path = |path: Vec<&str>| from_root(module, &path, files);
        let apart = |other: &Module| !other.starts_with(module) && !module.starts_with(other);
        let found = named(code).into_iter().filter_map(path).map(|path| file_of(&path, files, &passed_on));
        found.filter(apart).collect()
    };
    files.iter().map(|(module, code)| (module.clone(), of(module, code))).collect()
}

/// What the folders and files that lie in a room import of each other. What the room's own file defines
/// is not seen: it belongs to none of them.
fn between_parts(room: &[String], imports: &Imports) -> Imports {
    let part = |module: &Module| {
        let is_inside = module.starts_with(room) && module.len() > room.len();
        is_inside.then(|| module[..=room.len()].to_vec())
    };
    let mut between = Imports::new();
    for (module, others) in imports {
        let Some(at) = part(module) else { continue };
        let others = others.iter().filter_map(part).filter(|other| *other != at);
        between.entry(at.clone()).or_default().extend(others);
    }
    between
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

/// All files of the library, without their tests.
fn library() -> BTreeMap<Module, String> {
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
    files
}

#[test]
fn no_files_import_each_other() {
    let imports = imports(&library());
    let all: usize = imports.values().map(BTreeSet::len).sum();
    assert!(all > 3 * imports.len(), "{all} imports of {} files were seen", imports.len());
    assert_eq!(first_circle(&imports), None);
}

/// Rooms whose folders are layers: none imports another that imports it, over however many others.
const LAYERED: &[&str] = &["ingest", "analyze", "framework", "compare", "replay", "report"];

#[test]
fn no_folders_of_a_room_import_each_other() {
    let imports = imports(&library());
    for room in LAYERED {
        let between = between_parts(&module(room), &imports);
        let all: usize = between.values().map(BTreeSet::len).sum();
        assert!(all * 2 > between.len(), "{all} imports between the parts of {room} were seen");
        assert_eq!(first_circle(&between), None, "{room}");
    }
}

/// Files of these paths and texts.
fn files(texts: &[(&str, &str)]) -> BTreeMap<Module, String> {
    texts.iter().map(|(name, text)| (module(name), without_tests(text))).collect()
}

#[test]
fn circles_are_seen() {
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

#[test]
fn circles_of_folders_are_seen() {
    let round = [
        ("r", "mod a; mod b; pub(crate) use b::{f::{self as H}, x};"),
        ("r/a", "mod c; mod d;"),
        ("r/a/c", "use crate::r::H;"),
        ("r/a/d", ""),
        ("r/b", "mod e; mod f;"),
        ("r/b/e", "use super::super::a::d::I;"),
        ("r/b/f", "pub use std::fmt::Debug as J;"),
    ];
    let of_folders = |texts| between_parts(&module("r"), &imports(&files(texts)));
    assert_eq!(first_circle(&imports(&files(&round))), None);
    assert_eq!(first_circle(&of_folders(&round)), Some(["r/a", "r/b"].map(Into::into).to_vec()));
    let mut straight = round;
    straight[2].1 = "use crate::r::K;";
    assert_eq!(first_circle(&of_folders(&straight)), None);
}
