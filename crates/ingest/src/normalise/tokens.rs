//! Token-level columns of a batch, for both layouts.

use std::ops::Range;

use arrow_array::{Array, ArrayRef, StringArray};
use arrow_buffer::ScalarBuffer;

use crate::align::row_alignment::ABSENT;
use crate::file_context::FileContext;
use crate::normalise::quality::Quality;
use crate::normalise::sanitize;
use crate::schema::mapping::Transform;
use crate::values::arrays;
use crate::values::arrays::WrongType;
use crate::values::texts;
use stapo_base::error::Result;
use stapo_batch::batch::{MISSING_FLAG, MISSING_ID, TokenColumns};
use stapo_batch::columns::{Column, Kind};

/// A raw column on its way to a token-level one.
pub struct TokenSource<'a> {
    /// What it becomes.
    pub column: Column,
    /// Name in the log.
    pub raw: &'a str,
    /// What is done to its values.
    pub transform: Transform,
    /// The values of all rows, one after another.
    pub values: ArrayRef,
    /// For each token the index of its value, or [`ABSENT`]; all in order where `None`.
    pub pick: Option<Vec<usize>>,
}

impl TokenSource<'_> {
    fn gather<T: Copy>(&self, values: &[T], missing: T) -> Option<Vec<T>> {
        let pick = self.pick.as_ref()?;
        Some(pick.iter().map(|&i| if i == ABSENT { missing } else { values[i] }).collect())
    }

    fn is_null(&self, t: usize) -> bool {
        match &self.pick {
            None => self.values.is_null(t),
            Some(pick) => pick[t] == ABSENT || self.values.is_null(pick[t]),
        }
    }

    /// The values as flags: 0, 1 or missing.
    pub fn flags(&self, context: &FileContext) -> Result<Vec<u8>> {
        let flags = arrays::to_flags(&self.values, self.transform == Transform::Labels)
            .map_err(|WrongType(found)| context.type_error(self.raw, self.column, found))?;
        let mut flags = self.gather(&flags, MISSING_FLAG).unwrap_or(flags);
        if self.transform == Transform::Not {
            for f in flags.iter_mut().filter(|f| **f <= 1) {
                *f = 1 - *f;
            }
        }
        Ok(flags)
    }
}

/// The responses that tokens belong to.
pub struct Owners<'a> {
    /// Token boundaries of the responses.
    pub offsets: &'a [usize],
    /// Row of the file of each response.
    pub rows: &'a dyn Fn(usize) -> u64,
    /// The responses that are complete.
    pub whole: Range<usize>,
    /// The tokens of steps that are asked for, where not all are.
    pub asked: Option<&'a [u8]>,
}

/// Reads all columns; `mask` is combined already.
pub fn read(
    sources: &[TokenSource<'_>],
    mask: Option<ScalarBuffer<u8>>,
    context: &FileContext,
    owners: Owners<'_>,
    quality: &mut Quality,
) -> Result<TokenColumns> {
    let mut out = TokenColumns::default();
    {
        let both = mask.as_ref().zip(owners.asked).map(|(mask, asked)| -> Vec<u8> {
            mask.iter().zip(asked).map(|(m, a)| u8::from(*m == 1) & a).collect()
        });
        let checked = sanitize::Context {
            file: context.file,
            rows: owners.rows,
            offsets: owners.offsets,
            whole: owners.whole,
            mask: mask.as_deref(),
            counted: both.as_deref().or(mask.as_deref()).or(owners.asked),
        };
        for source in sources {
            let wrong = |WrongType(found)| context.type_error(source.raw, source.column, found);
            let column = source.column;
            match column.kind() {
                Kind::Float => {
                    let values = arrays::to_f32(&source.values).map_err(wrong)?;
                    let values = floats(source, values, context.entropy_in_bits);
                    let nulls = |t: usize| source.is_null(t);
                    out.floats.set(column, sanitize::floats(column, values, &nulls, &checked, quality));
                }
                Kind::Double => {
                    let values = arrays::to_f64(&source.values).map_err(wrong)?;
                    let values = source.gather(&values, f64::NAN).map_or(values, ScalarBuffer::from);
                    let nulls = |t: usize| source.is_null(t);
                    out.doubles.set(column, sanitize::doubles(column, values, &nulls, &checked, quality));
                }
                Kind::Int => {
                    let values = arrays::to_i32(&source.values).map_err(wrong)?;
                    let values = source.gather(&values, MISSING_ID).map_or(values, ScalarBuffer::from);
                    let nulls = |t: usize| source.is_null(t);
                    out.ints.set(column, sanitize::ids(column, values, &nulls, &checked, quality));
                }
                Kind::Flag => merge_clip_flags(&mut out, column, source.flags(context)?),
                Kind::Text => out.texts = Some(texts(source).map_err(wrong)?),
                Kind::Id | Kind::IdList => {}
            }
        }
    }
    if let Some(mask) = mask {
        out.flags.set(Column::Mask, mask);
    }
    Ok(out)
}

fn floats(source: &TokenSource<'_>, values: ScalarBuffer<f32>, bits: bool) -> ScalarBuffer<f32> {
    let values = source.gather(&values, f32::NAN).map_or(values, ScalarBuffer::from);
    let apply = |f: fn(f32) -> f32| values.iter().map(|v| f(*v)).collect::<Vec<f32>>().into();
    match source.transform {
        Transform::Ln => apply(f32::ln),
        Transform::Exp => apply(f32::exp),
        _ if bits && source.column.is_entropy() => apply(|v| v * std::f32::consts::LN_2),
        _ => values,
    }
}

/// A token that any of the flags calls clipped is clipped.
fn merge_clip_flags(out: &mut TokenColumns, column: Column, flags: Vec<u8>) {
    let merged = match out.flags.take(column) {
        None => flags,
        Some(before) => before
            .iter()
            .zip(&flags)
            .map(|(a, b)| match (*a, *b) {
                (1, _) | (_, 1) => 1,
                (0, _) | (_, 0) => 0,
                _ => MISSING_FLAG,
            })
            .collect(),
    };
    out.flags.set(column, merged.into());
}

/// The longest text that a token can have; tokenizers know none above a few hundred bytes.
const LONGEST_TEXT: usize = 1024;

fn texts(source: &TokenSource<'_>) -> std::result::Result<StringArray, WrongType> {
    // Looked at before a dictionary is spread over all tokens that name its entries.
    let longest = texts::longest_text(&source.values);
    if longest > LONGEST_TEXT {
        return Err(WrongType(format!(
            "texts of up to {longest} bytes (a token has at most {LONGEST_TEXT})"
        )));
    }
    let texts = texts::to_string_array(&source.values)?;
    Ok(match &source.pick {
        None => texts,
        Some(pick) => {
            pick.iter().map(|&i| (i != ABSENT && texts.is_valid(i)).then(|| texts.value(i))).collect()
        }
    })
}

/// A token is trained on where every mask says so; one that says nothing leaves it open.
pub fn merge_masks(masks: impl Iterator<Item = Vec<u8>>) -> Option<ScalarBuffer<u8>> {
    let both = |a: u8, b: u8| match (a, b) {
        (0, _) | (_, 0) => 0,
        (1, 1) => 1,
        _ => MISSING_FLAG,
    };
    let merged =
        masks.reduce(|before, mask| before.iter().zip(&mask).map(|(a, b)| both(*a, *b)).collect())?;
    Some(merged.into())
}

/// The mask of whole responses, prompts and padding cut already: what it leaves open counts as missing, of the
/// tokens of steps that are asked for, and is not trained on.
pub fn settle_mask(mask: ScalarBuffer<u8>, asked: Option<&[u8]>, quality: &mut Quality) -> ScalarBuffer<u8> {
    let missing = mask.iter().filter(|m| **m == MISSING_FLAG).count();
    let counts = quality.column(Column::Mask);
    let (values, null) = match asked {
        None => (mask.len(), missing),
        Some(asked) => {
            let of_asked = mask.iter().zip(asked).filter(|(_, asked)| **asked == 1);
            of_asked.fold((0, 0), |(all, null), (m, _)| (all + 1, null + usize::from(*m == MISSING_FLAG)))
        }
    };
    counts.values += values as u64;
    counts.null += null as u64;
    match missing {
        0 => mask,
        _ => mask.iter().map(|m| if *m == MISSING_FLAG { 0 } else { *m }).collect(),
    }
}

/// One flag a response, spread over its tokens.
pub fn spread(flags: &[u8], offsets: &[usize]) -> Vec<u8> {
    let mut out = Vec::with_capacity(offsets.last().copied().unwrap_or(0));
    for (i, flag) in flags.iter().enumerate() {
        out.resize(offsets[i + 1], *flag);
    }
    out
}
