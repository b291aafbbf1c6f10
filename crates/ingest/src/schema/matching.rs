//! Whether a column of a log can be a canonical one: by its name, and by the shape of its values.

use crate::schema::dialect::Dialect;
use crate::schema::mapping::Layout;
use crate::schema::raw_field::{Primitive, RawField, Shape};
use stapo_batch::columns::{Column, Kind, Level, fold_name};

/// How well a raw name fits: 0 is the canonical name itself, then the order of the aliases.
pub fn rank(column: Column, field: &RawField, fields: &[RawField], dialect: Dialect) -> Option<usize> {
    let name = field.name.to_lowercase();
    if let Some(meant) = ambiguous_name(&name, fields, dialect) {
        return (meant == column).then_some(if name == column.name() { 0 } else { 1 });
    }
    // The scalar advantage of a response has the token column's name in many logs.
    if name == column.name() {
        return Some(0);
    }
    let folded = fold_name(&name);
    column.aliases().iter().position(|a| *a == folded).map(|at| at + 1)
}

/// The column of a name that means different things in different logs.
fn ambiguous_name(name: &str, fields: &[RawField], dialect: Dialect) -> Option<Column> {
    let has = |column: Column, not: &str| {
        fields.iter().any(|f| {
            let folded = fold_name(&f.name);
            f.name != not && folded != "logprob" && column.aliases().contains(&folded.as_str())
        })
    };
    match name {
        "per_token_logps" | "log_prob" => Some(Column::LogprobNew),
        "logprobs" if dialect.logprobs_are_trainers() == Some(true) => Some(Column::Logprob),
        "logprobs" if dialect.logprobs_are_trainers() == Some(false) => Some(Column::LogprobRollout),
        "logprobs" if has(Column::LogprobRollout, name) => Some(Column::Logprob),
        "logprobs" => Some(Column::LogprobRollout),
        _ => None,
    }
}

/// Aliases that would mislead in one of the layouts: a scalar `advantage` is the token's own in the
/// long layout; `position_ids` of a nested log count from the prompt.
pub fn only_by_name(column: Column, name: &str, layout: Layout) -> bool {
    match (column, layout) {
        (Column::AdvantageSeq | Column::TokenVersion, Layout::Long) | (Column::Position, Layout::Nested) => {
            name != column.name()
        }
        _ => false,
    }
}

/// Whether a raw column of this shape can be `column`.
pub fn fits(column: Column, shape: Shape, layout: Layout) -> bool {
    use Primitive::{Bool, Float, Int, Text};
    if column == Column::PromptIds {
        return shape == Shape::List(Int);
    }
    let sequence_flag = matches!(shape, Shape::Scalar(Bool | Int | Float)) && column == Column::Mask;
    let primitive = match (column.level(), layout, shape) {
        (Level::Token, Layout::Nested, Shape::List(p)) => p,
        (Level::Token, Layout::Nested, Shape::Scalar(p)) if sequence_flag => p,
        (Level::Token, Layout::Long, Shape::Scalar(p)) => p,
        (Level::Response, _, Shape::Scalar(p)) => p,
        _ => return false,
    };
    match column.kind() {
        Kind::Int if column == Column::Step => matches!(primitive, Int | Float | Text),
        Kind::Int => primitive == Int,
        Kind::Float | Kind::Double => matches!(primitive, Int | Float),
        Kind::Flag => matches!(primitive, Bool | Int | Float),
        Kind::Text => primitive == Text,
        Kind::Id => matches!(primitive, Int | Text),
        Kind::IdList => false,
    }
}

/// Whether a column that holds its numbers otherwise can still be `column`: a reward of true and
/// false; ids and whole numbers as pandas keeps them once one is missing.
pub fn fits_loosely(column: Column, shape: Shape, layout: Layout) -> bool {
    let as_if = match (column.kind(), shape) {
        (Kind::Float | Kind::Double, Shape::Scalar(Primitive::Bool)) if column.level() == Level::Response => {
            Shape::Scalar(Primitive::Int)
        }
        (Kind::Int | Kind::Id, Shape::Scalar(Primitive::Float)) => Shape::Scalar(Primitive::Int),
        (Kind::Int, Shape::List(Primitive::Float)) => Shape::List(Primitive::Int),
        _ => return false,
    };
    fits(column, as_if, layout)
}
