//! `--map canonical=column`.

use std::collections::BTreeMap;

use crate::schema::mapping::{RawSource, Transform};
use stapo_base::error::{Error, Result};
use stapo_batch::columns::Column;

/// What the user said with `--map`: canonical column to raw name, or to nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserMap(BTreeMap<Column, Option<RawSource>>);

impl UserMap {
    /// Reads `canonical=column` arguments.
    pub fn parse(arguments: &[String]) -> Result<Self> {
        let mut map = BTreeMap::new();
        let mut used: BTreeMap<String, String> = BTreeMap::new();
        for argument in arguments {
            let fail = |message: String, hint: &str| Error::Map {
                argument: argument.clone(),
                message,
                hint: hint.into(),
            };
            let (canonical, raw) = argument.split_once('=').ok_or_else(|| {
                fail("not of the form canonical=column".into(), "for example --map logprob=old_log_probs")
            })?;
            let (column, transform) = match canonical {
                "prob" => (Column::Logprob, Transform::Ln),
                _ => (
                    Column::from_name(canonical).ok_or_else(|| unknown_canonical(argument, canonical))?,
                    Transform::Keep,
                ),
            };
            if let Some(other) = used.insert(raw.to_owned(), argument.clone()).filter(|_| !raw.is_empty()) {
                return Err(fail(
                    format!("column `{raw}` is mapped twice (also by --map {other})"),
                    "a column can be only one thing: drop one of the two",
                ));
            }
            let source =
                (!raw.is_empty()).then(|| RawSource { name: raw.to_owned(), transform, text: false });
            if map.insert(column, source).is_some() {
                return Err(fail(format!("`{column}` is mapped twice"), "drop one of the two"));
            }
        }
        Ok(Self(map))
    }

    /// What the user said of `column`: nothing, to drop it, or to take a raw column.
    pub fn get(&self, column: Column) -> Option<Option<&RawSource>> {
        self.0.get(&column).map(Option::as_ref)
    }

    /// Everything that the user said.
    pub fn entries(&self) -> impl Iterator<Item = (Column, Option<(String, Transform)>)> {
        self.0.iter().map(|(c, s)| (*c, s.as_ref().map(|s| (s.name.clone(), s.transform))))
    }

    /// What the user said elsewhere.
    pub fn of(entries: impl Iterator<Item = (Column, Option<(String, Transform)>)>) -> Self {
        let source = |(name, transform)| RawSource { name, transform, text: false };
        Self(entries.map(|(column, named)| (column, named.map(source))).collect())
    }

    /// The raw columns that the user named.
    pub fn named(&self) -> impl Iterator<Item = (Column, &str)> {
        self.0.iter().filter_map(|(c, s)| s.as_ref().map(|s| (*c, s.name.as_str())))
    }
}

fn unknown_canonical(argument: &str, canonical: &str) -> Error {
    let names: Vec<&str> = Column::ALL.iter().map(|c| c.name()).collect();
    Error::Map {
        argument: argument.to_owned(),
        message: format!("`{canonical}` is not a canonical column"),
        hint: format!("one of: prob, {}", names.join(", ")),
    }
}
