//! Lists in pieces: one that grows as a whole is copied to new memory again and again.
//!
//! Pieces of all lists take the same memory, so that what one list gives back is what another takes.

use std::collections::VecDeque;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes of a piece.
const PIECE: usize = 32 << 10;

/// A list in pieces.
#[derive(Clone, Debug)]
pub struct Pieces<T>(Vec<Vec<T>>);

/// Where one is.
#[derive(Clone, Copy, Debug)]
pub struct PieceIndex {
    piece: u32,
    at: u32,
}

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> From<Vec<T>> for Pieces<T> {
    fn from(all: Vec<T>) -> Self {
        Self(if all.is_empty() { Vec::new() } else { vec![all] })
    }
}

impl<T> Pieces<T> {
    const LENGTH: usize = if PIECE > size_of::<T>() { PIECE / size_of::<T>() } else { 1 };

    /// The piece that has room for at least one more. The first grows: many lists stay small.
    #[inline]
    fn open(&mut self) -> &mut Vec<T> {
        if self.0.last().is_none_or(|piece| piece.len() >= Self::LENGTH) {
            let room = if self.0.is_empty() { 0 } else { Self::LENGTH };
            self.0.push(Vec::with_capacity(room));
        }
        let last = self.0.len() - 1;
        &mut self.0[last]
    }

    /// Adds one.
    #[inline]
    pub fn push(&mut self, value: T) {
        self.open().push(value);
    }

    /// Adds those of another list, behind.
    pub fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// Drops what is not wanted. What is left moves into the first pieces, so that those given back lie side by side,
    /// and others can take their memory.
    pub fn retain(&mut self, is_wanted: impl Fn(&T) -> bool) {
        let mut left = Self::default();
        let mut empty = VecDeque::new();
        for mut piece in std::mem::take(&mut self.0) {
            for value in piece.drain(..).filter(&is_wanted) {
                if left.0.last().is_none_or(|last| last.len() >= Self::LENGTH) {
                    left.0.push(empty.pop_front().unwrap_or_else(|| Vec::with_capacity(Self::LENGTH)));
                }
                left.push(value);
            }
            empty.push_back(piece);
        }
        *self = left;
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    /// All, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }

    /// All, in their order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().flatten()
    }

    /// All, each with where it is.
    pub fn indexed(&self) -> impl Iterator<Item = (PieceIndex, &T)> {
        (0..).zip(&self.0).flat_map(|(piece, values)| {
            (0..).zip(values.iter()).map(move |(at, value)| (PieceIndex { piece, at }, value))
        })
    }

    /// The one at an index.
    #[inline]
    pub fn at(&self, index: PieceIndex) -> &T {
        &self.0[index.piece as usize][index.at as usize]
    }

    /// Takes the one at an index away and leaves nothing of worth there.
    #[inline]
    pub fn take(&mut self, index: PieceIndex) -> T
    where
        T: Default,
    {
        std::mem::take(&mut self.0[index.piece as usize][index.at as usize])
    }

    /// All as one list; each piece is given back before the next is moved.
    pub fn into_list(mut self) -> Vec<T> {
        if self.0.len() == 1 {
            return self.0.pop().unwrap_or_default();
        }
        let mut all = Vec::with_capacity(self.len());
        self.0.into_iter().for_each(|mut piece| all.append(&mut piece));
        all
    }

    /// Sorts all.
    pub fn sort_by(&mut self, order: impl FnMut(&T, &T) -> std::cmp::Ordering) {
        let mut all = std::mem::take(self).into_list();
        all.sort_unstable_by(order);
        *self = all.into();
    }
}

impl<T: Copy> Pieces<T> {
    /// Adds some.
    pub fn extend_from_slice(&mut self, mut values: &[T]) {
        while !values.is_empty() {
            let piece = self.open();
            let (fit, rest) = values.split_at(values.len().min(Self::LENGTH - piece.len()));
            piece.extend_from_slice(fit);
            values = rest;
        }
    }
}

/// As one list.
impl<T: Serialize> Serialize for Pieces<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeSeq;
        let mut list = serializer.serialize_seq(Some(self.len()))?;
        self.iter().try_for_each(|value| list.serialize_element(value))?;
        list.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pieces<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]
        #[test]
        fn pieces_are_what_a_list_is(
            slices in prop::collection::vec(prop::collection::vec(0..1000_u64, 0..6000), 0..12),
            singles in prop::collection::vec(0..1000_u64, 0..50),
        ) {
            let (mut pieces, mut list) = (Pieces::default(), Vec::new());
            for slice in &slices {
                pieces.extend_from_slice(slice);
                list.extend_from_slice(slice);
                let mut more = Pieces::default();
                singles.iter().for_each(|value| more.push(*value));
                pieces.append(more);
                list.extend_from_slice(&singles);
            }
            prop_assert_eq!(pieces.len(), list.len());
            prop_assert!(pieces.iter().eq(&list));
            let written = serde_json::to_string(&pieces).unwrap();
            prop_assert_eq!(&written, &serde_json::to_string(&list).unwrap());
            let read: Pieces<u64> = serde_json::from_str(&written).unwrap();
            prop_assert!(read.iter().eq(&list));
            pieces.retain(|value| value % 3 == 0);
            list.retain(|value| value % 3 == 0);
            prop_assert!(pieces.iter().eq(&list));
            pieces.sort_by(u64::cmp);
            list.sort_unstable();
            prop_assert!(pieces.iter().eq(&list));
        }
    }
}
