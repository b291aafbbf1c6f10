//! JSON that gives back the same bits: numbers with a fraction are stored as their bits, because
//! reading a decimal number may round it.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value};

/// Marks a number's bits; no text of ours begins with it.
const MARK: char = '\u{1}';

/// To text.
pub fn to_string<T: Serialize>(value: &T) -> serde_json::Result<String> {
    let mut value = serde_json::to_value(value)?;
    visit(&mut value, &|value| {
        if let Value::Number(number) = value
            && number.is_f64()
            && let Some(float) = number.as_f64()
        {
            *value = Value::String(format!("{MARK}{:016x}", float.to_bits()));
        }
    });
    serde_json::to_string(&value)
}

/// From text.
pub fn from_str<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    let mut value: Value = serde_json::from_str(text)?;
    visit(&mut value, &|value| {
        if let Value::String(text) = value
            && let Some(bits) = text.strip_prefix(MARK)
            && let Ok(bits) = u64::from_str_radix(bits, 16)
            && let Some(number) = Number::from_f64(f64::from_bits(bits))
        {
            *value = Value::Number(number);
        }
    });
    serde_json::from_value(value)
}

fn visit(value: &mut Value, change: &impl Fn(&mut Value)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| visit(item, change)),
        Value::Object(fields) => fields.values_mut().for_each(|field| visit(field, change)),
        one => change(one),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_back() {
        let numbers = vec![0.1 + 0.2, 1e-300, -0.0, std::f64::consts::PI, 123_456_789.123_456_78, 1.0];
        let text = to_string(&(&numbers, "0.1", 7_u64)).unwrap();
        let (found, word, whole): (Vec<f64>, String, u64) = from_str(&text).unwrap();
        let bits = |v: &[f64]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&found), bits(&numbers));
        assert_eq!((word.as_str(), whole), ("0.1", 7));
    }
}
