//! The canonical schema of a run: which columns it has, and their Arrow types.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::{Layout, Run};
use stapo_batch::columns::{Column, Kind, Level};

/// Columns that are long texts or lists: in the long layout they stand on a response's first row
/// only.
pub fn once_a_response(column: Column) -> bool {
    matches!(column, Column::PromptIds | Column::PromptText | Column::ResponseText)
}

/// A column of the output.
#[derive(Clone, Debug)]
pub enum OutputColumn {
    /// A canonical column.
    Canonical(Column),
    /// A component of the reward.
    RewardPart(Arc<str>),
}

/// The columns of the output and their types.
#[derive(Clone, Debug)]
pub struct OutputSchema {
    /// How tokens lie in rows.
    pub layout: Layout,
    /// The columns.
    pub columns: Vec<OutputColumn>,
    /// Their Arrow schema.
    pub schema: SchemaRef,
}

impl OutputSchema {
    /// The schema of `run` in `layout`; positions are implied by lists, but for logs with gaps.
    pub fn of(run: &Run, layout: Layout, with_positions: bool) -> Self {
        let made = |column: Column| match column {
            Column::Step => true,
            Column::Position => with_positions,
            // Derived from two log-probabilities.
            Column::Ratio => false,
            _ => run.has(column),
        };
        let columns: Vec<Column> = Column::ALL.iter().copied().filter(|c| made(*c)).collect();
        let parts = run.mappings.iter().flat_map(|m| m.reward_parts.iter().map(|(_, part)| part.as_str()));
        Self::new(layout, &columns, &|column| run.has_text_ids(column), &parts.collect::<BTreeSet<_>>())
    }

    /// A schema of these columns; `text_ids` says which ids are texts.
    pub fn new(
        layout: Layout,
        columns: &[Column],
        text_ids: &dyn Fn(Column) -> bool,
        reward_parts: &BTreeSet<&str>,
    ) -> Self {
        let mut fields: Vec<Field> = columns.iter().map(|c| field(*c, layout, text_ids(*c))).collect();
        let mut columns: Vec<OutputColumn> = columns.iter().map(|c| OutputColumn::Canonical(*c)).collect();
        for part in reward_parts {
            fields.push(Field::new(format!("reward/{part}"), DataType::Float32, true));
            columns.push(OutputColumn::RewardPart(Arc::from(*part)));
        }
        Self { layout, columns, schema: Arc::new(Schema::new(fields)) }
    }
}

fn field(column: Column, layout: Layout, text_ids: bool) -> Field {
    let one = match column.kind() {
        Kind::Int if matches!(column, Column::Step | Column::Update | Column::PolicyVersion) => {
            DataType::Int64
        }
        Kind::Int => DataType::Int32,
        Kind::Float => DataType::Float32,
        Kind::Double => DataType::Float64,
        Kind::Flag => DataType::Boolean,
        Kind::Text => DataType::Utf8,
        Kind::Id if text_ids => DataType::Utf8,
        Kind::Id => DataType::Int64,
        Kind::IdList => DataType::List(item(DataType::Int32)),
    };
    let nested_list = column.level() == Level::Token && layout == Layout::Nested;
    let data_type = if nested_list { DataType::List(item(one)) } else { one };
    Field::new(column.name(), data_type, column != Column::Step)
}

/// The element of a list.
pub fn item(data_type: DataType) -> Arc<Field> {
    Arc::new(Field::new("element", data_type, true))
}
