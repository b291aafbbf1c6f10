//! A pass over a whole run: everything is read, nothing is concluded yet.

use super::collect::Collected;
use super::finish::Scan;
use super::finish::second_look::LookAgain;
use super::gathered::Gathered;
use super::plan::Plan;
use stapo_base::error::Result;
use stapo_batch::columns::Column;
use stapo_batch::progress::Progress;
use stapo_ingest::{Quality, RowIndex, Run, UnitTable};
use stapo_result::settings::AnalyzeSettings;

/// Reads a whole run.
pub fn read<'a>(
    run: &'a Run,
    settings: &'a AnalyzeSettings,
    plan: &Plan,
    look: &'a dyn LookAgain,
    progress: &dyn Progress,
) -> Result<(Scan<'a>, Collected)> {
    unless_empty(run, settings, look, Gathered::scan_whole(run, plan, progress)?)
}

/// Ends the pass over a whole run of which all was gathered.
pub fn close<'a>(
    run: &'a Run,
    settings: &'a AnalyzeSettings,
    plan: &Plan,
    look: &'a dyn LookAgain,
    gathered: Gathered,
) -> Result<(Scan<'a>, Collected)> {
    let (units, _) = UnitTable::new(run, &[]);
    unless_empty(run, settings, look, gathered.finish(run, &units, plan)?)
}

/// What a pass leaves, unless a column that no token can do without has not a single value.
fn unless_empty<'a>(
    run: &'a Run,
    settings: &'a AnalyzeSettings,
    look: &'a dyn LookAgain,
    (collected, quality, rows): (Collected, Quality, RowIndex),
) -> Result<(Scan<'a>, Collected)> {
    let needed = [Column::Logprob, Column::Entropy, Column::Advantage, Column::AdvantageSeq, Column::Mask];
    quality.require_values(&needed, |file| run.file_name(file))?;
    Ok((Scan { run, settings, quality, rows, look }, collected))
}
