//! Where tokens went: regions of the plane and token ids that gained or lost mass.
//!
//! Groups of responses were put into 16 random groups by a hash of step and group, the same in both
//! runs. Their scatter gives the error of a share, whatever hangs together inside of a group. Intervals are of each
//! share alone: they are not corrected for having picked the largest changes.

use std::collections::BTreeMap;

use ndarray::{Array3, ArrayView2, Axis};

use super::named_run::NamedRun;
use super::result::{Movers, RegionChange, ShareChange, SpuriousToken, TokenChange};
use stapo_base::stats::bootstrap::t_interval;
use stapo_result::clusters::REPLICATES;
use stapo_result::{Plane, RunClusters};

const CONFIDENCE: f64 = 0.95;
/// Bins of the plane that a region has on each axis: half a decade, half a nat.
const REGION: u16 = 5;
/// Movers that are listed in the summary.
const MOVERS: usize = 20;
/// Rows of the spurious vocabulary.
const SPURIOUS: usize = 40;

/// Counts of every key (a cell, a region, an id).
struct Counted<K> {
    keys: Vec<K>,
    /// By key, side and random group.
    counts: Array3<u64>,
}

fn counted<'a, K: Ord + Copy + 'a>(
    arms: [&'a [NamedRun]; 2],
    of: impl Fn(&'a RunClusters) -> Vec<(K, &'a [u64; REPLICATES])>,
) -> Counted<K> {
    let mut all: BTreeMap<K, [[u64; REPLICATES]; 2]> = BTreeMap::new();
    for (side, arm) in arms.iter().enumerate() {
        for clusters in arm.iter().map(|run| &run.analysis.clusters) {
            for (key, counts) in of(clusters) {
                let into = &mut all.entry(key).or_default()[side];
                into.iter_mut().zip(counts).for_each(|(a, b)| *a += b);
            }
        }
    }
    let (keys, counts): (Vec<K>, Vec<_>) = all.into_iter().unzip();
    let shape = (keys.len(), 2, REPLICATES);
    Counted { keys, counts: Array3::from_shape_fn(shape, |(key, side, r)| counts[key][side][r]) }
}

/// The change between two arms.
pub fn movers(arms: [&[NamedRun]; 2], name: &str) -> Movers {
    let regions = counted(arms, |c| {
        c.plane.iter().map(|((x, y), counts)| ((x / REGION, y / REGION), counts)).collect()
    });
    let ids = counted(arms, |c| c.ids.iter().map(|(id, counts)| (*id, counts)).collect());
    let texts = texts(arms);
    let plane = arms[0].first().map_or_else(Plane::default, |run| run.analysis.plane.clone());
    let region = |(x, y): (u16, u16), share: ShareChange| RegionChange {
        log10_prob: [x, x + 1].map(|x| plane.log10_prob.edge(usize::from(x * REGION))),
        entropy: [y, y + 1].map(|y| plane.entropy.edge(usize::from(y * REGION))),
        share,
    };
    let token = |id: i32, share: ShareChange| TokenChange {
        token_id: i64::from(id),
        token: texts.get(&i64::from(id)).cloned(),
        share,
    };
    let all_regions: Vec<RegionChange> =
        shares(&regions).into_iter().map(|(key, s)| region(key, s)).collect();
    let all_tokens: Vec<TokenChange> = shares(&ids).into_iter().map(|(key, s)| token(key, s)).collect();
    Movers {
        run: name.into(),
        regions: largest(&all_regions, |r| r.share.difference),
        tokens: largest(&all_tokens, |t| t.share.difference),
        all_regions,
        all_tokens,
    }
}

/// The largest changes, largest first.
fn largest<T: Clone>(all: &[T], difference: impl Fn(&T) -> f64) -> Vec<T> {
    let mut moved: Vec<&T> = all.iter().filter(|item| difference(item) != 0.0).collect();
    moved.sort_by(|a, b| difference(b).abs().total_cmp(&difference(a).abs()));
    moved.into_iter().take(MOVERS).cloned().collect()
}

/// The shares of both sides, by key.
#[allow(clippy::cast_precision_loss)]
fn shares<K: Copy>(counted: &Counted<K>) -> Vec<(K, ShareChange)> {
    let totals = counted.counts.sum_axis(Axis(0));
    let whole = [0, 1].map(|side| totals.row(side).sum() as f64);
    if whole.contains(&0.0) {
        return Vec::new();
    }
    let one = |counts: ArrayView2<'_, u64>| {
        let [baseline, other] = [0, 1].map(|side| counts.row(side).sum() as f64 / whole[side]);
        let share = |side: usize, r: usize| counts[[side, r]] as f64 / totals[[side, r]] as f64;
        let in_both = (0..REPLICATES).filter(|r| totals[[0, *r]] > 0 && totals[[1, *r]] > 0);
        let differences: Vec<f64> = in_both.map(|r| share(1, r) - share(0, r)).collect();
        let difference = other - baseline;
        let mean = differences.iter().sum::<f64>() / differences.len().max(1) as f64;
        let bounds = t_interval(&differences, CONFIDENCE).unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let [ci_low, ci_high] = bounds.map(|b| (b - mean + difference).clamp(-1.0, 1.0));
        ShareChange { baseline, other, difference, ci_low, ci_high }
    };
    counted.keys.iter().copied().zip(counted.counts.outer_iter().map(one)).collect()
}

fn texts(arms: [&[NamedRun]; 2]) -> BTreeMap<i64, String> {
    let runs = arms.into_iter().flatten();
    let rows = runs.flat_map(|run| &run.analysis.vocabulary.rows);
    rows.filter_map(|row| Some((row.token_id, row.token.clone()?))).collect()
}

/// The ids that are silenced most in any arm, with their counts in each.
pub fn spurious_vocabulary(arms: &[&[NamedRun]]) -> Vec<SpuriousToken> {
    let empty = || SpuriousToken {
        silenced: vec![0; arms.len()],
        exploratory: vec![0; arms.len()],
        occurrences: vec![0; arms.len()],
        ..SpuriousToken::default()
    };
    let mut ids: BTreeMap<i64, SpuriousToken> = BTreeMap::new();
    for (arm, runs) in arms.iter().enumerate() {
        for row in runs.iter().flat_map(|run| &run.analysis.vocabulary.rows) {
            let token = ids.entry(row.token_id).or_insert_with(empty);
            token.token_id = row.token_id;
            token.token = token.token.take().or_else(|| row.token.clone());
            token.silenced[arm] += row.silenced;
            token.exploratory[arm] += row.exploratory;
            token.occurrences[arm] += row.positive + row.negative + row.zero;
        }
    }
    let all = |t: &SpuriousToken| t.silenced.iter().sum::<u64>();
    let mut rows: Vec<SpuriousToken> = ids.into_values().filter(|t| all(t) > 0).collect();
    rows.sort_by(|a, b| all(b).cmp(&all(a)).then(a.token_id.cmp(&b.token_id)));
    rows.truncate(SPURIOUS);
    rows
}
