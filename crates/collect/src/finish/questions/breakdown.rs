//! Where a difference sits, from its bins.

use crate::collect::questions::breakdown::{BreakdownTally, PROBABILITY_BINS, entropy_from};
use crate::collect::questions::difference_sums::DifferenceBin;
use crate::finish::ratios::share;
use crate::token_text::TokenTexts;
use stapo_result::breakdown::{BinRow, Breakdown, IdRow};

/// Rows of a list of ids.
const TOP: usize = 20;
/// Fewer occurrences say nothing about a mean.
const FEWEST: u64 = 20;
const FIFTHS: usize = 5;

/// The breakdown; `None` without tokens.
pub fn finish(from: &BreakdownTally, texts: &TokenTexts) -> Option<Breakdown> {
    let mut all = DifferenceBin::default();
    from.probability.iter().for_each(|bin| all.merge(bin));
    if all.tokens == 0 {
        return None;
    }
    let rows = |bins: &[DifferenceBin], name: &dyn Fn(usize) -> String| -> Vec<BinRow> {
        let named = bins.iter().enumerate().filter(|(_, bin)| bin.tokens > 0);
        named.map(|(i, bin)| row(name(i), bin, &all)).collect()
    };
    let (by_mean, by_k3) = ids(&from.ids, &all, texts);
    Some(Breakdown {
        by_probability: rows(&from.probability, &probability_name),
        by_entropy: fifths(&from.entropy, &all),
        first_tokens: rows(&from.first, &|i| format!("token {i}")),
        by_turn: from.turns.iter().map(|(turn, bin)| row(format!("turn {turn}"), bin, &all)).collect(),
        largest_mean: by_mean,
        largest_k3_share: by_k3,
    })
}

/// The name of a bin of ln p.
pub fn probability_name(bin: usize) -> String {
    match bin + 1 {
        PROBABILITY_BINS => format!("ln p below -{bin}"),
        1 => "ln p -1..0".into(),
        next => format!("ln p -{next}..-{bin}"),
    }
}

fn row(name: String, bin: &DifferenceBin, all: &DifferenceBin) -> BinRow {
    let n = bin.tokens as f64;
    BinRow {
        bin: name,
        tokens: bin.tokens,
        token_share: n / all.tokens as f64,
        mean: bin.sum() / n,
        mean_abs: bin.absolute() / n,
        k3: bin.k3() / n,
        k3_share: share(bin.k3(), all.k3()),
        outside_0_5_2: bin.outside as f64 / n,
    }
}

/// Neighbouring bins of entropy put together to fifths of the tokens, as near as bins allow.
fn fifths(bins: &[DifferenceBin], all: &DifferenceBin) -> Vec<BinRow> {
    let mut fifths: [(Option<usize>, usize, DifferenceBin); FIFTHS] = Default::default();
    let mut below = 0;
    for (i, bin) in bins.iter().enumerate().filter(|(_, bin)| bin.tokens > 0) {
        // By the middle of the bin.
        let middle = below as f64 + bin.tokens as f64 / 2.0;
        let place = ((middle / all.tokens as f64 * FIFTHS as f64) as usize).min(FIFTHS - 1);
        let (from, to, sum) = &mut fifths[place];
        from.get_or_insert(i);
        *to = i + 1;
        sum.merge(bin);
        below += bin.tokens;
    }
    let known = fifths.iter().filter_map(|(from, to, sum)| Some(((*from)?, *to, sum)));
    known
        .map(|(from, to, sum)| row(format!("H {:.3}..{:.3}", entropy_from(from), entropy_from(to)), sum, all))
        .collect()
}

fn ids(bins: &[DifferenceBin], all: &DifferenceBin, texts: &TokenTexts) -> (Vec<IdRow>, Vec<IdRow>) {
    let known: Vec<(usize, &DifferenceBin)> =
        bins.iter().enumerate().filter(|(_, bin)| bin.tokens > 0).collect();
    let top = |mut list: Vec<(usize, &DifferenceBin)>, rank: &dyn Fn(&DifferenceBin) -> f64| {
        list.sort_by(|(i, a), (j, b)| rank(b).total_cmp(&rank(a)).then(i.cmp(j)));
        list.truncate(TOP);
        list.into_iter().map(|(id, bin)| id_row(id, bin, all, texts)).collect::<Vec<IdRow>>()
    };
    let often = known.iter().copied().filter(|(_, bin)| bin.tokens >= FEWEST).collect();
    let carries = known.iter().copied().filter(|(_, bin)| bin.k3() > 0.0).collect();
    (top(often, &|bin| (bin.sum() / bin.tokens as f64).abs()), top(carries, &DifferenceBin::k3))
}

fn id_row(id: usize, bin: &DifferenceBin, all: &DifferenceBin, texts: &TokenTexts) -> IdRow {
    let n = bin.tokens as f64;
    IdRow {
        token_id: id as i64,
        token: i32::try_from(id).ok().and_then(|id| texts.known(id)).map(str::to_owned),
        tokens: bin.tokens,
        mean: bin.sum() / n,
        k3: bin.k3() / n,
        k3_share: share(bin.k3(), all.k3()),
        outside_0_5_2: bin.outside as f64 / n,
    }
}
