//! From the columns a log has to the canonical ones: aliases, rules for ambiguous names, `--map`.

use std::collections::BTreeMap;

use super::columns::{Column, Kind, Level, fold_name};
use super::dialect::{Dialect, Primitive, RawField, Shape};
use crate::error::{Error, Result};

/// How tokens lie in rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// A row is a response, token columns are lists.
    Nested,
    /// A row is a token.
    Long,
}

/// What is done to a raw value on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Transform {
    /// Nothing.
    Keep,
    /// Probability to log-probability.
    Ln,
    /// Log ratio to ratio.
    Exp,
    /// A flag that says the opposite.
    Not,
    /// verl's `uid_session_index` to its `uid`.
    StripIndices,
}

/// A raw column behind a canonical one.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RawSource {
    /// Name in the log.
    pub name: String,
    /// What is done to its values.
    pub transform: Transform,
    /// Whether its values are texts.
    #[serde(skip)]
    pub text: bool,
}

/// Why a raw column was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It has the canonical name.
    Name,
    /// It has a name seen in the wild.
    Alias,
    /// The user said so.
    Option,
    /// The better column is not there.
    Fallback,
}

/// A canonical column and where it comes from. Masks and clip flags may have several sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// The canonical column.
    pub column: Column,
    /// Raw columns, all of them combined.
    pub sources: Vec<RawSource>,
    /// Why.
    pub reason: Reason,
}

/// The mapping of one schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// How tokens lie in rows.
    pub layout: Layout,
    /// Who wrote the log.
    pub dialect: Dialect,
    /// Canonical columns found, in canonical order.
    pub columns: Vec<Mapped>,
    /// Components of the reward: raw column and component name.
    pub reward_parts: Vec<(String, String)>,
    /// Raw columns that are not used.
    pub unused: Vec<String>,
    /// Guesses that a user may want to overrule.
    pub notes: Vec<String>,
}

impl Mapping {
    /// Where `column` comes from.
    pub fn get(&self, column: Column) -> Option<&Mapped> {
        self.columns.iter().find(|m| m.column == column)
    }

    /// Whether `column` was found.
    pub fn has(&self, column: Column) -> bool {
        self.get(column).is_some()
    }

    /// Takes `column` for not there: it holds placeholders only.
    pub fn forget(&mut self, column: Column, why: &str) {
        self.columns.retain(|m| m.column != column);
        self.notes.push(format!("`{column}` {why}: taken as not logged"));
    }

    /// Uses the next best log-probability where the trainer's is not there.
    pub fn fall_back_to_other_logprob(&mut self) {
        if self.has(Column::Logprob) {
            return;
        }
        for other in [Column::LogprobNew, Column::LogprobRollout] {
            if let Some(at) = self.columns.iter().position(|m| m.column == other) {
                let found = self.columns.remove(at);
                let names = source_names(&found);
                self.notes.push(format!("no trainer log-probability: `{names}` serves as `logprob`"));
                self.insert(Mapped { column: Column::Logprob, reason: Reason::Fallback, ..found });
                return;
            }
        }
    }

    fn insert(&mut self, mapped: Mapped) {
        self.columns.push(mapped);
        self.columns.sort_by_key(|m| m.column);
    }
}

/// The names of all sources, for people.
pub fn source_names(mapped: &Mapped) -> String {
    mapped.sources.iter().map(|s| s.name.as_str()).collect::<Vec<_>>().join(" + ")
}

/// What the user said with `--map`: canonical column to raw name, or to nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserMap(BTreeMap<Column, Option<RawSource>>);

impl UserMap {
    /// Reads `canonical=column` arguments.
    pub fn parse(arguments: &[String]) -> Result<Self> {
        let mut map = BTreeMap::new();
        let mut used: BTreeMap<String, String> = BTreeMap::new();
        for argument in arguments {
            let fail = |message: String, hint: &str| Error::Map {
                argument: argument.clone(),
                message,
                hint: hint.into(),
            };
            let (canonical, raw) = argument.split_once('=').ok_or_else(|| {
                fail("not of the form canonical=column".into(), "for example --map logprob=old_log_probs")
            })?;
            let (column, transform) = match canonical {
                "prob" => (Column::Logprob, Transform::Ln),
                _ => (
                    Column::from_name(canonical).ok_or_else(|| unknown_canonical(argument, canonical))?,
                    Transform::Keep,
                ),
            };
            if let Some(other) = used.insert(raw.to_owned(), argument.clone()).filter(|_| !raw.is_empty()) {
                return Err(fail(
                    format!("column `{raw}` is mapped twice (also by --map {other})"),
                    "a column can be only one thing: drop one of the two",
                ));
            }
            let source =
                (!raw.is_empty()).then(|| RawSource { name: raw.to_owned(), transform, text: false });
            if map.insert(column, source).is_some() {
                return Err(fail(format!("`{column}` is mapped twice"), "drop one of the two"));
            }
        }
        Ok(Self(map))
    }

    /// The raw columns that the user named.
    pub fn named(&self) -> impl Iterator<Item = (Column, &str)> {
        self.0.iter().filter_map(|(c, s)| s.as_ref().map(|s| (*c, s.name.as_str())))
    }
}

fn unknown_canonical(argument: &str, canonical: &str) -> Error {
    let names: Vec<&str> = Column::ALL.iter().map(|c| c.name()).collect();
    Error::Map {
        argument: argument.to_owned(),
        message: format!("`{canonical}` is not a canonical column"),
        hint: format!("one of: prob, {}", names.join(", ")),
    }
}

/// Finds the canonical columns among `fields`. `None` where no token column is there.
pub fn resolve(fields: &[RawField], dialect: Dialect, user: &UserMap) -> Option<Mapping> {
    let layout = layout_of(fields, user)?;
    let mut mapping = Mapping {
        layout,
        dialect,
        columns: Vec::new(),
        reward_parts: reward_parts(fields),
        unused: Vec::new(),
        notes: Vec::new(),
    };
    for &column in Column::ALL {
        match user.0.get(&column) {
            Some(None) => {}
            Some(Some(source)) if fields.iter().any(|f| f.name == source.name) => {
                let text = fields.iter().any(|f| f.name == source.name && is_text(f.shape));
                let sources = vec![RawSource { text, ..source.clone() }];
                mapping.columns.push(Mapped { column, sources, reason: Reason::Option });
            }
            _ if is_mismatch_ratio(column, dialect) => {}
            _ => guess(column, fields, layout, dialect, user, &mut mapping),
        }
    }
    if !user.0.contains_key(&Column::Logprob) {
        take_probability(fields, layout, &mut mapping);
        mapping.fall_back_to_other_logprob();
    }
    let used = |name: &str| {
        mapping.columns.iter().any(|m| m.sources.iter().any(|s| s.name == name))
            || mapping.reward_parts.iter().any(|(raw, _)| raw == name)
    };
    mapping.unused = fields.iter().map(|f| f.name.clone()).filter(|n| !used(n)).collect();
    Some(mapping)
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

fn reward_parts(fields: &[RawField]) -> Vec<(String, String)> {
    let part = |f: &RawField| {
        let name = f.name.strip_prefix("reward/").or_else(|| f.name.strip_prefix("rewards/"))?;
        matches!(f.shape, Shape::Scalar(Primitive::Float | Primitive::Int))
            .then(|| (f.name.clone(), name.to_owned()))
    };
    fields.iter().filter_map(part).collect()
}

fn guess(
    column: Column,
    fields: &[RawField],
    layout: Layout,
    dialect: Dialect,
    user: &UserMap,
    mapping: &mut Mapping,
) {
    let free = |f: &&RawField| !user.named().any(|(_, raw)| raw == f.name);
    let mut matches: Vec<(usize, &RawField)> = fields
        .iter()
        .filter(free)
        .filter(|f| fits(column, f.shape, layout) && !only_by_name(column, &f.name, layout))
        .filter_map(|f| rank(column, f, fields, dialect).map(|r| (r, f)))
        .collect();
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

/// How well a raw name fits: 0 is the canonical name itself, then the order of the aliases.
fn rank(column: Column, field: &RawField, fields: &[RawField], dialect: Dialect) -> Option<usize> {
    let name = field.name.to_lowercase();
    if let Some(special) = special_name(&name, fields, dialect) {
        return (special == column).then_some(if name == column.name() { 0 } else { 1 });
    }
    // The scalar advantage of a response has the token column's name in many logs.
    if name == column.name() {
        return Some(0);
    }
    let folded = fold_name(&name);
    column.aliases().iter().position(|a| *a == folded).map(|at| at + 1)
}

/// Names that mean different things in different logs.
fn special_name(name: &str, fields: &[RawField], dialect: Dialect) -> Option<Column> {
    let has = |column: Column, not: &str| {
        fields.iter().any(|f| {
            let folded = fold_name(&f.name);
            f.name != not && folded != "logprob" && column.aliases().contains(&folded.as_str())
        })
    };
    match name {
        "per_token_logps" | "log_prob" => Some(Column::LogprobNew),
        "logprobs" if dialect.logprobs_are_trainers() == Some(true) => Some(Column::Logprob),
        "logprobs" if dialect.logprobs_are_trainers() == Some(false) => Some(Column::LogprobRollout),
        "logprobs" if has(Column::LogprobRollout, name) => Some(Column::Logprob),
        "logprobs" => Some(Column::LogprobRollout),
        _ => None,
    }
}

/// Whether a raw column of this shape can be `column`.
fn fits(column: Column, shape: Shape, layout: Layout) -> bool {
    use Primitive::{Bool, Float, Int, Text};
    if column == Column::PromptIds {
        return shape == Shape::List(Int);
    }
    let sequence_flag = matches!(shape, Shape::Scalar(Bool | Int | Float)) && column == Column::Mask;
    let primitive = match (column.level(), layout, shape) {
        (Level::Token, Layout::Nested, Shape::List(p)) => p,
        (Level::Token, Layout::Nested, Shape::Scalar(p)) if sequence_flag => p,
        (Level::Token, Layout::Long, Shape::Scalar(p)) => p,
        (Level::Response, _, Shape::Scalar(p)) => p,
        _ => return false,
    };
    match column.kind() {
        Kind::Int if column == Column::Step => matches!(primitive, Int | Float | Text),
        Kind::Int => primitive == Int,
        Kind::Float | Kind::Double => matches!(primitive, Int | Float),
        Kind::Flag => matches!(primitive, Bool | Int | Float),
        Kind::Text => primitive == Text,
        Kind::Id => matches!(primitive, Int | Text),
        Kind::IdList => false,
    }
}

/// prime-rl's ratio is trainer against sampler, not new against old.
fn is_mismatch_ratio(column: Column, dialect: Dialect) -> bool {
    column == Column::Ratio && matches!(dialect, Dialect::PrimeRlExport | Dialect::PrimeRlTraces)
}

/// Aliases that would mislead in one of the layouts: a scalar `advantage` is the token's own in the
/// long layout; `position_ids` of a nested log count from the prompt.
fn only_by_name(column: Column, name: &str, layout: Layout) -> bool {
    match (column, layout) {
        (Column::AdvantageSeq, Layout::Long) | (Column::Position, Layout::Nested) => name != column.name(),
        _ => false,
    }
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
