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
    /// A column of responses that is none of the canonical ones, by its name in the log.
    Other(String),
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

    /// The column that is read for it by the log's own name.
    pub fn other(&self) -> Option<&str> {
        match &self.source {
            DimensionSource::Other(name) => Some(name),
            _ => None,
        }
    }

    /// The column that is read for it.
    pub fn column(&self) -> Option<Column> {
        match self.source {
            DimensionSource::Response(column) | DimensionSource::Token(column) => Some(column),
            _ => None,
        }
    }
}

/// Where the values of `name` come from: a canonical name first, then what the log calls so.
fn source(run: &Run, name: &str) -> Result<DimensionSource> {
    let parts = || run.mappings.iter().flat_map(|m| m.reward_parts.iter().map(|(_, part)| part.as_str()));
    let found = match (name, name.strip_prefix("reward/"), Column::from_name(name)) {
        ("turn", ..) => run.has(Column::Turn).then_some(DimensionSource::Turn),
        ("lag", ..) => run.has(Column::PolicyVersion).then_some(DimensionSource::Lag),
        ("step", ..) => Some(DimensionSource::Step),
        (_, Some(part), _) => parts().any(|known| known == part).then(|| DimensionSource::Part(part.into())),
        (_, _, Some(column)) if run.has(column) && is_sliceable(column) => Some(of_column(column)),
        _ => as_logged(run, name),
    };
    found.ok_or_else(|| Error::Usage {
        message: format!("--by {name}: the log has no such column"),
        hint: format!("it has {}", names(run).join(", ")),
    })
}

fn of_column(column: Column) -> DimensionSource {
    match column.level() {
        Level::Response => DimensionSource::Response(column),
        Level::Token => DimensionSource::Token(column),
    }
}

/// The dimension of a column by its name in the log, in whichever of the files.
fn as_logged(run: &Run, name: &str) -> Option<DimensionSource> {
    let canonical = run.mappings.iter().find_map(|m| m.column_of(name)).filter(|c| is_sliceable(*c));
    let part = || {
        let mut parts = run.mappings.iter().flat_map(|m| &m.reward_parts);
        parts.find(|(raw, _)| raw == name).map(|(_, part)| DimensionSource::Part(part.clone()))
    };
    let is_other = || run.mappings.iter().flat_map(|m| &m.others).any(|other| other.name == name);
    let other = || is_other().then(|| DimensionSource::Other(name.into()));
    canonical.map(of_column).or_else(part).or_else(other)
}

/// What a log can be sliced by; a column that the log calls otherwise with its name there.
fn names(run: &Run) -> Vec<String> {
    let named = |column: &Column| {
        let sources = run.mappings.iter().filter_map(|m| m.get(*column)).flat_map(|m| &m.sources);
        let mut raw: Vec<&str> =
            sources.map(|s| s.name.as_str()).filter(|raw| *raw != column.name()).collect();
        raw.sort_unstable();
        raw.dedup();
        match raw.is_empty() {
            true => column.name().to_owned(),
            false => format!("{column} ({})", raw.join(", ")),
        }
    };
    let columns = Column::ALL.iter().filter(|c| run.has(**c) && is_sliceable(**c)).map(named);
    let of_mappings = run.mappings.iter().flat_map(|m| {
        let parts = m.reward_parts.iter().map(|(_, part)| format!("reward/{part}"));
        parts.chain(m.others.iter().map(|other| other.name.clone()))
    });
    let mut names: Vec<String> = columns.chain(of_mappings).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn is_sliceable(column: Column) -> bool {
    use Column as C;
    !matches!(column, C::Position | C::PromptIds | C::PromptText | C::ResponseText | C::TokenText | C::Mask)
}
