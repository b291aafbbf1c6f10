//! Columns of responses that are none of the canonical ones: kept under the log's own names, where they are asked for.

use std::sync::Arc;

/// The values of a column by response.
type Values<T> = Vec<(Arc<str>, Vec<T>)>;

/// Columns beyond the canonical ones, by the name that the log gives them; every vector has one entry a response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OtherColumns {
    /// Numbers; missing is NaN.
    pub numbers: Values<f64>,
    /// Texts, and flags in words.
    pub texts: Values<Option<Arc<str>>>,
}

/// The value of a response in such a column.
#[derive(Clone, Debug, PartialEq)]
pub enum OtherValue<'a> {
    /// A number.
    Number(f64),
    /// A text.
    Text(&'a Arc<str>),
}

impl OtherColumns {
    /// The value of a response; `None` where it is missing.
    pub fn value(&self, name: &str, response: usize) -> Option<OtherValue<'_>> {
        let number = of(&self.numbers, name).map(|values| values[response]).filter(|value| !value.is_nan());
        let text = || of(&self.texts, name).and_then(|values| values[response].as_ref());
        number.map(OtherValue::Number).or_else(|| text().map(OtherValue::Text))
    }

    /// Some of the responses.
    pub(crate) fn pick(&self, chosen: &[usize]) -> Self {
        fn those<T: Clone>(columns: &Values<T>, chosen: &[usize]) -> Values<T> {
            let of = |values: &Vec<T>| chosen.iter().map(|i| values[*i].clone()).collect();
            columns.iter().map(|(name, values)| (name.clone(), of(values))).collect()
        }
        Self { numbers: those(&self.numbers, chosen), texts: those(&self.texts, chosen) }
    }

    /// Takes for the last of so many responses what only `next`, which begins with more of it, has.
    pub(crate) fn complete_last(&mut self, next: &Self, responses: usize) {
        complete(&mut self.numbers, &next.numbers, responses, &f64::NAN, |value| value.is_nan());
        complete(&mut self.texts, &next.texts, responses, &None, Option::is_none);
    }
}

fn of<'a, T>(columns: &'a Values<T>, name: &str) -> Option<&'a Vec<T>> {
    columns.iter().find(|(known, _)| **known == *name).map(|(_, values)| values)
}

fn complete<T: Clone>(
    ours: &mut Values<T>,
    theirs: &Values<T>,
    responses: usize,
    none: &T,
    is_missing: impl Fn(&T) -> bool,
) {
    for (name, values) in theirs {
        let Some(first) = values.first() else { continue };
        if of(ours, name).is_none() {
            ours.push((name.clone(), vec![none.clone(); responses]));
        }
        let mine = ours.iter_mut().find(|(known, _)| known == name).and_then(|(_, mine)| mine.last_mut());
        if let Some(last) = mine.filter(|last| is_missing(last)) {
            *last = first.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_in_two_parts_has_what_either_part_knows() {
        let words = |words: &[Option<&str>]| words.iter().map(|word| word.map(Arc::from)).collect::<Vec<_>>();
        let mut before = OtherColumns {
            numbers: vec![("level".into(), vec![1.0, f64::NAN])],
            texts: vec![("kind".into(), words(&[Some("a"), Some("b")]))],
        };
        let next = OtherColumns {
            numbers: vec![("level".into(), vec![3.0]), ("turns".into(), vec![4.0])],
            texts: vec![("kind".into(), words(&[Some("other")]))],
        };
        before.complete_last(&next, 2);
        assert_eq!(before.value("level", 1), Some(OtherValue::Number(3.0)));
        assert_eq!(before.value("turns", 1), Some(OtherValue::Number(4.0)));
        assert_eq!(before.value("turns", 0), None);
        assert_eq!(before.value("kind", 1), Some(OtherValue::Text(&Arc::from("b"))));
        let last = before.pick(&[1]);
        assert_eq!(last.value("level", 0), Some(OtherValue::Number(3.0)));
        assert_eq!(last.value("kind", 0), Some(OtherValue::Text(&Arc::from("b"))));
    }
}
