#![allow(clippy::unwrap_used)]

use super::*;

fn sums(prompt: u64) -> GroupSums {
    let totals = Totals { responses: 1, length: 7, prompt: Some(prompt), ..Totals::default() };
    GroupSums::of_reward(totals, [0.1, 1.0])
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
fn groups_beyond_the_limit_share_totals_in_any_order() {
    let key = |i: u64| GroupKey {
        step: i as i64 % 50,
        task: format!("task {}", i % 3),
        group: Mixer::new(i).word(),
        ..GroupKey::default()
    };
    let keys: Vec<GroupKey> = (0..2 * LIMIT as u64 + 5_000).map(key).collect();
    let collect = |keys: &mut dyn Iterator<Item = &GroupKey>| {
        let mut clusters = Clusters::default();
        keys.for_each(|key| clusters.add(key.clone(), &sums(key.group)));
        clusters
    };
    let whole = collect(&mut keys.iter()).finish(None);
    assert!(whole.coarse);
    // One part or both are already coarse when they meet.
    for cut in [keys.len() / 3, 2_000, LIMIT + 2_000] {
        let mut parts = collect(&mut keys[cut..].iter().rev());
        parts.merge(collect(&mut keys[..cut].iter()));
        assert!(parts.finish(None) == whole, "{cut}");
    }
    assert_eq!(whole.groups.groups().map(|(_, totals)| totals.responses).sum::<u64>(), keys.len() as u64);
    assert!(whole.groups.groups().all(|(_, totals)| totals.prompt.is_none()), "several share the totals");
}

#[test]
fn long_names_of_tasks_are_cut_and_told_apart() {
    let [mut a, mut b] = [String::new(), String::new()];
    name_task(&mut a, &format!("{}x", "ä".repeat(500)));
    name_task(&mut b, &format!("{}y", "ä".repeat(500)));
    assert!(a != b && a.chars().count() == TASK + 17, "{a}");
    name_task(&mut a, "sum");
    assert_eq!(a, "sum");
}
