//! The steps in which trainer and sampler are apart.

use std::ops::Range;

use super::growth::APART;
use super::kinds::OfResponse;
use crate::causes::shared::change_points::ChangePoints;
use crate::causes::shared::lasting::Side;
use stapo_base::stats::quantile::select_quantile;
use stapo_collect::collect::signs::gaps::GapSums;

/// Tokens that a lag needs.
pub const FEWEST: f64 = 500.0;

/// Sampler against trainer in one group.
#[derive(Default)]
pub struct OfGroup {
    /// Step.
    pub step: i64,
    /// What its responses add up to.
    pub sums: GapSums,
    /// Its responses.
    pub responses: Vec<OfResponse>,
}

impl OfGroup {
    /// Adds a response, given its mean −ln π.
    pub fn add(&mut self, gap: &GapSums, surprisal: f64) {
        self.sums.add(gap);
        self.responses.push(OfResponse::new(gap, surprisal));
    }
}

/// The steps whose gap is judged: all, or those on one side of the step at which its squares change most (by the
/// likelihood of two variances), or between two such steps, where they are ten times as large as those of all others.
pub fn phase(groups: &[OfGroup]) -> (&[OfGroup], Side) {
    // Where steps begin, and what comes before them: tokens and squares.
    let mut starts: Vec<(usize, [f64; 2])> = Vec::new();
    let mut before = [0.0, 0.0];
    for (at, group) in groups.iter().enumerate() {
        if at == 0 || groups[at - 1].step != group.step {
            starts.push((at, before));
        }
        before = [before[0] + group.sums.tokens, before[1] + group.sums.yy];
    }
    starts.push((groups.len(), before));
    let places = changes(&starts.iter().map(|(_, before)| *before).collect::<Vec<_>>());
    let of = |places: &Range<usize>| &groups[starts[places.start].0..starts[places.end].0];
    let steps = starts.len() - 1;
    let is_apart = |places: &Range<usize>| {
        let inside = of(places);
        let outside = [0..places.start, places.end..steps];
        let is_less = |side: &Range<usize>| {
            let [less, more] = [of(side), inside];
            mean_square(more) > APART * mean_square(less) && usual_square(more) > APART * usual_square(less)
        };
        outside.iter().filter(|side| !side.is_empty()).all(is_less)
    };
    let Some(places) = places.into_iter().find(is_apart) else { return (groups, Side::Whole) };
    let side = Side::of(&places, steps, |at| groups[starts[at].0].step);
    (of(&places), side)
}

/// The steps whose squares differ most from those of all others, between two steps and on one side of one; `before` are
/// tokens and squares before each step, and of all.
fn changes(before: &[[f64; 2]]) -> Vec<Range<usize>> {
    let steps = before.len() - 1;
    let [tokens, squares] = before[steps];
    let cost = |n: f64, yy: f64| n * (yy / n).max(f64::MIN_POSITIVE).ln();
    let gain = |places: &Range<usize>| {
        let [n, yy] = [0, 1].map(|at| before[places.end][at] - before[places.start][at]);
        let is_enough = n >= FEWEST && tokens - n >= FEWEST;
        let gained = cost(tokens, squares) - cost(n, yy) - cost(tokens - n, (squares - yy).max(0.0));
        if is_enough && yy * tokens > squares * n { gained } else { 0.0 }
    };
    let ChangePoints { once, twice } = ChangePoints::of(steps, gain);
    let mut found: Vec<_> = once.into_iter().chain(twice).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().map(|(_, places)| places).collect()
}

fn mean_square(groups: &[OfGroup]) -> f64 {
    let sum = |of: fn(&GapSums) -> f64| groups.iter().map(|group| of(&group.sums)).sum::<f64>();
    sum(|sums| sums.yy) / sum(|sums| sums.tokens).max(1.0)
}

/// The mean square of the median response.
pub fn usual_square(groups: &[OfGroup]) -> f64 {
    let mut squares: Vec<f64> = groups.iter().flat_map(|g| g.responses.iter().map(|r| r.square)).collect();
    select_quantile(&mut squares, 0.5).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::shared::lasting::Window;

    /// Twelve steps of sixteen groups of one response; `square` is the mean square of one.
    fn groups(square: impl Fn(i64, usize) -> f64) -> Vec<OfGroup> {
        let mut groups = Vec::new();
        for step in 0..12 {
            for number in 0..16 {
                let mut group = OfGroup { step, ..OfGroup::default() };
                let yy = 100.0 * square(step, number);
                group.add(&GapSums { tokens: 100.0, yy, k3: yy / 2.0, ..GapSums::default() }, 1.0);
                groups.push(group);
            }
        }
        groups
    }

    #[test]
    fn steps_are_judged_apart_where_all_responses_change() {
        let late = groups(|step, _| if step < 9 { 1e-5 } else { 1e-2 });
        assert_eq!(phase(&late).1, Side::From(9));
        let early = groups(|step, _| if step < 3 { 1e-2 } else { 1e-5 });
        assert_eq!(phase(&early).1, Side::Before(3));
        let mended = groups(|step, _| if (4..7).contains(&step) { 1e-2 } else { 1e-5 });
        let window = Window { first: 4, last: 6, end: 7 };
        assert_eq!((phase(&mended).0.len(), phase(&mended).1), (48, Side::Within(window)));
    }

    /// One token of six nats in the last, or in the first step.
    #[test]
    fn one_token_that_is_far_out_is_no_phase() {
        for at in [0, 11] {
            let one = groups(|step, number| if (step, number) == (at, 3) { 0.36 } else { 1e-5 });
            assert_eq!(phase(&one).1, Side::Whole);
        }
    }
}
