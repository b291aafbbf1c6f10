//! A run without its responses of evaluation: these are drawn otherwise (greedily, mostly) and nothing is learned from
//! them, so that they would look like a change of the run wherever they stand.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{ALL_UNITS, Run, scan_units};
use stapo_base::error::{Error, Result};
use stapo_batch::batch::TokenBatch;
use stapo_batch::columns::Column;
use stapo_batch::progress::Silent;
use stapo_batch::sink::Sink;

const ALL_EVALUATION: &str =
    "`split` says of every response that it is of evaluation: they are analysed as if they were trained on";

/// The run without what `split` says to be of evaluation; all of it, with a note, where there is nothing else.
pub fn of_training(run: &Run) -> Result<Cow<'_, Run>> {
    if !run.has(Column::Split) || run.settings.training_only {
        return Ok(Cow::Borrowed(run));
    }
    let is_all = is_all_evaluation(run)?;
    let mut run = run.clone();
    match is_all {
        true => run.notes.push(ALL_EVALUATION.into()),
        false => run.leave_out_evaluation(),
    }
    Ok(Cow::Owned(run))
}

/// Whether there are responses, and none that is trained on. Reads up to the first that is.
fn is_all_evaluation(run: &Run) -> Result<bool> {
    let seen = SeenSplits::default();
    let found = || seen.training.load(Ordering::Relaxed);
    match scan_units(run, &[Column::Split], &Silent, ALL_UNITS, || Look(&seen)) {
        Err(_) if found() => Ok(false),
        Err(error) => Err(error),
        Ok(scanned) => {
            let mut ends = scanned.part.open_ends(run);
            let only_evaluation = ends.all(|end| Look(&seen).accept(&end).is_ok());
            Ok(only_evaluation && seen.evaluation.load(Ordering::Relaxed))
        }
    }
}

/// What was seen so far.
#[derive(Default)]
struct SeenSplits {
    training: AtomicBool,
    evaluation: AtomicBool,
}

/// Fails at the first response that is trained on, which ends the scan.
struct Look<'a>(&'a SeenSplits);

impl Sink for Look<'_> {
    fn accept(&mut self, batch: &TokenBatch) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        if (0..batch.len()).all(|response| batch.responses.is_evaluation(response)) {
            self.0.evaluation.store(true, Ordering::Relaxed);
            return Ok(());
        }
        self.0.training.store(true, Ordering::Relaxed);
        Err(Error::Internal { message: "enough is known".into() })
    }
}
