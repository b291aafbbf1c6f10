//! Which list value belongs to which token: the conventions of real logs, normalised to
//! "value t belongs to response token t".

use std::ops::Range;

use crate::schema::alignment::ListAlignment;

/// What is known of one row before its values are looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowShape<'a> {
    /// Length of the token ids (or of the longest list where there are none).
    pub tokens: usize,
    /// Length of the value lists (the shortest that is not empty).
    pub values: usize,
    /// Whether the value lists have different lengths.
    pub uneven: bool,
    /// Token-level training mask.
    pub mask: Option<&'a [u8]>,
    /// Response length as logged.
    pub response_len: Option<usize>,
    /// Prompt length as logged.
    pub prompt_len: Option<usize>,
    /// Whether the prompt has a column of its own.
    pub own_prompt: bool,
    /// The token ids, where logged: padding repeats one id.
    pub ids: Option<&'a [i32]>,
}

/// Where the response lies among the row's tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowPlan {
    /// Response tokens, as indices into the token ids.
    pub response: Range<usize>,
    /// The convention that was found or given.
    pub alignment: ListAlignment,
    /// Whether the tokens before the response are its prompt (not padding).
    pub prompt_before: bool,
}

impl RowPlan {
    /// A row that is its response.
    pub fn whole(tokens: usize) -> Self {
        Self { response: 0..tokens, alignment: ListAlignment::Response, prompt_before: false }
    }
}

/// From token index to value index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// Value index = token index − this.
    Back(usize),
    /// One value for each trained token only.
    Compact,
}

/// Finds the response of a row; `None` where the lengths make no sense together.
pub fn plan(given: Option<ListAlignment>, row: &RowShape<'_>) -> Option<RowPlan> {
    let alignment = match given {
        Some(alignment) => alignment,
        None => recognise(row)?,
    };
    let by = mask_shift(alignment, row);
    let full_mask = row.mask.filter(|m| m.len() == row.tokens || m.len() + by == row.tokens);
    let first = full_mask.map(|m| m.iter().position(|f| *f == 1).map_or(row.tokens, |t| t + by));
    let last = full_mask.map(|m| m.iter().rposition(|f| *f == 1).map_or(0, |t| t + 1 + by));
    // A token that is trained on is of the response, whatever lengths say: some count trained tokens only.
    let (not_before, not_after) = (last.unwrap_or(0), first.unwrap_or(row.tokens));
    let response = match alignment {
        ListAlignment::Response => {
            let logged = row.response_len.map(|n| n.max(not_before));
            let end = logged.or_else(|| padded_end(row, full_mask?, last?));
            0..end.unwrap_or(row.tokens).min(row.tokens)
        }
        ListAlignment::LeftPadded => {
            let logged = row.response_len.map(|n| row.tokens.saturating_sub(n).min(not_after));
            logged.or(first).unwrap_or(0).min(row.tokens)..row.tokens
        }
        ListAlignment::Full | ListAlignment::Shifted | ListAlignment::Compact => {
            let start = row.prompt_len.filter(|p| *p <= not_after).or(first).unwrap_or(0);
            let end = row.response_len.map(|n| start.saturating_add(n).max(not_before)).or(last);
            start..end.unwrap_or(row.tokens).clamp(start, row.tokens)
        }
        ListAlignment::Right => {
            let length = row.response_len.unwrap_or(row.values).min(row.tokens);
            row.tokens - length..row.tokens
        }
    };
    let prompt_before =
        !row.own_prompt && !matches!(alignment, ListAlignment::Response | ListAlignment::LeftPadded);
    Some(RowPlan { response, alignment, prompt_before })
}

/// The end of a right-padded response: trailing untrained tokens that all repeat one id.
fn padded_end(row: &RowShape<'_>, mask: &[u8], last: usize) -> Option<usize> {
    let tail = row.ids?.get(last..)?;
    let padding = tail.len() > 1 && tail.windows(2).all(|w| w[0] == w[1]);
    (padding && mask.len() == row.tokens).then_some(last)
}

/// The convention that explains the lengths of a row.
fn recognise(row: &RowShape<'_>) -> Option<ListAlignment> {
    let full_mask = row.mask.filter(|m| m.len() == row.tokens);
    if row.values == row.tokens {
        let Some(mask) = full_mask.filter(|m| m.first().is_some_and(|f| *f != 1)) else {
            return Some(ListAlignment::Response);
        };
        // Where nothing is trained on, the mask does not say where the response is.
        let Some(start) = mask.iter().position(|f| *f == 1) else { return Some(ListAlignment::Response) };
        let leading = row.ids.and_then(|ids| ids.get(..start)).unwrap_or_default();
        let repeats = leading.len() > 1 && leading.windows(2).all(|w| w[0] == w[1]);
        // Untrained tokens before the first trained one: the prompt, or padding of one id.
        return Some(match (repeats, row.own_prompt) {
            (true, _) => ListAlignment::LeftPadded,
            (false, true) => ListAlignment::Response,
            (false, false) => ListAlignment::Full,
        });
    }
    // A convention explains all lists of a row: where one is shorter than the others, an entry is
    // missing, and no one knows which.
    if row.uneven {
        return None;
    }
    if full_mask.is_some_and(|m| set(m) == row.values) {
        return Some(ListAlignment::Compact);
    }
    if row.values + 1 == row.tokens && row.response_len.is_none_or(|n| n != row.values) {
        return Some(ListAlignment::Shifted);
    }
    let said = row.response_len == Some(row.values) || row.mask.is_some_and(|m| m.len() == row.values);
    (row.values < row.tokens && said).then_some(ListAlignment::Right)
}

/// Flags that are set.
fn set(mask: &[u8]) -> usize {
    mask.iter().filter(|flag| **flag == 1).count()
}

/// A mask as long as the values is shifted with them.
fn mask_shift(alignment: ListAlignment, row: &RowShape<'_>) -> usize {
    let with_values = row.mask.is_some_and(|m| m.len() == row.values);
    usize::from(alignment == ListAlignment::Shifted && with_values)
}

/// What a list holds, which decides on the lengths that it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Token ids or texts.
    Tokens,
    /// The training mask.
    Mask,
    /// Numbers of tokens.
    Values,
}

/// How a list of `length` values lies against the tokens; `None` where it fits nowhere.
pub fn shift_of(plan: &RowPlan, row: &RowShape<'_>, length: usize, role: Role) -> Option<Shift> {
    let response = plan.response.len();
    match plan.alignment {
        _ if role == Role::Tokens && length == row.tokens => Some(Shift::Back(0)),
        ListAlignment::Shifted
            if role == Role::Mask && (length == row.tokens || length + 1 == row.tokens) =>
        {
            Some(Shift::Back(mask_shift(plan.alignment, row)))
        }
        ListAlignment::Compact if row.mask.is_some_and(|m| length < m.len() && length == set(m)) => {
            Some(Shift::Compact)
        }
        ListAlignment::Shifted if row.uneven => None,
        // Lists of the whole sequence beside lists of the response: one of them lacks entries, or has
        // some too many.
        ListAlignment::Right if row.uneven && role == Role::Values && length != response => None,
        ListAlignment::Response | ListAlignment::LeftPadded | ListAlignment::Full
            if row.uneven && role == Role::Values && length != row.tokens =>
        {
            None
        }
        ListAlignment::Shifted if length == row.tokens || length + 1 == row.tokens => Some(Shift::Back(1)),
        _ if length == row.tokens => Some(Shift::Back(0)),
        _ if length == response => Some(Shift::Back(plan.response.start)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stapo_batch::batch::MISSING_FLAG;

    const IDS: [i32; 6] = [5, 6, 7, 8, 9, 10];

    fn row(values: usize, mask: Option<&[u8]>) -> RowShape<'_> {
        RowShape { tokens: 6, values, mask, ids: Some(&IDS), ..RowShape::default() }
    }

    fn found(row: &RowShape<'_>) -> (ListAlignment, Range<usize>) {
        let plan = plan(None, row).map(|p| (p.alignment, p.response));
        plan.unwrap_or((ListAlignment::Response, 99..99))
    }

    #[test]
    fn equal_lengths_are_the_response() {
        assert_eq!(found(&row(6, None)), (ListAlignment::Response, 0..6));
        assert_eq!(found(&row(6, Some(&[1, 1, 0, 0, 1, 1]))), (ListAlignment::Response, 0..6));
    }

    #[test]
    fn leading_untrained_tokens_are_the_prompt() {
        let mask = [0, 0, 1, 0, 1, 0];
        assert_eq!(found(&row(6, Some(&mask))), (ListAlignment::Full, 2..5));
        // A flag that says nothing says no.
        let mask = [MISSING_FLAG, 0, 1, 0, 1, MISSING_FLAG];
        assert_eq!(found(&row(6, Some(&mask))), (ListAlignment::Full, 2..5));
    }

    #[test]
    fn a_response_that_is_not_trained_on_keeps_its_tokens() {
        assert_eq!(found(&row(6, Some(&[0; 6]))), (ListAlignment::Response, 0..6));
        let padding = RowShape { ids: Some(&[9; 6]), ..row(6, Some(&[0; 6])) };
        assert_eq!(found(&padding), (ListAlignment::Response, 0..0));
    }

    #[test]
    fn lengths_never_cut_what_is_trained_on() {
        let mask = [1, 1, 0, 0, 1, 1];
        let trained_only = RowShape { response_len: Some(4), ..row(6, Some(&mask)) };
        assert_eq!(found(&trained_only), (ListAlignment::Response, 0..6));
        let mask = [0, 1, 1, 0, 1, 0];
        let of_another = RowShape { prompt_len: Some(3), response_len: Some(2), ..row(6, Some(&mask)) };
        assert_eq!(found(&of_another), (ListAlignment::Full, 1..5));
    }

    #[test]
    fn padding_is_cut_on_both_sides() {
        let ids = [0, 0, 0, 8, 9, 10];
        let left = RowShape { ids: Some(&ids), ..row(6, Some(&[0, 0, 0, 1, 1, 1])) };
        assert_eq!(found(&left), (ListAlignment::LeftPadded, 3..6));
        let ids = [8, 9, 10, 0, 0, 0];
        let right = RowShape { ids: Some(&ids), ..row(6, Some(&[1, 1, 1, 0, 0, 0])) };
        assert_eq!(found(&right), (ListAlignment::Response, 0..3));
    }

    #[test]
    fn one_value_less_is_shifted() {
        let shape = row(5, Some(&[0, 0, 1, 1, 1, 1]));
        assert_eq!(found(&shape), (ListAlignment::Shifted, 2..6));
        let plan = plan(None, &shape);
        assert_eq!(plan.and_then(|p| shift_of(&p, &shape, 5, Role::Values)), Some(Shift::Back(1)));
    }

    #[test]
    fn rolled_lists_keep_their_tokens() {
        let shape = row(6, Some(&[0, 1, 1, 1, 1, 0]));
        let plan = plan(Some(ListAlignment::Shifted), &shape);
        assert_eq!(plan.as_ref().map(|p| p.response.clone()), Some(2..6));
        let shift = |role| plan.as_ref().and_then(|p| shift_of(p, &shape, 6, role));
        assert_eq!(shift(Role::Tokens), Some(Shift::Back(0)));
        assert_eq!(shift(Role::Mask), Some(Shift::Back(1)));
        assert_eq!(shift(Role::Values), Some(Shift::Back(1)));
    }

    #[test]
    fn mixed_lengths_are_aligned_from_the_right() {
        let shape = row(4, Some(&[1, 1, 0, 1]));
        assert_eq!(found(&shape), (ListAlignment::Right, 2..6));
        let plan = plan(None, &shape);
        assert_eq!(plan.and_then(|p| shift_of(&p, &shape, 4, Role::Values)), Some(Shift::Back(2)));
    }

    #[test]
    fn one_value_a_trained_token_is_compact() {
        let shape = row(3, Some(&[0, 1, 1, 0, 0, 1]));
        assert_eq!(found(&shape), (ListAlignment::Compact, 1..6));
    }

    #[test]
    fn lengths_without_a_reason_are_refused() {
        assert_eq!(plan(None, &row(3, None)), None);
        assert_eq!(plan(None, &row(9, None)), None);
    }

    #[test]
    fn one_list_that_is_too_short_or_too_long_fits_nowhere() {
        let uneven = RowShape { uneven: true, ..row(5, None) };
        assert_eq!(plan(None, &uneven), None);
        let longer = |alignment, length| {
            let shape = RowShape { response_len: Some(4), ..row(4, None) };
            let plan = plan(Some(alignment), &shape);
            plan.and_then(|p| shift_of(&p, &shape, length, Role::Values))
        };
        for alignment in
            [ListAlignment::Response, ListAlignment::LeftPadded, ListAlignment::Right, ListAlignment::Full]
        {
            assert!(longer(alignment, 6).is_some() && longer(alignment, 4).is_some(), "{alignment}");
            assert_eq!((longer(alignment, 5), longer(alignment, 3)), (None, None), "{alignment}");
        }
        let mask = [0, 1, 1, 0, 0, 1];
        let compact = row(3, Some(&mask));
        let plan = plan(None, &compact);
        let shift = |length| plan.as_ref().and_then(|p| shift_of(p, &compact, length, Role::Values));
        assert_eq!((shift(3), shift(2)), (Some(Shift::Compact), None));
    }
}
