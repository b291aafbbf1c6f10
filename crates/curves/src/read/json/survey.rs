//! What a document holds, before anything is read: its lists of objects, which may be rows, and its lists of numbers,
//! which may be columns. Only names and lengths are kept.

use std::collections::HashMap;

use serde::de::{IgnoredAny, MapAccess, SeqAccess};

use super::visit::{Any, Nested, SEPARATOR, Taker, is_of_responses, pass_over};
use crate::names::{CanonicalName, Names};
use crate::table::Cell;

/// Places and names that are kept at most, and bytes of a path.
const PLACES: usize = 20_000;
const PATH: usize = 1_000;
/// Rows of a list whose names are looked at.
const LOOKED_AT: usize = 1_000;
/// A text that is longer is a response, not a name.
const NAME: usize = 200;
/// A list in a row that is longer holds tokens, not groups or quantiles.
const LIST: usize = 32;

/// A list of objects, or of numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// The keys above it.
    pub path: String,
    /// Its objects, or its values.
    pub length: usize,
    /// Whether its elements are objects.
    pub of_rows: bool,
    /// What is known of its objects.
    pub rows: Seen,
}

/// What is known of rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// Rows of numbers.
    pub scalars: usize,
    /// Rows with a response or its tokens.
    pub responses: usize,
    /// Whether a number of the training is among their names.
    pub curve: bool,
    /// The best name of a reward.
    pub reward: Option<(usize, String)>,
}

impl Seen {
    /// Rows of numbers that are no responses.
    pub fn is_of_scalars(&self) -> bool {
        self.scalars > self.responses
    }
}

/// The places of a document.
pub(super) struct Survey<'n> {
    names: &'n Names,
    known: HashMap<String, Option<(CanonicalName, usize)>>,
    pub places: Vec<Place>,
    path: String,
    /// Objects at the top: of JSON lines each is a row.
    pub top: Seen,
}

impl<'n> Survey<'n> {
    pub fn new(names: &'n Names) -> Self {
        Self { names, known: HashMap::new(), places: Vec::new(), path: String::new(), top: Seen::default() }
    }

    /// What a name stands for; each is looked up once.
    fn role(&mut self, name: &str) -> Option<(CanonicalName, usize)> {
        if let Some(role) = self.known.get(name) {
            return *role;
        }
        let role = self.names.of(name);
        if self.known.len() < PLACES && name.len() <= PATH {
            self.known.insert(name.to_owned(), role);
        }
        role
    }

    fn count(&mut self, row: &OneRow, seen: &mut Seen) {
        if row.of_responses {
            seen.responses += 1;
        } else if !row.of_tokens && row.numbers > row.lists {
            seen.scalars += 1;
        }
        for name in &row.names {
            let Some((role, rank)) = self.role(name) else { continue };
            seen.curve |= role.is_curve();
            let better = seen.reward.as_ref().is_none_or(|(best, _)| rank < *best);
            if role == CanonicalName::Reward && better {
                seen.reward = Some((rank, name.clone()));
            }
        }
    }
}

impl Nested for Survey<'_> {
    fn path(&mut self) -> &mut String {
        &mut self.path
    }
}

/// The value of the document, or of a key in an object of it.
pub(super) struct Value<'a, 'n> {
    pub survey: &'a mut Survey<'n>,
    /// The row that the object at the top may be.
    row: Option<&'a mut OneRow>,
}

impl<'a, 'n> Value<'a, 'n> {
    pub fn new(survey: &'a mut Survey<'n>) -> Self {
        Self { survey, row: None }
    }
}

impl<'de> Taker<'de> for Value<'_, '_> {
    fn scalar<E: serde::de::Error>(self, cell: Cell<'_>) -> Result<(), E> {
        if let Some(row) = self.row {
            row.add(&self.survey.path, cell);
        }
        Ok(())
    }

    fn map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let Self { survey, row } = self;
        let is_top = row.is_none();
        let mut own = OneRow::default();
        let row = row.unwrap_or(&mut own);
        let result = survey.each(map, SEPARATOR, |survey, map| {
            map.next_value_seed(Any(Value { survey, row: Some(&mut *row) }))
        });
        if is_top {
            let mut top = std::mem::take(&mut survey.top);
            survey.count(row, &mut top);
            survey.top = top;
        }
        result
    }

    /// A list at the top is always a place; one of neither objects nor numbers is none.
    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { survey, row } = self;
        if survey.path.len() > PATH || survey.places.len() >= PLACES {
            return pass_over(list);
        }
        let mut place = Place { path: survey.path.clone(), ..Place::default() };
        let mut numbers = 0;
        let result = loop {
            if place.of_rows && place.length >= LOOKED_AT {
                match list.next_element::<IgnoredAny>() {
                    Ok(Some(_)) => place.length += 1,
                    Ok(None) => break Ok(()),
                    Err(error) => break Err(error),
                }
                continue;
            }
            let mut one = OneRow::default();
            let more = list.next_element_seed(Any(Element(&mut one)));
            // A document that breaks off in a row has shown its names.
            match one.is_object {
                true => {
                    (place.of_rows, place.length) = (true, place.length + 1);
                    let mut rows = std::mem::take(&mut place.rows);
                    survey.count(&one, &mut rows);
                    place.rows = rows;
                }
                false if !place.of_rows => {
                    numbers += one.numbers;
                    place.length += usize::from(matches!(more, Ok(Some(()))));
                }
                false => {}
            }
            match more {
                Ok(Some(())) => {}
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        if let Some(row) = row {
            row.of_responses |= is_of_responses(&place.path);
            row.lists += usize::from(numbers > 0);
            row.of_tokens |= numbers > LIST;
        }
        if place.of_rows || numbers > 0 {
            survey.places.push(place);
        }
        result
    }
}

/// One row, as far as it is looked at.
#[derive(Default)]
pub(super) struct OneRow {
    path: String,
    is_object: bool,
    of_responses: bool,
    of_tokens: bool,
    numbers: usize,
    lists: usize,
    names: Vec<String>,
}

impl OneRow {
    fn add(&mut self, path: &str, cell: Cell<'_>) {
        match cell {
            Cell::Text(text) => {
                self.of_responses |= text.len() > NAME || is_of_responses(path);
                if crate::number::number(text).is_finite() {
                    self.named(path);
                }
            }
            Cell::Number(_) => self.named(path),
            Cell::Other => {}
        }
    }

    fn named(&mut self, path: &str) {
        self.numbers += 1;
        if self.names.len() < PLACES && path.len() <= PATH {
            self.names.push(path.replace(SEPARATOR, "/"));
        }
    }
}

impl Nested for OneRow {
    fn path(&mut self) -> &mut String {
        &mut self.path
    }
}

/// An element of a list, and what stands in it.
struct Element<'a>(&'a mut OneRow);

impl<'de> Taker<'de> for Element<'_> {
    fn scalar<E: serde::de::Error>(self, cell: Cell<'_>) -> Result<(), E> {
        let path = std::mem::take(&mut self.0.path);
        self.0.add(&path, cell);
        self.0.path = path;
        Ok(())
    }

    fn map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.is_object = true;
        self.0.each(map, SEPARATOR, |row, map| map.next_value_seed(Any(Element(row))))
    }

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut inner = OneRow::default();
        self.0.of_responses |= is_of_responses(&self.0.path);
        while list.next_element_seed(Any(Element(&mut inner)))?.is_some() {}
        self.0.lists += usize::from(inner.numbers > 0);
        self.0.of_tokens |= inner.numbers > LIST && !inner.is_object;
        Ok(())
    }
}
