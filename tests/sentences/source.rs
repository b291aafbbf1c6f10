//! The words in the source: every string literal of the files that make sentences.

use std::path::{Path, PathBuf};

use super::apart::taken_apart;

/// Stands for what a sentence takes from the result.
const HOLE: char = '\u{1}';

/// All Rust files below a path.
pub fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
        .iter()
        .flat_map(|path| files(path))
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .collect()
}

/// The string literals of a file before its tests, unescaped.
pub fn literals(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]").next().unwrap();
    let code: Vec<&str> = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let mut found = Vec::new();
    let mut rest = code.char_indices();
    while let Some((at, c)) = rest.next() {
        let is_char = code[..at].ends_with('\'') && code[at + c.len_utf8()..].starts_with('\'');
        if c != '"' || is_char {
            continue;
        }
        let mut text = String::new();
        while let Some((_, c)) = rest.next() {
            match c {
                '"' => break,
                '\\' => match rest.next().map(|(_, c)| c) {
                    // The line goes on without its indentation.
                    Some('\n') => {
                        let ahead = rest.clone().take_while(|(_, c)| c.is_whitespace()).count();
                        rest.by_ref().take(ahead).for_each(|_| ());
                    }
                    Some('n') => text.push(' '),
                    Some(other) => text.push(other),
                    None => {}
                },
                c => text.push(c),
            }
        }
        found.push(text);
    }
    found
}

/// The parts of a literal that stand in each of its sentences, in their order; `None` where it is no
/// sentence but a name.
pub fn pieces(literal: &str) -> Option<Vec<String>> {
    let mut text = String::new();
    let mut depth = 0;
    for c in literal.replace("{{", "(").replace("}}", ")").chars() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                text.push(HOLE);
            }
            c if depth == 0 => text.push(c),
            _ => {}
        }
    }
    let words = text.split([' ', HOLE]).filter(|word| word.chars().filter(|c| c.is_alphabetic()).count() > 1);
    if words.count() < 3 || !text.trim().contains(' ') {
        return None;
    }
    let text = taken_apart(&unticked(&text)).0;
    Some(text.split([HOLE, '…']).map(str::to_owned).filter(|piece| !piece.trim().is_empty()).collect())
}

/// Code in backticks is a name, not a word.
pub fn unticked(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let mark =
        |(at, part): (usize, &&str)| if at % 2 == 1 && at + 1 < parts.len() { "…" } else { part }.to_owned();
    parts.iter().enumerate().map(mark).collect()
}

/// Whether a line has all pieces in their order.
pub fn is_said(pieces: &[String], line: &str) -> bool {
    let mut rest = line;
    pieces.iter().all(|piece| match rest.find(piece.as_str()) {
        Some(at) => {
            rest = &rest[at + piece.len()..];
            true
        }
        None => false,
    })
}
