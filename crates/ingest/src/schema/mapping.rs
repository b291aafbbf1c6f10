//! From the columns a log has to the canonical ones: the mapping that was found.

use crate::schema::dialect::Dialect;
use stapo_batch::columns::Column;

/// How tokens lie in rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// A row is a response, token columns are lists.
    Nested,
    /// A row is a token.
    Long,
}

/// What is done to a raw value on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transform {
    /// The values are what the column wants.
    Keep,
    /// Probability to log-probability.
    Ln,
    /// Log ratio to ratio.
    Exp,
    /// A flag that says the opposite.
    Not,
    /// Labels: −100 is not trained on, every token id is.
    Labels,
    /// verl's `uid_session_index` to its `uid`.
    StripIndices,
    /// A text to a short id of it.
    Digest,
    /// A text to its tokens, where a tokenizer is given, else to its characters.
    Spell,
    /// So many thousandths of a number, as a term of a sum.
    Times(i32),
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
    /// What they are in the token stream.
    pub column: Column,
    /// Raw columns, all of them combined.
    pub sources: Vec<RawSource>,
    /// Why these were taken, and no others.
    pub reason: Reason,
}

/// A raw column of responses that is none of the canonical ones.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct OtherColumn {
    /// Name in the log.
    pub name: String,
    /// Whether its values are numbers; else they are texts, or flags in words.
    pub is_number: bool,
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
    /// Of the raw columns that are not used, those of one number, text or flag a response: read where they are
    /// asked for.
    pub others: Vec<OtherColumn>,
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

    /// Whether the reward of a response is the sum of its tokens' rewards: where nothing else says it.
    pub fn sums_token_rewards(&self) -> bool {
        !self.has(Column::Reward) && self.has(Column::TokenReward)
    }

    /// Whether groups are told by their prompts.
    pub fn groups_are_prompts(&self) -> bool {
        self.get(Column::GroupId).is_some_and(|mapped| mapped.reason == Reason::Fallback)
    }

    /// Whether the log holds texts and no tokens.
    pub fn is_of_texts(&self) -> bool {
        let spelled = |mapped: &Mapped| mapped.sources.iter().any(|s| s.transform == Transform::Spell);
        self.get(Column::TokenId).is_some_and(spelled)
    }

    /// The canonical column that has the values of a raw one as they are.
    pub fn column_of(&self, raw: &str) -> Option<Column> {
        let unchanged = |s: &RawSource| {
            s.name == raw && !matches!(s.transform, Transform::Ln | Transform::Exp | Transform::Spell)
        };
        self.columns.iter().find(|m| m.sources.len() == 1 && unchanged(&m.sources[0])).map(|m| m.column)
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

    /// Adds a column in its place.
    pub fn insert(&mut self, mapped: Mapped) {
        self.columns.push(mapped);
        self.columns.sort_by_key(|m| m.column);
    }
}

/// The names of all sources, for people.
pub fn source_names(mapped: &Mapped) -> String {
    mapped.sources.iter().map(|s| s.name.as_str()).collect::<Vec<_>>().join(" + ")
}
