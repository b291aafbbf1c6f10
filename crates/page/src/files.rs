//! The files of a document.

use std::path::{Path, PathBuf};

use stapo_base::error::Result;
use stapo_base::output::write_file;

use crate::document::Document;
use crate::{html, markdown};

/// The files of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The page.
    pub html: PathBuf,
    /// The Markdown.
    pub markdown: PathBuf,
}

/// Writes `NAME.html` and `NAME.md`: the same bytes for the same document. The page comes last: the tables that it
/// links are there by then.
pub fn write(document: &Document, name: &str, folder: &Path) -> Result<Files> {
    let [page, text] = ["html", "md"].map(|ending| folder.join(format!("{name}.{ending}")));
    write_file(&text, markdown::markdown(document).as_bytes())?;
    write_file(&page, html::page(document).as_bytes())?;
    Ok(Files { html: page, markdown: text })
}
