//! Three tokens or responses that show it.

use stapo_result::{DriverToken, FlaggedToken};

use super::Run;
use super::responses::Store;
use crate::document::{Block, Excerpt, Response, Text, Tokens};
use crate::hostile::Hostile;
use crate::told::State;
use crate::words;

/// What the first screen shows.
const SHOWN: usize = 3;

/// Their heading and the tokens; nothing where the log has no texts.
pub(super) fn tokens(run: &Run<'_>, store: &Store) -> Option<(Text, Vec<Block>)> {
    let full = run.full?;
    let code = run.told.first_cause().map_or("", |cause| cause.code.as_str());
    if run.told.state == State::Healthy {
        return earned(run, store);
    }
    let (list, note): (Vec<Excerpt>, _) = match code {
        "spurious_tokens" => (
            full.cases
                .top
                .iter()
                .take(SHOWN)
                .map(|case| of_case(case, full.cases.separator, store))
                .collect(),
            "Rewarded, rare, and the policy was sure.",
        ),
        code if is_gap(code) => {
            (largest_gaps(run, store), "The largest gaps among the tokens that drive the update.")
        }
        _ => (
            full.drivers
                .top
                .iter()
                .take(SHOWN)
                .map(|driver| of_driver(driver, full.cases.separator, store))
                .collect(),
            "They weigh most in the update.",
        ),
    };
    let list: Vec<Excerpt> = list.into_iter().filter(|excerpt| !excerpt.token.is_empty()).collect();
    let heading =
        if run.told.first_cause().is_some() { "Tokens that show it" } else { "Tokens that drive the update" };
    (!list.is_empty())
        .then(|| (heading.into(), vec![Block::Tokens(Tokens::Excerpts(list)), Block::note(note)]))
}

fn is_gap(code: &str) -> bool {
    matches!(
        code,
        "other_context"
            | "retokenised"
            | "sampler_frozen"
            | "stale_sampler"
            | "sync_corrupts_weights"
            | "position_shifted"
            | "sampler_truncation"
            | "sampler_temperature"
            | "precision_gap"
            | "correction_empties_the_batch"
    )
}

/// Tokens that the sampler drew easily and the trainer would not have.
fn largest_gaps(run: &Run<'_>, store: &Store) -> Vec<Excerpt> {
    let Some(full) = run.full else { return Vec::new() };
    let gap =
        |driver: &DriverToken| driver.logprob_rollout.map_or(0.0, |rollout| (rollout - driver.logprob).abs());
    let mut drivers: Vec<&DriverToken> = full.drivers.top.iter().collect();
    drivers.sort_by(|a, b| gap(b).total_cmp(&gap(a)));
    // The same token thrice shows it once.
    let mut texts: Vec<Option<&str>> = Vec::new();
    drivers.retain(|driver| {
        let text = driver.token.as_deref();
        let is_new = !texts.contains(&text);
        texts.push(text);
        is_new
    });
    drivers.into_iter().take(SHOWN).map(|driver| of_driver(driver, full.cases.separator, store)).collect()
}

pub(super) fn of_driver(driver: &DriverToken, gap: &str, store: &Store) -> Excerpt {
    let mut facts = match driver.logprob_rollout {
        Some(rollout) => format!(
            "sampler {}, trainer {}",
            words::chance(rollout.exp()),
            words::chance(driver.logprob.exp())
        ),
        None => format!("probability {}", words::chance(driver.logprob.exp())),
    };
    facts += &format!(", {} of the gradient", words::percent(driver.energy_share));
    let link = store.link(driver.row, driver.step);
    if link.is_none() {
        facts += &format!(" · step {}", driver.step);
    }
    excerpt(&driver.before, driver.token.as_deref(), &driver.after, gap, facts, link)
}

pub(super) fn of_case(case: &FlaggedToken, gap: &str, store: &Store) -> Excerpt {
    let facts = format!(
        "probability {}, entropy {}{}",
        words::chance(case.logprob.exp()),
        words::sig(case.entropy, 2),
        case.reward.map(|reward| format!(", reward {}", words::sig(reward, 2))).unwrap_or_default()
    );
    excerpt(&case.before, case.token.as_deref(), &case.after, gap, facts, store.link(case.row, case.step))
}

fn excerpt(
    before: &[String],
    token: Option<&str>,
    after: &[String],
    gap: &str,
    facts: String,
    link: Option<(String, String)>,
) -> Excerpt {
    Excerpt {
        before: Hostile::new(before.join(gap) + if before.is_empty() { "" } else { gap }),
        token: Hostile::new(token.unwrap_or_default()),
        after: Hostile::new(if after.is_empty() { String::new() } else { gap.to_owned() + &after.join(gap) }),
        facts: facts.into(),
        link,
    }
}

/// What a healthy run earns its reward with: of the last steps the middle one by length of each prompt's best.
fn earned(run: &Run<'_>, store: &Store) -> Option<(Text, Vec<Block>)> {
    let full = run.full?;
    let best = full.responses.iter().filter_map(|view| view.reward).fold(f64::NEG_INFINITY, f64::max);
    let mut good: Vec<_> = full
        .responses
        .iter()
        .filter(|view| view.reward.is_some_and(|reward| reward >= best - 1e-9))
        .collect();
    let last = good.iter().map(|view| view.step).max()?;
    let from =
        run.steps.get(run.steps.len() - run.steps.len().div_ceil(5)).copied().unwrap_or(last).min(last);
    good.retain(|view| view.step >= from);
    good.sort_by_key(|view| (view.length, view.row));
    let count = good.len();
    let mut list: Vec<Excerpt> = Vec::new();
    for part in 1..=SHOWN {
        let Some(view) = good.get(count * part / (SHOWN + 1)) else { continue };
        let Some(response) = store.get(view.row) else { continue };
        let link = store.link(view.row, view.step);
        let words_of_it = own_words(response);
        if list.iter().any(|known| known.link == link || known.after == words_of_it) {
            continue;
        }
        let facts = format!("reward {}, {} tokens", words::sig(best, 2), response.length);
        list.push(Excerpt {
            before: Hostile::default(),
            token: Hostile::default(),
            after: words_of_it,
            facts: facts.into(),
            link,
        });
    }
    (!list.is_empty()).then(|| {
        let note = Block::note("Short, middle and long among the best of the last steps.");
        (
            "What it earns the reward with, at the end".into(),
            vec![Block::Tokens(Tokens::Excerpts(list)), note],
        )
    })
}

/// What the policy wrote, of a response that holds words of others, too.
fn own_words(response: &Response) -> Hostile {
    use crate::document::Mark;
    let gap = if response.spaced { "" } else { " " };
    let own = response.tokens.iter().filter(|token| token.mark != Mark::Untrained);
    Hostile::new(own.map(|token| token.text.visible(80)).collect::<Vec<_>>().join(gap))
}
