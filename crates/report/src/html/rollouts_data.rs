//! What the browser of responses reads: tokens as places in a list of texts, values as they are.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use base64::Engine as _;
use serde_json::{Value, json};

use super::heat::{Scale, broken};
use super::views::stretch;
use crate::text::{passage, prose, script_json, token_gap};
use stapo_result::RunAnalysis;
use stapo_result::cases::GROUP_RESPONSES;
use stapo_result::{FlagKind, ResponseView, ShownFor};

/// Tokens of a response, from generous to few; the first at which all fits is taken.
const TOKENS: [usize; 5] = [4_096, 1_024, 512, 256, 128];
/// Distinct texts that the page can tell apart.
const TEXTS: usize = 65_535;

/// The responses to browse.
pub struct Rollouts {
    /// JSON that cannot end its `<script>` element.
    pub json: String,
    /// Which responses of the run they are.
    pub rows: BTreeSet<u64>,
    /// Groups that were drawn at random.
    pub groups: usize,
    /// Whether all of their responses are here.
    pub whole_groups: bool,
    /// Responses that did not fit.
    pub left_out: usize,
    /// The run as it was given on the command line.
    pub run: String,
}

/// Collects them; `None` where there are none.
pub fn collect(analysis: &RunAnalysis, budget: usize) -> Option<Rollouts> {
    let mut views: Vec<&ResponseView> = analysis.responses.iter().collect();
    // Groups that can teach something first: where not all rewards are equal.
    views.sort_by_key(|view| view.shown_for == [ShownFor::Group] && view.advantage.iter().all(|a| *a == 0.0));
    let all = views.len();
    let scale = Scale::of(&analysis.responses);
    while !views.is_empty() {
        for tokens in TOKENS {
            let json = script_json(&pack(&views, tokens, &scale).to_string());
            if json.len() <= budget {
                let groups = groups(&views);
                let left_out = all - views.len();
                return Some(Rollouts {
                    json,
                    rows: views.iter().map(|v| v.row).collect(),
                    groups: groups.len(),
                    // A group of which as many were kept as are kept at most may have more.
                    whole_groups: left_out == 0 && groups.values().all(|kept| *kept < GROUP_RESPONSES),
                    left_out,
                    run: run_path(analysis),
                });
            }
        }
        views.truncate(views.len() * 3 / 4);
    }
    None
}

/// Responses of every group that was drawn.
fn groups<'a>(views: &[&'a ResponseView]) -> BTreeMap<(i64, Option<&'a str>), usize> {
    let mut groups = BTreeMap::new();
    for view in views.iter().filter(|v| v.shown_for.contains(&ShownFor::Group)) {
        *groups.entry((view.step, view.group_id.as_deref())).or_default() += 1;
    }
    groups
}

/// What stands for the run in a command.
fn run_path(analysis: &RunAnalysis) -> String {
    match analysis.provenance.files.as_slice() {
        [file] => prose(&file.path),
        _ => "RUN".into(),
    }
}

/// Texts and their places.
#[derive(Default)]
struct Texts<'a> {
    texts: Vec<String>,
    ids: Vec<Option<i32>>,
    places: HashMap<(Option<i32>, &'a str), u16>,
}

impl<'a> Texts<'a> {
    fn place(&mut self, id: Option<i32>, text: &'a str) -> u16 {
        let next = u16::try_from(self.texts.len()).ok().filter(|n| usize::from(*n) < TEXTS);
        if let Some(known) = self.places.get(&(id, text)) {
            return *known;
        }
        let Some(next) = next else { return u16::MAX };
        self.texts.push(broken(text));
        self.ids.push(id);
        self.places.insert((id, text), next);
        next
    }
}

fn pack(views: &[&ResponseView], tokens: usize, scale: &Scale) -> Value {
    let mut texts = Texts::default();
    let mut prompts: Vec<&str> = Vec::new();
    let list: Vec<Value> = views.iter().map(|view| rollout(view, tokens, &mut texts, &mut prompts)).collect();
    json!({
        "texts": texts.texts,
        "ids": texts.ids,
        "prompts": prompts.iter().map(|p| passage(p)).collect::<Vec<_>>(),
        "most": scale.largest(),
        "list": list,
    })
}

fn rollout<'a>(
    view: &'a ResponseView,
    tokens: usize,
    texts: &mut Texts<'a>,
    prompts: &mut Vec<&'a str>,
) -> Value {
    let range = stretch(view, tokens);
    let place = |(text, i): (&'a String, usize)| texts.place(view.token_ids.get(i).copied(), text);
    let codes: Vec<u16> = view.texts[range.clone()].iter().zip(range.clone()).map(place).collect();
    let prompt = view.prompt.as_deref().map(|prompt| {
        prompts.iter().position(|known| *known == prompt).unwrap_or_else(|| {
            prompts.push(prompt);
            prompts.len() - 1
        })
    });
    let flags: Vec<(usize, bool)> = (view.flagged.iter())
        .filter(|f| range.contains(&(f.0 as usize)))
        .map(|f| (f.0 as usize - range.start, f.1 == FlagKind::Spurious))
        .collect();
    let floats = |values: &[f32]| {
        let part = values.get(range.clone()).unwrap_or(&[]);
        packed(part.iter().flat_map(|v| v.to_le_bytes()))
    };
    let advantages = view.advantage.get(range.clone()).unwrap_or(&[]);
    let one = advantages.first().filter(|first| advantages.iter().all(|a| a == *first));
    let label = |text: &Option<String>| text.as_deref().map(prose);
    json!({
        "row": view.row,
        "step": view.step,
        "update": view.update,
        "group": label(&view.group_id),
        "sample": label(&view.sample_id),
        "reward": view.reward,
        "ending": label(&view.ending),
        "risk": view.risk,
        "length": view.length,
        "first": view.first_position + range.start as u64,
        "for": view.shown_for,
        "prompt": prompt,
        "gap": token_gap(&view.texts),
        "codes": packed(codes.iter().flat_map(|c| c.to_le_bytes())),
        "s": floats(&view.surprisal),
        "h": floats(&view.entropy),
        "g": floats(&view.grad_norm),
        "a": match one { Some(a) => json!(a), None => json!(floats(&view.advantage)) },
        "flags": flags,
        "untrained": untrained(&view.trained[range.clone()]),
    })
}

/// The stretches of tokens that are not trained on.
fn untrained(trained: &[bool]) -> Vec<[usize; 2]> {
    let mut start = 0;
    let mut found = Vec::new();
    for part in trained.chunk_by(|a, b| a == b) {
        if part.first() == Some(&false) {
            found.push([start, start + part.len()]);
        }
        start += part.len();
    }
    found
}

fn packed(bytes: impl Iterator<Item = u8>) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes.collect::<Vec<u8>>())
}
