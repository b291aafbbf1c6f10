//! One response with its prompt and its tokens.

use serde::Serialize;

use crate::texts::Tokenizer;
use stapo_batch::batch::{Id, MISSING_ID, TokenBatch};
use stapo_batch::columns::Column;

/// Tokens of a response that are kept at most.
const TOKENS: usize = 65_536;

/// A response.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownResponse {
    /// Response, counted from 0 in the order the files were given.
    pub row: u64,
    /// Step.
    pub step: i64,
    /// Mini-batch inside the step, where logged.
    pub update: Option<i64>,
    /// Group, where logged.
    pub group_id: Option<String>,
    /// Response id, where logged.
    pub sample_id: Option<String>,
    /// Reward, where logged.
    pub reward: Option<f32>,
    /// Why it ended, where logged.
    pub finish_reason: Option<String>,
    /// Whether it was cut, where logged.
    pub truncated: Option<bool>,
    /// The prompt, where logged.
    pub prompt: Option<String>,
    /// Tokens of the response, or characters of its text; `tokens` holds at most the first 65,536.
    pub length: usize,
    /// What `length` counts: `tokens` or `characters`.
    pub length_in: &'static str,
    /// What goes between the texts of tokens.
    pub separator: &'static str,
    /// Its tokens.
    pub tokens: Vec<ShownToken>,
}

/// A token of a response.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownToken {
    /// Position in the response.
    pub position: i32,
    /// Token id, where logged.
    pub token_id: Option<i32>,
    /// Its text; the id in brackets where unknown.
    pub text: String,
    /// Whether it is trained on.
    pub trained: bool,
    /// ln p, where logged.
    pub logprob: Option<f32>,
    /// H in nats, where logged.
    pub entropy: Option<f32>,
    /// A, where logged.
    pub advantage: Option<f32>,
}

impl ShownToken {
    /// −ln p − H in nats: the surprise that the policy's own uncertainty does not explain.
    #[must_use]
    pub fn unexplained(&self) -> Option<f32> {
        Some(-self.logprob? - self.entropy?)
    }
}

/// What ids stand for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ids<'a> {
    /// Tokens, of this tokenizer where one is known.
    Tokens(Option<&'a Tokenizer>),
    /// Characters of a logged text.
    Characters,
}

impl ShownResponse {
    /// Response `i` of a batch.
    pub(super) fn of(batch: &TokenBatch, i: usize, meant: Ids<'_>) -> Self {
        let tokenizer = match meant {
            Ids::Tokens(tokenizer) => tokenizer,
            Ids::Characters => None,
        };
        let columns = &batch.responses;
        let id = |column| batch.ids(column).map(|ids| &ids[i]).filter(|id| **id != Id::Missing);
        let text = |column| columns.texts.get(column).and_then(|t| t[i].as_deref()).map(str::to_owned);
        let range = batch.range(i);
        Self {
            row: 0,
            step: columns.step.get(i).copied().unwrap_or(0),
            update: columns.ints.get(Column::Update).and_then(|u| u[i]),
            group_id: id(Column::GroupId).map(ToString::to_string),
            sample_id: id(Column::SampleId).map(ToString::to_string),
            reward: columns.floats.get(Column::Reward).map(|r| r[i]).filter(|r| r.is_finite()),
            finish_reason: text(Column::FinishReason),
            truncated: columns.flags.get(Column::Truncated).and_then(|t| t[i]),
            prompt: text(Column::PromptText).or_else(|| prompt_of_ids(batch, i, tokenizer)),
            length: range.len(),
            length_in: match meant {
                Ids::Tokens(_) => "tokens",
                Ids::Characters => "characters",
            },
            separator: separator(tokenizer),
            tokens: tokens(batch, i, meant),
        }
    }

    /// The tokens as one text.
    #[must_use]
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.tokens.iter().map(|t| t.text.as_str()).collect();
        texts.join(self.separator)
    }
}

/// Words of a plain vocabulary have no spaces.
fn separator(tokenizer: Option<&Tokenizer>) -> &'static str {
    if tokenizer.is_some_and(Tokenizer::is_plain) { " " } else { "" }
}

fn prompt_of_ids(batch: &TokenBatch, i: usize, tokenizer: Option<&Tokenizer>) -> Option<String> {
    let ids = batch.responses.prompt_ids.as_ref()?.get(i)?.as_ref()?;
    let texts: Vec<String> =
        ids.iter().map(|id| token_text(Some(*id), None, Ids::Tokens(tokenizer))).collect();
    Some(texts.join(separator(tokenizer)))
}

fn token_text(id: Option<i32>, logged: Option<&str>, meant: Ids<'_>) -> String {
    let tokenizer = match meant {
        Ids::Tokens(tokenizer) => tokenizer,
        Ids::Characters => {
            let letter = id.and_then(|id| char::from_u32(id.cast_unsigned()));
            return letter.unwrap_or(char::REPLACEMENT_CHARACTER).into();
        }
    };
    let known = id.and_then(|id| tokenizer?.text(id)).or(logged);
    match (known, id) {
        (Some(text), _) => text.to_owned(),
        (None, Some(id)) => format!("⟨{id}⟩"),
        (None, None) => "⟨?⟩".into(),
    }
}

fn tokens(batch: &TokenBatch, i: usize, meant: Ids<'_>) -> Vec<ShownToken> {
    let advantages = batch.floats(Column::Advantage);
    let whole = batch.responses.floats.get(Column::AdvantageSeq).map(|a| a[i]);
    let finite = |value: f32| value.is_finite().then_some(value);
    let at = |column, t: usize| batch.floats(column).and_then(|values| finite(values[t]));
    let token = |t: usize| {
        let token_id = batch.token_ids().map(|ids| ids[t]).filter(|id| *id != MISSING_ID);
        ShownToken {
            position: batch.position(i, t),
            token_id,
            text: token_text(token_id, batch.token_text(t), meant),
            trained: batch.mask().is_none_or(|mask| mask[t] == 1),
            logprob: at(Column::Logprob, t),
            entropy: at(Column::Entropy, t),
            advantage: advantages.map_or(whole, |a| Some(a[t])).and_then(finite),
        }
    };
    batch.range(i).take(TOKENS).map(token).collect()
}
