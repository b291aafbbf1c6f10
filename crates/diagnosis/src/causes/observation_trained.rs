//! Tokens of the environment are trained on.
//!
//! Statistic: the mean of −ln p − H over trained tokens that begin a later turn, and over those that end a turn which
//! another follows: loggers count an observation to either. For tokens drawn
//! from the policy it is 0, whatever the state; an observation was drawn by nobody. p is the sampler's where that is
//! higher: what old weights drew may surprise the trainer. Beside it: trained
//! tokens that the sampler gave no probability for, two or more in a row, in responses that have some.
//! Threshold: likely where the mean's lower end (five standard errors over responses) is half a
//! nat above that of other tokens, or where more than 1 in 1,000 trained tokens have no probability of the
//! sampler's, in rows that are not by chance: an engine may give none for tokens that are not among its most likely ones, and these stand
//! side by side as often as rare tokens do. Of the tokens without one that could stand in rows a quarter must,
//! beyond that (three standard errors over responses); rows of two give a half. Where most tokens have none, the log
//! may lack what the policy wrote itself (a logger of the last turn): likely where they surprise it by half a nat
//! beyond its entropy, possible else.
//! A mask that became wrong at a step is dated by the share of responses that have such tokens (`lasting`).
//! Single tokens at the edges of turns: `off_by_one`. Prompts at the start of responses: `shared_opening`.

mod excess;
mod off_by_one;
mod shared_opening;

use self::excess::Excess;
use self::off_by_one::OffByOne;
use super::shared::lasting::{Counts, Side};
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::words::percent;
use stapo_base::stats::ratio_of_sums::ratio_of_sums;
use stapo_batch::columns::Column;
use stapo_collect::collect::signs::probe::Probe;
use stapo_result::{CauseCode, Confidence};

const UNSAMPLED: f64 = 1e-3;
const IN_ROWS: f64 = 0.25;
const ROW_ERRORS: f64 = 3.0;
const MOSTLY_SAMPLED: f64 = 0.5;
/// Tokens without a probability that end responses under one id, of all of them, are padding.
const PADDING: f64 = 0.9;
/// Nats beyond its entropy that few tokens surprise a policy by which drew them, and the share of responses that have
/// one all the same at most.
const SURPRISING: f64 = 2.0;
const SOME: f64 = 0.1;

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    let probes = &patient.signs.probes;
    let total = |of: fn(&Probe) -> f64| probes.iter().map(of).sum::<f64>();
    let unsampled = total(|p| p.unsampled[1]) / total(|p| p.unsampled[0]).max(1.0);
    let knows_entropy = !patient.plan.stand_in.entropy;
    let elsewhere = total(|p| p.elsewhere[1]) / total(|p| p.elsewhere[0]).max(1.0);
    let beyond = |of: fn(&Probe) -> [f64; 2], elsewhere: f64| {
        Excess::of(probes.iter().filter(|_| knows_entropy).map(of), elsewhere)
    };
    let edges = [
        ("first", "later turns", beyond(|p| p.turn_start, elsewhere)),
        ("last", "turns that another follows", beyond(|p| p.turn_end, elsewhere)),
    ];
    let shared = shared_opening::examine(patient);
    if !edges.iter().any(|(.., excess)| excess.is_known) && !patient.has(Column::LogprobRollout) {
        return shared.unwrap_or(Finding::NotChecked("turn, or logprob_rollout"));
    }
    // Padding is as rare throughout: only where it stands tells it from what an engine does not list.
    let is_padding = total(|p| p.unsampled_are[1]) > PADDING * total(|p| p.unsampled[1]);
    let without = unsampled > UNSAMPLED && (is_padding || stand_in_rows(probes));
    let surprising = edges.iter().filter(|(.., excess)| excess.is_large);
    // No minus sign before nothing.
    let told_elsewhere = (100.0 * elsewhere).round() / 100.0 + 0.0;
    let mut said: Vec<String> = surprising
        .map(|(end, turns, excess)| {
            format!(
                "the {end} trained tokens of {turns} surprise the policy by {:.1} nats beyond its entropy \
                 ({told_elsewhere:.2} elsewhere): it did not write them",
                excess.mean
            )
        })
        .collect();
    // Of all tokens, most are these: they are held against the entropy alone.
    let are_foreign = is_padding || beyond(|p| [p.unsampled[1], p.unsampled_are[0]], 0.0).is_large;
    let is_likely = !said.is_empty() || unsampled < MOSTLY_SAMPLED || are_foreign;
    if without {
        let (place, so) = match (is_padding, is_likely) {
            (true, _) => ("at the end of responses and one id over and over", "padding is trained"),
            (false, true) => ("several in a row", "the policy did not write them"),
            (false, false) => ("several in a row", "the policy may not have written them"),
        };
        said.push(format!(
            "{} of the trained tokens, {place}, have no log-probability of the sampler's (none is logged, or 0): {so}",
            percent(unsampled)
        ));
    }
    // What stands in rows is more than one token.
    let off_by_one =
        if said.is_empty() && knows_entropy { off_by_one::look(probes, elsewhere) } else { None };
    said.extend(off_by_one.as_ref().map(|edge| by_one(edge, told_elsewhere)));
    if said.is_empty() {
        return shared.unwrap_or(Finding::Absent);
    }
    let [starts, ends] = [&edges[0].2, &edges[1].2];
    let mut evidence = vec![
        number("surprisal beyond entropy at the start of turns, nats", starts.mean),
        number("the same at the end of turns that another follows", ends.mean),
        number("the same elsewhere", elsewhere),
        number("share of trained tokens that were not sampled", unsampled),
    ];
    if let Some(edge) = &off_by_one {
        evidence.push(number("share of the edges of turns with a token that was not sampled", edge.share));
        evidence.push(number("surprisal of these beyond entropy, nats", edge.excess));
    }
    let steps = trained_in(probes, elsewhere);
    found(
        CauseCode::ObservationTrained,
        if is_likely { Confidence::Likely } else { Confidence::Possible },
        steps.first_step(patient),
        format!("{}{}", steps.opens(), said.join("; ")),
        match is_padding && without {
            _ if off_by_one.is_some() => {
                "see whether the training mask is shifted by one token against the tokens of a turn"
            }
            true => "take the padding out of the training mask",
            false => "take the environment's tokens (tool results, user turns) out of the training mask",
        },
        evidence,
    )
    .before(steps.end())
}

/// The steps in which responses have such tokens: some of a row that were not sampled, or an edge of a turn that surprises
/// as drawn tokens seldom do.
fn trained_in(probes: &[Probe], elsewhere: f64) -> Side {
    let mut foreign = Counts::default();
    for probe in probes {
        let edges = [probe.turn_start, probe.turn_end];
        let surprises = |[n, sum]: &[f64; 2]| *n > 0.0 && sum / n - elsewhere > SURPRISING;
        let is_foreign = probe.unsampled[1] > 0.0 || edges.iter().any(surprises);
        foreign.add(probe.order.0, is_foreign);
    }
    foreign.share(SOME).map_or(Side::Whole, |share| share.side)
}

/// A token of the environment at each edge.
fn by_one(edge: &OffByOne, elsewhere: f64) -> String {
    let OffByOne { which, turns, observed, share, excess } = edge;
    format!(
        "the {which} trained token of {turns} has no log-probability of the sampler's in {} of them, while its neighbours \
         have one, and surprises the policy by {excess:.1} nats beyond its entropy ({elsewhere:.2} elsewhere): it is the \
         environment's {observed} token, and the mask is off by one",
        percent(*share)
    )
}

/// Whether tokens that the sampler gave no probability for stand side by side more often than their rareness says.
fn stand_in_rows(probes: &[Probe]) -> bool {
    let missing =
        |bin: usize, what: usize| probes.iter().map(|p| f64::from(p.rare.tokens[bin][what])).sum::<f64>();
    let bins = probes.first().map_or(0, |probe| probe.rare.tokens.len());
    let shares: Vec<f64> = (0..bins).map(|bin| missing(bin, 1) / missing(bin, 0).max(1.0)).collect();
    let expected = |probe: &Probe| {
        let of_row =
            |row: &[u16]| row.iter().zip(&shares).map(|(n, share)| f64::from(*n) * share).sum::<f64>();
        probe.rare.pairs.iter().zip(&shares).map(|(row, share)| share * of_row(row)).sum::<f64>()
    };
    let all: f64 = (0..bins).map(|bin| missing(bin, 1)).sum();
    let beyond = |probe: &Probe| {
        let missing: f64 = probe.rare.tokens.iter().map(|[_, missing]| f64::from(*missing)).sum();
        let expected = expected(probe);
        [missing - expected, f64::from(probe.rare.missing_pairs) - expected]
    };
    let pairs: Vec<[f64; 2]> = probes.iter().map(beyond).collect();
    let (share, error) = ratio_of_sums(pairs.iter().copied());
    all > 0.0 && share - ROW_ERRORS * error > 0.0 && share > IN_ROWS
}
