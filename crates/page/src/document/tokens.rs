//! Tokens in their context, whole responses, masks by two thresholds.

use super::Text;
use crate::hostile::Hostile;

/// Tokens that are shown one by one.
#[derive(Clone, Debug, PartialEq)]
pub enum Tokens {
    /// Each in its context.
    Excerpts(Vec<Excerpt>),
    /// Whole responses to browse.
    Responses(Responses),
    /// What a mask would take at other thresholds.
    Thresholds(Thresholds),
}

/// A token in its context.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Excerpt {
    /// Text before it.
    pub before: Hostile,
    /// The token.
    pub token: Hostile,
    /// Text after it.
    pub after: Hostile,
    /// What is known of it.
    pub facts: Text,
    /// The response, where it is on the page, and the words of the link.
    pub link: Option<(String, String)>,
}

/// Responses to browse.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Responses {
    /// Those that fit.
    pub list: Vec<Response>,
    /// How many the run has.
    pub of: u64,
    /// What the largest shade stands for: surprisal in nats, entropy in nats, gradient norm.
    pub largest: [f32; 3],
    /// The command that shows any other.
    pub command: Text,
    /// The response that is open at first.
    pub first: Option<String>,
}

/// A whole response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    /// What links lead to: `s12-g7-r3`.
    pub id: String,
    /// Step.
    pub step: i64,
    /// Its group.
    pub group: Option<Hostile>,
    /// Its name in the log.
    pub name: Option<Hostile>,
    /// Reward.
    pub reward: Option<f64>,
    /// Why it ended.
    pub ending: Option<Hostile>,
    /// The prompt.
    pub prompt: Option<Hostile>,
    /// Tokens of all of it.
    pub length: u64,
    /// Position of the first token here.
    pub first: u64,
    /// Its tokens.
    pub tokens: Vec<Token>,
    /// Whether texts bring their own blanks.
    pub spaced: bool,
}

/// A token of a response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Token {
    /// Its text.
    pub text: Hostile,
    /// Surprisal, entropy and gradient norm, as shades of their largest.
    pub shades: [u8; 3],
    /// Why it stands out.
    pub mark: Mark,
}

/// Why a token stands out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// It does not.
    #[default]
    None = 0,
    /// S2T would silence it.
    Silenced = 1,
    /// Rare, where the policy is unsure.
    Exploratory = 2,
    /// Not trained on.
    Untrained = 3,
}

/// Masks by two thresholds: computed where they are moved, from the candidates one by one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thresholds {
    /// Probabilities below which a token is rare: where the first slider stops.
    pub probability: Vec<f64>,
    /// Quantiles of the entropy below which the policy is sure: where the second slider stops.
    pub quantile: Vec<f64>,
    /// Where the run's own mask is.
    pub own: (usize, usize),
    /// Of each batch ln p, entropy and gradient norm of its candidates, by entropy.
    pub batches: Vec<Vec<[f32; 3]>>,
    /// Trained tokens.
    pub tokens: u64,
    /// Gradient energy of the run.
    pub energy: f64,
}
