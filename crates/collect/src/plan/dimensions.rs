//! What tokens are sliced by.

use stapo_base::error::{Error, Result};
use stapo_batch::columns::{Column, Level};
use stapo_ingest::Run;

/// Where the values of a dimension come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DimensionSource {
    /// The turn.
    Turn,
    /// Step minus the sampler's version.
    Lag,
    /// The step.
    Step,
    /// A part of the reward.
    Part(String),
    /// A column of responses.
    Response(Column),
    /// A column of tokens.
    Token(Column),
}

impl DimensionSource {
    /// Whether all tokens of a response have the same value.
    pub fn is_of_responses(&self) -> bool {
        !matches!(self, Self::Turn | Self::Token(_))
    }
}

/// A dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Its name in `slices`.
    pub name: String,
    /// Where its values come from.
    pub source: DimensionSource,
}

impl Dimension {
    /// The dimensions of a run: those sliced without asking, then those asked for.
    pub fn of(run: &Run, by: &[String]) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        let mut add = |name: &str, source: DimensionSource| {
            let dimension = Self { name: name.into(), source };
            if !all.contains(&dimension) {
                all.push(dimension);
            }
        };
        if run.has(Column::Turn) {
            add("turn", DimensionSource::Turn);
        }
        if run.has(Column::PolicyVersion) {
            add("lag", DimensionSource::Lag);
        }
        if run.has(Column::FinishReason) {
            add("finish_reason", DimensionSource::Response(Column::FinishReason));
        }
        for name in by.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
            add(name, source(run, name)?);
        }
        Ok(all)
    }

    /// The column that is read for it.
    pub fn column(&self) -> Option<Column> {
        match self.source {
            DimensionSource::Response(column) | DimensionSource::Token(column) => Some(column),
            _ => None,
        }
    }
}

fn source(run: &Run, name: &str) -> Result<DimensionSource> {
    let parts = || run.mappings.iter().flat_map(|m| m.reward_parts.iter().map(|(_, part)| part.as_str()));
    let found = match (name, name.strip_prefix("reward/"), Column::from_name(name)) {
        ("turn", ..) => run.has(Column::Turn).then_some(DimensionSource::Turn),
        ("lag", ..) => run.has(Column::PolicyVersion).then_some(DimensionSource::Lag),
        ("step", ..) => Some(DimensionSource::Step),
        (_, Some(part), _) => parts().any(|known| known == part).then(|| DimensionSource::Part(part.into())),
        (_, _, Some(column)) if run.has(column) && is_sliceable(column) => Some(match column.level() {
            Level::Response => DimensionSource::Response(column),
            Level::Token => DimensionSource::Token(column),
        }),
        _ => None,
    };
    found.ok_or_else(|| {
        let columns =
            Column::ALL.iter().filter(|c| run.has(**c) && is_sliceable(**c)).map(|c| c.name().to_owned());
        let mut names: Vec<String> = columns.chain(parts().map(|part| format!("reward/{part}"))).collect();
        names.sort_unstable();
        names.dedup();
        Error::Usage {
            message: format!("--by {name}: the log has no such column"),
            hint: format!("it has {}", names.join(", ")),
        }
    })
}

fn is_sliceable(column: Column) -> bool {
    use Column as C;
    !matches!(column, C::Position | C::PromptIds | C::PromptText | C::ResponseText | C::TokenText | C::Mask)
}
