#![allow(clippy::unwrap_used)]

use super::*;

fn tally(prompt: u64) -> ClusterTally {
    ClusterTally { prompt: Prompt::One(prompt), counts: [1; 7], sums: [sum_of(0.1); 5] }
}

/// Most tokens of a long run lie in one cell (p near 1) and many have one id.
#[test]
fn a_cell_counts_as_many_tokens_as_there_are() {
    let part = || {
        let mut part = Clusters::default();
        part.plane[[0, 7]] = u32::MAX.into();
        part.ids[0] = vec![u32::MAX.into()];
        part
    };
    let mut whole = part();
    whole.merge(part());
    let expected = 2 * u64::from(u32::MAX);
    assert_eq!((whole.tokens_by_cell()[7], whole.tokens_by_id()[0]), (expected, expected));
}

#[test]
fn groups_beyond_the_limit_share_clusters_in_any_order() {
    let keys: Vec<Key> =
        (0..2 * LIMIT as u64 + 5_000).map(|i| (i as i64 % 50, Mixer::new(i).word())).collect();
    let collect = |keys: &mut dyn Iterator<Item = &Key>| {
        let mut clusters = Clusters::default();
        keys.for_each(|key| clusters.add(*key, &tally(key.1)));
        clusters
    };
    let whole = collect(&mut keys.iter());
    let finish = |clusters: Clusters| clusters.finish(|_| Ok::<(), ()>(())).unwrap();
    let whole = finish(whole);
    assert!(whole.coarse);
    // One part or both are already coarse when they meet.
    for cut in [keys.len() / 3, 2_000, LIMIT + 2_000] {
        let mut parts = collect(&mut keys[cut..].iter().rev());
        parts.merge(collect(&mut keys[..cut].iter()));
        assert!(finish(parts) == whole, "{cut}");
    }
    let responses =
        whole.steps.iter().flat_map(|s| &s.clusters).map(|c| c.sums[ClusterSum::Responses as usize]);
    assert_eq!(responses.sum::<f64>(), keys.len() as f64);
}
