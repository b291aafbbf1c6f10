//! A log in memory: rows that own their values.

use stapo_diagnosis::{Diagnosis, Measures, Outcome, examine_all};
use stapo_evidence::{Evidence, Response};

/// A response.
#[derive(Clone, Debug)]
pub struct Row {
    pub step: i64,
    pub group: u64,
    pub place: u64,
    pub slice: String,
    pub held_out: bool,
    pub update: Option<i64>,
    pub reward: f32,
    pub parts: Vec<f32>,
    pub advantage: Option<f32>,
    pub prompt: Option<u64>,
    pub finish: Option<String>,
    pub truncated: Option<bool>,
    pub tokens: Option<Vec<i32>>,
    pub mask: Option<Vec<u8>>,
    pub logprob: Vec<f32>,
    pub entropy: Option<Vec<f32>>,
    pub rollout: Option<Vec<f32>>,
    pub advantages: Option<Vec<f32>>,
    pub turns: Option<Vec<i32>>,
}

impl Row {
    pub fn response(&self) -> Response<'_> {
        Response {
            step: self.step,
            group: self.group,
            place: self.place,
            hash: self.place,
            slice: &self.slice,
            held_out: self.held_out,
            update: self.update,
            version: None,
            reward: self.reward,
            parts: &self.parts,
            advantage: self.advantage,
            prompt: self.prompt,
            prompt_len: None,
            finish: self.finish.as_deref(),
            truncated: self.truncated,
            tokens: self.tokens.as_deref(),
            mask: self.mask.as_deref(),
            logprob: &self.logprob,
            entropy: self.entropy.as_deref(),
            rollout: self.rollout.as_deref(),
            new: None,
            reference: None,
            advantages: self.advantages.as_deref(),
            is_weight: None,
            grad_norm: None,
            turns: self.turns.as_deref(),
        }
    }
}

/// Rows, and the names of the reward's parts.
#[derive(Clone, Debug, Default)]
pub struct Log {
    pub parts: Vec<String>,
    pub rows: Vec<Row>,
}

impl Log {
    pub fn evidence(&self) -> Evidence {
        let mut evidence = Evidence::new(self.parts.clone());
        self.rows.iter().for_each(|row| evidence.add(&row.response()));
        stapo_accumulate::Accumulate::settle(&mut evidence);
        evidence
    }

    pub fn examine(&self) -> Diagnosis {
        self.examine_with(&Outcome::default())
    }

    pub fn examine_with(&self, outcome: &Outcome) -> Diagnosis {
        examine_all(&Measures::new(&self.evidence(), outcome))
    }
}
