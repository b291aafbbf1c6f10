//! The canonical schema of a run: which columns it has, and their Arrow types.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::ingest::{Column, Kind, Layout, Level, Run};

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
    /// The columns, response level first.
    pub columns: Vec<OutputColumn>,
    /// Their Arrow schema.
    pub schema: SchemaRef,
}

impl OutputSchema {
    /// The schema of `run` in `layout`.
    pub fn of(run: &Run, layout: Layout) -> Self {
        let mut columns = Vec::new();
        let mut fields = Vec::new();
        for &column in Column::ALL {
            let made = match (column, layout) {
                (Column::Step, _) => true,
                // Positions are implied by the lists, but for logs with gaps.
                (Column::Position, Layout::Long) => true,
                _ => run.has(column),
            };
            if made && column != Column::Ratio {
                fields.push(field(column, layout, has_text_ids(run, column)));
                columns.push(OutputColumn::Canonical(column));
            }
        }
        let mut parts: Vec<&str> =
            run.mappings.iter().flat_map(|m| m.reward_parts.iter().map(|(_, p)| p.as_str())).collect();
        parts.sort_unstable();
        parts.dedup();
        for part in parts {
            fields.push(Field::new(format!("reward/{part}"), DataType::Float32, true));
            columns.push(OutputColumn::RewardPart(Arc::from(part)));
        }
        Self { columns, schema: Arc::new(Schema::new(fields)) }
    }
}

fn has_text_ids(run: &Run, column: Column) -> bool {
    run.mappings.iter().filter_map(|m| m.get(column)).any(|m| m.sources.iter().any(|s| s.text))
}

fn field(column: Column, layout: Layout, text_ids: bool) -> Field {
    let one = match column.kind() {
        Kind::Int if matches!(column, Column::Step | Column::PolicyVersion) => DataType::Int64,
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
