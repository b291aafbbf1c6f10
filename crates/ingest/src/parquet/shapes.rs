//! What the types of a Parquet file's columns are to us.

use arrow_schema::{DataType, Field};

use crate::schema::raw_field::{Primitive, RawField, Shape};

/// A column with its shape.
pub fn raw_field(field: &Field) -> RawField {
    let shape = match field.data_type() {
        // A chat is read as its texts.
        chat if is_chat(chat) => Shape::Scalar(Primitive::Text),
        DataType::List(inner) | DataType::LargeList(inner) | DataType::FixedSizeList(inner, _) => {
            match inner.data_type() {
                DataType::List(deep) | DataType::LargeList(deep) | DataType::FixedSizeList(deep, _) => {
                    Shape::ListOfLists(primitive(deep.data_type()))
                }
                other => Shape::List(primitive(other)),
            }
        }
        DataType::Struct(_) | DataType::Map(_, _) => Shape::Struct,
        other => Shape::Scalar(primitive(other)),
    };
    RawField::new(field.name(), shape)
}

/// Whether a column holds lists of messages, each with a text.
fn is_chat(data_type: &DataType) -> bool {
    let (DataType::List(item) | DataType::LargeList(item)) = data_type else { return false };
    let DataType::Struct(fields) = item.data_type() else { return false };
    let has =
        |name: &str, is: fn(&DataType) -> bool| fields.iter().any(|f| f.name() == name && is(f.data_type()));
    has("role", is_text) && has("content", is_text)
}

fn is_text(data_type: &DataType) -> bool {
    matches!(primitive(data_type), Primitive::Text)
}

fn primitive(data_type: &DataType) -> Primitive {
    match data_type {
        t if t.is_integer() => Primitive::Int,
        t if t.is_floating() => Primitive::Float,
        DataType::Decimal128(_, _) => Primitive::Float,
        DataType::Boolean => Primitive::Bool,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Primitive::Text,
        DataType::Dictionary(_, values) => primitive(values),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            Primitive::Binary
        }
        t if t.is_temporal() => Primitive::Date,
        _ => Primitive::Other,
    }
}
