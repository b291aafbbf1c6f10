//! One message of a trace.

use super::super::super::field::{Field, Object};
use super::super::context::{Bad, is_set, take_numbers};

/// Streams with one value a sampled token: canonical name, raw name.
pub(super) const STREAMS: [(&str, &str); 5] = [
    ("logprob", "trainer_logprobs"),
    ("logprob_rollout", "logprobs"),
    ("logprob_ref", "reference_logprobs"),
    ("entropy", "entropies"),
    ("advantage", "advantages"),
];

/// A link beside the parent's, such as the compaction a message came out of.
pub(super) struct Link {
    /// The message at its other end, by its place in the trace.
    pub(super) node: usize,
    /// What the link means.
    pub(super) kind: String,
}

/// A message with the tokens it adds.
pub(super) struct Node {
    /// The message before it.
    pub(super) parent: Option<usize>,
    /// Ids of the tokens that it adds to those of its parent.
    pub(super) ids: Vec<f64>,
    /// Which of them the model sampled.
    pub(super) mask: Vec<bool>,
    /// Values of the sampled tokens, in the order of [`STREAMS`].
    pub(super) streams: [Option<Vec<f64>>; STREAMS.len()],
    /// Links beside the parent's.
    pub(super) links: Vec<Link>,
    /// Why the model stopped.
    pub(super) finish_reason: Option<String>,
}

impl Node {
    pub(super) fn new(raw: Field) -> Result<Self, Bad> {
        let Field::Object(mut raw) = raw else {
            return Err(Bad::new("nodes", "a message is not an object"));
        };
        let ids = take_numbers(&mut raw, "token_ids")?.unwrap_or_default();
        let mut mask: Vec<bool> =
            take_numbers(&mut raw, "mask")?.unwrap_or_default().into_iter().map(is_set).collect();
        if mask.is_empty() {
            mask.resize(ids.len(), false);
        }
        if mask.len() != ids.len() {
            return Err(Bad::length("nodes.mask", mask.len(), "nodes.token_ids", ids.len()));
        }
        let sampled = mask.iter().filter(|m| **m).count();
        let mut streams = std::array::from_fn(|_| None);
        for (stream, (_, name)) in streams.iter_mut().zip(STREAMS) {
            *stream = take_numbers(&mut raw, name)?.filter(|values| !values.is_empty());
            if let Some(values) = stream
                && values.len() != sampled
            {
                return Err(Bad::new(
                    format!("nodes.{name}"),
                    format!("{} values, but {sampled} tokens of the message were sampled", values.len()),
                ));
            }
        }
        Ok(Self {
            parent: index(raw.get("parent")).map_err(|()| Bad::new("nodes.parent", "not a whole number"))?,
            links: links(&raw),
            finish_reason: match raw.take("finish_reason") {
                Some(Field::Text(reason)) => Some(reason),
                _ => None,
            },
            ids,
            mask,
            streams,
        })
    }

    /// Appends stream `s`: its values on the sampled tokens, missing elsewhere.
    pub(super) fn scatter(&self, s: usize, out: &mut Vec<f64>) {
        let mut values = self.streams[s].iter().flatten();
        out.extend(
            self.mask
                .iter()
                .map(|sampled| sampled.then(|| values.next()).flatten().copied().unwrap_or(f64::NAN)),
        );
    }
}

fn index(field: Option<&Field>) -> Result<Option<usize>, ()> {
    match field {
        None | Some(Field::Null) => Ok(None),
        Some(Field::Int(i)) => usize::try_from(*i).map(Some).map_err(|_| ()),
        Some(_) => Err(()),
    }
}

fn links(raw: &Object) -> Vec<Link> {
    let Some(Field::List(links)) = raw.get("semantic_parents") else { return Vec::new() };
    let link = |field: &Field| {
        let link = field.as_object()?;
        let node = index(link.get("node")).ok()??;
        Some(Link { node, kind: link.get("type")?.id()?.into_owned() })
    };
    links.iter().filter_map(link).collect()
}
