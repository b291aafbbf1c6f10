//! Numbers and flags of any accepted Arrow type as the few types of the token stream.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_buffer::ScalarBuffer;
use arrow_schema::DataType;

use stapo_batch::batch::{MISSING_FLAG, MISSING_ID};

/// A type that cannot be what the column needs: what was found.
#[derive(Debug)]
pub struct WrongType(pub String);

impl WrongType {
    /// The type of an array.
    pub fn of(array: &dyn Array) -> Self {
        Self(array.data_type().to_string())
    }
}

/// Calls `$body` with `$typed` bound to the primitive array behind `$array`.
macro_rules! with_numbers {
    ($array:expr, $typed:ident => $body:expr) => {
        match $array.data_type() {
            DataType::Int8 => {
                let $typed = $array.as_primitive::<Int8Type>();
                Ok($body)
            }
            DataType::Int16 => {
                let $typed = $array.as_primitive::<Int16Type>();
                Ok($body)
            }
            DataType::Int32 => {
                let $typed = $array.as_primitive::<Int32Type>();
                Ok($body)
            }
            DataType::Int64 => {
                let $typed = $array.as_primitive::<Int64Type>();
                Ok($body)
            }
            DataType::UInt8 => {
                let $typed = $array.as_primitive::<UInt8Type>();
                Ok($body)
            }
            DataType::UInt16 => {
                let $typed = $array.as_primitive::<UInt16Type>();
                Ok($body)
            }
            DataType::UInt32 => {
                let $typed = $array.as_primitive::<UInt32Type>();
                Ok($body)
            }
            DataType::UInt64 => {
                let $typed = $array.as_primitive::<UInt64Type>();
                Ok($body)
            }
            DataType::Float16 => {
                let $typed = $array.as_primitive::<Float16Type>();
                Ok($body)
            }
            DataType::Float32 => {
                let $typed = $array.as_primitive::<Float32Type>();
                Ok($body)
            }
            DataType::Float64 => {
                let $typed = $array.as_primitive::<Float64Type>();
                Ok($body)
            }
            _ => Err(WrongType::of($array)),
        }
    };
}

/// Numbers that become `f64` without surprise.
trait Number: Copy {
    fn to_f64(self) -> f64;
    fn to_i64(self) -> Option<i64>;
}

macro_rules! whole {
    ($($t:ty),*) => {$(
        impl Number for $t {
            fn to_f64(self) -> f64 { self as f64 }
            fn to_i64(self) -> Option<i64> { i64::try_from(self).ok() }
        }
    )*};
}
whole!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! real {
    ($($t:ty),*) => {$(
        impl Number for $t {
            fn to_f64(self) -> f64 { f64::from(self) }
            fn to_i64(self) -> Option<i64> { whole_of(f64::from(self)) }
        }
    )*};
}
real!(half::f16, f32, f64);

/// A float as the whole number that it is.
pub fn whole_of(x: f64) -> Option<i64> {
    (x.fract() == 0.0 && x.abs() < 9e18).then_some(x as i64)
}

fn spread<T: ArrowPrimitiveType, U: Copy>(
    array: &PrimitiveArray<T>,
    missing: U,
    convert: impl Fn(T::Native) -> U,
) -> Vec<U> {
    match array.nulls().filter(|n| n.null_count() > 0) {
        None => array.values().iter().map(|v| convert(*v)).collect(),
        Some(nulls) => {
            // Nulls come in stretches: between them it is as without.
            let mut all = vec![missing; array.len()];
            for (first, end) in nulls.valid_slices() {
                let known = all[first..end].iter_mut().zip(&array.values()[first..end]);
                known.for_each(|(into, value)| *into = convert(*value));
            }
            all
        }
    }
}

fn decimals(array: &dyn Array) -> Option<Vec<f64>> {
    let DataType::Decimal128(_, scale) = array.data_type() else { return None };
    let unit = 10f64.powi(-i32::from(*scale));
    Some(spread(array.as_primitive::<Decimal128Type>(), f64::NAN, |v| v as f64 * unit))
}

/// Single-precision numbers; null becomes NaN. No copy where the array is `f32` without nulls.
pub fn to_f32(array: &dyn Array) -> Result<ScalarBuffer<f32>, WrongType> {
    if let Some(values) = decimals(array) {
        return Ok(values.into_iter().map(|v| v as f32).collect::<Vec<f32>>().into());
    }
    match array.data_type() {
        DataType::Float32 if array.null_count() == 0 => {
            Ok(array.as_primitive::<Float32Type>().values().clone())
        }
        DataType::Boolean => Ok(to_flags(array, false)?
            .iter()
            .map(|f| if *f == MISSING_FLAG { f32::NAN } else { f32::from(*f) })
            .collect::<Vec<f32>>()
            .into()),
        DataType::Null => Ok(vec![f32::NAN; array.len()].into()),
        DataType::Float32 => Ok(spread(array.as_primitive::<Float32Type>(), f32::NAN, |v| v).into()),
        _ => with_numbers!(array, typed => spread(typed, f32::NAN, |v| v.to_f64() as f32).into()),
    }
}

/// Double-precision numbers; null becomes NaN.
pub fn to_f64(array: &dyn Array) -> Result<ScalarBuffer<f64>, WrongType> {
    if let Some(values) = decimals(array) {
        return Ok(values.into());
    }
    match array.data_type() {
        DataType::Float64 if array.null_count() == 0 => {
            Ok(array.as_primitive::<Float64Type>().values().clone())
        }
        DataType::Null => Ok(vec![f64::NAN; array.len()].into()),
        _ => with_numbers!(array, typed => spread(typed, f64::NAN, Number::to_f64).into()),
    }
}

/// The least and the largest of some values; `None` where there are none.
pub fn range_of(values: &[f64]) -> Option<(f64, f64)> {
    let known = values.iter().copied().filter(|v| !v.is_nan());
    known.fold(None, |range, v| {
        Some(range.map_or((v, v), |(least, most): (f64, f64)| (least.min(v), most.max(v))))
    })
}

/// Token ids and the like; null and what does not fit becomes [`MISSING_ID`].
pub fn to_i32(array: &dyn Array) -> Result<ScalarBuffer<i32>, WrongType> {
    match array.data_type() {
        DataType::Int32 if array.null_count() == 0 => Ok(array.as_primitive::<Int32Type>().values().clone()),
        DataType::Null => Ok(vec![MISSING_ID; array.len()].into()),
        DataType::Dictionary(_, _) => to_i32(&plain(array)?),
        _ => {
            let narrow = |v: Option<i64>| v.and_then(|v| i32::try_from(v).ok()).unwrap_or(MISSING_ID);
            with_numbers!(array, typed => spread(typed, MISSING_ID, |v| narrow(v.to_i64())).into())
        }
    }
}

/// Whole numbers; `None` for null and what is none.
pub fn to_whole(array: &dyn Array) -> Result<Vec<Option<i64>>, WrongType> {
    match array.data_type() {
        DataType::Null => Ok(vec![None; array.len()]),
        _ => with_numbers!(array, typed => spread(typed, None, Number::to_i64)),
    }
}

/// The label of a token that is not trained on.
pub const IGNORED_LABEL: f64 = -100.0;

/// Flags in every form: booleans, 0/1 and weights (set where above zero) or, with `labels`, −100 and
/// token ids, of which 0 is one. Which of the two a column holds is the caller's to know: single
/// batches do not tell.
pub fn to_flags(array: &dyn Array, labels: bool) -> Result<Vec<u8>, WrongType> {
    match array.data_type() {
        DataType::Boolean => {
            let flags = array.as_boolean();
            // Flags come in stretches, as nulls do.
            let mut all = vec![0; flags.len()];
            flags.values().set_slices().for_each(|(first, end)| all[first..end].fill(1));
            if let Some(nulls) = flags.nulls().filter(|nulls| nulls.null_count() > 0) {
                let missing = all.iter_mut().zip(nulls.iter()).filter(|(_, valid)| !valid);
                missing.for_each(|(flag, _)| *flag = MISSING_FLAG);
            }
            Ok(all)
        }
        DataType::Null => Ok(vec![MISSING_FLAG; array.len()]),
        _ => {
            let values = to_f64(array)?;
            if !labels && values.contains(&IGNORED_LABEL) {
                return Err(WrongType("flags at first and labels (−100) later on".into()));
            }
            let trained = |v: f64| if labels { v != IGNORED_LABEL } else { v > 0.0 };
            let flag = |v: f64| if v.is_nan() { MISSING_FLAG } else { u8::from(trained(v)) };
            Ok(values.iter().map(|v| flag(*v)).collect())
        }
    }
}

/// The keys of a dictionary array; `None` where it has no values to point to.
pub fn dictionary_keys(array: &dyn Array) -> Option<Vec<usize>> {
    let dictionary = array.as_any_dictionary_opt()?;
    (!dictionary.values().is_empty()).then(|| dictionary.normalized_keys())
}

fn plain(array: &dyn Array) -> Result<ArrayRef, WrongType> {
    let dictionary = array.as_any_dictionary_opt().ok_or_else(|| WrongType::of(array))?;
    let values = to_i32(dictionary.values().as_ref())?;
    let keys = dictionary_keys(array).unwrap_or_else(|| vec![0; array.len()]);
    let at = |i: usize| if array.is_valid(i) { values[keys[i]] } else { MISSING_ID };
    let whole: Vec<i32> = (0..array.len()).map(at).collect();
    Ok(Arc::new(PrimitiveArray::<Int32Type>::from(whole)))
}
