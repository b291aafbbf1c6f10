//! Every leaf at once: any split of the observations and any order of the pieces give the same bytes.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use stapo_accumulate::{Accumulate, ExactSum, First, FixedSum, HashSample, Last, Max, Min, TopK};
use std::cmp::Reverse;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, Serialize, Deserialize, Accumulate)]
struct Leaf {
    count: u64,
    sum: ExactSum,
    fixed: FixedSum<24>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Accumulate)]
struct Everything {
    leaf: Leaf,
    seen: bool,
    max: Max<f64>,
    min: Min<i64>,
    array: [Leaf; 3],
    vec: Vec<u64>,
    map: BTreeMap<i64, Leaf>,
    maybe: Option<Leaf>,
    sample: HashSample<Leaf, 4>,
    top: TopK<(i64, u64), 3>,
    first: First<i64, (Leaf, u64)>,
    last: Last<i64, Tuple>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, Accumulate)]
struct Tuple(Leaf, Max<Vec<String>>);

#[derive(Clone, Debug)]
struct Observation {
    key: i64,
    hash: u64,
    value: f64,
    name: String,
}

impl Leaf {
    fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum.add(value * 1e9);
        self.fixed.add(value);
    }
}

impl Everything {
    fn add(&mut self, seen: &Observation) {
        let Observation { key, hash, value, name } = seen;
        self.leaf.add(*value);
        self.seen |= *value > 0.5;
        self.max.add(*value);
        self.min.add(*key);
        self.array[usize::try_from(hash % 3).unwrap()].add(*value);
        let at = usize::try_from(hash % 7).unwrap();
        self.vec.resize(self.vec.len().max(at + 1), 0);
        self.vec[at] += 1;
        self.map.entry(*key).or_default().add(*value);
        if *key > 3 {
            self.maybe.get_or_insert_default().add(*value);
        }
        if let Some(leaf) = self.sample.at(*hash) {
            leaf.add(*value);
        }
        self.top.add((*key, *hash));
        if let Some((leaf, count)) = self.first.at(*key) {
            leaf.add(*value);
            *count += 1;
        }
        if let Some(Tuple(leaf, names)) = self.last.at(Reverse(*key)) {
            leaf.add(*value);
            names.add(vec![name.clone()]);
        }
    }

    fn of(seen: &[Observation]) -> Self {
        let mut all = Self::default();
        seen.iter().for_each(|one| all.add(one));
        all
    }

    fn bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).unwrap()
    }
}

fn observation() -> impl Strategy<Value = Observation> {
    (0..6_i64, 0..12_u64, prop_oneof![9 => -3.0..3.0, 1 => Just(f64::NAN)], "[ab]{1,2}").prop_map(
        |(key, hash, value, name)| Observation {
            key,
            // Spread over the range, a few values only, so that keys fall out of the sample and meet again.
            hash: (hash + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15),
            value,
            name,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn any_split_and_order_give_the_same_bytes(
        mut seen in prop::collection::vec(observation(), 0..60),
        owners in prop::collection::vec(0..5_usize, 60),
        order in Just([0, 1, 2, 3, 4_usize]).prop_shuffle(),
        tree in any::<bool>(),
    ) {
        let whole = Everything::of(&seen).bytes();
        let pieces: Vec<Everything> = order
            .iter()
            .map(|&owner| {
                let own: Vec<_> =
                    seen.iter().zip(&owners).filter(|(_, o)| **o == owner).map(|(s, _)| s.clone()).collect();
                // Through bytes, as the state of a shard goes.
                postcard::from_bytes(&Everything::of(&own).bytes()).unwrap()
            })
            .collect();
        let mut merged = Everything::default();
        if tree {
            let (left, right) = pieces.split_at(2);
            for side in [right, left] {
                let mut sub = Everything::default();
                side.iter().for_each(|piece| sub.merge(piece.clone()));
                merged.merge(sub);
            }
        } else {
            pieces.into_iter().for_each(|piece| merged.merge(piece));
        }
        prop_assert_eq!(merged.bytes(), whole.clone());
        seen.reverse();
        prop_assert_eq!(Everything::of(&seen).bytes(), whole);
    }
}

#[test]
fn a_sample_keeps_whole_keys_only() {
    let mut sample = HashSample::<u64, 2>::default();
    for hash in [5, 9, 1, 5, 9, 1, 5] {
        if let Some(count) = sample.at(hash) {
            *count += 1;
        }
    }
    assert_eq!(sample.iter().map(|(hash, count)| (hash, *count)).collect::<Vec<_>>(), [(1, 2), (5, 3)]);
}
