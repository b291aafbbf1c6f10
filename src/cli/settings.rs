//! Raw arguments become settings once; the rest of the program sees settings only.

use super::args::{AnalyzeArgs, EntropyUnit, InputArgs, PerArg, PopulationArg, PresetArg};
use crate::analyze::{AnalyzeSettings, BatchUnit};
use crate::error::Result;
use crate::framework::s2t::{EntropyCut, Population, S2tSettings};
use crate::framework::token::ClipRange;
use crate::ingest::{IngestSettings, UserMap};

/// Resolves how to read a log.
pub fn ingest(arguments: &InputArgs) -> Result<IngestSettings> {
    Ok(IngestSettings {
        map: UserMap::parse(&arguments.maps)?,
        alignment: arguments.align,
        entropy_in_bits: arguments.entropy_unit == EntropyUnit::Bits,
        allow_missing: arguments.allow_missing,
        threads: arguments.threads,
    })
}

/// Resolves what to compute.
pub fn analyze(arguments: &AnalyzeArgs) -> AnalyzeSettings {
    let mut s2t = match arguments.preset {
        PresetArg::V5 => S2tSettings::v5(),
        PresetArg::V1 => S2tSettings::v1(),
    };
    if let Some(tau_p) = arguments.tau_p {
        s2t.tau_p = tau_p;
    }
    if let Some(q) = arguments.entropy_quantile {
        s2t.entropy = EntropyCut::Quantile(q);
    }
    if let Some(threshold) = arguments.entropy_threshold {
        s2t.entropy = EntropyCut::Absolute(threshold);
    }
    if let Some(population) = arguments.population {
        s2t.population = match population {
            PopulationArg::Candidates => Population::Candidates,
            PopulationArg::Positive => Population::Positive,
            PopulationArg::All => Population::All,
        };
    }
    AnalyzeSettings {
        s2t,
        per: match arguments.per {
            PerArg::Auto => BatchUnit::Auto,
            PerArg::Step => BatchUnit::Step,
            PerArg::Minibatch => BatchUnit::MiniBatch,
        },
        tokenizer: arguments.tokenizer.clone(),
        vocab_size: arguments.vocab_size,
        clip: arguments.clip_low.zip(arguments.clip_high).map(|(low, high)| ClipRange { low, high }),
        temperature: arguments.temperature,
        ..AnalyzeSettings::default()
    }
}
