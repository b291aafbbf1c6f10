//! What a reader should know beside the causes, a file for each kind: what engineers ask (`answers`), batches that teach
//! nothing (`losses`, `untrained`), single steps (`spikes`), the mask (`mask`) and the log (`log`, `endings`,
//! `several_rows`). What repeats a cause is none.

mod answers;
mod endings;
mod log;
mod losses;
mod mask;
mod several_rows;
mod spikes;
mod untrained;

use stapo_collect::collect::Collected;
use stapo_collect::plan::Plan;
use stapo_collect::token_text::TokenTexts;
use stapo_ingest::Run;
use stapo_result::{Cause, RunCore, Warning};

/// All of them, the most serious first.
pub fn warnings(
    run: &Run,
    plan: &Plan,
    collected: &Collected,
    texts: &TokenTexts,
    (analysis, causes): (&RunCore, &[Cause]),
) -> Vec<Warning> {
    let text = |id: i32| texts.shown(id);
    let mut found = answers::warnings(&analysis.answers, causes);
    found.extend(losses::nothing_trained(analysis));
    found.extend(untrained::responses(&collected.diagnostics.evidence.rewards));
    if !plan.stand_in.advantage {
        found.extend(losses::dead_batches(collected));
    }
    if !plan.stand_in.any() {
        found.extend(spikes::energy(collected, &analysis.steps, &text));
        found.extend(mask::rare_for_trainer_alone(analysis));
        found.extend(mask::concentration(analysis));
    }
    if !plan.stand_in.entropy {
        found.extend(log::of_entropy(run, analysis));
    }
    found.extend(several_rows::warning(&collected.several_rows));
    found.extend(endings::unknown(plan, collected));
    found.extend(log::warnings(run, analysis));
    found.sort_by_key(|warning| warning.code);
    found
}
