//! Texts and identifiers of any accepted Arrow type.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, GenericListArray, OffsetSizeTrait, StringArray};
use arrow_schema::DataType;

use super::arrays::{WrongType, dictionary_keys, to_f64, to_whole, whole_of};
use stapo_batch::batch::Id;

/// Above 2^53 not every whole number is a float.
const LARGEST_FLOAT_ID: f64 = 9_007_199_254_740_992.0;

/// Texts, equal neighbours shared.
pub fn to_texts(array: &dyn Array) -> Result<Vec<Option<Arc<str>>>, WrongType> {
    fn share<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> Vec<Option<Arc<str>>> {
        let mut last: Option<Arc<str>> = None;
        texts
            .map(|text| {
                let text = text?;
                if last.as_deref() != Some(text) {
                    last = Some(Arc::from(text));
                }
                last.clone()
            })
            .collect()
    }
    match array.data_type() {
        DataType::Utf8 => Ok(share(array.as_string::<i32>().iter())),
        DataType::LargeUtf8 => Ok(share(array.as_string::<i64>().iter())),
        DataType::Utf8View => Ok(share(array.as_string_view().iter())),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let values = to_texts(dictionary.values().as_ref())?;
            let Some(keys) = dictionary_keys(array) else { return Ok(vec![None; array.len()]) };
            let at = |i: usize| array.is_valid(i).then(|| values[keys[i]].clone()).flatten();
            Ok((0..array.len()).map(at).collect())
        }
        DataType::Null => Ok(vec![None; array.len()]),
        DataType::List(_) => chats(array.as_list::<i32>()),
        DataType::LargeList(_) => chats(array.as_list::<i64>()),
        DataType::Boolean => {
            let flags = array.as_boolean();
            Ok(flags.iter().map(|f| f.map(|f| Arc::from(if f { "true" } else { "false" }))).collect())
        }
        _ => {
            let ids = to_ids(array)?.into_iter();
            Ok(ids.map(|id| (id != Id::Missing).then(|| Arc::from(id.to_string()))).collect())
        }
    }
}

/// What the messages of each chat say, one after another.
fn chats<O: OffsetSizeTrait>(lists: &GenericListArray<O>) -> Result<Vec<Option<Arc<str>>>, WrongType> {
    let said = lists.values().as_struct_opt().and_then(|messages| messages.column_by_name("content"));
    let Some(said) = said else { return Err(WrongType("lists that are no messages".into())) };
    let said = to_texts(said.as_ref())?;
    let of_row = |ends: &[O]| {
        let messages = said[ends[0].as_usize()..ends[1].as_usize()].iter().flatten();
        let texts: Vec<&str> = messages.map(AsRef::as_ref).collect();
        Some(Arc::from(texts.join("\n")))
    };
    Ok(lists.value_offsets().windows(2).map(of_row).collect())
}

/// Bytes of the longest text; the entries of a dictionary are looked at once.
pub fn longest_text(array: &dyn Array) -> usize {
    match array.data_type() {
        DataType::Utf8 => {
            let ends = array.as_string::<i32>().value_offsets();
            ends.windows(2).map(|w| usize::try_from(w[1] - w[0]).unwrap_or(0)).max().unwrap_or(0)
        }
        DataType::LargeUtf8 => {
            let ends = array.as_string::<i64>().value_offsets();
            ends.windows(2).map(|w| usize::try_from(w[1] - w[0]).unwrap_or(0)).max().unwrap_or(0)
        }
        DataType::Utf8View => array.as_string_view().iter().flatten().map(str::len).max().unwrap_or(0),
        DataType::Dictionary(_, _) => longest_text(array.as_any_dictionary().values().as_ref()),
        _ => 0,
    }
}

/// Token texts as one string array.
pub fn to_string_array(array: &dyn Array) -> Result<StringArray, WrongType> {
    match array.data_type() {
        DataType::Utf8 => Ok(array.as_string::<i32>().clone()),
        _ => Ok(to_texts(array)?.iter().map(|t| t.as_deref()).collect()),
    }
}

/// Whole numbers, also from texts such as `"12"`.
pub fn to_i64(array: &dyn Array) -> Result<Vec<Option<i64>>, WrongType> {
    match array.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(_, _) => {
            let parse = |t: Option<Arc<str>>| t.and_then(|t| t.trim().parse().ok());
            Ok(to_texts(array)?.into_iter().map(parse).collect())
        }
        _ => to_whole(array),
    }
}

/// Identifiers: whole numbers stay numbers, all else is text.
pub fn to_ids(array: &dyn Array) -> Result<Vec<Id>, WrongType> {
    match array.data_type() {
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Dictionary(_, _)
        | DataType::List(_)
        | DataType::LargeList(_) => {
            let id = |t: Option<Arc<str>>| t.map_or(Id::Missing, Id::Text);
            Ok(to_texts(array)?.into_iter().map(id).collect())
        }
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            let id = |v: &f64| match whole_of(*v) {
                // Neighbouring ids are one number there, and their groups would be one.
                _ if v.abs() > LARGEST_FLOAT_ID => {
                    Err(WrongType(format!("floats as large as {v:e}, whose last digits are lost")))
                }
                Some(whole) => Ok(Id::Int(whole)),
                None if v.is_nan() => Ok(Id::Missing),
                None => Ok(Id::Text(Arc::from(v.to_string()))),
            };
            to_f64(array)?.iter().map(id).collect()
        }
        // Hashes use all 64 bits: those beyond the largest signed number keep their bits.
        DataType::UInt64 => {
            let id = |v: Option<u64>| v.map_or(Id::Missing, |v| Id::Int(v.cast_signed()));
            Ok(array.as_primitive::<UInt64Type>().iter().map(id).collect())
        }
        _ => Ok(to_whole(array)?.into_iter().map(|v| v.map_or(Id::Missing, Id::Int)).collect()),
    }
}
