//! What is wrong with the run or its log: signals over the steps, what was damaged, the causes, and
//! the verdict in plain words; beside them warnings about the log.

mod answers;
mod causes;
mod costs;
mod damage;
mod idle;
mod log;
mod losses;
mod mask;
mod patient;
mod response_series;
mod right;
mod series;
mod signals;
mod spikes;
mod state;
mod verdict;
mod within_groups;

use self::damage::changes;
use self::idle::IdleSteps;
use self::patient::Patient;
use super::collect::Collected;
use super::collect::groups::GroupTable;
use super::finish::token_text::TokenTexts;
use super::plan::Plan;
use super::result::{Diagnosis, RunCore, Warning};
use super::right::Rule;
use crate::ingest::Run;

/// What the rest of the analysis knows of the log.
pub struct Known<'a> {
    /// Texts of tokens.
    pub texts: &'a TokenTexts,
    /// What is right, where anything says it.
    pub rule: Option<&'a Rule>,
    /// All groups.
    pub groups: &'a GroupTable,
}

/// Fills diagnosis, warnings and verdict of an analysis.
pub fn diagnose(run: &Run, plan: &Plan, collected: &Collected, known: &Known<'_>, analysis: &mut RunCore) {
    let signs = &collected.signs;
    let idle = IdleSteps::of(&analysis.steps, &signs.facts);
    let series = signals::signals(collected, (&analysis.steps, &idle), &analysis.answers, plan);
    let changes = changes(&series, f64::from(plan.vocab_size).ln());
    let patient = Patient {
        run,
        plan,
        rule: known.rule,
        all_groups: known.groups,
        signs,
        analysis,
        series: &series,
        changes: &changes,
    };
    let examined = causes::examine_all(&patient);
    let untrained = idle.are_all(&analysis.steps) && !plan.stand_in.advantage;
    let state = state::state(&patient, &examined, untrained);
    let mut diagnosis = Diagnosis {
        state,
        sentence: String::new(),
        damage: changes.damage.clone(),
        causes: examined.causes,
        onsets: changes.onsets.clone(),
        not_checked: examined.not_checked,
        statement: state::statement(analysis.steps.len(), signs),
        signals: series.iter().map(signals::Series::shown).collect(),
    };
    diagnosis.sentence = verdict::sentence(analysis, &diagnosis, plan, untrained);
    let mut found: Vec<Warning> = losses::warnings(&diagnosis.damage);
    found.extend(answers::warnings(&analysis.answers, &changes, &series));
    found.extend(losses::nothing_trained(analysis));
    if !plan.stand_in.advantage {
        found.extend(losses::dead_batches(collected, &idle));
    }
    if !plan.stand_in.any() {
        found.extend(spikes::energy(collected, (&analysis.steps, &idle), &|id| known.texts.shown(id)));
        found.extend(mask::concentration(analysis));
        found.extend(mask::width(analysis));
    }
    if !plan.stand_in.entropy {
        found.extend(log::of_entropy(run, analysis));
    }
    found.extend(log::warnings(run, analysis, &diagnosis.causes));
    found.sort_by_key(|warning| warning.code);
    analysis.warnings = found;
    analysis.verdict = verdict::verdict(analysis, &diagnosis);
    analysis.diagnosis = diagnosis;
}
