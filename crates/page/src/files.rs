//! The files of a document.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use stapo_base::error::Result;
use stapo_base::output::{remove_stale, write_file};

use crate::chart::Chart;
use crate::document::{Block, Document, Figure};
use crate::{html, markdown};

/// The files of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The page.
    pub html: PathBuf,
    /// The Markdown.
    pub markdown: PathBuf,
    /// Each chart as SVG.
    pub charts: Vec<PathBuf>,
}

/// Writes `NAME.html`, `NAME.md` and `charts/*.svg`: the same bytes for the same document.
pub fn write(document: &Document, name: &str, folder: &Path) -> Result<Files> {
    write_beside(|| document.clone(), name, folder, || Ok(()))
}

/// The same while `beside` writes the tables; the page comes last: what it links is there by then.
pub fn write_beside(
    document: impl FnOnce() -> Document + Send,
    name: &str,
    folder: &Path,
    beside: impl FnOnce() -> Result<()> + Send,
) -> Result<Files> {
    let render = || {
        let document = document();
        let (page, text) = rayon::join(|| html::page(&document), || markdown::markdown(&document));
        (page, text, drawings(&document))
    };
    let (beside, (html, text, drawings)) = rayon::join(beside, render);
    beside?;
    let charts = write_charts(name, drawings, &folder.join("charts"))?;
    let [page, markdown] = ["html", "md"].map(|ending| folder.join(format!("{name}.{ending}")));
    write_file(&markdown, text.as_bytes())?;
    write_file(&page, html.as_bytes())?;
    Ok(Files { html: page, markdown, charts })
}

fn write_charts(kind: &str, drawings: Vec<(String, String)>, folder: &Path) -> Result<Vec<PathBuf>> {
    remove_stale(folder, kind, &drawings.iter().map(|(name, _)| name.clone()).collect())?;
    let write = |(name, svg): (String, String)| {
        let path = folder.join(name);
        write_file(&path, svg.as_bytes()).map(|()| path)
    };
    drawings.into_iter().map(write).collect()
}

/// Names and contents of all charts; what is drawn twice is one file.
fn drawings(document: &Document) -> Vec<(String, String)> {
    let (mut names, mut known, mut drawn) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for section in &document.sections {
        let mut figures = Vec::new();
        collect(&section.blocks, &mut figures);
        for figure in figures {
            let title = if figure.title.is_empty() { section.id.to_owned() } else { figure.title.flat() };
            let parts: Vec<String> = match &figure.chart {
                Chart::Panels(panels) => {
                    panels.iter().map(|panel| format!("{title} {}", panel.name)).collect()
                }
                _ => vec![title],
            };
            for (of, svg) in parts.iter().zip(figure.chart.svgs(&figure.label)) {
                if !known.insert(svg.clone()) {
                    continue;
                }
                let name =
                    (1..).map(|n| if n == 1 { file_name(of) } else { format!("{}_{n}", file_name(of)) });
                let name = name.into_iter().find(|name| names.insert(name.clone())).unwrap_or_default();
                drawn.push((format!("{name}.svg"), standalone(&svg)));
            }
        }
    }
    drawn
}

fn collect<'a>(blocks: &'a [Block], figures: &mut Vec<&'a Figure>) {
    for block in blocks {
        match block {
            Block::Figure(figure) => figures.push(figure),
            Block::Fold(fold) => collect(&fold.blocks, figures),
            _ => {}
        }
    }
}

/// Letters and digits of a title: it may quote the log.
fn file_name(title: &str) -> String {
    let letters: String =
        title.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
    let words: Vec<&str> = letters.split_whitespace().collect();
    let mut name = words.join("_");
    name.truncate(60);
    if name.is_empty() { "chart".into() } else { name }
}

/// As a file of its own: on white, in its light colours.
fn standalone(svg: &str) -> String {
    let named =
        svg.replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" ", 1);
    named.replacen('>', "><rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_names_of_files() {
        assert_eq!(file_name("Reward (held-out) ../x"), "reward_held_out_x");
        assert_eq!(file_name("報酬"), "chart");
    }
}
