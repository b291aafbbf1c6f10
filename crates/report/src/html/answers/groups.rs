//! Groups by outcome, parts of the reward, cut responses, loops.

use maud::{Markup, html};

use crate::page::Sheet;
use crate::text::prose;
use stapo_base::format::{grouped as count, none, number, number_or_dash, percent, percent_or_dash};
use stapo_result::Answers;

/// Groups by outcome, pass@k, energy by pass rate.
pub fn outcomes(answers: &Answers) -> Option<Markup> {
    let groups = answers.groups.as_ref()?;
    let mut sheet = Sheet::new(&["groups", "number", "share of tokens", "share of energy"]);
    let energy = groups.energy_share;
    for (name, number, tokens, energy) in [
        ("all right", groups.counts.all_right, groups.token_share.all_right, energy.map(|e| e.all_right)),
        ("mixed", groups.counts.mixed, groups.token_share.mixed, energy.map(|e| e.mixed)),
        ("all wrong", groups.counts.all_wrong, groups.token_share.all_wrong, energy.map(|e| e.all_wrong)),
        (
            "all wrong, with an advantage (phantom)",
            groups.counts.phantom,
            groups.token_share.phantom,
            energy.map(|e| e.phantom),
        ),
        ("without any advantage (dead)", groups.counts.dead, groups.token_share.dead, energy.map(|e| e.dead)),
    ] {
        sheet.push([name.to_owned(), count(number), percent(tokens), percent_or_dash(energy)]);
    }
    let mut passes = Sheet::new(&["k", "pass@k", "95 % interval"]);
    for (k, value) in &groups.pass_at {
        let interval = groups.pass_at_interval.get(k);
        let interval =
            interval.map_or_else(none, |[low, high]| format!("{} – {}", percent(*low), percent(*high)));
        passes.push([k.to_string(), percent(*value), interval]);
    }
    let mut rates = Sheet::new(&["pass rate of the group", "groups", "share of tokens", "share of energy"]);
    for row in groups.by_pass_rate.iter().filter(|row| row.groups > 0) {
        rates.push([
            row.pass_rate.clone(),
            count(row.groups),
            percent(row.token_share),
            percent_or_dash(row.energy_share),
        ]);
    }
    let rule = format!("A response is right where {}.", groups.rule);
    let (of_rates, why) = match energy {
        Some(_) => (
            "Energy by the group's pass rate",
            "How much of the update goes to prompts that are solved, and to those that are not.",
        ),
        None => ("Groups by their pass rate", ""),
    };
    Some(html! {
        (sheet.without_empty().folded("Groups by outcome", Some("groups"), &prose(&rule)))
        (passes.folded("pass@k", Some("groups"), "The chance that one of k responses is right, without bias; intervals draw the groups of every step anew."))
        (rates.without_empty().folded(of_rates, None, why))
    })
}

/// Parts of the reward and what moves the advantage inside of groups.
pub fn rewards(answers: &Answers) -> Option<Markup> {
    let within = answers.within_groups.as_ref();
    let mut sheet =
        Sheet::new(&["part", "responses", "mean", "variance in groups", "explains alone", "coefficient"]);
    for part in &answers.reward_parts {
        let influence = within.and_then(|within| within.parts.iter().find(|other| other.name == part.name));
        sheet.push([
            prose(&part.name),
            count(part.responses),
            number(part.mean),
            influence.map_or_else(none, |i| number(i.variance)),
            percent_or_dash(influence.and_then(|i| i.advantage_share)),
            number_or_dash(influence.and_then(|i| i.coefficient)),
        ]);
    }
    let mut note = Vec::new();
    if let Some(share) = within.and_then(|within| within.advantage_explained) {
        note.push(format!(
            "Together the parts explain {} of the advantage's variance inside of groups.",
            percent(share)
        ));
    }
    if let Some(r) = within.and_then(|within| within.advantage_length_correlation) {
        note.push(format!("Correlation of advantage and length inside of groups: {}.", number(r)));
    }
    (!sheet.is_empty()).then(|| sheet.folded("Parts of the reward", None, &note.join(" ")))
}

/// Cut responses against finished ones, and loops.
pub fn truncated(answers: &Answers) -> Option<Markup> {
    let loops = answers.repetition.as_ref().filter(|loops| loops.tokens > 0).map_or(String::new(), |loops| {
        format!(
            "{} of the tokens repeat an n-gram for the second time or more; {} responses end in such a loop.",
            percent(loops.share),
            count(loops.looping)
        )
    });
    let cut = answers.truncated.as_ref().filter(|cut| cut.responses > 0);
    let Some(cut) = cut else {
        return (!loops.is_empty()).then(|| crate::page::note(&loops));
    };
    let mut sheet = Sheet::new(&["responses", "number", "reward", "length", "entropy", "energy a token"]);
    for (name, of) in [("cut", &cut.cut), ("finished", &cut.finished)] {
        sheet.push([
            name.to_owned(),
            count(of.responses),
            number_or_dash(of.mean_reward),
            number_or_dash(of.mean_length),
            number_or_dash(of.mean_entropy),
            number_or_dash(of.energy_per_token),
        ]);
    }
    let share = cut.energy_share.map_or(String::new(), |share| {
        format!("Cut responses hold {} of the gradient energy. ", percent(share))
    });
    Some(sheet.without_empty().folded("Cut responses", None, &format!("{share}{loops}")))
}
