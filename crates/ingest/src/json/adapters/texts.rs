//! Rows of texts: lists that run over the responses of a batch, and chats as lists of messages.

use super::super::field::{Field, Object};
use super::context::{Bad, Responses};

/// Columns whose lists have one entry a response, the most telling first.
const OF_RESPONSES: [&str; 4] = ["completion", "responses", "completions", "response"];
/// Columns that may hold a chat.
const CHATS: [&str; 6] = ["prompt", "completion", "response", "input", "output", "messages"];
/// Roles that are no answer of the policy's.
const ASKED: [&str; 5] = ["system", "user", "tool", "developer", "function"];

/// The responses of a line that holds a batch: each list has an entry for each of them.
pub(super) fn batch(row: Object) -> Responses {
    let lengths = OF_RESPONSES.iter().filter_map(|name| row.get(name));
    let Some(responses) = lengths.map(Field::list_len).find(|length| *length > 0) else {
        return Box::new(std::iter::empty());
    };
    let uneven = row.iter().find(|(_, value)| value.shape().is_list() && value.list_len() != responses);
    if let Some((name, value)) = uneven {
        let message = format!("{} entries for {responses} responses", value.list_len());
        return Box::new(std::iter::once(Err(Bad::new(name.to_owned(), message))));
    }
    let columns: Vec<_> = row.into_iter().collect();
    Box::new((0..responses).map(move |at| {
        let one = columns.iter().map(|(name, value)| (name.clone(), entry(value, at)));
        Ok(with_chats_as_texts(Object::new(one.collect())))
    }))
}

/// What a column says of one response.
fn entry(value: &Field, at: usize) -> Field {
    match value {
        Field::Numbers(numbers) => number(numbers.values[at], numbers.whole),
        Field::Bools(flags) => flags[at].map_or(Field::Null, Field::Bool),
        Field::Texts(texts) => texts[at].as_ref().map_or(Field::Null, |text| Field::Text(text.to_string())),
        Field::List(items) => items[at].clone(),
        other => other.clone(),
    }
}

#[allow(clippy::cast_possible_truncation)] // whole and small enough to be exact
fn number(value: f64, whole: bool) -> Field {
    match whole {
        _ if value.is_nan() => Field::Null,
        true => Field::Int(value as i64),
        false => Field::Float(value),
    }
}

/// Chats become texts. A chat of a whole episode ends in the response: what the policy said after the last that was asked.
pub(super) fn with_chats_as_texts(mut row: Object) -> Object {
    let has_response = ["completion", "response", "output"].iter().any(|name| row.get(name).is_some());
    open_objects(&mut row);
    for name in CHATS {
        let Some(Field::List(messages)) = row.get(name) else { continue };
        if !messages.iter().any(|message| matches!(message, Field::Object(_))) {
            continue;
        }
        if name == "messages" && !has_response {
            let asked = messages.iter().rposition(is_asked).map_or(0, |at| at + 1);
            let (prompt, response) = messages.split_at(asked);
            let (prompt, response) = (text_of(prompt), text_of(response));
            row.set("prompt", Field::Text(prompt));
            row.set("completion", Field::Text(response));
        } else if name != "messages" {
            let text = text_of(messages);
            row.set(name, Field::Text(text));
        }
    }
    row
}

/// Texts and rewards that are objects of their own: what they say, and how the generation ended.
fn open_objects(row: &mut Object) {
    for name in CHATS {
        let Some(Field::Object(said)) = row.get(name) else { continue };
        let text = ["text", "content"].iter().find_map(|key| said.get(key)).cloned();
        let finish = said.get("finish_reason").cloned();
        if let Some(text @ Field::Text(_)) = text {
            row.set(name, text);
            if let Some(finish @ Field::Text(_)) = finish
                && row.get("finish_reason").is_none()
            {
                row.set("finish_reason", finish);
            }
        }
    }
    if let Some(Field::Object(parts)) = row.get("reward").cloned() {
        let is_whole = |name: &str| matches!(name, "reward" | "score" | "total");
        let numbers = parts.iter().filter(|(_, value)| matches!(value, Field::Int(_) | Field::Float(_)));
        for (name, value) in numbers {
            row.set(if is_whole(name) { "reward" } else { name }.to_owned(), value.clone());
        }
    }
}

fn is_asked(message: &Field) -> bool {
    let role = message.as_object().and_then(|message| message.get("role"));
    matches!(role, Some(Field::Text(role)) if ASKED.contains(&role.as_str()))
}

/// What the messages say, one after another; parts that are no texts are left out.
fn text_of(messages: &[Field]) -> String {
    let mut text = String::new();
    for message in messages {
        let content = match message {
            Field::Object(message) => message.get("content"),
            text => Some(text),
        };
        match content {
            Some(Field::Text(said)) => add(&mut text, said),
            Some(Field::List(parts)) => {
                for part in parts.iter().filter_map(Field::as_object) {
                    if let Some(Field::Text(said)) = part.get("text") {
                        add(&mut text, said);
                    }
                }
            }
            _ => {}
        }
    }
    text
}

fn add(text: &mut String, said: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(said);
}
