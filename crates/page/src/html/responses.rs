//! Responses to browse, packed for the script, and the first few as they are for readers without one.

use std::collections::HashMap;

use base64::Engine as _;
use maud::{Markup, PreEscaped, html};
use serde_json::{Value, json};

use super::json as script_json;
use crate::document::{Mark, Response, Responses, Thresholds};
use crate::hostile::{NAME, PASSAGE};

/// Bytes of the packed responses at most.
const BUDGET: usize = 900_000;
/// Tokens of a response, from generous to few: the first at which all fit is taken.
const TOKENS: [usize; 4] = [4_096, 1_024, 512, 256];
/// Responses that are there without script, and in print.
const STATIC: usize = 3;
/// Tokens of these.
const STATIC_TOKENS: usize = 250;

/// The browser of responses.
pub fn browser(responses: &Responses, percent: usize) -> Markup {
    let (packed, shown) = fitting(responses, BUDGET / 100 * percent);
    let of = stapo_base::format::counted(responses.of, "answer", "answers");
    html! {
        p id="stored" { (shown) " of " (of) ". " (super::blocks::text(&responses.command)) }
        div.browse hidden id="browse" {
            p.by {
                label { "Shade by " select id="shade" { option { "surprisal" } option { "entropy" } option { "gradient" } } } " "
                label { "Step " select id="at-step" { option value="" { "all" } } } " "
                label { "Order " select id="order" { option { "as logged" } option { "best first" } option { "worst first" } option { "longest first" } } }
                " " button type="button" id="before" { "Previous" } " " button type="button" id="after" { "Next" }
                " " span id="place" aria-live="polite" {}
            }
            article id="response" tabindex="-1" {}
        }
        div.static { @for response in responses.list.iter().take(STATIC) { (still(response)) } }
        script type="application/json" id="responses" { (PreEscaped(packed)) }
    }
}

/// A response without shades.
fn still(response: &Response) -> Markup {
    let gap = if response.spaced { "" } else { " " };
    let tokens = response.tokens.iter().take(STATIC_TOKENS);
    html! {
        article {
            h4 { (title(response)) }
            @if let Some(prompt) = &response.prompt { p { (prompt.visible(600)) } }
            pre {
                @for token in tokens {
                    @if token.mark == Mark::Silenced { b { (token.text.visible(NAME)) } } @else { (token.text.visible(NAME)) }
                    (gap)
                }
            }
        }
    }
}

fn title(response: &Response) -> String {
    let group = response.group.as_ref().map(|group| format!(", group {}", group.visible(NAME)));
    let reward = response.reward.map(|reward| format!(", reward {}", crate::words::limit(reward)));
    format!("Step {}{}{}", response.step, group.unwrap_or_default(), reward.unwrap_or_default())
}

/// As many responses as fit, and how many these are.
fn fitting(responses: &Responses, budget: usize) -> (String, usize) {
    let mut count = responses.list.len();
    while count > 0 {
        for tokens in TOKENS {
            let packed = script_json(&pack(responses, count, tokens));
            if packed.len() <= budget {
                return (packed, count);
            }
        }
        count = count * 3 / 4;
    }
    (script_json(&pack(responses, 0, 0)), 0)
}

fn pack(responses: &Responses, count: usize, tokens: usize) -> Value {
    let mut texts: Vec<String> = Vec::new();
    let mut places: HashMap<&crate::hostile::Hostile, u16> = HashMap::new();
    let mut prompts: Vec<String> = Vec::new();
    let mut known: HashMap<&crate::hostile::Hostile, usize> = HashMap::new();
    let list: Vec<Value> = responses
        .list
        .iter()
        .take(count)
        .map(|of| {
            let range = range(of, tokens);
            let part = of.tokens.get(range.clone()).unwrap_or(&[]);
            let codes = part.iter().flat_map(|token| {
                let place = places.get(&token.text).copied().or_else(|| {
                    let next = u16::try_from(texts.len()).ok().filter(|next| *next < u16::MAX)?;
                    texts.push(token.text.visible(NAME));
                    places.insert(&token.text, next);
                    Some(next)
                });
                place.unwrap_or(u16::MAX).to_le_bytes()
            });
            let codes = packed(codes);
            let prompt = of.prompt.as_ref().map(|prompt| {
                *known.entry(prompt).or_insert_with(|| {
                    prompts.push(prompt.visible(PASSAGE).replace('↵', "↵\n"));
                    prompts.len() - 1
                })
            });
            let marks: Vec<(usize, u8)> = part
                .iter()
                .enumerate()
                .filter(|(_, token)| matches!(token.mark, Mark::Silenced | Mark::Exploratory))
                .map(|(i, token)| (i, token.mark as u8))
                .collect();
            json!({
                "id": of.id,
                "title": title(of),
                "step": of.step,
                "reward": of.reward,
                "name": of.name.as_ref().map(|name| name.visible(NAME)),
                "ending": of.ending.as_ref().map(|ending| ending.visible(NAME)),
                "length": of.length,
                "first": of.first + range.start as u64,
                "prompt": prompt,
                "spaced": of.spaced,
                "codes": codes,
                "shades": packed((0..3).flat_map(|k| part.iter().map(move |token| token.shades[k]))),
                "marks": marks,
                "untrained": untrained(part),
            })
        })
        .collect();
    json!({ "texts": texts, "prompts": prompts, "largest": responses.largest, "first": responses.first, "list": list })
}

/// Of a long response the tokens around its first mark.
fn range(response: &Response, limit: usize) -> std::ops::Range<usize> {
    let length = response.tokens.len();
    if length <= limit {
        return 0..length;
    }
    let marked = response.tokens.iter().position(|token| token.mark == Mark::Silenced).unwrap_or(0);
    let start = marked.saturating_sub(limit / 2).min(length - limit);
    start..start + limit
}

/// From where to where tokens are not trained on.
fn untrained(tokens: &[crate::document::Token]) -> Vec<[usize; 2]> {
    let (mut start, mut found) = (0, Vec::new());
    for run in tokens.chunk_by(|a, b| (a.mark == Mark::Untrained) == (b.mark == Mark::Untrained)) {
        if run.first().is_some_and(|token| token.mark == Mark::Untrained) {
            found.push([start, start + run.len()]);
        }
        start += run.len();
    }
    found
}

fn packed(bytes: impl Iterator<Item = u8>) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes.collect::<Vec<u8>>())
}

/// Two sliders, and the candidates that they choose from.
pub fn thresholds(of: &Thresholds) -> Markup {
    let of_all = |k: usize| packed(of.batches.iter().flatten().flat_map(move |point| point[k].to_le_bytes()));
    let value = json!({
        "p": of.probability,
        "q": of.quantile,
        "sizes": of.batches.iter().map(Vec::len).collect::<Vec<_>>(),
        "logprob": of_all(0),
        "entropy": of_all(1),
        "norm": of_all(2),
        "tokens": of.tokens,
        "energy": of.energy,
    });
    let last = |list: &[f64]| list.len().saturating_sub(1);
    html! {
        div.live hidden id="live" {
            p {
                label { "Probability below " input id="tau-p" type="range" min="0" max=(last(&of.probability)) value=(of.own.0); } " "
                label { "Entropy quantile " input id="quantile" type="range" min="0" max=(last(&of.quantile)) value=(of.own.1); }
            }
            p id="masked" aria-live="polite" {}
            script type="application/json" id="masks" { (PreEscaped(script_json(&value))) }
        }
    }
}
