//! What trainers print: verl's lines `step:12 - actor/entropy:0.35 - …`, TRL's dicts `{'loss': 0.1, 'reward': 0.5, …}`,
//! between rollouts, progress bars, colours and the prefixes of Ray.

use std::borrow::Cow;

use memchr::memmem;
use stapo_base::error::Result;

use super::plain;
use crate::names::Names;
use crate::number::number;
use crate::table::{Cell, Table};

/// Lines longer than this are no rows of numbers.
const LONGEST: usize = 1 << 20;
/// Lines of names and numbers that are a log.
const NAMED: u32 = 4;

/// Reads the rows of a console: of verl or of TRL, whichever printed more; else lines of names and numbers.
pub(crate) fn read<'n>(text: &[u8], names: &Names, fresh: impl Fn() -> Table<'n>) -> Result<Table<'n>> {
    let (mut verl, mut trl) = (fresh(), fresh());
    let mut open = Open::default();
    let (step, brace) = (memmem::Finder::new(b"step:"), memmem::Finder::new(b"{"));
    for line in lines(text) {
        if line.len() > LONGEST {
            continue;
        }
        if step.find(line).is_some() {
            let line = uncoloured(line);
            if let Some((number, rest)) = step_line(&line) {
                verl_row(number, rest, &mut verl)?;
                continue;
            }
        }
        if open.is_empty() && brace.find(line).is_none() {
            continue;
        }
        let line = uncoloured(line);
        let joined = open.join(&line);
        let line = joined.as_deref().unwrap_or(&line);
        for (before, dict) in dicts(line) {
            if let Some(pairs) = pairs(dict) {
                trl_row(step_before(before), &pairs, &mut trl)?;
            }
        }
        open.keep(line, joined.is_some());
    }
    let found = if verl.rows >= trl.rows { verl } else { trl };
    if found.has_curves() {
        return Ok(found);
    }
    let named = named(text, names, fresh())?;
    // A few such lines are prose.
    Ok(if named.rows >= NAMED { named } else { found })
}

/// Lines of names and numbers.
fn named<'n>(text: &[u8], names: &Names, mut table: Table<'n>) -> Result<Table<'n>> {
    let mut clock = plain::Clock::default();
    for line in
        lines(text).filter(|line| line.len() <= LONGEST && memchr::memchr2(b':', b'=', line).is_some())
    {
        plain::row(&uncoloured(line), names, &mut clock, &mut table)?;
    }
    Ok(table)
}

/// Lines; a progress bar ends each of its states with a carriage return.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = memchr::memchr2_iter(b'\n', b'\r', text).chain(std::iter::once(text.len()));
    ends.scan(0, |start, end| {
        let line = &text[*start..end];
        *start = end + 1;
        Some(line)
    })
}

/// The line as text, without the codes of colours.
fn uncoloured(line: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(line);
    if memchr::memchr(0x1b, line).is_none() {
        return text;
    }
    let mut parts = text.split("\u{1b}[");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        out.push_str(rest.strip_prefix('m').unwrap_or(part));
    }
    Cow::Owned(out)
}

/// The step and what follows it. In `training/global_step:300 - ` a character of a word stands before it.
fn step_line(line: &str) -> Option<(f64, &str)> {
    let mut from = 0;
    while let Some(at) = line[from..].find("step:").map(|at| at + from) {
        from = at + 5;
        let inside = line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '/');
        let rest = &line[from..];
        let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &rest[..rest.len() - after.len()];
        if inside || digits.is_empty() {
            continue;
        }
        if let (Ok(step), Some(rest)) =
            (digits.parse(), after.strip_prefix(" - ").or(after.trim().is_empty().then_some("")))
        {
            return Some((step, rest));
        }
    }
    None
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_/@.-+() ".contains(c))
}

fn verl_row(step: f64, rest: &str, table: &mut Table<'_>) -> Result<()> {
    let pairs: Vec<(&str, &str)> = rest
        .split(" - ")
        .filter_map(|part| part.rsplit_once(':'))
        .map(|(name, value)| (name.trim(), value.trim()))
        .filter(|(name, _)| is_name(name))
        .collect();
    if !pairs.iter().any(|(_, value)| number(value).is_finite()) {
        return Ok(());
    }
    table.start_row()?;
    table.put_named("step", Cell::Number(step))?;
    for (name, value) in pairs {
        table.put_named(name, Cell::Text(value))?;
    }
    Ok(())
}

/// A dict that a narrow terminal broke over lines, as far as it has been read.
#[derive(Default)]
struct Open {
    text: String,
    lines: u32,
}

impl Open {
    /// Lines and bytes of a broken dict at most.
    const LINES: u32 = 60;
    const LONGEST: usize = 1 << 14;

    fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// What is open with the line behind it; `None` where nothing is open.
    fn join(&mut self, line: &str) -> Option<String> {
        (!self.is_empty()).then(|| std::mem::take(&mut self.text) + line)
    }

    /// Keeps what is left open at the end of a line.
    fn keep(&mut self, line: &str, is_joined: bool) {
        self.lines = if is_joined { self.lines + 1 } else { 0 };
        let open = line.rfind('{').map(|at| &line[at..]);
        if let Some(open) = open
            && open[1..].starts_with(['\'', '"'])
            && !open.contains('}')
            && open.len() <= Self::LONGEST
            && self.lines < Self::LINES
        {
            open.clone_into(&mut self.text);
        }
    }
}

/// The number of `step 3: ` or `rollout 3: `, right before a dict.
fn step_before(before: &str) -> Option<&str> {
    let before = before.trim_end().strip_suffix(':').unwrap_or(before).trim_end();
    let word = before.trim_end_matches(|c: char| c.is_ascii_digit());
    let known = ["step", "rollout", "iteration", "iter"]
        .iter()
        .any(|known| word.strip_suffix(' ').is_some_and(|word| word.to_ascii_lowercase().ends_with(known)));
    (known && word.len() < before.len()).then(|| &before[word.len()..])
}

/// The dicts of a line, each with what stands before it: from `{'` to the next `}`, without braces between.
fn dicts(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = line;
    std::iter::from_fn(move || {
        loop {
            let (before, inside) = rest.split_once('{')?;
            rest = inside;
            let end = rest.find(['{', '}'])?;
            if rest.starts_with(['\'', '"']) && rest[end..].starts_with('}') {
                let dict = &rest[..end];
                rest = &rest[end + 1..];
                return Some((before, dict));
            }
            rest = &rest[end..];
        }
    })
}

/// Names and values of a dict as Python prints it; `None` where it is none. Lists and None have no value.
fn pairs(dict: &str) -> Option<Vec<(&str, &str)>> {
    let mut pairs = Vec::new();
    let mut rest = dict.trim();
    while !rest.is_empty() {
        let (name, after) = quoted(rest)?;
        let after = after.trim_start().strip_prefix(':')?.trim_start();
        let (value, after) = match quoted(after) {
            Some(found) => found,
            None => bare(after),
        };
        if !matches!(value.as_bytes().first(), None | Some(b'[' | b'('))
            && !matches!(value, "None" | "True" | "False" | "null" | "true" | "false")
        {
            pairs.push((name, value));
        }
        rest = match after.trim_start() {
            "" => "",
            more => more.strip_prefix(',')?.trim_start(),
        };
    }
    Some(pairs)
}

/// A text in quotes, without them, and what follows.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let inner = &text[1..];
    let mut escaped = false;
    let end = inner.find(|c: char| {
        let ends = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    Some((&inner[..end], &inner[end + 1..]))
}

/// A value without quotes: to the next comma outside of brackets.
fn bare(text: &str) -> (&str, &str) {
    let mut depth = 0_i32;
    let end = text.find(|c: char| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        c == ',' && depth <= 0
    });
    let end = end.unwrap_or(text.len());
    (text[..end].trim_end(), &text[end..])
}

/// What tells numbers of a training from other dicts.
const WORDS: [&str; 8] = ["reward", "score", "kl", "entropy", "loss", "acc", "grad", "length"];

fn trl_row(step: Option<&str>, pairs: &[(&str, &str)], table: &mut Table<'_>) -> Result<()> {
    let is_metric = |(name, value): &&(&str, &str)| {
        let name = name.to_ascii_lowercase();
        WORDS.iter().any(|word| name.contains(word)) && number(value).is_finite()
    };
    if pairs.iter().filter(is_metric).count() < 2 {
        return Ok(());
    }
    table.start_row()?;
    let step = step.filter(|_| !pairs.iter().any(|(name, _)| *name == "step")).map(|step| ("step", step));
    for (name, value) in step.iter().chain(pairs) {
        table.put_named(name, Cell::Text(value))?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_step_inside_of_a_name_is_no_step() {
        assert_eq!(step_line("x step:12 - a:1 - b:2"), Some((12.0, "a:1 - b:2")));
        assert_eq!(step_line("step:3"), Some((3.0, "")));
        assert_eq!(step_line("training/global_step:300 - a:1"), None);
        assert_eq!(step_line("a/step:300 - a:1"), None);
        assert_eq!(step_line("training/global_step:300 - step:300 - a:1"), Some((300.0, "a:1")));
        assert_eq!(step_line("step by step: 3"), None);
    }

    #[test]
    fn a_step_may_stand_before_a_dict() {
        assert_eq!(step_before("utils.py:52 - rollout 12: "), Some("12"));
        assert_eq!(step_before("step 3: "), Some("3"));
        assert_eq!(step_before("in 3 "), None);
        assert_eq!(step_before("step : "), None);
        assert_eq!(step_before(""), None);
    }

    #[test]
    fn colours_go_and_texts_stay() {
        assert_eq!(uncoloured(b"\x1b[36m(TaskRunner pid=1)\x1b[0m step:1"), "(TaskRunner pid=1) step:1");
    }

    #[test]
    fn dicts_are_read_as_python_prints_them() {
        let line =
            "5%|x| {'loss': 0.1, 'reward': '0.125', 'r': np.float64(0.5), 'l': [1, 2], 'n': nan} {a} {'b': 1";
        let found: Vec<&str> = dicts(line).map(|found| found.1).collect();
        assert_eq!(found.len(), 1);
        let expected = [("loss", "0.1"), ("reward", "0.125"), ("r", "np.float64(0.5)"), ("n", "nan")];
        assert_eq!(pairs(found[0]).unwrap(), expected);
        assert_eq!(pairs("'a' 1"), None);
        assert_eq!(pairs("'a': 'it\\'s', 'b': 2").unwrap(), [("a", "it\\'s"), ("b", "2")]);
    }
}
