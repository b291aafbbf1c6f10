//! What folder and file names say: the step, evaluation data, natural order.

use std::cmp::Ordering;
use std::path::Path;

/// Prefixes before the step's digits, in the names that frameworks give files and folders.
const STEP_PREFIXES: &[&str] = &[
    "completions_",
    "train_data_step",
    "global_step_",
    "buffer_step",
    "iteration_",
    "rollout_",
    "step_",
    "step=",
    "step-",
    "step",
    "rollout_dump_data.step_",
    "train_step_",
];

/// The step in a path: the file's own name first, then its folders from the inside out.
pub fn step_from_path(path: &Path) -> Option<i64> {
    let own = path.file_name().map(|n| n.to_string_lossy().into_owned())?;
    if let Some(step) = step_from_name(&own).or_else(|| bare_number(&own)) {
        return Some(step);
    }
    path.ancestors().skip(1).find_map(|folder| {
        let name = folder.file_name()?.to_string_lossy().into_owned();
        step_from_name(&name)
    })
}

fn step_from_name(name: &str) -> Option<i64> {
    STEP_PREFIXES.iter().find_map(|prefix| {
        let rest = name.strip_prefix(prefix).or_else(|| {
            let at = name.find(prefix)?;
            // `my_step_3` counts, `footstep_3` does not.
            let boundary = name[..at].chars().next_back().is_some_and(|c| !c.is_alphanumeric());
            boundary.then(|| &name[at + prefix.len()..])
        })?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let after = rest[digits.len()..].chars().next();
        let ends = after.is_none_or(|c| !c.is_alphanumeric());
        ends.then(|| digits.parse().ok()).flatten()
    })
}

/// `12.jsonl`, as verl names its rollout files.
fn bare_number(name: &str) -> Option<i64> {
    let stem = name.split('.').next()?;
    let digits = !stem.is_empty() && stem.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| stem.parse().ok()).flatten()
}

/// Whether a name says evaluation rather than training.
pub fn is_eval(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    name == "eval" || name.starts_with("eval_") || name.starts_with("eval-")
}

/// Compares paths so that `step_2` comes before `step_10`.
pub fn natural_cmp(a: &Path, b: &Path) -> Ordering {
    let (left, right) = (a.to_string_lossy(), b.to_string_lossy());
    let (mut l, mut r) = (left.as_ref(), right.as_ref());
    loop {
        match (chunk(&mut l), chunk(&mut r)) {
            (None, None) => return a.cmp(b),
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(x), Some(y)) => match compare_chunks(x, y) {
                Ordering::Equal => {}
                unequal => return unequal,
            },
        }
    }
}

/// Takes the longest run of digits or of other characters.
fn chunk<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let first = rest.chars().next()?;
    let same = |c: char| c.is_ascii_digit() == first.is_ascii_digit();
    let end = rest.find(|c| !same(c)).unwrap_or(rest.len());
    let (head, tail) = rest.split_at(end);
    *rest = tail;
    Some(head)
}

fn compare_chunks(a: &str, b: &str) -> Ordering {
    let number = |s: &str| s.bytes().all(|c| c.is_ascii_digit());
    if !number(a) || !number(b) {
        return a.cmp(b);
    }
    let bare = |s: &str| s.trim_start_matches('0').to_owned();
    let (x, y) = (bare(a), bare(b));
    x.len().cmp(&y.len()).then_with(|| x.cmp(&y)).then_with(|| a.len().cmp(&b.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_known_names() {
        let cases = [
            ("completions/completions_00012.parquet", Some(12)),
            ("logs/train_data_step7.jsonl", Some(7)),
            ("token_exports/step_40/rank_3.jsonl", Some(40)),
            ("dashboard_columns/rollout_9.parquet", Some(9)),
            ("rollouts/31.jsonl", Some(31)),
            ("global_step_5_training_input.parquet", Some(5)),
            ("buffer_step00017.parquet", Some(17)),
            ("iteration_000003/train_rollout_summaries.jsonl", Some(3)),
            ("run/step=12/part-0.parquet", Some(12)),
            ("run/grpo_step_8_rank_0.parquet", Some(8)),
            ("rollout_dump_data.step_6.jsonl", Some(6)),
            ("footstep_3.parquet", None),
            ("grpo.parquet", None),
            ("99999999999999999999999.jsonl", None),
        ];
        for (path, step) in cases {
            assert_eq!(step_from_path(Path::new(path)), step, "{path}");
        }
    }

    #[test]
    fn natural_order() {
        let mut paths = ["s/10", "s/9", "s/09", "s/1a", "s/1"].map(Path::new);
        paths.sort_by(|a, b| natural_cmp(a, b));
        assert_eq!(paths, ["s/1", "s/1a", "s/9", "s/09", "s/10"].map(Path::new));
    }
}
