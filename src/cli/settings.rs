//! Raw arguments become settings once; the rest of the program sees settings only.

use std::path::{Path, PathBuf};

use crate::cli::args::CompareArgs;
use crate::cli::args::{EntropyUnit, ReadingArgs, StepsArgs};
use crate::cli::args::{MaskArgs, PerArg, PopulationArg, PresetArg};
use stapo_base::error::{Error, Result};
use stapo_batch::limits::Limits;
use stapo_compare::{ArmInput, CompareSettings, RunInput, TrainerInput};
use stapo_framework::s2t::{EntropyCut, Population, S2tSettings};
use stapo_framework::token::ClipRange;
use stapo_ingest::{IngestSettings, UserMap};
use stapo_result::settings::{AnalyzeSettings, BatchUnit};

/// Resolves how to read a log.
pub fn ingest(arguments: &ReadingArgs) -> Result<IngestSettings> {
    Ok(IngestSettings {
        map: UserMap::parse(&arguments.maps)?,
        alignment: arguments.align,
        entropy_in_bits: arguments.entropy_unit == EntropyUnit::Bits,
        threads: arguments.threads,
        limits: Limits::of(arguments.max_memory),
        pool: arguments.pool,
        steps: None,
        training_only: false,
        growing: false,
        unit_tokens: arguments.unit_tokens,
        tokenizer: None,
        held_out: arguments.held_out.clone(),
    })
}

/// Resolves how to read some steps of a log.
pub fn ingest_part(arguments: &ReadingArgs, part: &StepsArgs) -> Result<IngestSettings> {
    Ok(IngestSettings { steps: part.steps, ..ingest(arguments)? })
}

/// The same, where a tokenizer may be given.
pub fn ingest_texts(arguments: &ReadingArgs, part: &StepsArgs, mask: &MaskArgs) -> Result<IngestSettings> {
    Ok(IngestSettings { tokenizer: mask.tokenizer.clone(), ..ingest_part(arguments, part)? })
}

/// Resolves what to compute.
pub fn analyze(arguments: &MaskArgs) -> AnalyzeSettings {
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
        pass: arguments.questions.pass.clone(),
        by: arguments.questions.by.clone(),
        corrections: arguments.questions.corrections.clone(),
        ..AnalyzeSettings::default()
    }
}

/// Resolves how to compare.
pub fn compare(arguments: &CompareArgs) -> Result<CompareSettings> {
    let recipe = |text: &String| {
        run_list(text).ok_or_else(|| Error::Usage {
            message: format!("--seeds-like {text}: a run is empty"),
            hint: "write runs of one recipe: --seeds-like seed1.parquet,seed2.parquet,seed3.parquet".into(),
        })
    };
    Ok(CompareSettings {
        curve_maps: Vec::new(),
        analyze: analyze(&arguments.options),
        primary: arguments.metric,
        seeds_like: arguments.seeds_like.iter().map(recipe).collect::<Result<_>>()?,
        trainer: arguments.metrics.iter().map(|text| trainer_input(text)).collect(),
        cache: arguments.cache.clone(),
    })
}

/// Runs that are separated by commas; `None` where one is empty.
fn run_list(text: &str) -> Option<Vec<RunInput>> {
    let run = |path: &str| {
        let path = path.trim();
        (!path.is_empty()).then(|| RunInput { name: None, paths: vec![PathBuf::from(path)] })
    };
    text.split(',').map(run).collect()
}

/// What is compared: single runs, then arms.
pub fn arms(arguments: &CompareArgs) -> Result<Vec<ArmInput>> {
    let single = |text: &String| Ok(ArmInput { name: None, runs: vec![run_input(text)] });
    let arm = |text: &String| {
        let refuse = |message: &str| Error::Usage {
            message: format!("--arm {text}: {message}"),
            hint: "write a name and its runs: --arm grpo=seed1.parquet,seed2.parquet".into(),
        };
        let (name, runs) = text.split_once('=').ok_or_else(|| refuse("no name"))?;
        let runs = run_list(runs).filter(|_| !name.trim().is_empty());
        let runs = runs.ok_or_else(|| refuse("a name or a run is empty"))?;
        Ok(ArmInput { name: Some(name.trim().to_owned()), runs })
    };
    arguments.runs.iter().map(single).chain(arguments.arms.iter().map(arm)).collect()
}

fn run_input(text: &str) -> RunInput {
    let (name, path) = named_path(text);
    RunInput { name, paths: vec![path] }
}

fn trainer_input(text: &str) -> TrainerInput {
    let (run, path) = named_path(text);
    TrainerInput { run, path }
}

/// `NAME=PATH`, or a path; paths may hold an equals sign themselves (`step=12/`).
fn named_path(text: &str) -> (Option<String>, PathBuf) {
    let named = text.split_once('=').filter(|(name, path)| {
        !name.is_empty() && !path.is_empty() && !name.contains(['/', '\\', '*']) && !Path::new(text).exists()
    });
    match named {
        Some((name, path)) => (Some(name.to_owned()), PathBuf::from(path)),
        None => (None, PathBuf::from(text)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::args::{Cli, Command};

    fn command(arguments: &[&str]) -> Command {
        let cli = Cli::try_parse_from([&["stapo-analyze"], arguments].concat()).unwrap();
        cli.command.unwrap()
    }

    /// What the user does not say is what the library does by itself.
    #[test]
    fn bare_arguments_are_the_defaults_of_the_library() {
        let cli = Cli::try_parse_from(["stapo-analyze", "run.parquet"]).unwrap();
        let options = &cli.analyze.options;
        assert_eq!(format!("{:?}", analyze(options)), format!("{:?}", AnalyzeSettings::default()));
        let reading = ingest(&cli.analyze.input.reading).unwrap();
        let own = IngestSettings { limits: Limits::of(None), ..IngestSettings::default() };
        assert_eq!(format!("{reading:?}"), format!("{own:?}"));

        let Command::Compare(compared) = command(&["compare", "a.parquet", "b.parquet"]) else { panic!() };
        assert_eq!(format!("{:?}", compare(&compared).unwrap()), format!("{:?}", CompareSettings::default()));
    }
}
