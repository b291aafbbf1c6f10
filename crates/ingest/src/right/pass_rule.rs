//! What the user says is right.

use crate::Run;
use stapo_base::condition::Condition;
use stapo_base::error::{Error, Result};
use stapo_batch::batch::ResponseColumns;
use stapo_batch::columns::Column;

/// When a response is right.
#[derive(Clone, Debug, PartialEq)]
pub struct PassRule {
    condition: Condition,
    /// A part of the reward; else the reward itself.
    part: Option<String>,
}

impl PassRule {
    /// Fails where the log does not have what the condition is about.
    pub fn new(run: &Run, condition: &Condition) -> Result<Self> {
        let parts = || run.mappings.iter().flat_map(|m| m.reward_parts.iter().map(|(_, name)| name.as_str()));
        let part = condition.name.strip_prefix("reward/").map(str::to_owned);
        let known = match &part {
            Some(part) => parts().any(|name| name == part),
            None => condition.name == Column::Reward.name() && run.has(Column::Reward),
        };
        if !known {
            let mut names: Vec<String> = parts().map(|name| format!("reward/{name}")).collect();
            names.extend(run.has(Column::Reward).then(|| Column::Reward.name().to_owned()));
            names.sort_unstable();
            names.dedup();
            return Err(Error::Usage {
                message: format!("--pass {}: the log has no `{}`", condition.text, condition.name),
                hint: match &names[..] {
                    [] => "log the reward or its parts (reward/<name>)".into(),
                    names => format!("it has {}", names.join(", ")),
                },
            });
        }
        Ok(Self { condition: condition.clone(), part })
    }

    /// The part of the reward that it is about; `None` for the reward itself.
    pub fn part(&self) -> Option<&str> {
        self.part.as_deref()
    }

    /// The condition as written.
    pub fn text(&self) -> &str {
        &self.condition.text
    }

    /// Whether response `index` is right; `None` where its value is missing.
    pub fn judge(&self, responses: &ResponseColumns, index: usize) -> Option<bool> {
        let value = match &self.part {
            None => responses.floats.get(Column::Reward)?[index],
            Some(part) => responses.reward_parts.iter().find(|(name, _)| **name == **part)?.1[index],
        };
        value.is_finite().then(|| self.condition.holds(f64::from(value)))
    }
}
