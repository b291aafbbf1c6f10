//! The parts of a run that are there: which units they cover, none twice.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::plan_file::ShardPlan;
use stapo_base::error::{Error, PartFault, Result};
use stapo_store::parts::{PartHeader, PartReader, place};

const ENDING: &str = ".part";

/// The name of a shard's part.
#[must_use]
pub fn part_name(shard: usize) -> String {
    format!("part-{shard:05}.part")
}

/// Parts in the order of their first units.
#[derive(Debug, Default)]
pub struct PartsOfRun {
    parts: Vec<(Vec<Range<usize>>, PathBuf)>,
}

impl PartsOfRun {
    /// The parts behind `inputs`: files, and folders whose `part-*.part` are taken.
    pub fn find(inputs: &[PathBuf], wanted: &PartHeader, plan: &ShardPlan) -> Result<Self> {
        let mut paths = Vec::new();
        for input in inputs {
            match place::is_folder(input) {
                true => paths.extend(place::list(input, "part-", ENDING)?),
                false => paths.push(input.clone()),
            }
        }
        Self::of(paths, wanted, plan)
    }

    /// The parts of a folder whose names begin like this.
    pub fn in_folder(folder: &Path, prefix: &str, wanted: &PartHeader, plan: &ShardPlan) -> Result<Self> {
        Self::of(place::list(folder, prefix, ENDING)?, wanted, plan)
    }

    fn of(paths: Vec<PathBuf>, wanted: &PartHeader, plan: &ShardPlan) -> Result<Self> {
        let mut parts = Vec::new();
        for path in paths {
            let reader = PartReader::open(&path)?;
            reader.header.require(&path, wanted)?;
            let units: Vec<Range<usize>> =
                reader.header.units.iter().map(|(first, end)| *first as usize..*end as usize).collect();
            let sound = units.iter().all(|range| range.start <= range.end && range.end <= plan.units())
                && units.is_sorted_by(|a, b| a.end <= b.start);
            if !sound {
                return Err(reader.damaged("units"));
            }
            parts.push((units, path));
        }
        parts.sort_by(|(a, path_a), (b, path_b)| {
            let first = |units: &[Range<usize>]| units.first().map(|range| (range.start, range.end));
            first(a).cmp(&first(b)).then_with(|| path_a.cmp(path_b))
        });
        let found = Self { parts };
        found.require_once()?;
        Ok(found)
    }

    /// Fails, by name, where two parts cover the same.
    fn require_once(&self) -> Result<()> {
        let mut all: Vec<(&Range<usize>, &PathBuf)> = self
            .parts
            .iter()
            .flat_map(|(units, path)| units.iter().map(move |range| (range, path)))
            .collect();
        all.sort_by_key(|(range, _)| (range.start, range.end));
        for pair in all.windows(2) {
            let [(before, first), (after, second)] = pair else { continue };
            // Shards of an empty run have no units at all.
            if after.start < before.end || (**before == **after && before.is_empty()) {
                let fault = PartFault::Duplicate { other: (*first).clone() };
                return Err(Error::Part { path: (*second).clone(), fault });
            }
        }
        Ok(())
    }

    /// Fails, by name, where a shard of the plan is not covered, and where its part of `folder` was not given.
    pub fn require_all_given(&self, plan: &ShardPlan, folder: &Path) -> Result<()> {
        let mut missing = self.missing(plan)?;
        if !missing.is_empty() {
            let here = place::list(folder, "part-", ENDING).unwrap_or_default();
            missing.retain(|shard| here.contains(&folder.join(part_name(*shard))));
        }
        if missing.is_empty() {
            return self.require_all(plan, folder);
        }
        let fault = PartFault::NotGiven { missing: in_words(&missing) };
        Err(Error::Part { path: folder.to_owned(), fault })
    }

    /// Fails, by name, where a shard of the plan is not covered.
    pub fn require_all(&self, plan: &ShardPlan, folder: &Path) -> Result<()> {
        let missing = self.missing(plan)?;
        if missing.is_empty() && !self.is_empty() {
            return Ok(());
        }
        let fault = PartFault::Missing { missing: in_words(&missing) };
        Err(Error::Part { path: folder.to_owned(), fault })
    }

    /// Shards of the plan that are not covered.
    fn missing(&self, plan: &ShardPlan) -> Result<Vec<usize>> {
        let mut missing = Vec::new();
        for shard in 0..plan.shards() {
            let units = plan.units_of(shard)?;
            let covered: usize = self
                .parts
                .iter()
                .flat_map(|(ranges, _)| ranges)
                .map(|range| range.end.min(units.end).saturating_sub(range.start.max(units.start)))
                .sum();
            if covered < units.len() {
                missing.push(shard);
            }
        }
        Ok(missing)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The units that all of them cover, neighbours as one.
    pub fn units(&self) -> Vec<(u32, u32)> {
        let mut all: Vec<(u32, u32)> = self
            .parts
            .iter()
            .flat_map(|(units, _)| units.iter().map(|range| (range.start as u32, range.end as u32)))
            .collect();
        all.sort_unstable();
        let mut joined: Vec<(u32, u32)> = Vec::new();
        for (first, end) in all {
            match joined.last_mut().filter(|last| last.1 == first) {
                Some(last) => last.1 = end,
                None => joined.push((first, end)),
            }
        }
        joined
    }

    /// The files with the units that they cover.
    pub fn iter(&self) -> impl Iterator<Item = (&Path, &[Range<usize>])> {
        self.parts.iter().map(|(units, path)| (path.as_path(), units.as_slice()))
    }

    /// The files.
    pub fn into_paths(self) -> impl Iterator<Item = PathBuf> {
        self.parts.into_iter().map(|(_, path)| path)
    }
}

/// Numbers with neighbours as one: `shards 1, 3–5`.
fn in_words(numbers: &[usize]) -> String {
    const SHOWN: usize = 12;
    let runs: Vec<&[usize]> = numbers.chunk_by(|a, b| a + 1 == *b).collect();
    let mut words: Vec<String> = runs
        .iter()
        .take(SHOWN)
        .map(|run| match run {
            [one] => one.to_string(),
            [first, .., last] => format!("{first}–{last}"),
            [] => String::new(),
        })
        .collect();
    if runs.len() > SHOWN {
        words.push(format!("… ({} in all)", numbers.len()));
    }
    match numbers.len() {
        0 => "any shard".into(),
        1 => format!("shard {}", words.join(", ")),
        _ => format!("shards {}", words.join(", ")),
    }
}
