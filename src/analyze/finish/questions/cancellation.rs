//! Within-group cancellation: siblings that push the same token up and down.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use super::spurious::SpuriousPlaces;
use crate::analyze::collect::questions::siblings::{Sibling, Siblings};
use crate::analyze::finish::ratios::share;
use crate::analyze::result::siblings::{Cancellation, PushedToken};
use crate::analyze::token_text::TokenTexts;
use crate::ingest::MISSING_ID;

/// Ids in the list.
const TOP: usize = 50;

/// The pushes on one id.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Push {
    tokens: u64,
    groups: u64,
    /// Σ w(1 − p).
    sum: f64,
    gross: f64,
    net: f64,
    /// Whether it is spurious somewhere in the group.
    spurious: bool,
}

/// Cancellation; `None` without groups that were kept.
pub fn cancellation(kept: &Siblings, spurious: &SpuriousPlaces, texts: &TokenTexts) -> Option<Cancellation> {
    if kept.groups.is_empty() {
        return None;
    }
    let groups: Vec<&Vec<Sibling>> = kept.groups.values().map(|group| &group.siblings).collect();
    let by_group: Vec<Vec<(i32, Push)>> =
        groups.par_iter().map(|siblings| pushes(siblings, spurious)).collect();
    let mut ids: BTreeMap<i32, Push> = BTreeMap::new();
    let (mut gross, mut net, mut flagged) = (0.0, 0.0, [0.0; 2]);
    for (id, push) in by_group.into_iter().flatten() {
        gross += push.gross;
        net += push.net;
        if push.spurious {
            flagged[0] += push.gross;
            flagged[1] += push.net;
        }
        let all = ids.entry(id).or_default();
        all.tokens += push.tokens;
        all.groups += 1;
        all.sum += push.sum;
        all.gross += push.gross;
        all.net += push.net;
    }
    let scale = kept.weight();
    let mut top: Vec<(i32, Push)> = ids.into_iter().filter(|(_, push)| push.gross > 0.0).collect();
    top.sort_by(|(i, a), (j, b)| b.sum.abs().total_cmp(&a.sum.abs()).then(i.cmp(j)));
    let row = |(id, push): &(i32, Push)| PushedToken {
        token_id: i64::from(*id),
        token: texts.known(*id).map(str::to_owned),
        tokens: push.tokens,
        groups: push.groups,
        push: push.sum,
        gross: push.gross,
        net: push.net,
    };
    Some(Cancellation {
        gross: scale * gross,
        net: scale * net,
        cancelled_share: share(net, gross).map(|kept| 1.0 - kept),
        spurious_cancelled_share: share(flagged[1], flagged[0]).map(|kept| 1.0 - kept),
        groups: kept.groups.len() as u64,
        exact: kept.level() == 0,
        top: top.iter().take(TOP).map(row).collect(),
    })
}

/// The pushes of one group by id, ascending. Siblings have an order of their own, so sums have too.
fn pushes(siblings: &[Sibling], spurious: &SpuriousPlaces) -> Vec<(i32, Push)> {
    let mut ids: HashMap<i32, Push> = HashMap::new();
    for sibling in siblings {
        for (id, push) in sibling.ids.iter().zip(&sibling.push) {
            if *push != 0.0 && *id != MISSING_ID {
                let push = f64::from(*push);
                let all = ids.entry(*id).or_default();
                all.tokens += 1;
                all.sum += push;
                all.gross += push.abs();
            }
        }
        for place in spurious.of(sibling) {
            if let Some(push) = sibling.ids.get(place).and_then(|id| ids.get_mut(id)) {
                push.spurious = true;
            }
        }
    }
    let mut pushes: Vec<(i32, Push)> = ids.into_iter().collect();
    pushes.iter_mut().for_each(|(_, push)| push.net = push.sum.abs());
    pushes.sort_unstable_by_key(|(id, _)| *id);
    pushes
}

#[cfg(test)]
mod tests {
    use super::super::spurious::tests::sibling;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]
        #[test]
        fn as_by_the_definition(
            responses in prop::collection::vec(prop::collection::vec((0..6_i32, -3.0..3.0_f32), 0..30), 1..8),
        ) {
            let siblings: Vec<Sibling> = responses
                .iter()
                .map(|tokens| {
                    let ids: Vec<i32> = tokens.iter().map(|(id, _)| *id).collect();
                    let push = tokens.iter().map(|(_, push)| *push).collect();
                    Sibling { push, ..sibling(&ids, 0.0) }
                })
                .collect();
            let found = pushes(&siblings, &SpuriousPlaces::default());
            let of = |wanted: i32| responses.iter().flatten().filter(move |(id, _)| *id == wanted);
            let net: f64 = (0..6).map(|id| of(id).map(|(_, p)| f64::from(*p)).sum::<f64>().abs()).sum();
            let gross: f64 = (0..6).flat_map(of).map(|(_, p)| f64::from(p.abs())).sum();
            prop_assert!((found.iter().map(|(_, p)| p.net).sum::<f64>() - net).abs() < 1e-9);
            prop_assert!((found.iter().map(|(_, p)| p.gross).sum::<f64>() - gross).abs() < 1e-9);
        }
    }
}
