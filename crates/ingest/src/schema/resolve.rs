//! Finds the canonical columns of a log: what the user said with `--map`, else the column that fits best.

use crate::schema::dialect::Dialect;
use crate::schema::mapping::{
    Layout, Mapped, Mapping, OtherColumn, RawSource, Reason, Transform, source_names,
};
use crate::schema::matching::{fits, fits_loosely, only_by_name, rank};
use crate::schema::misfits::note_misfits;
use crate::schema::raw_field::{Primitive, RawField, Shape};
use crate::schema::user_map::UserMap;
use crate::text_logs::of_texts;
use stapo_batch::columns::{Column, Level, fold_name};

/// Finds the canonical columns among `fields`. `None` where neither a token column nor texts with rewards are there.
pub fn resolve(fields: &[RawField], dialect: Dialect, user: &UserMap) -> Option<Mapping> {
    match layout_of(fields, user) {
        Some(layout) => Some(found(fields, dialect, user, layout, false)),
        None => of_texts(found(fields, dialect, user, Layout::Nested, true), fields, user),
    }
}

fn found(fields: &[RawField], dialect: Dialect, user: &UserMap, layout: Layout, are_texts: bool) -> Mapping {
    let mut mapping = Mapping {
        layout,
        dialect,
        columns: Vec::new(),
        reward_parts: reward_parts(fields, dialect, layout),
        others: Vec::new(),
        unused: Vec::new(),
        notes: Vec::new(),
    };
    for &column in Column::ALL {
        match said(user, column, fields, layout) {
            Some(None) => {}
            Some(Some(source)) if fields.iter().any(|f| f.name == source.name) => {
                let text = fields.iter().any(|f| f.name == source.name && is_text(f.shape));
                let sources = vec![RawSource { text, ..source.clone() }];
                mapping.columns.push(Mapped { column, sources, reason: Reason::Option });
            }
            _ if column == Column::Ratio && dialect.ratio_is_mismatch() => {}
            _ => guess(column, fields, layout, dialect, user, &mut mapping),
        }
    }
    if user.get(Column::Logprob).is_none() {
        take_probability(fields, layout, &mut mapping);
        mapping.fall_back_to_other_logprob();
    }
    if user.get(Column::GroupId).is_none() {
        group_by_prompt(&mut mapping, are_texts);
    }
    if mapping.sums_token_rewards() {
        let names = mapping.get(Column::TokenReward).map(source_names).unwrap_or_default();
        mapping.notes.push(format!(
            "`reward` is the sum of `{names}` over the response, or the one value where all its tokens have the same"
        ));
    }
    let used = |name: &str| {
        mapping.columns.iter().any(|m| m.sources.iter().any(|s| s.name == name))
            || mapping.reward_parts.iter().any(|(raw, _)| raw == name)
    };
    mapping.unused = fields.iter().map(|f| f.name.clone()).filter(|n| !used(n)).collect();
    mapping.others = fields.iter().filter(|f| mapping.unused.contains(&f.name)).filter_map(other).collect();
    note_misfits(fields, dialect, user, &mut mapping);
    mapping
}

/// What the user said of a column. `advantage` names both, as it does in logs: a list is that of tokens, one
/// number a row of a nested log that of its response.
fn said<'a>(
    user: &'a UserMap,
    column: Column,
    fields: &[RawField],
    layout: Layout,
) -> Option<Option<&'a RawSource>> {
    let of_response = |source: &RawSource| {
        let field = fields.iter().find(|f| f.name == source.name);
        layout == Layout::Nested && field.is_some_and(|f| matches!(f.shape, Shape::Scalar(_)))
    };
    let own = user.get(column);
    let advantage = user.get(Column::Advantage).flatten().filter(|source| of_response(source));
    match column {
        Column::Advantage if advantage.is_some() && user.get(Column::AdvantageSeq).is_none() => Some(None),
        Column::AdvantageSeq if own.is_none() => advantage.map(Some),
        _ => own,
    }
}

/// A response's advantage under the name that the user dropped.
fn is_dropped(column: Column, name: &str, user: &UserMap) -> bool {
    column == Column::AdvantageSeq && user.get(Column::Advantage) == Some(None) && name != column.name()
}

/// Token columns decide: lists of them are the nested layout, scalars the long one. Other list
/// columns, such as the prompt of a long file, decide nothing.
fn layout_of(fields: &[RawField], user: &UserMap) -> Option<Layout> {
    let deciding = |f: &&RawField| {
        let folded = fold_name(&f.name);
        let token_alias = |c: Column| c.aliases().contains(&folded.as_str());
        let mapped = user.named().any(|(c, raw)| raw == f.name && c.level() == Level::Token);
        let known =
            [Column::TokenId, Column::Logprob, Column::LogprobRollout, Column::LogprobNew, Column::Entropy];
        let texts = token_alias(Column::TokenText) && f.shape == Shape::List(Primitive::Text);
        let numbers = matches!(
            f.shape,
            Shape::List(Primitive::Int | Primitive::Float) | Shape::Scalar(Primitive::Int | Primitive::Float)
        );
        mapped || texts || (numbers && (known.into_iter().any(token_alias) || is_probability(&folded)))
    };
    let mut scalar = false;
    for field in fields.iter().filter(deciding) {
        match field.shape {
            Shape::List(_) => return Some(Layout::Nested),
            Shape::Scalar(_) => scalar = true,
            _ => {}
        }
    }
    scalar.then_some(Layout::Long)
}

fn is_probability(folded: &str) -> bool {
    matches!(folded, "prob" | "probability" | "token_prob" | "old_prob")
}

/// Columns that are called parts of the reward; of frameworks that name them after functions of the user, all numbers
/// with a fraction that are nothing else.
fn reward_parts(fields: &[RawField], dialect: Dialect, layout: Layout) -> Vec<(String, String)> {
    let by_function = dialect.names_reward_functions() && layout == Layout::Nested;
    let is_function = |f: &RawField| {
        by_function
            && f.shape == Shape::Scalar(Primitive::Float)
            && !Column::ALL.iter().any(|column| column.is_called(&f.name))
    };
    let part = |f: &RawField| {
        let called = f.name.strip_prefix("reward/").or_else(|| f.name.strip_prefix("rewards/"));
        let name = called.or_else(|| is_function(f).then_some(f.name.as_str()))?;
        matches!(f.shape, Shape::Scalar(Primitive::Float | Primitive::Int | Primitive::Bool))
            .then(|| (f.name.clone(), name.to_owned()))
    };
    fields.iter().filter_map(part).collect()
}

/// Where a framework writes no ids of groups, the responses to one prompt at one step are a group.
fn group_by_prompt(mapping: &mut Mapping, are_texts: bool) {
    let names_none = (are_texts || mapping.dialect.names_reward_functions()) && !mapping.has(Column::GroupId);
    let prompt = mapping.get(Column::PromptText).and_then(|mapped| mapped.sources.first());
    let Some(prompt) = prompt.filter(|_| names_none && mapping.layout == Layout::Nested) else { return };
    let source = RawSource { transform: Transform::Digest, ..prompt.clone() };
    // Of texts that a known framework wrote, nothing else can be done.
    if !are_texts || mapping.dialect == Dialect::Unknown {
        let who = mapping.dialect.name();
        mapping.notes.push(format!(
            "{who} logs no ids of groups: responses with the same `{}` at a step are one (--map group_id= to have none)",
            source.name
        ));
    }
    mapping.insert(Mapped { column: Column::GroupId, sources: vec![source], reason: Reason::Fallback });
}

fn guess(
    column: Column,
    fields: &[RawField],
    layout: Layout,
    dialect: Dialect,
    user: &UserMap,
    mapping: &mut Mapping,
) {
    let free =
        |f: &&RawField| !user.named().any(|(_, raw)| raw == f.name) && !is_dropped(column, &f.name, user);
    let fitting = |fits: fn(Column, Shape, Layout) -> bool| -> Vec<(usize, &RawField)> {
        fields
            .iter()
            .filter(free)
            .filter(|f| fits(column, f.shape, layout) && !only_by_name(column, &f.name, layout))
            .filter_map(|f| rank(column, f, fields, dialect).map(|r| (r, f)))
            .collect()
    };
    let mut matches = fitting(fits);
    if matches.is_empty() {
        matches = fitting(fits_loosely);
    }
    matches.sort_by_key(|(rank, _)| *rank);
    let combined = matches!(column, Column::Mask | Column::Clipped);
    let Some((best, _)) = matches.first() else { return };
    let reason = if *best == 0 { Reason::Name } else { Reason::Alias };
    let chosen = if combined && *best != 0 { &matches[..] } else { &matches[..1] };
    let sources = chosen.iter().map(|(_, f)| source(column, f, dialect)).collect();
    for (_, other) in &matches[chosen.len()..] {
        mapping.notes.push(format!(
            "`{column}` is `{}`; `{}` could be it too (--map {column}={})",
            chosen[0].1.name, other.name, other.name
        ));
    }
    mapping.columns.push(Mapped { column, sources, reason });
}

fn source(column: Column, field: &RawField, dialect: Dialect) -> RawSource {
    let folded = fold_name(&field.name);
    let transform = match column {
        Column::Ratio if folded.starts_with("log_") => Transform::Exp,
        Column::Mask if folded == "remove_sample" => Transform::Not,
        Column::GroupId if field.name == "uid" && dialect.uid_has_suffix() => Transform::StripIndices,
        _ => Transform::Keep,
    };
    RawSource { name: field.name.clone(), transform, text: is_text(field.shape) }
}

fn is_text(shape: Shape) -> bool {
    matches!(shape, Shape::Scalar(Primitive::Text) | Shape::List(Primitive::Text))
}

/// What of a column that is nothing else can be read as one value a response.
fn other(field: &RawField) -> Option<OtherColumn> {
    let Shape::Scalar(primitive) = field.shape else { return None };
    let is_number = matches!(primitive, Primitive::Int | Primitive::Float);
    let is_read = is_number || matches!(primitive, Primitive::Text | Primitive::Bool);
    is_read.then(|| OtherColumn { name: field.name.clone(), is_number })
}

fn take_probability(fields: &[RawField], layout: Layout, mapping: &mut Mapping) {
    if mapping.has(Column::Logprob) {
        return;
    }
    let found =
        fields.iter().find(|f| is_probability(&fold_name(&f.name)) && fits(Column::Logprob, f.shape, layout));
    if let Some(field) = found {
        let sources = vec![RawSource { name: field.name.clone(), transform: Transform::Ln, text: false }];
        mapping.insert(Mapped { column: Column::Logprob, sources, reason: Reason::Alias });
    }
}
