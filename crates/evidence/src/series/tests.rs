use super::*;
use proptest::prelude::*;

type Row = (i64, u64, usize, Vec<f32>);

fn observed(rows: &[Row], bound: u64) -> Observed {
    let mut observed = Observed::bounded(Form::Responses, &["reward", "reward/b", "reward/a"], bound);
    for (step, group, slice, values) in rows {
        observed.push(*step, *group, ["", "math", "code"][slice % 3], values);
    }
    observed
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let value = prop_oneof![Just(0.0_f32), Just(1.0), -1.0..1.0_f32, Just(f32::NAN), Just(f32::INFINITY)];
    prop::collection::vec((0..5_i64, 0..6_u64, 0..3_usize, prop::collection::vec(value, 3)), 0..150)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn any_order_and_split_gives_the_same_bytes(rows in rows(), cuts in prop::collection::vec(0..300_usize, 3), bound in 1..1_000_u64, turn in 0..300_usize) {
        let mut whole = observed(&rows, bound);
        whole.settle();
        let mut moved = rows.clone();
        moved.reverse();
        let at = turn.min(moved.len());
        moved.rotate_left(at);
        let mut merged = Observed::bounded(Form::Responses, &[], bound);
        let mut cuts = cuts.iter().map(|cut| (*cut).min(rows.len())).collect::<Vec<_>>();
        cuts.extend([0, rows.len()]);
        cuts.sort_unstable();
        for piece in cuts.windows(2) {
            merged.merge(observed(&moved[piece[0]..piece[1]], bound));
        }
        merged.settle();
        prop_assert_eq!(merged.responses(), rows.len() as u64);
        if !rows.is_empty() {
            whole.names.clone_from(&merged.names);
        }
        let bytes = |o: &Observed| postcard::to_allocvec(o).unwrap_or_default();
        prop_assert_eq!(bytes(&merged), bytes(&whole));
        prop_assert_eq!(postcard::from_bytes::<Observed>(&bytes(&whole)), Ok(whole.clone()));
        prop_assert!(whole.cost <= bound);
        prop_assert_eq!(whole.cost, whole.groups().map(|g| GROUP + g.values.len() as u64).sum::<u64>());
    }

    /// What is read before it is trimmed is what is left after it.
    #[test]
    fn reading_does_not_wait_for_trimming(rows in rows(), bound in 1..1_000_u64) {
        let before = observed(&rows, bound);
        let mut after = before.clone();
        after.settle();
        let seen = |o: &Observed| o.groups().map(|g| (g.step, g.slice.to_string(), g.responses, g.of(0).collect::<Vec<_>>())).collect::<Vec<_>>();
        prop_assert_eq!(seen(&before), seen(&after));
    }
}

#[test]
fn values_stand_by_group_and_series() {
    let mut observed = Observed::new(Form::Responses, &["reward", "reward/z", "reward/a"]);
    observed.push(3, 7, "math", &[1.0, 0.5, f32::NAN]);
    observed.push(3, 7, "math", &[0.0, 0.5, f32::NAN]);
    observed.push(3, 7, "code", &[-1.0, 0.0, 0.25]);
    assert_eq!(observed.names(), ["reward", "reward/a", "reward/z"]);
    let mut groups: Vec<_> = observed.groups().collect();
    groups.sort_by_key(|group| group.slice);
    assert_eq!(groups.len(), 2, "an id may start anew in each slice");
    assert_eq!(groups[1].of(0).collect::<Vec<_>>(), [(0.0, 1), (1.0, 1)]);
    assert_eq!(groups[1].of(1).count(), 0);
    assert_eq!(groups[1].of(2).collect::<Vec<_>>(), [(0.5, 2)]);
    assert_eq!(groups[0].of(1).collect::<Vec<_>>(), [(0.25, 1)]);
}

/// A piece without a column does not shift the others' values.
#[test]
fn pieces_of_unequal_columns_merge() {
    let mut a = Observed::new(Form::Responses, &["reward", "reward/z"]);
    a.push(0, 0, "", &[1.0, 2.0]);
    let mut b = Observed::new(Form::Responses, &["reward/a", "reward"]);
    b.push(0, 0, "", &[3.0, 4.0]);
    a.merge(b.clone());
    a.push(0, 0, "", &[5.0, 6.0]);
    let groups: Vec<_> = a.groups().collect();
    let [group] = groups[..] else { unreachable!() };
    assert_eq!(group.of(0).collect::<Vec<_>>(), [(1.0, 1), (4.0, 1), (5.0, 1)]);
    assert_eq!(group.of(1).collect::<Vec<_>>(), [(3.0, 1)]);
    assert_eq!(group.of(2).collect::<Vec<_>>(), [(2.0, 1), (6.0, 1)]);
}

/// The sample takes the same share of every step.
#[test]
fn a_sample_is_fair_to_steps_and_bounded() {
    let mut observed = Observed::bounded(Form::Responses, &["reward"], 6_000);
    for i in 0..80_000_u64 {
        observed.push((i / 8_000).cast_signed(), i / 8, "", &[(i % 2) as f32]);
    }
    observed.settle();
    let mut steps = [0_u32; 10];
    observed.groups().for_each(|group| steps[group.step.unsigned_abs() as usize] += 1);
    let kept: u32 = steps.iter().sum();
    assert_eq!(kept, 1_000, "six for each group");
    // Expected 100 each; standard deviation 9.
    assert!(steps.iter().all(|kept| (60..140).contains(kept)), "{steps:?}");
    assert_eq!((observed.kept(), observed.responses()), (8_000, 80_000));
}
