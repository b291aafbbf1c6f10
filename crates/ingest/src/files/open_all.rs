//! All files of a run, opened side by side.

use std::sync::Arc;

use rayon::prelude::*;

use crate::files::annotated::open_trained;
use crate::files::complete::open_complete;
use crate::files::discover::{LogFile, Skipped};
use crate::files::opened::{Opened, open};
use crate::files::settings::IngestSettings;
use crate::memory_turns::OneAtATime;
use stapo_base::error::Result;

/// Heads of far files that are fetched at once.
const FAR_AT_ONCE: usize = 16;

/// Opens files side by side; those that are far away mean waiting, not work, so more of them at once.
pub fn open_all(files: Vec<LogFile>, settings: &IngestSettings) -> Result<(Vec<Opened>, Vec<Skipped>)> {
    let far = files.iter().any(|file| file.stored.is_far());
    // The first rows are read: large ones of one file at a time.
    let turns = Arc::new(OneAtATime::default());
    let open_one = |file| {
        turns.with(|| match settings.growing {
            true => open_complete(file, settings.limits, &settings.map),
            false if file.annotations.is_some() => open_trained(file, settings.limits, &settings.map),
            false => open(file, settings.limits, &settings.map).map(Ok),
        })
    };
    let open_each = || files.into_par_iter().map(open_one).collect::<Result<Vec<_>>>();
    let pool = far.then(|| rayon::ThreadPoolBuilder::new().num_threads(FAR_AT_ONCE).build());
    let all = match pool {
        Some(Ok(pool)) => pool.install(open_each)?,
        _ => open_each()?,
    };
    let (mut opened, mut unfinished) = (Vec::with_capacity(all.len()), Vec::new());
    for file in all {
        match file {
            Ok(file) => opened.push(file),
            Err(skipped) => unfinished.push(skipped),
        }
    }
    Ok((opened, unfinished))
}
