//! What of a file is read: the columns that a consumer wants, and those that they cannot do without.

use crate::file_context::FileContext;
use crate::json::LateField;
use crate::parquet::reader::Projection;
use crate::scan::wanted::Wanted;
use crate::schema::mapping::{Layout, Mapped, Mapping};
use crate::schema::raw_field::RawField;
use crate::schema::resolve::resolve;
use crate::schema::user_map::UserMap;
use stapo_base::error::{Error, Result};
use stapo_batch::columns::{Column, Level};

/// Columns that are needed to tell responses apart and align their values.
const STRUCTURE: &[Column] = &[
    Column::Step,
    Column::Update,
    Column::GroupId,
    Column::SampleId,
    Column::RunId,
    Column::PromptLen,
    Column::ResponseLen,
    Column::PromptIds,
    Column::Position,
    Column::TokenId,
    Column::Mask,
];

/// The part of a mapping that a consumer wants.
pub struct Selection {
    /// What is left of the mapping of the file.
    pub mapping: Mapping,
    /// The columns that were asked for.
    wanted: Vec<Column>,
    /// The others that were asked for, by their names in the log.
    others: Vec<String>,
    /// Whether prompts are read once for the responses of a group that follow each other.
    prompts_by_group: bool,
    /// Whether responses of evaluation are left out.
    training_only: bool,
}

impl Selection {
    /// The part of `mapping` that is wanted; with what tells training from evaluation, where that is asked for.
    pub fn new(mapping: &Mapping, wanted: Wanted<'_>, training_only: bool) -> Self {
        let mut projected = mapping.clone();
        let wants = |column: Column| wanted.columns.contains(&column);
        let from_ratio = wants(Column::LogprobNew) && !mapping.has(Column::LogprobNew);
        let by_token = wants(Column::PolicyVersion) && !mapping.has(Column::PolicyVersion);
        let needed = |c: Column| match c {
            Column::Ratio => from_ratio,
            Column::TokenVersion if by_token => true,
            Column::Split if training_only => true,
            Column::TokenReward if wants(Column::Reward) && mapping.sums_token_rewards() => true,
            c => wants(c) || STRUCTURE.contains(&c),
        };
        projected.columns.retain(|m| needed(m.column));
        if !wants(Column::Reward) {
            projected.reward_parts.clear();
        }
        projected.others.retain(|other| wanted.others.contains(&other.name));
        // Prompts are long: read only where asked for, or where they tell prompt from response.
        let tells = projected.layout == Layout::Nested && mapping.has(Column::Mask);
        if !wants(Column::PromptIds) && !tells {
            projected.columns.retain(|m| m.column != Column::PromptIds);
        }
        let is_value = |m: &Mapped| m.column.level() == Level::Token && m.column != Column::Mask;
        if !projected.columns.iter().any(is_value)
            && let Some(first) = mapping.columns.iter().find(|m| m.column.level() == Level::Token)
        {
            projected.columns.push(first.clone());
        }
        Self {
            mapping: projected,
            wanted: wanted.columns.to_vec(),
            others: wanted.others.to_vec(),
            prompts_by_group: wanted.prompts_by_group,
            training_only,
        }
    }

    /// Fails where a column that is wanted has its first value after the columns were settled: the
    /// rows before it would be read as if no row had it, and those after it too.
    pub fn refuse_late(
        &self,
        late: &[LateField],
        fields: &[RawField],
        map: &UserMap,
        context: &FileContext,
    ) -> Result<()> {
        let Some(mapping) = resolve(fields, self.mapping.dialect, map) else { return Ok(()) };
        let Self { wanted: columns, others, prompts_by_group, .. } = self;
        let wanted = Wanted { columns, others, prompts_by_group: *prompts_by_group };
        let now = Self::new(&mapping, wanted, self.training_only).mapping;
        for field in late {
            let is_late = |m: &&Mapped| m.sources.iter().any(|s| s.name == field.name);
            let column = now.columns.iter().find(is_late).map(|m| m.column.name().to_owned());
            let part = now.reward_parts.iter().find(|(raw, _)| *raw == field.name);
            let part = part.map(|(_, name)| format!("reward/{name}"));
            let other = now.others.iter().find(|other| other.name == field.name);
            let other = other.map(|other| format!("slice/{}", other.name));
            if let Some(canonical) = column.or(part).or(other) {
                let (path, column) = (context.path.clone(), field.name.clone());
                return Err(Error::LateColumn { path, line: field.line, column, canonical });
            }
        }
        Ok(())
    }

    /// What is read of a Parquet file.
    pub fn projection(&self) -> Projection<'_> {
        fn names(mapped: &Mapped) -> impl Iterator<Item = &str> {
            mapped.sources.iter().map(|s| s.name.as_str())
        }
        let mapping = &self.mapping;
        let parts = mapping.reward_parts.iter().map(|(raw, _)| raw.as_str());
        let parts = parts.chain(mapping.others.iter().map(|other| other.name.as_str()));
        // In the long layout, what belongs to a response stands on each of its tokens.
        let of_responses = mapping.columns.iter().filter(|m| m.column.level() == Level::Response);
        let columns = |c: Column| mapping.get(c).into_iter().flat_map(names);
        let is_nested = mapping.layout == Layout::Nested;
        let by_group = self.prompts_by_group && is_nested && mapping.has(Column::GroupId);
        Projection {
            layout: mapping.layout,
            all: mapping.columns.iter().flat_map(names).chain(parts.clone()).collect(),
            repeating: match mapping.layout {
                Layout::Long => of_responses.flat_map(names).chain(parts).collect(),
                Layout::Nested => Vec::new(),
            },
            sparse: columns(Column::PromptIds).filter(|_| by_group).collect(),
            sparse_keys: columns(Column::Step).chain(columns(Column::GroupId)).collect(),
        }
    }
}
