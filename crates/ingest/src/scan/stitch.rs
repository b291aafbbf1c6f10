//! Joins the fragments of responses that lie across the borders of scan units (long layout).

use std::collections::BTreeMap;

use crate::normalise::long::continues;
use crate::scan::renumber::Renumber;
use stapo_base::error::Result;
use stapo_batch::batch::{Id, TokenBatch};
use stapo_batch::columns::Column;

/// The open ends of a stretch of units: its first and its last response may go on beyond it.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub enum Ends {
    /// No response at all.
    Nothing,
    /// One response, which is first and last.
    One(Box<TokenBatch>),
    /// The first and the last response.
    Two(Box<TokenBatch>, Box<TokenBatch>),
}

/// Whether `next` is the rest of the last response of `before`. Neighbours in one file follow each
/// other; in different files only ids and positions tell, else the responses of two ranks would
/// become one.
pub fn goes_on(before: &TokenBatch, next: &TokenBatch, same_file: bool) -> bool {
    if same_file {
        return continues(before, next);
    }
    key(before).is_some_and(|key_before| key(next) == Some(key_before)) && adjoins(before, next)
}

/// What to do with a response that is complete.
pub type Emit<'a> = dyn FnMut(TokenBatch) -> Result<()> + 'a;

/// Joins the ends of a stretch with those of the one after it.
fn join(before: Ends, after: Ends, whole: &Whole<'_>, emit: &mut Emit<'_>) -> Result<(Ends, bool)> {
    let (left, right) = match (&before, &after) {
        (Ends::Nothing, _) => return Ok((after, false)),
        (_, Ends::Nothing) => return Ok((before, false)),
        (Ends::One(l) | Ends::Two(_, l), Ends::One(r) | Ends::Two(r, _)) => (l, r),
    };
    let joined = if continues(left, right) {
        let mut joined = left.clone();
        joined.extend_last(right);
        (whole.require_size)(&joined)?;
        Some(joined)
    } else {
        None
    };
    let one = joined.is_some();
    let ends = match (before, after, joined) {
        (Ends::One(_), Ends::One(_), Some(whole)) => Ends::One(whole),
        (Ends::One(_), Ends::Two(_, last), Some(whole)) => Ends::Two(whole, last),
        (Ends::Two(first, _), Ends::One(_), Some(whole)) => Ends::Two(first, whole),
        (Ends::Two(first, _), Ends::Two(_, last), Some(whole)) => {
            emit(*whole)?;
            Ends::Two(first, last)
        }
        (Ends::One(first), Ends::One(last), None) => Ends::Two(first, last),
        (Ends::One(first), Ends::Two(middle, last), None)
        | (Ends::Two(first, middle), Ends::One(last), None) => {
            emit(*middle)?;
            Ends::Two(first, last)
        }
        (Ends::Two(first, a), Ends::Two(b, last), None) => {
            emit(*a)?;
            emit(*b)?;
            Ends::Two(first, last)
        }
        (Ends::Nothing, other, _) | (other, Ends::Nothing, _) => other,
    };
    Ok((ends, one))
}

/// What is known of the units that are joined.
pub struct Whole<'a> {
    /// Whether two units are of one file.
    pub same_file: &'a dyn Fn(usize, usize) -> bool,
    /// Fails where a response became too long to be held.
    pub require_size: &'a dyn Fn(&TokenBatch) -> Result<()>,
}

/// Units that follow each other.
#[derive(serde::Serialize, serde::Deserialize)]
struct Stretch {
    last: usize,
    /// The unit of its first response: units before it have none.
    head: usize,
    ends: Ends,
}

impl Stretch {
    /// Joins it with the one after it; also tells where a response goes on that began in it.
    fn join(self, after: Self, whole: &Whole<'_>, emit: &mut Emit<'_>) -> Result<(Self, Option<usize>)> {
        let head = if matches!(self.ends, Ends::Nothing) { after.head } else { self.head };
        let (ends, goes_on) = join(self.ends, after.ends, whole, emit)?;
        Ok((Self { last: after.last, head, ends }, goes_on.then_some(after.head)))
    }
}

/// Collects the ends of units as they finish, in any order, and joins neighbours at once, so that
/// only a few fragments are held.
#[derive(Default, serde::Serialize, serde::Deserialize)]
pub struct Stitcher {
    stretches: BTreeMap<usize, Stretch>,
    /// Units whose first response began in the unit before.
    continued: Vec<usize>,
}

impl Stitcher {
    /// Adds the ends of a finished unit.
    pub fn add(&mut self, unit: usize, ends: Ends, whole: &Whole<'_>, emit: &mut Emit<'_>) -> Result<()> {
        self.add_stretch(unit, Stretch { last: unit, head: unit, ends }, whole, emit)
    }

    /// Adds what another scan has of units that this one has not.
    pub fn join(&mut self, other: Self, whole: &Whole<'_>, emit: &mut Emit<'_>) -> Result<()> {
        self.continued.extend(other.continued);
        for (first, stretch) in other.stretches {
            self.add_stretch(first, stretch, whole, emit)?;
        }
        self.settle();
        Ok(())
    }

    /// The responses that may go on elsewhere.
    pub fn open_ends(&self) -> impl Iterator<Item = &TokenBatch> {
        self.stretches
            .values()
            .flat_map(|stretch| match &stretch.ends {
                Ends::Nothing => [None, None],
                Ends::One(one) => [Some(&**one), None],
                Ends::Two(head, tail) => [Some(&**head), Some(&**tail)],
            })
            .flatten()
    }

    /// Puts what may come in any order into one.
    pub fn settle(&mut self) {
        self.continued.sort_unstable();
    }

    /// Gives units and files the numbers that they have in another run.
    pub fn renumber(&mut self, numbers: &Renumber) {
        let unit = |old: usize| numbers.unit(old as u32) as usize;
        self.continued.iter_mut().for_each(|old| *old = unit(*old));
        self.stretches = std::mem::take(&mut self.stretches)
            .into_iter()
            .map(|(first, mut stretch)| {
                stretch.last = unit(stretch.last);
                stretch.head = unit(stretch.head);
                let batches: Vec<&mut Box<TokenBatch>> = match &mut stretch.ends {
                    Ends::Nothing => Vec::new(),
                    Ends::One(one) => vec![one],
                    Ends::Two(head, tail) => vec![head, tail],
                };
                for batch in batches {
                    batch.origin.file = numbers.file(batch.origin.file);
                    batch.origin.unit = numbers.unit(batch.origin.unit);
                }
                (unit(first), stretch)
            })
            .collect();
    }

    fn add_stretch(
        &mut self,
        unit: usize,
        mut stretch: Stretch,
        whole: &Whole<'_>,
        emit: &mut Emit<'_>,
    ) -> Result<()> {
        let mut first = unit;
        if let Some((&start, before)) = self.stretches.range(..unit).next_back()
            && before.last + 1 == unit
            && (whole.same_file)(before.last, unit)
            && let Some(before) = self.stretches.remove(&start)
        {
            let (joined, continued) = before.join(stretch, whole, emit)?;
            self.continued.extend(continued);
            first = start;
            stretch = joined;
        }
        let next = stretch.last + 1;
        if (whole.same_file)(stretch.last, next)
            && let Some(after) = self.stretches.remove(&next)
        {
            let (joined, continued) = stretch.join(after, whole, emit)?;
            self.continued.extend(continued);
            stretch = joined;
        }
        self.stretches.insert(first, stretch);
        Ok(())
    }

    /// Passes on what is left, one stretch a file. A response that a file was cut inside of is
    /// joined by its ids and positions, whatever the order of the files.
    pub fn finish(mut self, whole: &Whole<'_>, emit: &mut Emit<'_>) -> Result<Vec<usize>> {
        let mut fragments: BTreeMap<Key, Vec<(usize, TokenBatch)>> = BTreeMap::new();
        for stretch in std::mem::take(&mut self.stretches).into_values() {
            let head = stretch.head;
            let ends = match stretch.ends {
                Ends::Nothing => Vec::new(),
                Ends::One(one) => vec![*one],
                Ends::Two(head, tail) => vec![*head, *tail],
            };
            for batch in ends {
                match key(&batch) {
                    Some(key) => fragments.entry(key).or_default().push((head, batch)),
                    None => emit(batch)?,
                }
            }
        }
        for mut parts in fragments.into_values() {
            parts.sort_by_key(|(_, b)| b.tokens.ints.get(Column::Position).and_then(|p| p.first().copied()));
            let mut open: Option<TokenBatch> = None;
            for (unit, part) in parts {
                match &mut open {
                    Some(before) if adjoins(before, &part) => {
                        before.extend_last(&part);
                        (whole.require_size)(before)?;
                        self.continued.push(unit);
                    }
                    _ => {
                        if let Some(done) = open.replace(part) {
                            emit(done)?;
                        }
                    }
                }
            }
            if let Some(done) = open {
                emit(done)?;
            }
        }
        Ok(self.continued)
    }
}

type Key = (i64, Option<i64>, Id, Id);

/// What identifies a response across files; `None` where it cannot be.
fn key(batch: &TokenBatch) -> Option<Key> {
    batch.tokens.ints.get(Column::Position)?;
    let id = |c| batch.ids(c).map_or(Id::Missing, |ids| ids[0].clone());
    let sample = id(Column::SampleId);
    let update = batch.responses.ints.get(Column::Update).and_then(|v| v[0]);
    (sample != Id::Missing).then(|| (batch.responses.step[0], update, id(Column::GroupId), sample))
}

fn adjoins(before: &TokenBatch, next: &TokenBatch) -> bool {
    let ends = |b: &TokenBatch| {
        let positions = b.tokens.ints.get(Column::Position)?;
        Some((*positions.first()?, *positions.last()?))
    };
    matches!((ends(before), ends(next)), (Some((_, last)), Some((first, _))) if last.checked_add(1) == Some(first))
}
