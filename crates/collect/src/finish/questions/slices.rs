//! Slices from their sums: values as they are where they are few, else ranges about equal in tokens.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::flags::{ByReplicate, CandidateFlags};
use crate::collect::questions::slice_keys::{MISSING, REPLICATES, key_number};
use crate::collect::questions::slices::{SliceTable, SliceTally};
use crate::finish::ratios::{mean, share};
use crate::plan::Dimension;
use stapo_result::slices::SliceRow;

/// Values that stay values.
const VALUES: usize = 32;
/// Ranges of numbers that are more.
const RANGES: usize = 8;
const CONFIDENCE: f64 = 0.95;

/// The slices of all dimensions, by name.
pub fn slices(
    tables: &[SliceTable],
    dimensions: &[Dimension],
    flags: &CandidateFlags,
    knows_clipping: bool,
) -> BTreeMap<String, Vec<SliceRow>> {
    let one = |(number, dimension): (usize, &Dimension)| {
        let rows = Slicer { table: &tables[number], flags: &flags.slices[number], knows_clipping };
        (dimension.name.clone(), rows.rows())
    };
    let known = dimensions.iter().enumerate().filter(|(number, _)| tables.get(*number).is_some());
    known.map(one).filter(|(_, rows)| !rows.is_empty()).collect()
}

struct Slicer<'a> {
    table: &'a SliceTable,
    flags: &'a std::collections::HashMap<u64, ByReplicate>,
    knows_clipping: bool,
}

/// A row before shares are taken.
#[derive(Default)]
struct Part {
    value: String,
    tally: SliceTally,
    spurious: ByReplicate,
}

impl Part {
    fn merge(&mut self, tally: &SliceTally, spurious: &ByReplicate) {
        self.tally.merge(tally);
        self.spurious.iter_mut().zip(spurious).for_each(|(a, b)| *a += b);
    }
}

impl Slicer<'_> {
    fn rows(&self) -> Vec<SliceRow> {
        let parts = self.parts();
        let mut all = Part::default();
        parts.iter().for_each(|part| all.merge(&part.tally, &part.spurious));
        parts.iter().map(|part| self.row(part, &all)).collect()
    }

    fn parts(&self) -> Vec<Part> {
        let mut spurious: BTreeMap<u64, ByReplicate> = BTreeMap::new();
        for (key, counts) in self.flags {
            let into = spurious.entry(self.table.kept(*key)).or_insert([0; REPLICATES]);
            into.iter_mut().zip(counts).for_each(|(a, b)| *a += b);
        }
        let mut take = |key: u64| spurious.remove(&key).unwrap_or([0; REPLICATES]);
        let mut missing = Part { value: "missing".into(), ..Part::default() };
        let mut found: Vec<(u64, Part)> = Vec::new();
        for (key, tally) in &self.table.values {
            let counts = take(*key);
            if *key == MISSING {
                missing.merge(tally, &counts);
            } else {
                let mut part = Part { value: Self::shown(*key, tally), ..Part::default() };
                part.merge(tally, &counts);
                found.push((*key, part));
            }
        }
        let mut other = Part { value: "other".into(), ..Part::default() };
        other.merge(&self.table.other, &[0; REPLICATES]);
        // What was too much to be told apart.
        spurious.values().for_each(|counts| other.merge(&SliceTally::default(), counts));
        let texts = found.iter().any(|(_, part)| part.tally.text.is_some());
        let mut parts = if texts {
            most_frequent(found, &mut other)
        } else if found.len() > VALUES || self.table.is_coarse() {
            ranges(found)
        } else {
            found.into_iter().map(|(_, part)| part).collect()
        };
        parts.extend([other, missing].into_iter().filter(|part| part.tally.tokens > 0));
        parts
    }

    fn shown(key: u64, tally: &SliceTally) -> String {
        tally.text.as_ref().map_or_else(|| number(key), |text| text.to_string())
    }

    fn row(&self, part: &Part, all: &Part) -> SliceRow {
        let tally = &part.tally;
        let n = tally.tokens;
        let spurious: u64 = part.spurious.iter().sum();
        let energy = |part: &Part, r: usize| part.tally.replicates[r].1.value();
        let used: Vec<usize> = (0..REPLICATES).filter(|r| all.tally.replicates[*r].0 > 0).collect();
        let energies: Vec<[f64; 2]> = used.iter().map(|r| [energy(part, *r), energy(all, *r)]).collect();
        let flagged = |r: &usize| [part.spurious[*r] as f64, tally.replicates[*r].0 as f64];
        SliceRow {
            value: part.value.clone(),
            tokens: n,
            token_share: mean(n as f64, all.tally.tokens).unwrap_or(0.0),
            mean_entropy: Some(mean(tally.entropy.value(), n).unwrap_or(0.0)),
            mean_prob: mean(tally.probability.value(), n),
            energy_share: share(tally.energy(), all.tally.energy()),
            energy_share_interval: jackknife(&energies),
            spurious: Some(spurious),
            spurious_share: Some(mean(spurious as f64, n).unwrap_or(0.0)),
            spurious_share_interval: jackknife(&used.iter().map(flagged).collect::<Vec<_>>()),
            clipped_share: mean(tally.clipped as f64, n).filter(|_| self.knows_clipping),
            engine_k3: mean(tally.k3.value(), tally.compared),
        }
    }
}

/// A number as it was logged: most are of single precision.
#[allow(clippy::cast_possible_truncation)]
fn number(key: u64) -> String {
    let value = key_number(key);
    let single = value as f32;
    if f64::from(single) == value { single.to_string() } else { value.to_string() }
}

/// The texts with most tokens; the rest goes to `other`.
fn most_frequent(mut found: Vec<(u64, Part)>, other: &mut Part) -> Vec<Part> {
    found.sort_by(|(_, a), (_, b)| b.tally.tokens.cmp(&a.tally.tokens).then(a.value.cmp(&b.value)));
    let kept = if found.len() > VALUES { VALUES - 1 } else { found.len() };
    for (_, part) in found.drain(kept..) {
        other.merge(&part.tally, &part.spurious);
        other.tally.text = None;
    }
    let mut parts: Vec<Part> = found.into_iter().map(|(_, part)| part).collect();
    parts.sort_by(|a, b| a.value.cmp(&b.value));
    parts
}

/// Ranges of ascending numbers, about equal in tokens.
fn ranges(found: Vec<(u64, Part)>) -> Vec<Part> {
    let tokens: u64 = found.iter().map(|(_, part)| part.tally.tokens).sum();
    let mut ranges: Vec<(Part, u64, u64, usize)> = Vec::new();
    let mut below = 0;
    for (key, part) in found {
        let middle = below as f64 + part.tally.tokens as f64 / 2.0;
        let place = (middle / tokens.max(1) as f64 * RANGES as f64) as usize;
        below += part.tally.tokens;
        match ranges.last_mut() {
            Some((range, _, last, at)) if *at == place => {
                range.merge(&part.tally, &part.spurious);
                *last = key;
            }
            _ => {
                let mut range = Part::default();
                range.merge(&part.tally, &part.spurious);
                ranges.push((range, key, key, place));
            }
        }
    }
    let named = |(mut range, first, last, _): (Part, u64, u64, usize)| {
        range.value = match first == last {
            true => number(first),
            false => format!("{}..{}", number(first), number(last)),
        };
        range
    };
    ranges.into_iter().map(named).collect()
}

/// The interval of a ratio of sums: leave one random group out at a time.
fn jackknife(groups: &[[f64; 2]]) -> Option<[f64; 2]> {
    let n = groups.len() as f64;
    let whole = groups.iter().fold([0.0; 2], |sum, group| [sum[0] + group[0], sum[1] + group[1]]);
    let without: Option<Vec<f64>> =
        groups.iter().map(|group| share(whole[0] - group[0], whole[1] - group[1])).collect();
    let (without, value) = (without?, share(whole[0], whole[1])?);
    let centre = without.iter().sum::<f64>() / n;
    let spread = without.iter().map(|v| (v - centre) * (v - centre)).sum::<f64>() * (n - 1.0) / n;
    let student = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(0.5 + CONFIDENCE / 2.0);
    let half = student * spread.sqrt();
    (groups.len() >= 2).then(|| [(value - half).max(0.0), (value + half).min(1.0)])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_jackknife_of_a_mean_is_students_interval() {
        let values = [0.2, 0.5, 0.3, 0.4, 0.6];
        let groups: Vec<[f64; 2]> = values.iter().map(|v| [*v, 1.0]).collect();
        let [low, high] = jackknife(&groups).unwrap();
        let expected = stapo_base::stats::bootstrap::t_interval(&values, CONFIDENCE).unwrap();
        assert!((low - expected[0]).abs() < 1e-12 && (high - expected[1]).abs() < 1e-12);
        assert_eq!(jackknife(&[[1.0, 2.0]]), None);
    }
}
