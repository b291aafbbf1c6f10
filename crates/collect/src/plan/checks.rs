//! What has to hold before an analysis starts: columns that it needs, settings within their ranges.

use stapo_base::error::{Error, Result};
use stapo_batch::columns::Column;
use stapo_framework::s2t::EntropyCut;
use stapo_ingest::Run;
use stapo_result::settings::{AnalyzeSettings, BatchUnit};
use stapo_result::stand_in::StandIn;

/// Fails where the log does not have what an analysis needs, or settings are out of range.
pub fn require(run: &Run, settings: &AnalyzeSettings, stand_in: StandIn) -> Result<()> {
    check(settings)?;
    if !stand_in.logprob {
        run.require(Column::Logprob)?;
    }
    if !stand_in.entropy {
        run.require(Column::Entropy)?;
    }
    if !stand_in.advantage && !run.has(Column::AdvantageSeq) {
        run.require(Column::Advantage)?;
    }
    match settings.per {
        BatchUnit::MiniBatch => run.require(Column::Update),
        _ => Ok(()),
    }
}

fn check(settings: &AnalyzeSettings) -> Result<()> {
    let refuse = |message: String, hint: &str| Err(Error::Usage { message, hint: hint.into() });
    let tau_p = settings.s2t.tau_p;
    if !(tau_p > 0.0 && tau_p <= 1.0) {
        return refuse(format!("τ_p is {tau_p}"), "give a probability above 0, at most 1");
    }
    match settings.s2t.entropy {
        EntropyCut::Quantile(q) if !(0.0..=1.0).contains(&q) => {
            refuse(format!("the entropy quantile is {q}"), "give a number from 0 to 1")
        }
        EntropyCut::Absolute(h) if !h.is_finite() => {
            refuse(format!("the entropy threshold is {h}"), "give a number of nats")
        }
        _ => match settings.temperature {
            Some(t) if !(t > 0.0 && t.is_finite()) => {
                refuse(format!("the temperature is {t}"), "give a positive number")
            }
            _ if settings.vocab_size.is_some_and(|v| v < 2) => {
                refuse("a vocabulary has at least 2 tokens".into(), "give the model's vocabulary size")
            }
            _ => Ok(()),
        },
    }
}
