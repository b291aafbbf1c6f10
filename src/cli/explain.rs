//! `stapo-analyze explain`.

use std::io::Write;

use super::args::ExplainArgs;
use super::outcome::{Outcome, stdout};
use super::typos::nearest;
use stapo_base::error::{Error, Result};
use stapo_diagnosis::{Code, page};

/// Prints the page of a cause, or the names of all.
pub fn run(arguments: &ExplainArgs, out: &mut dyn Write) -> Result<Outcome> {
    let names = || Code::ALL.iter().map(|code| code.as_str());
    let Some(asked) = &arguments.code else {
        names().try_for_each(|name| stdout(writeln!(out, "{name}")))?;
        return Ok(Outcome::Fine);
    };
    let name = asked.trim().to_lowercase().replace([' ', '-'], "_");
    let page = page(&name).ok_or_else(|| Error::Usage {
        message: format!("no cause is called {asked}"),
        hint: match nearest(&name, names()) {
            Some(near) => format!("is `{near}` meant? `stapo-analyze explain` lists all"),
            None => "`stapo-analyze explain` lists all".into(),
        },
    })?;
    stdout(write!(out, "{page}"))?;
    Ok(Outcome::Fine)
}
