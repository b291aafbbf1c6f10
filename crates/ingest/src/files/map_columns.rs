//! Which columns the files of a run have: one mapping for each different schema.

use std::path::Path;

use crate::file_context::type_error;
use crate::files::mask_meaning::decide_masks;
use crate::files::opened::Opened;
use crate::files::placeholders::forget_placeholders;
use crate::files::settings::IngestSettings;
use crate::schema::dialect::Dialect;
use crate::schema::mapping::{Layout, Mapping};
use crate::schema::misfits::unreadable_mask;
use crate::schema::raw_field::RawField;
use crate::schema::resolve::resolve;
use stapo_base::error::{Error, Result};
use stapo_batch::columns::Column;

/// The mappings in use, and the index of each file's own among them.
pub fn map_columns(opened: &[Opened], settings: &IngestSettings) -> Result<(Vec<Mapping>, Vec<usize>)> {
    let mut known: Vec<(&[RawField], Dialect)> = Vec::new();
    let (mut mappings, mut of_files) = (Vec::new(), Vec::with_capacity(opened.len()));
    for file in opened {
        let schema = (&file.fields[..], file.dialect);
        let mapping = match known.iter().position(|k| *k == schema) {
            Some(at) => at,
            None => {
                let same = |o: &&Opened| (&o.fields[..], o.dialect) == schema;
                let files: Vec<&Opened> = opened.iter().filter(same).collect();
                mappings.push(mapping_of(file, &files, settings)?);
                known.push(schema);
                known.len() - 1
            }
        };
        of_files.push(mapping);
    }
    Ok((mappings, of_files))
}

/// The mapping of a file; `same` are all that have its schema.
fn mapping_of(file: &Opened, same: &[&Opened], settings: &IngestSettings) -> Result<Mapping> {
    let mapping = resolve(&file.fields, file.dialect, &settings.map);
    let mut mapping = mapping.ok_or_else(|| no_token_columns(file))?;
    require_response_key(&mapping, file)?;
    if let Some(mask) = unreadable_mask(&file.fields, &mapping, &settings.map) {
        let found = mask.shape.describe();
        return Err(type_error(file.log.path(), &mask.name, Column::Mask, found));
    }
    forget_placeholders(&mut mapping, same);
    decide_masks(&mut mapping, same);
    Ok(mapping)
}

fn no_token_columns(file: &Opened) -> Error {
    let has = |column: Column| file.fields.iter().any(|field| column.is_called(&field.name));
    let needed = [Column::TokenId, Column::Logprob, Column::Entropy, Column::Advantage];
    let missing: Vec<&str> = needed.iter().filter(|c| !has(**c)).map(|c| c.name()).collect();
    match file.dialect.writes_texts() {
        true => text_only(file.log.path(), file.dialect, missing.join(", ")),
        false => Error::MissingColumn {
            path: file.log.path().to_owned(),
            column: Column::Logprob.name(),
            found: file.fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", "),
        },
    }
}

/// A log of texts where tokens are needed.
pub fn text_only(path: &Path, dialect: Dialect, missing: String) -> Error {
    Error::TextOnly { path: path.to_owned(), framework: dialect.name(), missing, how: dialect.hook() }
}

/// Without a sample id or a position, rows of the long layout cannot be told apart.
fn require_response_key(mapping: &Mapping, file: &Opened) -> Result<()> {
    let told_apart = mapping.has(Column::SampleId) || mapping.has(Column::Position);
    if mapping.layout == Layout::Nested || told_apart {
        return Ok(());
    }
    Err(Error::MissingColumn {
        path: file.log.path().to_owned(),
        column: Column::SampleId.name(),
        found: file.fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", "),
    })
}
