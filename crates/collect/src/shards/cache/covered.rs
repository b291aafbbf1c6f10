//! What an entry says of the files that it covers.

use std::collections::HashMap;
use std::path::Path;

use crate::plan::Plan;
use crate::shards::producer::producer;
use stapo_base::error::{Error, Result};
use stapo_ingest::{Run, UnitTable};
use stapo_store::parts::{CoveredFile, Fingerprint, PartHeader};

const KIND: &str = "cache";

/// The place of each file of an entry among those of the run; `None` where one is not there as it was
/// or the order is another.
pub fn numbers_of(entry: &[CoveredFile], run: &[CoveredFile]) -> Option<Vec<usize>> {
    let mut rest = run.iter().enumerate();
    let mut place = |file: &CoveredFile| rest.find(|(_, known)| known.is(file)).map(|(number, _)| number);
    let numbers: Option<Vec<usize>> = entry.iter().map(&mut place).collect();
    numbers.filter(|numbers| !numbers.is_empty())
}

/// The files of the run that an entry knows with another content.
pub fn changed_since(entry: &[CoveredFile], run: &[CoveredFile]) -> Vec<usize> {
    let before: HashMap<&str, &str> = entry.iter().map(|file| (&*file.path, &*file.content)).collect();
    let changed = |now: &CoveredFile| before.get(&*now.path).is_some_and(|content| **content != *now.content);
    run.iter().enumerate().filter(|(_, now)| changed(now)).map(|(number, _)| number).collect()
}

/// What an entry for the whole run says of itself.
pub fn header(run: &Run, plan: &Plan, units: &UnitTable) -> Result<PartHeader> {
    let file = |number: usize| {
        Ok(CoveredFile {
            path: absolute(&run.files[number].context.path),
            content: content_of(run, number)?.to_string(),
            state: state_of(run, number)?.to_string(),
            number: number as u32,
            first_unit: units.of_file(number).start as u32,
            units: units.of_file(number).len() as u32,
        })
    };
    let mut key = Fingerprint::of(plan.describe().as_bytes());
    // Ids are only compared where there are several files.
    key.word(u64::from(run.files.len() > 1 && !run.settings.pool));
    key.word(run.settings.unit_tokens);
    // A program that was built anew may collect something else under the same version.
    if let Some(program) = std::env::current_exe().ok().and_then(|path| std::fs::metadata(path).ok()) {
        key.word(program.len());
        let modified = program.modified().ok();
        let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        key.word(since.map_or(0, |since| since.as_nanos() as u64));
    }
    Ok(PartHeader {
        kind: KIND.into(),
        producer: producer(plan),
        plan: key.to_string(),
        units: Vec::new(),
        files: (0..run.files.len()).map(file).collect::<Result<_>>()?,
        beside: Default::default(),
        document: None,
    })
}

/// Everything of a file that decides what is read of it.
pub fn state_of(run: &Run, number: usize) -> Result<Fingerprint> {
    let file = &run.files[number];
    let context = &file.context;
    let mut state = content_of(run, number)?;
    let how = (context.step, context.alignment, context.entropy_in_bits, run.mapping_of(file), context.scope);
    state.add(format!("{how:?}").as_bytes());
    Ok(state)
}

/// What tells one state of a file from another.
fn content_of(run: &Run, number: usize) -> Result<Fingerprint> {
    let file = &run.files[number];
    let path = &file.context.path;
    let identity = serde_json::to_string(&file.identity).map_err(|e| Error::write(path, e))?;
    let mut content = Fingerprint::of(absolute(path).as_bytes());
    content.add(identity.as_bytes());
    Ok(content)
}

/// A path that means the same in every folder; what is in a bucket is left as it is.
fn absolute(path: &Path) -> String {
    let text = path.display().to_string();
    match text.contains("://") {
        true => text,
        false => std::path::absolute(path).map_or(text, |path| path.display().to_string()),
    }
}
