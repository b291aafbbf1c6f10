//! What the files of one run must agree on.

use std::collections::BTreeMap;

use crate::files::opened::Opened;
use crate::schema::raw_field::{Primitive, Shape};
use crate::schema::user_map::UserMap;
use stapo_base::error::{Error, Result};
use stapo_batch::columns::{Column, Kind};

/// Two files of one run must agree on what a column is, where the column is of use.
pub fn refuse_conflicts(opened: &[Opened], map: &UserMap) -> Result<()> {
    let of_use = |name: &str| {
        let known = |c: &Column| c.kind() != Kind::Text && c.is_called(name);
        map.named().any(|(_, raw)| raw == name) || Column::ALL.iter().any(known)
    };
    let mut seen: BTreeMap<&str, (&Opened, Shape)> = BTreeMap::new();
    for file in opened {
        for field in file.fields.iter().filter(|f| of_use(&f.name)) {
            let (first, shape) = *seen.entry(&field.name).or_insert((file, field.shape));
            if !compatible(shape, field.shape) {
                return Err(Error::ConflictingTypes {
                    column: field.name.clone(),
                    first: first.log.path().to_owned(),
                    first_type: shape.describe(),
                    second: file.log.path().to_owned(),
                    second_type: field.shape.describe(),
                });
            }
        }
    }
    Ok(())
}

fn compatible(a: Shape, b: Shape) -> bool {
    use Primitive::{Binary, Bool, Date, Float, Int, Other};
    // Never read as anything: said where the name is right.
    let unread = |p| matches!(p, Other | Binary | Date);
    let number = |p| matches!(p, Int | Float | Bool);
    match (a, b) {
        (Shape::Scalar(x), Shape::Scalar(y)) | (Shape::List(x), Shape::List(y)) => {
            x == y || unread(x) || unread(y) || (number(x) && number(y))
        }
        // A column of nulls has no type yet.
        (Shape::Scalar(Other), _) | (_, Shape::Scalar(Other)) => true,
        (Shape::List(_), Shape::ListOfLists(_)) | (Shape::ListOfLists(_), Shape::List(_)) => false,
        _ => std::mem::discriminant(&a) == std::mem::discriminant(&b),
    }
}

/// Fails where the user named a column that no file has.
pub fn require_named(map: &UserMap, opened: &[Opened]) -> Result<()> {
    for (column, raw) in map.named() {
        if !opened.iter().any(|o| o.fields.iter().any(|f| f.name == raw)) {
            let names = opened.first().map(|o| o.fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>());
            return Err(Error::Map {
                argument: format!("{column}={raw}"),
                message: format!("no file has a column `{raw}`"),
                hint: format!("columns found: {}", names.unwrap_or_default().join(", ")),
            });
        }
    }
    Ok(())
}

/// Key-value metadata that no two files disagree on: what some leave out, the others say.
pub fn common_metadata(opened: &[Opened]) -> BTreeMap<String, String> {
    let mut said: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for (key, value) in opened.iter().flat_map(|file| &file.metadata) {
        let known = said.entry(key).or_insert(Some(value));
        *known = known.filter(|known| known == value);
    }
    let agreed = said.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned())));
    agreed.collect()
}
