//! What a scan passes on: batches of responses that are asked for, and the values of those that are held out.

use stapo_base::error::Result;
use stapo_batch::batch::TokenBatch;
use stapo_batch::held_out::HeldOut;
use stapo_batch::sink::Sink;

/// Some responses of a log.
#[derive(Clone, Debug)]
pub enum Passed {
    /// Responses that are asked for.
    Asked(Box<TokenBatch>),
    /// Responses of evaluation, where only those that are trained on are asked for.
    HeldOut(Box<HeldOut>),
}

impl Passed {
    /// Hands a batch to a sink as it comes.
    pub fn give<S: Sink>(self, sink: &mut S) -> Result<()> {
        match self {
            Self::Asked(batch) => sink.accept(&batch),
            Self::HeldOut(responses) => sink.held_out(&responses),
        }
    }

    /// Hands a batch to a sink that comes out of its turn.
    pub fn give_joined<S: Sink>(self, sink: &mut S) -> Result<()> {
        match self {
            Self::Asked(batch) => sink.accept_joined(&batch),
            Self::HeldOut(responses) => sink.held_out(&responses),
        }
    }
}

/// Hands a response that was joined to a sink.
pub fn accept_whole<S: Sink>(sink: &mut S, mut passed: Passed) -> Result<()> {
    if let Passed::Asked(batch) = &mut passed {
        batch.drop_plain_positions();
    }
    passed.give_joined(sink)
}

/// What is done with what a scan passes on.
pub type Give<'a> = dyn FnMut(Passed) -> Result<()> + 'a;
