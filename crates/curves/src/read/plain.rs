//! Lines of names and numbers, as scripts of one's own print them: `step 12 | loss=0.1 | reward=0.5`,
//! `Epoch:[1/2](12/900), Reward: -1.7, Actor Loss: 0.001`, `[Step 12/50] loss=0.1 reward=0.5 (std=0.3)`.

use std::sync::LazyLock;

use regex::Regex;
use stapo_base::error::Result;

use crate::names::{CanonicalName, Names};
use crate::number::number;
use crate::table::{Cell, Table};

/// Bytes of a line, and pairs in it, at most: longer lines are texts.
const LONGEST: usize = 2_000;
const PAIRS: usize = 100;
/// Words of a name at most: prose has more.
const WORDS: usize = 4;

/// A name, a sign, and a number, a share `3/4`, or a list of numbers. The `regex` crate takes linear time.
static PAIR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let number = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf|-inf";
    let list = format!(r"\[(?:'?(?:{number})'?(?:, ?)?)+\]");
    Regex::new(&format!(
        r"(?P<name>[A-Za-z][A-Za-z0-9_/@.%-]*(?: [A-Za-z0-9_/@.%-]+)*) ?(?P<sign>[:=]) ?(?P<value>{list}|(?:{number})(?:/\d+| ?%)?)(?:[\s,;|)\]]|$)"
    ))
    .ok()
});

/// `step 12`, `Step 12/50`, `iteration 12`.
static STEP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:step|iter|iteration|update|episode|batch)s?\s*[:=#]?\s*(\d+)").ok()
});

/// `12/900`, and the epoch before it: `Epoch:[1/2](12/900)`.
static SHARE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(\d+)/(\d+)").ok());
static EPOCH: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?i)\bepoch\W{0,3}(\d+)").ok());

/// Where the steps of the lines stand.
#[derive(Default)]
pub(super) struct Clock {
    epoch: f64,
    last: f64,
    before: f64,
}

impl Clock {
    /// Steps that begin again with each epoch go on behind those of the epoch before.
    fn at(&mut self, epoch: f64, step: f64) -> f64 {
        if epoch > self.epoch && self.epoch > 0.0 && step <= self.last {
            self.before += self.last;
        } else if epoch < self.epoch {
            self.before = 0.0;
        }
        (self.epoch, self.last) = (epoch, step);
        self.before + step
    }
}

/// The step that a line names before its numbers; `None` where it names none: then it is no row.
fn step_and_epoch(line: &str, numbers_from: usize) -> Option<(f64, f64)> {
    let before = &line[..numbers_from];
    let first = |regex: &LazyLock<Option<Regex>>, text: &str| {
        regex.as_ref()?.captures(text).and_then(|found| found.get(1)?.as_str().parse::<f64>().ok())
    };
    let epoch = first(&EPOCH, line).unwrap_or(0.0);
    // `Step 12, Reward: …`: a step may be followed by its number, or be a pair itself.
    if let Some(step) = first(&STEP, line) {
        return Some((step, epoch));
    }
    let shares = SHARE.as_ref()?.captures_iter(before);
    let share = shares.last()?;
    let (step, of): (f64, f64) = (share[1].parse().ok()?, share[2].parse().ok()?);
    (step <= of).then_some((step, epoch))
}

fn value(text: &str, is_share: bool) -> f64 {
    if let Some(list) = text.strip_prefix('[') {
        let values: Vec<f64> = list.trim_end_matches(']').split(',').map(number).collect();
        return crate::math::mean(&values);
    }
    match text.split_once('/') {
        Some((part, of)) if is_share => number(part) / number(of),
        Some((part, _)) => number(part),
        None => match text.strip_suffix('%') {
            Some(percent) => number(percent) / 100.0,
            None => number(text),
        },
    }
}

/// Reads a line into `table` where it is a row: it names a step, and a number of the training.
pub(super) fn row(line: &str, names: &Names, clock: &mut Clock, table: &mut Table<'_>) -> Result<()> {
    // A progress bar shows each state many times.
    if line.len() > LONGEST || line.contains("%|") {
        return Ok(());
    }
    let Some(pair) = PAIR.as_ref() else { return Ok(()) };
    let (mut pairs, mut from, mut at, mut is_row) = (Vec::new(), None, 0, false);
    while let Some(found) = pair.captures_at(line, at) {
        let (Some(name), Some(sign), Some(text)) =
            (found.name("name"), found.name("sign"), found.name("value"))
        else {
            break;
        };
        at = text.end();
        // Words before `=` are not of the name; before `:` those behind a number or ` - ` are.
        let name = if sign.as_str() == "=" {
            name.as_str().rsplit(' ').next().unwrap_or_default()
        } else {
            let words =
                name.as_str().rsplit(' ').take_while(|word| word.contains(|c: char| c.is_alphabetic()));
            let length: usize = words.map(|word| word.len() + 1).sum();
            &name.as_str()[name.as_str().len() + 1 - length.max(1)..]
        };
        if name.is_empty() || name.split(' ').count() > WORDS {
            continue;
        }
        let role = names.of(name).map(|role| role.0);
        from.get_or_insert(found.get(0).map_or(0, |all| all.start()));
        if !matches!(role, Some(CanonicalName::Step | CanonicalName::Epoch)) {
            is_row |= role.is_some_and(CanonicalName::is_curve);
            pairs.push((name, value(text.as_str(), true)));
        }
        if pairs.len() == PAIRS {
            return Ok(());
        }
    }
    let (Some(from), true) = (from, is_row) else { return Ok(()) };
    let Some((step, epoch)) = step_and_epoch(line, from) else { return Ok(()) };
    table.start_row()?;
    table.put_named("step", Cell::Number(clock.at(epoch, step)))?;
    for (name, value) in pairs {
        table.put_named(name, Cell::Number(value))?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Vec<(String, Vec<f64>)> {
        let names = Names::default();
        let (mut table, mut clock) = (Table::new("x", &names, 1 << 20), Clock::default());
        for line in lines {
            row(line, &names, &mut clock, &mut table).unwrap();
        }
        let values = |column: &crate::table::Column| column.cells.iter().map(|cell| cell.1).collect();
        table.columns.iter().map(|column| (column.name.clone(), values(column))).collect()
    }

    fn of(line: &str) -> Vec<(String, f64)> {
        read(&[line]).into_iter().filter_map(|(name, values)| Some((name, *values.first()?))).collect()
    }

    #[test]
    fn names_and_numbers_are_found_as_scripts_print_them() {
        let is = |line: &str, expected: &[(&str, f64)]| {
            let expected: Vec<(String, f64)> = expected.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect();
            assert_eq!(of(line), expected, "{line}");
        };
        is(
            "Epoch:[1/1](3/900), Reward: -1.5, KL_ref: 0.25, Adv Std: 0.9, Actor Loss: 0.01",
            &[("step", 3.0), ("Reward", -1.5), ("KL_ref", 0.25), ("Actor Loss", 0.01)],
        );
        is(
            "[math]   7/100 | loss=-0.5 | reward=0.2 | acc=25.0%",
            &[("step", 7.0), ("loss", -0.5), ("reward", 0.2), ("acc", 0.25)],
        );
        is(
            "[step 9/200] correct=3/4 rewards=['0.5', '1.0'] loss=-0.005 lr=0.1",
            &[("step", 9.0), ("correct", 0.75), ("rewards", 0.75), ("loss", -0.005), ("lr", 0.1)],
        );
        is("2026-01-02 03:04:05 - INFO - Epoch 1/3, Step 10, Loss: 0.5", &[("step", 10.0), ("Loss", 0.5)]);
        is(
            "Step 4, Reward: 0.5, Percentage correct: 0.25",
            &[("step", 4.0), ("Reward", 0.5), ("Percentage correct", 0.25)],
        );
    }

    #[test]
    fn prose_and_bars_are_no_rows() {
        for line in [
            "reward: 0.5",
            "in step 3 we see that the whole total reward: 5",
            "eval: 1%| | 1/150 [00:02<06:08, score=0.9, step=1]",
            "step 3: x = 5",
            "kl_coef=0.1",
        ] {
            assert_eq!(of(line), [], "{line}");
        }
    }

    #[test]
    fn steps_go_on_over_epochs() {
        let found =
            read(&["Epoch 1, step 1, reward: 1", "Epoch 1, step 2, reward: 2", "Epoch 2, step 1, reward: 3"]);
        assert_eq!(found[0].1, [1.0, 2.0, 3.0]);
    }
}
