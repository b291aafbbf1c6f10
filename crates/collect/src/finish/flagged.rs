//! Candidates as rows of the table of flagged tokens.

use crate::collect::candidates::{Candidate, CandidateStore};
use crate::collect::groups::{GroupTable, GroupTally};
use crate::collect::tally::BatchKey;
use crate::token_text::TokenTexts;
use stapo_base::error::Result;
use stapo_batch::batch::{Id, MISSING_ID};
use stapo_framework::batch::gradient_source;
use stapo_framework::risk::spurious_risk;
use stapo_framework::s2t::is_low_entropy;
use stapo_ingest::RowIndex;
use stapo_ingest::right::RightRule;
use stapo_result::{FlagKind, FlaggedToken};

/// The candidates with all that turns them into rows of the table.
#[derive(Debug)]
pub struct FlaggedSource {
    /// The candidates.
    pub candidates: CandidateStore,
    /// Keys of the batches, ascending.
    pub keys: Vec<BatchKey>,
    /// τ_h of the batches.
    pub tau_h: Vec<Option<f64>>,
    /// Rows of responses.
    pub rows: RowIndex,
    /// Groups.
    pub groups: GroupTable,
    /// What is right, where something says it.
    pub right: Option<RightRule>,
    /// Texts.
    pub texts: TokenTexts,
}

/// A row of the table of flagged tokens.
pub struct TableRow {
    /// The token, without its ids and what is around it.
    pub token: FlaggedToken,
    /// Its group.
    pub group: Id,
    /// Its response.
    pub sample: Id,
    /// What is before it.
    pub before: String,
    /// What is after it.
    pub after: String,
}

impl FlaggedSource {
    /// The batch number and threshold of a candidate; one without a threshold is not flagged.
    pub fn threshold(&self, candidate: &Candidate) -> Option<(usize, f64)> {
        let number = self.keys.binary_search(&candidate.batch).ok()?;
        Some((number, self.tau_h[number]?))
    }

    /// What becomes of a candidate under a threshold.
    pub fn kind(candidate: &Candidate, tau_h: f64) -> FlagKind {
        match is_low_entropy(candidate.entropy, tau_h) {
            true => FlagKind::Spurious,
            false => FlagKind::Exploratory,
        }
    }

    /// The row of a candidate.
    pub fn row(&self, candidate: &Candidate) -> Option<FlaggedToken> {
        let mut row = self.row_alone(candidate)?;
        (row.group_id, row.sample_id) = (shown_id(&candidate.group), shown_id(&candidate.sample));
        let shown = self.texts.all_shown(&candidate.context, candidate.texts.as_deref());
        let (before, after) = around(&shown, candidate.centre as usize);
        (row.before, row.after) = (before.to_vec(), after.to_vec());
        Some(row)
    }

    /// The row of a candidate, without ids and the tokens around it.
    fn row_alone(&self, candidate: &Candidate) -> Option<FlaggedToken> {
        let (_, tau_h) = self.threshold(candidate)?;
        let c = candidate;
        let group = self.groups.get(c.batch.step, &c.group).filter(|_| c.group != Id::Missing);
        let logged = |v: f32| v.is_finite().then_some(f64::from(v));
        Some(FlaggedToken {
            kind: Self::kind(c, tau_h),
            step: c.batch.step,
            update: c.update,
            group_id: None,
            sample_id: None,
            row: self.rows.row(c.place.0, c.place.1),
            position: i64::from(c.position),
            token_id: (c.token_id != MISSING_ID).then_some(i64::from(c.token_id)),
            token: self.token(c),
            logprob: f64::from(c.logprob),
            entropy: f64::from(c.entropy),
            advantage: f64::from(c.advantage),
            grad_norm: c.energy[1].sqrt(),
            grad_norm_low: c.energy[0].sqrt(),
            grad_norm_high: c.energy[2].sqrt(),
            norm_source: gradient_source(c.flags).into(),
            tau_h,
            risk: risk(c),
            change_low: c.change[0],
            change_high: c.change[1],
            measured_change: logged(c.measured_change),
            reward: logged(c.reward),
            group_passes: group.as_ref().and_then(|g| self.passes(g)),
            group_size: group.map(|g| g.responses),
            before: Vec::new(),
            after: Vec::new(),
        })
    }

    /// The row of a candidate as the table has it: what is around it is two texts.
    fn table_row(&self, candidate: &Candidate) -> Option<TableRow> {
        let token = self.row_alone(candidate)?;
        let centre = candidate.centre as usize;
        let ids = around(&candidate.context, centre);
        let texts = candidate.texts.as_deref().map(|texts| around(texts, centre));
        Some(TableRow {
            token,
            group: candidate.group.clone(),
            sample: candidate.sample.clone(),
            before: self.texts.joined(ids.0, texts.map(|texts| texts.0)),
            after: self.texts.joined(ids.1, texts.map(|texts| texts.1)),
        })
    }

    /// How many responses of a group are right, where the outcome of each is known.
    fn passes(&self, group: &GroupTally) -> Option<u32> {
        let (right, judged) = group.right_by(self.right.as_ref()?);
        (judged == group.responses).then_some(right)
    }

    /// Calls `visit` with the row of every flagged token, in the order of the table.
    pub fn for_each_row(&self, mut visit: impl FnMut(FlaggedToken) -> Result<()>) -> Result<()> {
        self.candidates.for_each(|candidate| self.row(candidate).map_or(Ok(()), &mut visit))
    }

    /// The same with rows as the table has them.
    pub fn for_each_table_row(&self, mut visit: impl FnMut(TableRow) -> Result<()>) -> Result<()> {
        self.candidates.for_each(|candidate| self.table_row(candidate).map_or(Ok(()), &mut visit))
    }

    fn token(&self, c: &Candidate) -> Option<String> {
        let logged = c.texts.as_ref().and_then(|texts| texts.get(c.centre as usize));
        self.texts.known(c.token_id).map(str::to_owned).or_else(|| logged.map(|t| t.to_string()))
    }
}

/// What is before and after the centre.
fn around<T>(all: &[T], centre: usize) -> (&[T], &[T]) {
    (all.get(..centre).unwrap_or_default(), all.get(centre + 1..).unwrap_or_default())
}

/// An id as text, where logged.
pub fn shown_id(id: &Id) -> Option<String> {
    (*id != Id::Missing).then(|| id.to_string())
}

/// How much a candidate looks like a spurious token.
pub fn risk(c: &Candidate) -> f64 {
    spurious_risk(f64::from(c.logprob), f64::from(c.entropy), f64::from(c.advantage))
}
