//! Rows of the nested layout whose lists have to be aligned one by one.

use arrow_buffer::ScalarBuffer;

use crate::align::plan;
use crate::align::plan::{Role, RowPlan, RowShape, Shift};
use crate::file_context::FileContext;
use crate::schema::alignment::{AlignmentRule, ListAlignment};
use crate::schema::mapping::{Mapping, RawSource};
use crate::values::arrays;
use crate::values::arrays::WrongType;
use crate::values::lists::Lists;
use stapo_base::error::Result;
use stapo_batch::columns::Column;

/// Marks a token that a picked column has no value for.
pub const ABSENT: usize = usize::MAX;

/// A token-level list column.
pub struct TokenLists<'a> {
    /// What its values are of a token.
    pub column: Column,
    /// Where it comes from.
    pub source: &'a RawSource,
    /// One list a row.
    pub lists: Lists,
}

/// Whether a column holds numbers of tokens.
fn is_value(column: Column) -> bool {
    !matches!(column, Column::Mask | Column::TokenId | Column::TokenText)
}

/// A batch whose rows are aligned one by one.
pub struct Rows<'a> {
    /// Names for messages.
    pub mapping: &'a Mapping,
    /// The file they come from, with its rule of alignment.
    pub context: &'a FileContext,
    /// The token-level list columns.
    pub columns: &'a [TokenLists<'a>],
    /// Flags of the token-level masks, in the order of their columns.
    pub masks: &'a [Vec<u8>],
    /// Index of the column that says how many tokens a row has.
    pub reference: usize,
    /// Response lengths as logged.
    pub response_len: Option<&'a [Option<i64>]>,
    /// Prompt lengths as logged.
    pub prompt_len: Option<&'a [Option<i64>]>,
    /// Whether the prompt has a column of its own.
    pub own_prompt: bool,
    /// The batch's first row in its file.
    pub first_row: u64,
}

impl Rows<'_> {
    /// Where the response of each row lies.
    pub fn plans(&self, rows: usize) -> Result<Vec<RowPlan>> {
        let ids = self.ids()?;
        (0..rows)
            .map(|i| {
                self.note_advantage(i);
                let shape = self.shape(i, ids.as_deref());
                let given = match self.context.alignment {
                    AlignmentRule::Given(alignment) => Some(alignment),
                    AlignmentRule::Exact => return Ok(RowPlan::whole(shape.tokens)),
                    AlignmentRule::Auto => None,
                };
                let plan = plan::plan(given, &shape).ok_or_else(|| self.mismatch(i))?;
                if shape.tokens > 1 && matches!(given, None | Some(ListAlignment::Shifted)) {
                    self.note_convention(i, &shape, plan.alignment);
                }
                Ok(plan)
            })
            .collect()
    }

    fn note_convention(&self, i: usize, shape: &RowShape<'_>, found: ListAlignment) {
        let row = self.first_row + i as u64;
        if shape.values == shape.tokens {
            self.context.conventions.saw_equal(row);
        } else if found == ListAlignment::Shifted {
            self.context.conventions.saw_one_less(row);
        }
    }

    fn note_advantage(&self, i: usize) {
        let (row, conventions) = (self.first_row + i as u64, &self.context.conventions);
        for list in self.columns.iter().filter(|l| l.column == Column::Advantage) {
            if self.is_of_response(list, i) {
                conventions.saw_advantage_of_response(row);
            } else if list.lists.row_len(i) > 1 {
                conventions.saw_advantages_of_tokens(row);
            }
        }
    }

    /// Whether a list has one value for the whole response of row `i`: an advantage beside lists of more.
    fn is_of_response(&self, list: &TokenLists<'_>, i: usize) -> bool {
        let is_longer = |other: &TokenLists<'_>| is_value(other.column) && other.lists.row_len(i) > 1;
        list.column == Column::Advantage && list.lists.row_len(i) == 1 && self.columns.iter().any(is_longer)
    }

    fn ids(&self) -> Result<Option<Vec<i32>>> {
        let list = &self.columns[self.reference];
        if list.column != Column::TokenId {
            return Ok(None);
        }
        let wrong = |WrongType(found)| self.context.type_error(&list.source.name, list.column, found);
        Ok(Some(arrays::to_i32(&list.lists.values).map_err(wrong)?.to_vec()))
    }

    fn shape<'s>(&'s self, i: usize, ids: Option<&'s [i32]>) -> RowShape<'s> {
        let tokens = self.columns[self.reference].lists.row_len(i);
        let lengths = self.columns.iter().filter(|l| is_value(l.column) && !self.is_of_response(l, i));
        let lengths = lengths.map(|l| l.lists.row_len(i)).filter(|n| *n > 0);
        let (values, longest) = (lengths.clone().min(), lengths.max());
        let logged = |lengths: Option<&[Option<i64>]>| lengths.and_then(|l| usize::try_from(l[i]?).ok());
        let row = |lists: &Lists| lists.offsets[i]..lists.offsets[i] + lists.row_len(i);
        let mut masks = self.columns.iter().filter(|l| l.column == Column::Mask).zip(self.masks);
        RowShape {
            tokens,
            values: values.unwrap_or(tokens),
            uneven: values != longest,
            mask: masks.next().map(|(l, flags)| &flags[row(&l.lists)]),
            response_len: logged(self.response_len),
            prompt_len: logged(self.prompt_len),
            own_prompt: self.own_prompt,
            ids: ids.map(|ids| &ids[row(&self.columns[self.reference].lists)]),
        }
    }

    /// The list of row `i` that differs from the token ids, as an error.
    fn mismatch(&self, i: usize) -> stapo_base::error::Error {
        let reference = &self.columns[self.reference];
        let tokens = reference.lists.row_len(i);
        let other = self.columns.iter().find(|l| !matches!(l.lists.row_len(i), n if n == tokens || n == 0));
        let (column, found) = other.map_or((reference.column, tokens), |l| (l.column, l.lists.row_len(i)));
        let row = self.first_row + i as u64;
        self.context.length_error(row, self.mapping, (column, found), (reference.column, tokens))
    }

    /// For each response token the index of its value in column `c`.
    pub fn pick(&self, c: usize, plans: &[RowPlan]) -> Result<Vec<usize>> {
        let lists = &self.columns[c].lists;
        let mut pick = Vec::new();
        for (i, plan) in plans.iter().enumerate() {
            let length = lists.row_len(i);
            let from = lists.offsets[i];
            if length == 0 {
                pick.resize(pick.len() + plan.response.len(), ABSENT);
                continue;
            }
            if self.is_of_response(&self.columns[c], i) {
                pick.resize(pick.len() + plan.response.len(), from);
                continue;
            }
            let shape = self.shape(i, None);
            let exact = self.context.alignment == AlignmentRule::Exact && length != shape.tokens;
            let role = match self.columns[c].column {
                Column::TokenId | Column::TokenText => Role::Tokens,
                Column::Mask => Role::Mask,
                _ => Role::Values,
            };
            let shift = if exact { None } else { plan::shift_of(plan, &shape, length, role) };
            match shift.ok_or_else(|| {
                let reference = (self.columns[self.reference].column, shape.tokens);
                let row = self.first_row + i as u64;
                self.context.length_error(row, self.mapping, (self.columns[c].column, length), reference)
            })? {
                Shift::Back(by) => pick.extend(plan.response.clone().map(|t| match t.checked_sub(by) {
                    Some(v) if v < length => from + v,
                    _ => ABSENT,
                })),
                Shift::Compact => {
                    let mask = shape.mask.unwrap_or_default();
                    let mut next = mask[..plan.response.start].iter().filter(|m| **m == 1).count();
                    for t in plan.response.clone() {
                        let trained = mask[t] == 1 && next < length;
                        pick.push(if trained { from + next } else { ABSENT });
                        next += usize::from(mask[t] == 1);
                    }
                }
            }
        }
        Ok(pick)
    }

    /// The tokens before each response, as its prompt.
    pub fn prompts(&self, plans: &[RowPlan]) -> Result<Option<Vec<Option<ScalarBuffer<i32>>>>> {
        let lists = &self.columns[self.reference].lists;
        let Some(ids) = self.ids()? else { return Ok(None) };
        let ids = ScalarBuffer::from(ids);
        let prompt = |(i, plan): (usize, &RowPlan)| {
            plan.prompt_before.then(|| ids.slice(lists.offsets[i], plan.response.start))
        };
        Ok(Some(plans.iter().enumerate().map(prompt).collect()))
    }
}
