//! What the report cannot know, and where its numbers come from.

use maud::html;

use super::material::Material;
use crate::page;
use crate::page::Section;
use crate::text::{prose, sentence};
use stapo_base::format::{grouped as count, number, percent, percent_or_dash};
use stapo_result::RunAnalysis;
use stapo_result::{ColumnReport, NormSource, Provenance, VocabularySource};

/// Files, columns and facts that are listed at most.
const LISTED: usize = 40;

/// What holds for every report, in plain words; also in `report.md`.
pub fn statements(analysis: &RunAnalysis) -> Vec<String> {
    let totals = &analysis.totals;
    let mut found = Vec::new();
    if !analysis.provenance.statements.iter().any(|s| s.contains("norm of the batch gradient")) {
        found.push("Gradient energy is the sum of squared token norms with respect to the logits. It ignores cross terms: it is not the norm of the batch gradient.".to_owned());
    }
    found.push(match totals.gradient_source {
        NormSource::Measured => "Gradient norms are as the log measured them.".into(),
        NormSource::Exact => "Gradient norms are exact, from the logged Σπ².".into(),
        source => format!(
            "Gradient norms are {source}: {} tokens have none logged, and theirs are point estimates inside of the tightest interval that p and H allow. The run’s energy lies between {} and {}.",
            count(totals.estimated_norms),
            number(totals.gradient_energy_low),
            number(totals.gradient_energy_high)
        ),
    });
    found.push(format!(
        "{} of the tokens may be too few to matter: what they carry is {} of the energy. Whether silencing them helps a run, only a run with it can tell.",
        percent(analysis.s2t.fraction),
        percent_or_dash(analysis.s2t.energy_share)
    ));
    found.push("Thresholds, masks and rules are applied to the logged tokens as they are; a run trained under another rule would have produced other tokens.".into());
    found.push("Predicted entropy changes are of first order and of a token’s own position; an update sums over many tokens.".into());
    if totals.infeasible > 0 {
        found.push(format!(
            "{} tokens have a p and an H that cannot be of one distribution; they were clamped.",
            count(totals.infeasible)
        ));
    }
    if totals.missing > 0 {
        found.push(format!(
            "{} trained tokens lack a usable log-probability, entropy or advantage.",
            count(totals.missing)
        ));
    }
    found.extend(analysis.provenance.statements.iter().map(|s| sentence(&prose(s))));
    found
}

/// Statements on limits, then the provenance.
pub fn section(of: &Material<'_>) -> Option<Section> {
    Some(of_run(&statements(of.analysis), &of.analysis.provenance, &of.analysis.quality))
}

/// The section of any run.
pub fn of_run(statements: &[String], provenance: &Provenance, quality: &[ColumnReport]) -> Section {
    let body = html! {
        (page::statements(statements))
        h2 { "Where the numbers come from" } "\n"
        (page::folded_facts("Files, columns, settings", &facts(provenance, quality)))
    };
    Section { id: "limits", link: "What this cannot know", heading: "What this report cannot know", body }
}

fn facts(p: &Provenance, quality: &[ColumnReport]) -> Vec<(String, String)> {
    let vocabulary = match p.vocab_source {
        VocabularySource::Option => "given",
        VocabularySource::Metadata => "from the log’s metadata",
        VocabularySource::Tokenizer => "from the tokenizer",
        VocabularySource::Guessed => "guessed from the largest id",
    };
    let mut facts = vec![
        ("Program".to_owned(), p.program.clone()),
        ("Log".into(), format!("{}, {} layout", p.framework, p.layout)),
        ("Vocabulary".into(), format!("{} ids, {vocabulary}", count(u64::from(p.vocab_size)))),
        ("Token texts".into(), p.token_text.clone().unwrap_or_else(|| "not known".into())),
        (
            "Clipping".into(),
            p.clip.map_or("none".into(), |[low, high]| format!("{low} below, {high} above 1")),
        ),
        ("Temperature".into(), number(p.temperature)),
    ];
    facts.extend(
        p.files
            .iter()
            .take(LISTED)
            .map(|f| ("File".to_owned(), format!("{} ({} bytes)", f.path, count(f.bytes)))),
    );
    if p.files.len() > LISTED {
        facts.push(("Files".into(), format!("{} more", count((p.files.len() - LISTED) as u64))));
    }
    facts.extend(p.skipped.iter().take(LISTED).map(|s| ("Not read".to_owned(), s.clone())));
    facts.extend(p.mapping.iter().take(LISTED).map(|m| (m.column.clone(), format!("from {}", m.from))));
    let flawed = quality.iter().filter(|q| q.missing_share > 0.0).take(LISTED);
    facts.extend(flawed.map(|q| {
        (q.column.clone(), format!("{} missing or bad of {}", percent(q.missing_share), count(q.values)))
    }));
    facts.extend(p.metadata.iter().take(LISTED).map(|(k, v)| (k.clone(), v.chars().take(300).collect())));
    facts.into_iter().map(|(name, value)| (prose(&name), prose(&value))).collect()
}
