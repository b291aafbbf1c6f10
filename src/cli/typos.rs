//! A command or an option that is almost one.

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::args::Cli;
use stapo_base::error::Error;

/// The command that a path which is not there was meant to be.
pub fn meant_command(error: &Error) -> Option<String> {
    let Error::NotFound { path } = error else { return None };
    let typed = path.to_str()?;
    let cli = Cli::command();
    if nearest(typed, ["analyze", "analyse"]).is_some() {
        return Some("the analysis is no command of its own: stapo-analyze RUN --report DIR".into());
    }
    let near = nearest(typed, cli.get_subcommands().map(|c| c.get_name()))?;
    Some(format!("is the command `{near}` meant? stapo-analyze {near} --help"))
}

/// Of some names, the one that is almost this one.
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = names.into_iter().min_by_key(|name| distance(typed, name))?;
    (distance(typed, near) <= 2).then_some(near)
}

/// Names under which people ask for the place of results.
const PLACES: [&str; 5] = ["--out", "--output", "-o", "--out-dir", "--output-dir"];

/// What to say of an option that is none. clap's own tips go: they name what looks alike, whatever it does
/// (`--updates`: `--adapter`), or how to give an option as the name of a run.
pub fn meant_option(error: &mut clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return None };
    let typed = typed.split('=').next().unwrap_or_default().to_owned();
    let mut command = meant_for(error);
    let hint = match PLACES.contains(&typed.as_str()) {
        true => Some(
            "a report is asked for with --report DIR; another Parquet file with the command convert … -o FILE"
                .to_owned(),
        ),
        false => near_option(&typed, &command).map(|near| format!("is `--{near}` meant?")),
    };
    error.remove(ContextKind::SuggestedArg);
    error.remove(ContextKind::Suggested);
    // That of clap names what it took for the option.
    error.insert(ContextKind::Usage, ContextValue::StyledStr(command.render_usage()));
    hint
}

/// The command that was given, as its usage names it.
fn meant_for(error: &clap::Error) -> clap::Command {
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let mut cli = Cli::command();
    cli.build();
    // After the program's name, which need not be ours.
    let used = usage.split_whitespace().filter(|word| *word != "Usage:").nth(1);
    let named = cli.get_subcommands().find(|command| used == Some(command.get_name()));
    named.cloned().unwrap_or(cli)
}

/// The option of the same command that is almost this one: its letters with some left out, or nearly it.
fn near_option(typed: &str, command: &clap::Command) -> Option<String> {
    let typed = typed.strip_prefix("--")?;
    let longs: Vec<&str> = command.get_arguments().filter_map(|argument| argument.get_long()).collect();
    let shortened = longs.iter().filter(|long| is_shortened(typed, long)).min_by_key(|long| long.len());
    shortened.copied().or_else(|| nearest(typed, longs)).map(str::to_owned)
}

/// Whether `short` is `long` with letters left out, but not the first.
fn is_shortened(short: &str, long: &str) -> bool {
    let mut letters = long.chars();
    short.chars().next() == long.chars().next() && short.chars().all(|letter| letters.any(|l| l == letter))
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
        assert!(meant("analyze").unwrap().contains("stapo-analyze RUN"));
        assert!(meant("anaylse").unwrap().contains("stapo-analyze RUN"));
        assert_eq!(meant("runs/check.parquet"), None);
        let wrong = |typed: &[&str]| {
            let mut error = Cli::try_parse_from(typed).unwrap_err();
            let hint = meant_option(&mut error);
            (error.to_string(), hint)
        };
        for place in PLACES {
            let (said, hint) = wrong(&["stapo-analyze", "a.parquet", place, "x"]);
            assert!(hint.unwrap().contains("--report") && !said.contains("tip:"), "{said}");
        }
        let (said, hint) = wrong(&["stapo-analyze", "show", "a.parquet", "--grp", "3"]);
        assert!(hint.unwrap().contains("`--group`") && !said.contains("tip:"), "{said}");
        let (said, hint) = wrong(&["renamed", "plan", "a.parquet", "--shards", "3"]);
        assert!(hint.unwrap().contains("`--shard-tokens`") && said.contains("plan [OPTIONS]"), "{said}");
        let (said, hint) = wrong(&["stapo-analyze", "a.parquet", "--reprt", "x"]);
        assert!(hint.unwrap().contains("`--report`") && !said.contains("tip:"), "{said}");
        // What nothing is near to has no hint, rather than that of another option.
        for far in [["replay", "a.parquet", "--updates"], ["show", "a.parquet", "--worst"]] {
            let (said, hint) = wrong(&[&["stapo-analyze"], far.as_slice()].concat());
            assert!(
                hint.is_none() && !said.contains("tip:") && !said.contains("--adapter"),
                "{said} {hint:?}"
            );
        }
        assert_eq!((distance("", "ab"), distance("ab", "ab"), distance("kitten", "sitting")), (2, 0, 3));
    }
}
