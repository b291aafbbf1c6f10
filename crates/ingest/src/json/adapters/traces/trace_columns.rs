//! What an episode and its trace say about all their tokens.

use super::super::super::field::{Field, Object};

/// Response-level columns of a trace.
#[derive(Clone)]
pub(super) struct TraceColumns {
    run_id: Option<String>,
    split: Option<String>,
    source: Option<String>,
    group: Option<String>,
    policy_version: Option<i64>,
    /// The step at which the episode was *dispatched*; the step it was trained in is the folder's.
    dispatch_step: Option<i64>,
    /// The step it was trained in, where the stream says so.
    step: Option<i64>,
    rewards: Vec<(String, f64)>,
    reward: Option<f64>,
    stop: Option<String>,
    truncated: Option<bool>,
    /// Whether the tokens train the policy of the run.
    pub(super) trainable: bool,
}

impl Default for TraceColumns {
    fn default() -> Self {
        Self {
            run_id: None,
            split: None,
            source: None,
            group: None,
            policy_version: None,
            dispatch_step: None,
            step: None,
            rewards: Vec::new(),
            reward: None,
            stop: None,
            truncated: None,
            trainable: true,
        }
    }
}

impl TraceColumns {
    /// What the episode says.
    pub(super) fn of_episode(row: &Object) -> Self {
        let group = text(row, &["group", "id"]).or_else(|| task_id(row));
        Self {
            run_id: text(row, &["run", "id"]),
            split: text(row, &["run", "work", "type"]),
            source: text(row, &["env", "name"]).or_else(|| text(row, &["env", "id"])),
            group,
            policy_version: int(row, &["run", "work", "policy", "start"]),
            dispatch_step: int(row, &["run", "work", "step"]),
            ..Self::default()
        }
    }

    /// The same with what the trace adds.
    pub(super) fn with_trace(&self, trace: &Object) -> Self {
        let mut columns = self.clone();
        columns.group = columns.group.or_else(|| task_id(trace));
        if let Some(Field::Object(rewards)) = trace.get("rewards") {
            for (name, reward) in rewards.iter() {
                let Some((score, weight)) = score(reward) else { continue };
                columns.rewards.push((format!("reward/{name}"), score));
                columns.reward = Some(columns.reward.unwrap_or(0.0) + score * weight);
            }
        }
        columns.reward = trace.get("reward").and_then(Field::number).or(columns.reward);
        columns.stop = text(trace, &["stop_condition"]);
        columns.truncated = match trace.get("is_truncated") {
            Some(Field::Bool(truncated)) => Some(*truncated),
            _ => None,
        };
        columns.trainable = trace.at(&["agent", "trainable"]) != Some(&Field::Bool(false));
        columns
    }

    /// The same with the step that it was trained in.
    pub(super) fn trained_at(self, step: Option<i64>) -> Self {
        Self { step, ..self }
    }

    /// What the episode is for.
    pub(super) fn kind(&self) -> &str {
        self.split.as_deref().unwrap_or("train")
    }

    /// Writes the columns that are known.
    pub(super) fn write(&self, row: &mut Object, finish_reason: Option<String>) {
        let texts = [
            ("group_id", self.group.clone()),
            ("run_id", self.run_id.clone()),
            ("source", self.source.clone()),
            ("split", self.split.clone()),
            ("finish_reason", finish_reason.or_else(|| self.stop.clone())),
        ];
        for (name, value) in texts {
            if let Some(value) = value {
                row.set(name, Field::Text(value));
            }
        }
        for (name, value) in [
            ("step", self.step),
            ("policy_version", self.policy_version),
            ("dispatch_step", self.dispatch_step),
        ] {
            if let Some(value) = value {
                row.set(name, Field::Int(value));
            }
        }
        if let Some(truncated) = self.truncated {
            row.set("truncated", Field::Bool(truncated));
        }
        if let Some(reward) = self.reward {
            row.set("reward", Field::Float(reward));
        }
        for (name, score) in &self.rewards {
            row.set(name.clone(), Field::Float(*score));
        }
    }
}

/// The identity of the task: rollouts of one task are one group.
fn task_id(row: &Object) -> Option<String> {
    [
        &["task", "key"][..],
        &["task", "hash"],
        &["task", "data", "idx"],
        &["task", "data", "example_id"],
        &["example_id"],
    ]
    .iter()
    .find_map(|path| row.at(path).and_then(Field::id).map(|id| id.into_owned()))
}

/// A reward is a number, or a score with a weight.
fn score(reward: &Field) -> Option<(f64, f64)> {
    match reward {
        Field::Object(reward) => {
            let weight = reward.get("weight").and_then(Field::number).unwrap_or(1.0);
            Some((reward.get("score")?.number()?, weight))
        }
        number => Some((number.number()?, 1.0)),
    }
}

fn text(row: &Object, path: &[&str]) -> Option<String> {
    row.at(path).and_then(Field::id).map(|id| id.into_owned())
}

fn int(row: &Object, path: &[&str]) -> Option<i64> {
    match row.at(path) {
        Some(Field::Int(i)) => Some(*i),
        _ => None,
    }
}
