//! A trace of prime-rl's stream with what was noted of it later: at which step it was trained on, and
//! the advantages, log-probabilities and entropies of its tokens.

use super::super::super::annotations::Annotations;
use super::super::super::field::{Field, Object};
use super::super::context::Bad;
use super::node::{Node, STREAMS};

/// The stream that is written with the trace and never noted.
const AT_ARRIVAL: &str = "logprobs";

/// What was noted of a trace, in the order it was.
pub(super) struct Noted {
    updates: Vec<Object>,
    /// The step that it was trained on at.
    pub(super) step: i64,
}

impl Noted {
    /// What was noted of a trace; `None` where it was never trained on: an evaluation, or nothing that
    /// was shipped to the trainer. `kind` is what its episode is for.
    pub(super) fn of(trace: &Object, kind: &str, known: &Annotations) -> Result<Option<Self>, Bad> {
        let id = trace.get("id").and_then(Field::id).unwrap_or_default();
        let updates = known.of(&id).map_err(|message| Bad::new("annotations", message))?;
        let said = |path: &[&str]| {
            let lines = updates.iter().rev().chain([trace]);
            let infos = lines.filter_map(|line| line.get("info").filter(|info| info.as_object().is_some()));
            infos.filter_map(|info| fact(info, path)).next().unwrap_or(&Field::Null)
        };
        let kind = said(&["kind"]).id().unwrap_or(kind.into());
        let trained = *said(&["effective"]) == Field::Bool(true) && kind == "train";
        let step = match said(&["ship", "step"]) {
            Field::Int(step) if trained => *step,
            _ => return Ok(None),
        };
        Ok(Some(Self { updates, step }))
    }

    /// All that was noted of single branches.
    fn branches(&self) -> Result<Vec<&Object>, Bad> {
        let bad = || Bad::new("annotations.branches", "not a list of objects");
        let mut all = Vec::new();
        for list in self.updates.iter().filter_map(|update| update.get("branches")) {
            match list {
                Field::Null => {}
                Field::List(items) => {
                    for item in items {
                        all.push(item.as_object().ok_or_else(bad)?);
                    }
                }
                _ => return Err(bad()),
            }
        }
        Ok(all)
    }

    /// Gives the messages their noted values. Those of a path lie token by token from its root on; a
    /// message takes them where all its sampled tokens have one.
    pub(super) fn write(
        &self,
        nodes: &mut [Node],
        mut path: impl FnMut(&[Node], usize) -> Result<Vec<usize>, Bad>,
    ) -> Result<(), Bad> {
        for branch in self.branches()? {
            let index = match branch.get("index") {
                None => 0,
                Some(Field::Int(index)) => usize::try_from(*index).unwrap_or(usize::MAX),
                Some(_) => return Err(Bad::new("annotations.branches.index", "not a whole number")),
            };
            let path = path(nodes, index)?;
            for (s, (_, name)) in STREAMS.iter().enumerate().filter(|(_, (_, name))| *name != AT_ARRIVAL) {
                let values = match branch.get(name) {
                    None | Some(Field::Null) => continue,
                    Some(values) => values.clone().into_numbers().ok_or_else(|| {
                        Bad::new(format!("annotations.branches.{name}"), "not a list of numbers")
                    })?,
                };
                let mut rest = values.into_iter();
                for n in &path {
                    let node = &mut nodes[*n];
                    let of_node = rest.by_ref().take(node.mask.len()).zip(&node.mask);
                    let sampled: Vec<f64> = of_node.filter(|(_, m)| **m).map(|(value, _)| value).collect();
                    let all = node.mask.iter().filter(|m| **m).count();
                    if all > 0 && sampled.len() == all && !sampled.iter().any(|v| v.is_nan()) {
                        node.streams[s] = Some(sampled);
                    }
                }
            }
        }
        Ok(())
    }
}

/// What a line says under a path; `null` where something else stands in the way of it.
fn fact<'a>(info: &'a Field, path: &[&str]) -> Option<&'a Field> {
    let Some((first, rest)) = path.split_first() else { return Some(info) };
    match info {
        Field::Object(object) => fact(object.get(first)?, rest),
        _ => Some(&Field::Null),
    }
}
