//! Conditions that users write: a name, a comparison and a number.

/// Compares a value with the bound of a condition.
pub type Comparison = fn(f64, f64) -> bool;

const COMPARISONS: [(&str, Comparison); 6] = [
    (">=", |a, b| a >= b),
    ("<=", |a, b| a <= b),
    ("==", |a, b| a == b),
    ("!=", |a, b| a != b),
    (">", |a, b| a > b),
    ("<", |a, b| a < b),
];

/// `name>number`.
#[derive(Clone)]
pub struct Condition {
    /// As written.
    pub text: String,
    /// What is compared.
    pub name: String,
    holds: Comparison,
    bound: f64,
}

impl Condition {
    /// Reads a condition; else says what is missing.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let found = COMPARISONS
            .iter()
            .filter_map(|(sign, holds)| Some((text.find(sign)?, *sign, *holds)))
            .min_by_key(|(at, sign, _)| (*at, std::cmp::Reverse(sign.len())));
        let (at, sign, holds) = found.ok_or("no comparison")?;
        let bound = text[at + sign.len()..].trim().parse::<f64>().ok().filter(|b| !b.is_nan());
        let name = text[..at].trim();
        if name.is_empty() {
            return Err("no field");
        }
        Ok(Self { text: text.into(), name: name.into(), holds, bound: bound.ok_or("no number")? })
    }

    /// Whether it holds for a value.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        (self.holds)(value, self.bound)
    }
}

/// As it is written: plans are told apart by it, and the place of a function is another in every process.
impl std::fmt::Debug for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Condition").field(&self.text).finish()
    }
}

/// As it is written.
impl serde::Serialize for Condition {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text)
    }
}

impl<'de> serde::Deserialize<'de> for Condition {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

/// Conditions are equal where they are written alike.
impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    /// Keys of caches are made of it.
    #[test]
    fn is_told_the_same_in_every_process() {
        let condition = super::Condition::parse("reward>0.5").unwrap();
        assert_eq!(format!("{condition:?}"), "Condition(\"reward>0.5\")");
    }

    use super::*;

    #[test]
    fn conditions_are_read() {
        let condition = Condition::parse("reward/answer >= 3e-4").unwrap();
        assert_eq!(condition.name, "reward/answer");
        assert!(condition.holds(3e-4) && !condition.holds(2e-4));
        for bad in ["", "reward", ">3", "a>b", "a>NaN"] {
            assert!(Condition::parse(bad).is_err(), "{bad}");
        }
    }
}
