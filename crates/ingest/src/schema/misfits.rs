//! Columns that are called as a canonical one and whose values cannot be it.

use crate::schema::dialect::Dialect;
use crate::schema::mapping::{Layout, Mapping};
use crate::schema::matching::{fits, fits_loosely, only_by_name, rank};
use crate::schema::raw_field::{Primitive, RawField, Shape};
use crate::schema::user_map::UserMap;
use stapo_batch::columns::{Column, Kind, Level};

/// The column that a field's name is of, where its values cannot be that column's, nor another's of that name.
fn misfit(field: &RawField, fields: &[RawField], dialect: Dialect, layout: Layout) -> Option<Column> {
    let named = || {
        let columns = Column::ALL.iter().copied();
        columns
            .filter(|c| rank(*c, field, fields, dialect).is_some() && !only_by_name(*c, &field.name, layout))
    };
    let fits_any = named().any(|c| fits(c, field.shape, layout) || fits_loosely(c, field.shape, layout));
    // Nulls alone, as far as one knows.
    let nothing = field.shape == Shape::Scalar(Primitive::Other);
    let best = named().min_by_key(|c| rank(*c, field, fields, dialect));
    best.filter(|column| !fits_any && !nothing && column.kind() != Kind::Text)
}

/// Says of which columns the name is right and the values are not.
pub fn note_misfits(fields: &[RawField], dialect: Dialect, user: &UserMap, mapping: &mut Mapping) {
    for field in fields.iter().filter(|f| mapping.unused.contains(&f.name)) {
        let Some(column) = misfit(field, fields, dialect, mapping.layout) else { continue };
        // A list of structs is a format of its own, and a list of nothing none.
        let untold = field.shape == Shape::List(Primitive::Other);
        if untold || mapping.has(column) || user.get(column).is_some() {
            continue;
        }
        let level = match column.level() {
            Level::Token => "token",
            Level::Response => "response",
        };
        mapping.notes.push(format!(
            "`{}` is {}, which cannot be a {level}'s `{column}`: not used",
            field.name,
            field.shape.describe()
        ));
    }
}

/// A column that is called a mask and cannot be read as one. Without it all tokens would count as trained, so
/// it is not left out as others are, but where the user says what the mask is.
pub fn unreadable_mask<'a>(
    fields: &'a [RawField],
    mapping: &Mapping,
    user: &UserMap,
) -> Option<&'a RawField> {
    let is_unreadable = |field: &&RawField| {
        misfit(field, fields, mapping.dialect, mapping.layout) == Some(Column::Mask)
            && mapping.unused.contains(&field.name)
    };
    fields.iter().find(is_unreadable).filter(|_| user.get(Column::Mask).is_none())
}
