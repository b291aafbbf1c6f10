//! The nested layout: a row is a response, token columns are lists.

use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;

use crate::align::plan::RowPlan;
use crate::align::row_alignment::{Rows, TokenLists};
use crate::file_context::FileContext;
use crate::normalise::quality::Quality;
use crate::normalise::tokens;
use crate::normalise::tokens::{Owners, TokenSource};
use crate::normalise::{responses, token_rewards};
use crate::schema::alignment::{AlignmentRule, ListAlignment};
use crate::schema::mapping::{Mapping, Transform};
use crate::values::arrays::WrongType;
use crate::values::lists::Lists;
use stapo_base::error::Result;
use stapo_batch::batch::{Origin, TokenBatch};
use stapo_batch::columns::{Column, Level};

/// Brings a batch of rows into canonical form. `first_row` is the batch's first row in its file.
pub fn normalise(
    batch: &RecordBatch,
    mapping: &Mapping,
    context: &FileContext,
    origin: Origin,
    first_row: u64,
    quality: &mut Quality,
) -> Result<TokenBatch> {
    let (columns, sequence_masks) = list_columns(batch, mapping, context)?;
    let row_of = |i: usize| first_row + i as u64;
    let all_rows: Vec<usize> = (0..batch.num_rows()).collect();
    let mut responses = responses::read(batch, mapping, context, (&all_rows, &row_of), false, quality)?;
    let Some(reference) = reference(&columns) else {
        let offsets = vec![0; batch.num_rows() + 1];
        return Ok(TokenBatch { origin, offsets, responses, tokens: Default::default() });
    };
    let token_masks = token_masks(&columns, context)?;
    let lengths = |column: Column| responses.ints.get(column).map(|v| &v[..]);
    let aligned = mapping.is_of_texts()
        || already_aligned(&columns, &token_masks, context.alignment, lengths(Column::ResponseLen));
    let rows = Rows {
        mapping,
        context,
        columns: &columns,
        masks: &token_masks,
        reference,
        response_len: lengths(Column::ResponseLen),
        prompt_len: lengths(Column::PromptLen),
        own_prompt: responses.prompt_ids.is_some(),
        first_row,
    };
    let plans = if aligned { None } else { Some(rows.plans(batch.num_rows())?) };
    let longer = columns[reference].lists.offsets.windows(2).position(|w| w[1] - w[0] > 1);
    if let Some(row) = longer.filter(|_| aligned).map(row_of) {
        if context.alignment == AlignmentRule::Auto {
            context.conventions.saw_equal(row);
        }
        if columns.iter().any(|list| list.column == Column::Advantage) {
            context.conventions.saw_advantages_of_tokens(row);
        }
    }
    let (offsets, picks) = match &plans {
        None => (rebased(&columns[reference].lists), vec![None; columns.len()]),
        Some(plans) => {
            let picks = columns.iter().enumerate().map(|(c, _)| rows.pick(c, plans).map(Some));
            (offsets_of(plans), picks.collect::<Result<Vec<_>>>()?)
        }
    };
    if let Some(plans) = plans.as_ref().filter(|p| p.iter().any(|p| p.prompt_before)) {
        responses.prompt_ids = rows.prompts(plans)?;
    }
    let base = columns[reference].lists.offsets.first().copied().unwrap_or(0);
    let total = offsets.last().copied().unwrap_or(0);
    let mut sources: Vec<TokenSource<'_>> = Vec::with_capacity(columns.len());
    for (list, pick) in columns.iter().zip(picks) {
        let values = match &pick {
            None => list.lists.values.slice(base_of(&list.lists, base), total),
            Some(_) => list.lists.values.clone(),
        };
        sources.push(TokenSource {
            column: list.column,
            raw: &list.source.name,
            transform: list.source.transform,
            values,
            pick,
        });
    }
    let (mask_sources, sources): (Vec<_>, Vec<_>) =
        sources.into_iter().partition(|s| s.column == Column::Mask);
    let spread = sequence_masks.iter().map(|flags| tokens::spread(flags, &offsets));
    let asked = context.asked(&responses).map(|asked| tokens::spread(&asked, &offsets));
    let of_tokens = mask_sources.iter().map(|s| s.flags(context)).collect::<Result<Vec<_>>>()?;
    let mask = tokens::merge_masks(of_tokens.into_iter().chain(spread))
        .map(|mask| tokens::settle_mask(mask, asked.as_deref(), quality));
    let whole = 0..offsets.len() - 1;
    let owners = Owners { offsets: &offsets, rows: &row_of, whole, asked: asked.as_deref() };
    let tokens = tokens::read(&sources, mask, context, owners, quality)?;
    let mut out = TokenBatch { origin, offsets, responses, tokens };
    if let Some(plans) = &plans {
        out.count_positions_from(|i| plans[i].response.start);
    }
    out.drop_plain_positions();
    out.derive_policy_version();
    token_rewards::sum(&mut out, mapping, context, quality);
    Ok(out)
}

fn base_of(lists: &Lists, fallback: usize) -> usize {
    lists.offsets.first().copied().unwrap_or(fallback)
}

/// The list columns, and the masks that have one flag a response.
fn list_columns<'a>(
    batch: &RecordBatch,
    mapping: &'a Mapping,
    context: &FileContext,
) -> Result<(Vec<TokenLists<'a>>, Vec<Vec<u8>>)> {
    let mut columns = Vec::new();
    let mut sequence_masks = Vec::new();
    for mapped in mapping.columns.iter().filter(|m| m.column.level() == Level::Token) {
        for source in &mapped.sources {
            let Some(array) = batch.column_by_name(&source.name) else { continue };
            let column = mapped.column;
            let wrong = |WrongType(found)| context.type_error(&source.name, column, found);
            let scalar = !matches!(
                array.data_type(),
                DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(_, _) | DataType::Null
            );
            if array.data_type() == &DataType::Null {
                continue;
            }
            if source.transform == Transform::Spell {
                let lists = context.speller.spell(array).map_err(wrong)?;
                columns.push(TokenLists { column, source, lists });
                continue;
            }
            if scalar && column == Column::Mask {
                let one = TokenSource {
                    column,
                    raw: &source.name,
                    transform: source.transform,
                    values: array.clone(),
                    pick: None,
                };
                sequence_masks.push(one.flags(context)?);
                continue;
            }
            columns.push(TokenLists { column, source, lists: Lists::of(array).map_err(wrong)? });
        }
    }
    Ok((columns, sequence_masks))
}

/// The column that says how many tokens a row has: ids, else texts, else the first numbers.
fn reference(columns: &[TokenLists<'_>]) -> Option<usize> {
    [Column::TokenId, Column::TokenText]
        .iter()
        .find_map(|c| columns.iter().position(|l| l.column == *c))
        .or_else(|| columns.iter().position(|l| l.column != Column::Mask))
}

fn token_masks(columns: &[TokenLists<'_>], context: &FileContext) -> Result<Vec<Vec<u8>>> {
    columns
        .iter()
        .filter(|l| l.column == Column::Mask)
        .map(|l| {
            let source = TokenSource {
                column: Column::Mask,
                raw: &l.source.name,
                transform: l.source.transform,
                values: l.lists.values.clone(),
                pick: None,
            };
            source.flags(context)
        })
        .collect()
}

/// Whether all lists of every row have one length and no row has prompt or padding to cut.
fn already_aligned(
    columns: &[TokenLists<'_>],
    masks: &[Vec<u8>],
    rule: AlignmentRule,
    response_len: Option<&[Option<i64>]>,
) -> bool {
    let same = |a: &Lists, b: &Lists| {
        let (x, y) = (base_of(a, 0), base_of(b, 0));
        a.offsets.len() == b.offsets.len() && a.offsets.iter().zip(&b.offsets).all(|(i, j)| i - x == j - y)
    };
    let Some((first, rest)) = columns.split_first() else { return true };
    // A null list may hide values behind it; the row-wise way looks at each.
    let plain = |l: &TokenLists<'_>| {
        l.lists.nulls.is_none()
            || (0..l.lists.offsets.len() - 1)
                .all(|i| !l.lists.is_null(i) || l.lists.offsets[i] == l.lists.offsets[i + 1])
    };
    if !columns.iter().all(plain) || !rest.iter().all(|l| same(&first.lists, &l.lists)) {
        return false;
    }
    let row_lengths = first.lists.offsets.windows(2).map(|w| w[1] - w[0]);
    match rule {
        AlignmentRule::Exact => true,
        AlignmentRule::Auto | AlignmentRule::Given(ListAlignment::Response) => {
            let lists = columns.iter().filter(|l| l.column == Column::Mask).zip(masks);
            let untouched = lists.into_iter().all(|(l, flags)| {
                l.lists.offsets.windows(2).all(|w| w[0] == w[1] || (flags[w[0]] == 1 && flags[w[1] - 1] == 1))
            });
            let whole = response_len.is_none_or(|logged| {
                row_lengths.zip(logged).all(|(n, said)| said.is_none_or(|said| said == n as i64))
            });
            untouched && whole
        }
        AlignmentRule::Given(_) => false,
    }
}

fn rebased(lists: &Lists) -> Vec<usize> {
    let base = base_of(lists, 0);
    lists.offsets.iter().map(|o| o - base).collect()
}

fn offsets_of(plans: &[RowPlan]) -> Vec<usize> {
    let mut end = 0;
    let ends = plans.iter().map(|p| {
        end += p.response.len();
        end
    });
    std::iter::once(0).chain(ends.collect::<Vec<_>>()).collect()
}
