//! One store of responses: every link to a token leads into it.

use std::collections::BTreeMap;

use stapo_result::{FlagKind, ResponseView, ShownFor};

use super::Run;
use crate::document::{Mark, Response, Responses, Text, Token};
use crate::hostile::Hostile;

/// The responses that the result holds, those of interest first.
pub(super) struct Store {
    list: Vec<Response>,
    ids: BTreeMap<u64, String>,
    largest: [f32; 3],
}

impl Store {
    pub(super) fn of(run: &Run<'_>) -> Self {
        let mut views: Vec<&ResponseView> = run.full.iter().flat_map(|full| &full.responses).collect();
        // Those without advantage were kept for their group alone, and teach least.
        views.sort_by_key(|view| {
            (
                view.shown_for == [ShownFor::Group] && view.advantage.iter().all(|a| *a == 0.0),
                view.step,
                view.row,
            )
        });
        let largest = largest(&views);
        let ids: BTreeMap<u64, String> = views.iter().map(|view| (view.row, id(view))).collect();
        let list = views.iter().map(|view| response(view, largest)).collect();
        Self { list, ids, largest }
    }

    /// The link to a response by its place in the log, and its words, where the page holds it.
    pub(super) fn link(&self, row: u64, step: i64) -> Option<(String, String)> {
        self.ids.get(&row).map(|id| (id.clone(), format!("step {step}")))
    }

    /// The response of a link.
    pub(super) fn get(&self, row: u64) -> Option<&Response> {
        let id = self.ids.get(&row)?;
        self.list.iter().find(|response| response.id == *id)
    }

    /// For the tab of tokens.
    pub(super) fn responses(self, run: &Run<'_>, first: Option<u64>) -> Responses {
        let command = Text::new().say("Any other: ").code(format!(
            "stapo-analyze show {} --step 0 --limit 3{}",
            run.path().visible(crate::hostile::NAME),
            tokenizer(run)
        ));
        let first = first.and_then(|row| self.ids.get(&row).cloned());
        Responses { list: self.list, of: run.responses, largest: self.largest, command, first }
    }
}

/// Commands run as they are printed: with the tokenizer that the analysis had.
fn tokenizer(run: &Run<'_>) -> String {
    let file = run.provenance.token_text.as_deref().filter(|from| from.ends_with(".json"));
    file.map(|file| format!(" --tokenizer {}", Hostile::new(file).visible(crate::hostile::NAME)))
        .unwrap_or_default()
}

/// `s12-g7-r345`: step, group and place in the log.
fn id(view: &ResponseView) -> String {
    let plain =
        |text: &&str| text.len() <= 12 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let group = view.group_id.as_deref().filter(plain).unwrap_or("0");
    format!("s{}-g{group}-r{}", view.step, view.row)
}

fn values(view: &ResponseView) -> [&[f32]; 3] {
    [&view.surprisal, &view.entropy, &view.grad_norm]
}

/// Shades are of the 99th percentile: a few tokens are far beyond all others.
fn largest(views: &[&ResponseView]) -> [f32; 3] {
    [0, 1, 2].map(|k| {
        let mut all: Vec<f32> =
            views.iter().flat_map(|view| values(view)[k]).copied().filter(|v| v.is_finite()).collect();
        all.sort_by(f32::total_cmp);
        all.get(all.len().saturating_sub(1) * 99 / 100).copied().filter(|v| *v > 0.0).unwrap_or(1.0)
    })
}

fn response(view: &ResponseView, largest: [f32; 3]) -> Response {
    let flags: BTreeMap<usize, FlagKind> =
        view.flagged.iter().map(|(at, kind)| (*at as usize, *kind)).collect();
    let shade = |k: usize, i: usize| {
        let value = values(view)[k].get(i).copied().filter(|v| v.is_finite()).unwrap_or(0.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let level = (255.0 * (value / largest[k]).clamp(0.0, 1.0)).round() as u8;
        level
    };
    let token = |(i, text): (usize, &String)| Token {
        text: Hostile::new(text.as_str()),
        shades: [0, 1, 2].map(|k| shade(k, i)),
        mark: match flags.get(&i) {
            Some(FlagKind::Spurious) => Mark::Silenced,
            Some(FlagKind::Exploratory) => Mark::Exploratory,
            None if view.trained.get(i) == Some(&false) => Mark::Untrained,
            None => Mark::None,
        },
    };
    Response {
        id: id(view),
        step: view.step,
        group: view.group_id.as_deref().map(Hostile::from),
        name: view.sample_id.as_deref().map(Hostile::from),
        reward: view.reward,
        ending: view.ending.as_deref().map(Hostile::from),
        prompt: view.prompt.as_deref().map(Hostile::from),
        length: view.length,
        first: view.first_position,
        tokens: view.texts.iter().enumerate().map(token).collect(),
        spaced: view.texts.iter().any(|text| text.contains(char::is_whitespace)),
    }
}
