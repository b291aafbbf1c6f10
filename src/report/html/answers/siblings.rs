//! Cancellation and forks.

use maud::Markup;

use crate::analyze::result::Answers;
use crate::analyze::result::siblings::Branch;
use crate::report::numbers::{count, none, number, number_or_dash, percent, percent_or_dash};
use crate::report::page::{Kind, Sheet};
use crate::report::text::token_or_id;

/// Rows of a table at most.
const ROWS: usize = 30;

fn estimate(exact: bool) -> &'static str {
    if exact { "" } else { " Estimated from a random part of the groups." }
}

/// Siblings that push the same token up and down.
pub fn cancellation(answers: &Answers) -> Option<Markup> {
    let found = answers.cancellation.as_ref().filter(|found| found.gross > 0.0)?;
    let mut sheet =
        Sheet::new(&["token", "tokens", "groups", "push", "gross", "net"]).with(Kind::Code, "token");
    for row in found.top.iter().take(ROWS) {
        sheet.push([
            token_or_id(row.token.as_deref(), row.token_id),
            count(row.tokens),
            count(row.groups),
            number(row.push),
            number(row.gross),
            number(row.net),
        ]);
    }
    let spurious = found
        .spurious_cancelled_share
        .map_or(String::new(), |share| format!("; of those on spurious tokens {}", percent(share)));
    let note = format!(
        "Push is Σ w(1 − p). Of all pushes {} cancel between siblings{spurious}.{}",
        percent_or_dash(found.cancelled_share),
        estimate(found.exact)
    );
    Some(sheet.folded("Tokens that siblings push", Some("cancellation"), &note))
}

fn branch(branch: &Branch) -> String {
    let token = token_or_id(branch.token.as_deref(), branch.token_id);
    let mark = if branch.spurious == Some(true) { " (spurious)" } else { "" };
    format!("{token}{mark}: {} × {}", number_or_dash(branch.mean_reward), count(branch.responses))
}

/// Where siblings go on differently.
pub fn forks(answers: &Answers) -> Option<Markup> {
    let forks = answers.forks.as_ref().filter(|forks| forks.forks > 0)?;
    let mut sheet =
        Sheet::new(&["step", "group", "tokens before", "entropy", "difference", "95 % interval", "branches"])
            .with(Kind::Words, "branches");
    for fork in forks.top.iter().take(ROWS) {
        sheet.push([
            fork.step.to_string(),
            crate::report::text::prose(&fork.group_id),
            count(fork.position),
            number_or_dash(fork.entropy),
            number_or_dash(fork.reward_difference),
            fork.interval.map_or_else(none, |[low, high]| format!("{} – {}", number(low), number(high))),
            fork.branches.iter().map(branch).collect::<Vec<_>>().join("; "),
        ]);
    }
    let premise = forks.spurious.as_ref().map(|of| match (of.forks, of.reward_difference, of.interval) {
        (0, ..) => "No spurious token begins a branch.".to_owned(),
        (n, Some(mean), Some([low, high])) => format!(
            "Branches that begin with a spurious token get {} more reward than the others (95 % interval {} – {}, {} forks); spurious tokens are chosen among responses with A > 0, so this alone is no merit of theirs.",
            number(mean),
            number(low),
            number(high),
            count(n)
        ),
        (n, ..) => format!("{} forks have a spurious branch: too few to say what it costs.", count(n)),
    });
    let entropy = forks.entropy_at_forks.zip(forks.entropy_elsewhere).map(|(at, elsewhere)| {
        format!(" Mean entropy {} at forks, {} elsewhere.", number(at), number(elsewhere))
    });
    let note = format!(
        "{} forks, {} with two responses in every branch.{}{}{}",
        count(forks.forks),
        count(forks.all_branches_twice),
        entropy.unwrap_or_default(),
        premise.map_or(String::new(), |premise| format!(" {premise}")),
        estimate(forks.exact)
    );
    Some(sheet.without_empty().folded("Forks whose branches differ most in reward", Some("forks"), &note))
}
