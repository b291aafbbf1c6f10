//! prime-rl and verifiers traces: an episode has traces, a trace is a graph of messages, and each
//! path from a root to a leaf is one response.
//!
//! A message stores the tokens it adds, a mask of those the model sampled, and streams with one
//! value a *sampled* token. Paths share their prefix: a sampled message is trained in the first
//! path that has it and masked in later ones, so that every sampled token counts once.

mod node;
mod noted;
mod trace_columns;

use std::vec::IntoIter;

use self::node::{Node, STREAMS};
use self::noted::Noted;
use self::trace_columns::TraceColumns;
use super::super::annotations::Annotations;
use super::super::field::{Field, Numbers, Object};
use super::context::{Bad, Context, Responses};
use super::sequence::Sequence;

/// Messages a trace may have; the walk from every leaf to its root stays affordable.
const MAX_NODES: usize = 100_000;
/// Messages and tokens that all paths of a trace may have together: paths repeat their prefix, so a
/// small trace can stand for very many.
const MAX_REPEATED: u64 = 1 << 27;

pub(super) fn responses(mut row: Object, context: &Context) -> Responses {
    let Some(Field::List(traces)) = row.take("traces") else {
        let columns = TraceColumns::default();
        let notes = context.annotations.as_deref();
        return paths(row, &columns, notes, || format!("{}-{}", context.stem, context.row));
    };
    let columns = TraceColumns::of_episode(&row);
    let (stem, number) = (context.stem.clone(), context.row);
    let notes = context.annotations.clone();
    Box::new(traces.into_iter().enumerate().flat_map(move |(i, trace)| match trace {
        Field::Object(trace) => paths(trace, &columns, notes.as_deref(), || format!("{stem}-{number}-{i}")),
        _ => Box::new(std::iter::once(Err(Bad::new("traces", "an entry is not an object")))),
    }))
}

/// Whether a raw row (episode or trace) carries token ids.
pub(super) fn has_tokens(row: &Object) -> bool {
    let nodes_have = |trace: &Object| match trace.get("nodes") {
        Some(Field::List(nodes)) => nodes
            .iter()
            .filter_map(Field::as_object)
            .any(|n| n.get("token_ids").is_some_and(|ids| ids.list_len() > 0)),
        _ => false,
    };
    match row.get("traces") {
        Some(Field::List(traces)) => traces.iter().filter_map(Field::as_object).any(nodes_have),
        _ => nodes_have(row),
    }
}

fn paths(
    trace: Object,
    episode: &TraceColumns,
    notes: Option<&Annotations>,
    fallback_id: impl Fn() -> String,
) -> Responses {
    let noted = notes.map(|notes| Noted::of(&trace, episode.kind(), notes)).transpose();
    let made = noted.and_then(|noted| match noted {
        // It is in a stream that says what is trained on, and this is not.
        Some(None) => Ok(None),
        noted => Paths::new(trace, episode, noted.flatten().as_ref(), fallback_id).map(Some),
    });
    match made {
        Ok(paths) => Box::new(paths.into_iter().flatten()),
        Err(bad) => Box::new(std::iter::once(Err(bad))),
    }
}

struct Paths {
    nodes: Vec<Node>,
    leaves: IntoIter<usize>,
    several: bool,
    path: usize,
    /// Messages that an earlier path trains on.
    claimed: Vec<bool>,
    /// Messages that are compactions the agent went on from.
    accepted: Vec<bool>,
    /// Streams that some message of the trace has.
    streams: [bool; STREAMS.len()],
    columns: TraceColumns,
    id: String,
}

impl Paths {
    fn new(
        mut trace: Object,
        episode: &TraceColumns,
        noted: Option<&Noted>,
        fallback_id: impl Fn() -> String,
    ) -> Result<Self, Bad> {
        let raw = match trace.take("nodes") {
            Some(Field::List(nodes)) => nodes,
            None | Some(Field::Null) => Vec::new(),
            Some(_) => return Err(Bad::new("nodes", "not a list of messages")),
        };
        if raw.len() > MAX_NODES {
            return Err(Bad::new("nodes", format!("more than {MAX_NODES} messages in a trace")));
        }
        let mut nodes = raw.into_iter().map(Node::new).collect::<Result<Vec<_>, _>>()?;
        let mut is_parent = vec![false; nodes.len()];
        for parent in nodes.iter().filter_map(|n| n.parent) {
            *is_parent
                .get_mut(parent)
                .ok_or_else(|| Bad::new("nodes.parent", format!("there is no message {parent}")))? = true;
        }
        let leaves: Vec<_> = (0..nodes.len()).filter(|n| !is_parent[*n]).collect();
        if leaves.is_empty() && !nodes.is_empty() {
            return Err(Bad::new("nodes.parent", "the messages form a circle"));
        }
        let repeated = repeated(&nodes, &leaves)?;
        if repeated > MAX_REPEATED {
            let what = format!("its {} paths repeat {repeated} messages and tokens", leaves.len());
            return Err(Bad::new("nodes", what));
        }
        if let Some(noted) = noted {
            noted.write(&mut nodes, |nodes, index| {
                let missing =
                    || Bad::new("annotations.branches.index", format!("there is no branch {index}"));
                walk(nodes, *leaves.get(index).ok_or_else(missing)?)
            })?;
        }
        let mut accepted = vec![false; nodes.len()];
        for link in nodes.iter().flat_map(|n| &n.links).filter(|l| l.kind == "compaction") {
            if let Some(accepted) = accepted.get_mut(link.node) {
                *accepted = true;
            }
        }
        let id = trace.get("id").and_then(Field::id).map_or_else(fallback_id, |id| id.into_owned());
        Ok(Self {
            accepted,
            claimed: vec![false; nodes.len()],
            streams: std::array::from_fn(|s| nodes.iter().any(|n| n.streams[s].is_some())),
            columns: episode.with_trace(&trace).trained_at(noted.map(|noted| noted.step)),
            several: leaves.len() > 1,
            leaves: leaves.into_iter(),
            path: 0,
            nodes,
            id,
        })
    }

    /// An attempt at compaction that the agent did not go on from is no training sample.
    fn is_trained(&self, leaf: usize) -> bool {
        let is_attempt = self.nodes[leaf].links.iter().any(|l| l.kind == "compaction_attempt");
        self.columns.trainable && (!is_attempt || self.accepted[leaf])
    }

    fn response(&mut self, leaf: usize) -> Result<Object, Bad> {
        let path = walk(&self.nodes, leaf)?;
        let trains = self.is_trained(leaf);
        let mut sequence = Sequence::default();
        let mut streams: [Vec<f64>; STREAMS.len()] = Default::default();
        let mut turns = Vec::new();
        let mut turn = -1.0;
        let mut finish_reason = None;
        for n in path {
            let node = &self.nodes[n];
            let trained = trains && !self.claimed[n];
            self.claimed[n] |= trains;
            if node.mask.contains(&true) {
                turn += 1.0;
                finish_reason = node.finish_reason.clone().or(finish_reason);
            }
            sequence.ids.extend_from_slice(&node.ids);
            sequence.sampled.extend_from_slice(&node.mask);
            sequence.trained.extend(node.mask.iter().map(|m| *m && trained));
            turns.resize(sequence.ids.len(), f64::max(turn, 0.0));
            for (s, values) in streams.iter_mut().enumerate() {
                node.scatter(s, values);
            }
        }
        let several = self.several.then_some(self.path);
        let id = several.map_or_else(|| self.id.clone(), |path| format!("{}-{path}", self.id));
        let mut turns = Field::Numbers(Numbers::whole(turns));
        turns.cut(sequence.response());
        let streams = streams.into_iter().zip(STREAMS).zip(self.streams).filter(|(_, is_there)| *is_there);
        sequence.streams = streams.map(|((values, (name, raw)), _)| (name, raw, values)).collect();

        let mut row = Object::default();
        row.set("sample_id", Field::Text(id));
        self.columns.write(&mut row, finish_reason);
        sequence.write(&mut row)?;
        row.set("turn", turns);
        Ok(row)
    }
}

/// The messages from the root to `leaf`.
fn walk(nodes: &[Node], leaf: usize) -> Result<Vec<usize>, Bad> {
    let mut path = vec![leaf];
    while let Some(parent) = path.last().and_then(|n| nodes[*n].parent) {
        if path.len() >= nodes.len() {
            return Err(Bad::new("nodes.parent", "the messages form a circle"));
        }
        path.push(parent);
    }
    path.reverse();
    Ok(path)
}

/// Messages and tokens of all paths together, without walking each of them.
fn repeated(nodes: &[Node], leaves: &[usize]) -> Result<u64, Bad> {
    let mut known: Vec<Option<u64>> = vec![None; nodes.len()];
    let mut all = 0_u64;
    for leaf in leaves {
        let mut way = Vec::new();
        let mut next = Some(*leaf);
        while let Some(n) = next.filter(|n| known[*n].is_none()) {
            if way.len() >= nodes.len() {
                return Err(Bad::new("nodes.parent", "the messages form a circle"));
            }
            way.push(n);
            next = nodes[n].parent;
        }
        let mut length = next.and_then(|n| known[n]).unwrap_or(0);
        for n in way.into_iter().rev() {
            length = length.saturating_add(1 + nodes[n].ids.len() as u64);
            known[n] = Some(length);
        }
        all = all.saturating_add(length);
    }
    Ok(all)
}

impl Iterator for Paths {
    type Item = Result<Object, Bad>;

    fn next(&mut self) -> Option<Self::Item> {
        let leaf = self.leaves.next()?;
        let response = self.response(leaf);
        self.path += 1;
        Some(response)
    }
}
