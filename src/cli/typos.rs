//! A command or an option that is almost one.

use clap::CommandFactory;
use clap::error::ErrorKind;

use super::args::Cli;
use crate::error::Error;

/// The command that a path which is not there was meant to be.
pub fn meant_command(error: &Error) -> Option<String> {
    let Error::NotFound { path } = error else { return None };
    let typed = path.to_str()?;
    let cli = Cli::command();
    let near = cli.get_subcommands().map(|c| c.get_name()).min_by_key(|name| distance(typed, name))?;
    (distance(typed, near) <= 2)
        .then(|| format!("is the command `{near}` meant? stapo-analyze {near} --help"))
}

/// What to say of an option that is none: where results go is asked for under many names.
pub fn meant_option(error: &clap::Error) -> Option<&'static str> {
    let unknown = error.kind() == ErrorKind::UnknownArgument;
    let said = error.to_string();
    let out =
        ["'--out'", "'--output'", "'-o'", "'--out-dir'", "'--output-dir'"].iter().any(|o| said.contains(o));
    (unknown && out).then_some(
        "a report is asked for with --report DIR; another Parquet file with the command convert … -o FILE",
    )
}

/// Characters to change, add or drop (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn near_commands_and_options_are_named() {
        let meant = |typed: &str| meant_command(&Error::NotFound { path: typed.into() });
        assert!(meant("chek").unwrap().contains("`check`"));
        assert!(meant("comapre").unwrap().contains("`compare`"));
        assert_eq!(meant("runs/check.parquet"), None);
        let error = Cli::try_parse_from(["stapo-analyze", "a.parquet", "--out", "x"]).unwrap_err();
        assert!(meant_option(&error).unwrap().contains("--report"));
        assert_eq!((distance("", "ab"), distance("ab", "ab"), distance("kitten", "sitting")), (2, 0, 3));
    }
}
