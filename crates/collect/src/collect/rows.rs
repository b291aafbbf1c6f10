//! Rows of one response. A batch that is trained for several epochs may be logged once for each of its updates, and
//! the turns of a response may be rows of their own: groups have fewer responses than rows.

use stapo_batch::batch::{Id, TokenBatch};
use stapo_batch::columns::Column;
use stapo_batch::hash::Mixer;

/// First and last ids that rows of the same turn are held against each other by.
const COMPARED: usize = 8;

/// Rows that are remembered: 40 MB.
const MOST: usize = 1 << 20;

/// The rows of a run. Of more than `MOST` those of every second group are remembered, of every fourth, and so on: a
/// hash of the group says of which, so neither order nor split changes the choice.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Rows {
    kept: Vec<Row>,
    halved: u32,
}

impl Rows {
    /// Remembers a row.
    pub fn add(&mut self, row: Row) {
        if row.is_kept(self.halved) {
            self.kept.push(row);
            self.bound();
        }
    }

    /// Adds those of another part.
    pub fn merge(&mut self, mut other: Self) {
        if self.halved != other.halved {
            self.halved = self.halved.max(other.halved);
            self.kept.retain(|row| row.is_kept(self.halved));
            other.kept.retain(|row| row.is_kept(self.halved));
        }
        self.kept.append(&mut other.kept);
        self.bound();
    }

    fn bound(&mut self) {
        while self.kept.len() > MOST && self.halved < u64::BITS - 1 {
            self.halved += 1;
            self.kept.retain(|row| row.is_kept(self.halved));
        }
    }

    /// Puts them into an order.
    pub fn settle(&mut self) {
        self.kept.sort_unstable();
    }

    /// Those of the groups that are kept, sorted, and of how many groups one is kept.
    pub fn take(&mut self) -> (Vec<Row>, u64) {
        self.settle();
        (std::mem::take(&mut self.kept), 1 << self.halved)
    }
}

/// A row, as far as it tells which response it is of.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct Row {
    /// The hash of its step and group.
    pub group: u64,
    sample: u32,
    turn: i32,
    update: i64,
    /// A hash of its length and its first and last ids; not of values, which another update logs anew.
    content: u32,
    reward: u32,
    verdict: u32,
}

/// What a row is to its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Its first one.
    First,
    /// A later turn of it.
    Turn,
    /// The same tokens in another update.
    Again,
}

impl Row {
    /// Of response `index`; `group` is the hash of its step and group.
    pub fn of(source: &TokenBatch, index: usize, group: u64, reward: f32, verdict: f32) -> Self {
        let tokens = source.range(index);
        let sample = source.ids(Column::SampleId).map(|ids| &ids[index]);
        let turns = source.tokens.ints.get(Column::Turn);
        let update = source.responses.ints.get(Column::Update).and_then(|updates| updates[index]);
        let ids = source.token_ids().map_or(&[][..], |ids| &ids[tokens.clone()]);
        let last = ids.len().saturating_sub(COMPARED).max(COMPARED.min(ids.len()));
        let compared = ids.iter().take(COMPARED).chain(&ids[last..]);
        let content =
            compared.fold(Mixer::new(tokens.len() as u64), |m, id| m.with(id.cast_unsigned().into()));
        Self {
            group,
            sample: Mixer::new(0).with_id(sample.filter(|id| **id != Id::Missing)).finish(),
            turn: turns.and_then(|turns| turns[tokens].first().copied()).unwrap_or(i32::MIN),
            update: update.unwrap_or(i64::MIN),
            content: content.finish(),
            reward: reward.to_bits(),
            verdict: verdict.to_bits(),
        }
    }

    fn is_kept(&self, halved: u32) -> bool {
        self.group.leading_zeros() >= halved
    }

    /// Its reward; NaN where not logged.
    pub fn reward(&self) -> f32 {
        f32::from_bits(self.reward)
    }

    /// What says whether it is right; NaN where not known.
    pub fn verdict(&self) -> f32 {
        f32::from_bits(self.verdict)
    }
}

/// What each row of a group is to its response. `None` where each is a response of its own, or where their ids may
/// be those of prompts: two rows of one sample in the same turn and update, other tokens in another update, or other
/// rewards in another turn.
pub fn places(rows: &[Row]) -> Option<Vec<Place>> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_unstable_by_key(|row| rows[*row]);
    let mut places = vec![Place::First; rows.len()];
    for pair in order.windows(2) {
        let (before, next) = (rows[pair[0]], rows[pair[1]]);
        if before.sample != next.sample {
            continue;
        }
        let is_again = before.turn == next.turn;
        let is_of_one = (before.reward, before.verdict) == (next.reward, next.verdict)
            && (!is_again || (before.update != next.update && before.content == next.content));
        if !is_of_one {
            return None;
        }
        places[pair[1]] = if is_again { Place::Again } else { Place::Turn };
    }
    places.iter().any(|place| *place != Place::First).then_some(places)
}

/// How many responses have several rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeveralRows {
    /// Of so many groups one was looked at; where this is not 1, every row counts as a response.
    pub of_groups: u64,
    /// Rows of their groups.
    pub rows: u64,
    /// Responses of their groups.
    pub responses: u64,
    /// Rows with the tokens of another update.
    pub again: u64,
    /// Rows of later turns.
    pub turns: u64,
}

impl SeveralRows {
    /// Adds a group.
    pub fn add(&mut self, places: &[Place]) {
        let count = |wanted: Place| places.iter().filter(|place| **place == wanted).count() as u64;
        self.rows += places.len() as u64;
        self.responses += count(Place::First);
        self.again += count(Place::Again);
        self.turns += count(Place::Turn);
    }
}

#[cfg(test)]
mod tests {
    use super::Place::{Again, First, Turn};
    use super::*;

    /// Sample, turn, update, content and reward.
    fn row((sample, turn, update, content, reward): (u32, i32, i64, u32, f32)) -> Row {
        Row { sample, turn, update, content, reward: reward.to_bits(), ..Row::default() }
    }

    fn of(rows: &[(u32, i32, i64, u32, f32)]) -> Option<Vec<Place>> {
        places(&rows.iter().copied().map(row).collect::<Vec<_>>())
    }

    #[test]
    fn rows_of_other_updates_and_turns_are_of_one_response() {
        let epochs = [(1, 0, 4, 9, 1.0), (2, 0, 0, 8, 0.0), (1, 0, 2, 9, 1.0), (2, 0, 2, 8, 0.0)];
        assert_eq!(of(&epochs), Some(vec![Again, First, First, Again]));
        let turns = [(1, 0, 0, 9, 1.0), (1, 1, 0, 8, 1.0), (2, 0, 0, 7, 0.0), (1, 1, 1, 8, 1.0)];
        assert_eq!(of(&turns), Some(vec![First, Turn, First, Again]));
    }

    #[test]
    fn rows_of_the_same_groups_are_kept_in_any_split() {
        let row =
            |number: u64| Row { group: (number / 2).wrapping_mul(0x9E37_79B9_7F4A_7C15), ..Row::default() };
        let of = |numbers: std::ops::Range<u64>| {
            let mut rows = Rows::default();
            numbers.for_each(|number| rows.add(row(number)));
            rows
        };
        let most = MOST as u64;
        assert_eq!(of(0..most).take().1, 1, "all");
        let (kept, of_groups) = of(0..3 * most).take();
        assert_eq!(of_groups, 4);
        assert!(kept.len() > MOST / 2 && kept.len() <= MOST, "{}", kept.len());
        assert!(kept.chunks(2).all(|pair| pair[0].group == pair[1].group), "whole groups");
        let mut split = of(2 * most + 7..3 * most);
        split.merge(of(0..5));
        split.merge(of(5..2 * most + 7));
        assert_eq!(split.take(), (kept, 4));
    }

    #[test]
    fn ids_of_prompts_do_not_make_one_response_of_several() {
        assert_eq!(of(&[(1, 0, 0, 9, 1.0), (2, 0, 0, 9, 1.0)]), None, "each is one");
        assert_eq!(of(&[(1, 0, 0, 9, 1.0), (1, 0, 0, 9, 1.0)]), None, "the same update");
        assert_eq!(of(&[(1, 0, 0, 9, 1.0), (1, 0, 1, 8, 1.0)]), None, "other tokens");
        assert_eq!(of(&[(1, 0, 0, 9, 1.0), (1, 1, 0, 8, 0.0)]), None, "other rewards");
    }
}
