use super::*;

fn ages(lags: &[(i64, i64)]) -> (bool, Vec<Option<i64>>) {
    let fact =
        |(step, lag): &(i64, i64)| ResponseFact { step: *step, lag: Some(*lag), ..ResponseFact::default() };
    let mut facts: Vec<ResponseFact> = lags.iter().map(fact).collect();
    (count_ages(&mut facts), facts.iter().map(|fact| fact.lag).collect())
}

fn taught(largest: &[f32]) -> usize {
    let fact = |a: &f32| ResponseFact {
        largest: *a,
        advantage: *a,
        signs: [true, false],
        length: 1,
        ..ResponseFact::default()
    };
    let mut facts: Vec<ResponseFact> = largest.iter().map(fact).collect();
    forget_rounding(&mut facts);
    facts.iter().filter(|fact| fact.signs[0] && fact.advantage > 0.0).count()
}

#[test]
fn neither_one_advantage_far_out_nor_many_of_rounding_change_the_usual_size() {
    let mut far_out = vec![0.5; 300];
    far_out[7] = 1e6;
    assert_eq!(taught(&far_out), 300);
    let dust = [vec![1e-8; 280], vec![0.5; 20]].concat();
    assert_eq!(taught(&dust), 20);
}

#[test]
fn versions_that_are_no_steps_are_counted_from_the_youngest() {
    assert_eq!(ages(&[(0, 0), (1, 1), (1, 0)]), (true, vec![Some(0), Some(1), Some(0)]));
    assert_eq!(ages(&[(0, -1), (1, 0), (1, -1)]), (false, vec![Some(0), Some(1), Some(0)]));
    assert_eq!(ages(&[(8, -40), (8, -32), (9, -43)]), (false, vec![Some(0), Some(8), Some(0)]));
}

/// Four groups in five learn; in the others the normalisation broke.
#[test]
fn advantages_that_explode_make_no_others_rounding() {
    let fact = |group: u64, i: u64, size: f32| ResponseFact {
        group,
        reward: i as f32,
        advantage: if i == 0 { -size } else { size },
        largest: size,
        signs: [i != 0, i == 0],
        length: 1,
        ..ResponseFact::default()
    };
    let size = |group: u64| if group.is_multiple_of(5) { 3e6 } else { 1.0 };
    let mut facts: Vec<ResponseFact> =
        (0..40).flat_map(|group| [0, 1].map(|i| fact(group, i, size(group)))).collect();
    forget_rounding(&mut facts);
    assert!(facts.iter().all(|fact| fact.signs != [false; 2]));
}

/// All rewards of the run are the same: what is left of them is nothing, though it is all there is.
#[test]
fn rounding_is_no_advantage_where_there_is_nothing_else() {
    let taught = |advantage: f32| {
        let fact = |i: u64| ResponseFact {
            group: i / 4,
            reward: 0.2,
            advantage,
            largest: advantage,
            signs: [true, false],
            length: 1,
            ..ResponseFact::default()
        };
        let mut facts: Vec<ResponseFact> = (0..80).map(fact).collect();
        forget_rounding(&mut facts);
        facts.iter().filter(|fact| fact.signs[0]).count()
    };
    assert_eq!((taught(1e-7), taught(0.5)), (0, 80));
}

/// Groups of seven with these advantages for a reward of 0.3 throughout, among groups that learn.
fn left_over(of_equal: [f32; 7], baseline: f32) -> usize {
    let fact = |group: u64, reward: f32, advantage: f32| ResponseFact {
        group,
        reward,
        advantage,
        largest: advantage.abs(),
        signs: [advantage > 0.0, advantage < 0.0],
        length: 1,
        ..ResponseFact::default()
    };
    let live = |group: u64| {
        (0..7).map(move |i| match i {
            0 => fact(group, 1.0, 6.0 + baseline),
            _ => fact(group, 0.0, -1.0 + baseline),
        })
    };
    let even = |group: u64| of_equal.map(|advantage| fact(group, 0.3, advantage));
    let mut facts: Vec<ResponseFact> = (0..20).flat_map(live).collect();
    facts.extend((20..30).flat_map(even));
    forget_rounding(&mut facts);
    facts.iter().filter(|fact| fact.group >= 20 && fact.signs != [false; 2]).count()
}

#[test]
fn equal_rewards_relative_to_their_group_have_no_advantage() {
    assert_eq!(left_over([0.056; 7], 0.0), 0, "what single precision leaves, over itself and 1e-6");
    assert_eq!(left_over([0.3; 7], 0.3), 70, "of a baseline over the batch");
    assert_eq!(left_over([0.9; 7], 0.0), 70, "large enough to teach");
    let other = [0.5, -0.5, 0.5, -0.5, 0.5, -0.5, 0.0];
    assert_eq!(left_over(other, 0.0), 60, "of a reward that is not logged");
}

/// By its prompt, group 3 of each step is twice as large as the others: it is two groups.
#[test]
fn groups_that_are_larger_than_most_are_none() {
    let responses = |step: i64, group: u64| {
        let size = if group == 3 { 8 } else { 4 };
        (0..size).map(move |order| ResponseFact { step, group, order, ..Default::default() })
    };
    let all = (0..2).flat_map(|step| (0..4).flat_map(move |group| responses(step, group))).collect();
    let mut facts = ResponseFacts { responses: all, ..Default::default() };
    facts.part_larger_groups();
    let sizes: Vec<usize> = facts.groups().map(<[ResponseFact]>::len).collect();
    let of_step = [4, 4, 4, 1, 1, 1, 1, 1, 1, 1, 1];
    assert_eq!(sizes, [of_step, of_step].concat());
}
