//! What is wrong with the run or its log: typed warnings with evidence and the next step.

mod collapse;
mod log;
mod mask;
mod series;
mod spikes;
mod verdict;

use super::collect::Collected;
use super::finish::token_text::TokenTexts;
use super::result::{RunCore, Warning};
use crate::ingest::Run;

/// Fills warnings and verdict of an analysis.
pub fn diagnose(run: &Run, collected: &Collected, texts: &TokenTexts, analysis: &mut RunCore) {
    let texts = |id: i32| texts.shown(id);
    let mut warnings: Vec<Warning> = Vec::new();
    warnings.extend(collapse::entropy(&analysis.steps));
    warnings.extend(collapse::reward(&analysis.steps));
    warnings.extend(collapse::dead_batches(collected, analysis));
    warnings.extend(spikes::energy(collected, &analysis.steps, &texts));
    warnings.extend(series::change_points(&analysis.steps));
    warnings.extend(mask::concentration(analysis));
    warnings.extend(mask::width(analysis));
    warnings.extend(log::warnings(run, analysis));
    warnings.sort_by_key(|warning| warning.code);
    analysis.verdict = verdict::verdict(analysis, &warnings);
    analysis.warnings = warnings;
}
