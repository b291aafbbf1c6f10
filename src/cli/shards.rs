//! `plan`, `collect` and `merge`: an analysis in shards.

use std::io::Write;
use std::path::PathBuf;

use super::analyze::write_all;
use super::outcome::{Outcome, stdout};
use super::present::Presentation;
use super::progress::Bar;
use super::{gates, settings};
use crate::cli::args::{CollectArgs, MergeArgs, PlanArgs};
use stapo_base::error::{Error, Result};
use stapo_base::output::{OutputFolder, refuse_replacing};
use stapo_collect::plan::Purpose;
use stapo_collect::shards::{LookFile, MergedParts, ShardPlan, collect_look, collect_shard};
use stapo_ingest::Run;

/// Runs `plan`.
pub fn plan(arguments: &PlanArgs, out: &mut dyn Write) -> Result<Outcome> {
    let ingest = settings::ingest_part(&arguments.input.reading, &arguments.part)?;
    let run = Run::open(&arguments.input.inputs, &ingest)?;
    refuse_replacing(&arguments.output, run.files.iter().map(|file| file.path()))?;
    let purpose = if arguments.for_compare { Purpose::Comparison } else { Purpose::Report };
    let plan = ShardPlan::new(&run, &settings::analyze(&arguments.options), purpose, arguments.shard_tokens)?;
    plan.write(&arguments.output)?;
    let last = plan.shards().saturating_sub(1);
    let shards = if last == 0 { "1 shard" } else { &format!("{} shards", plan.shards()) };
    stdout(writeln!(out, "{shards} (--shard 0 to {last}): {}", arguments.output.display()))?;
    Ok(Outcome::Fine)
}

/// Runs `collect`.
pub fn collect(arguments: &CollectArgs, talk: &mut dyn Write) -> Result<Outcome> {
    let plan = ShardPlan::read(&arguments.plan)?;
    let CollectArgs { shard, output, threads, quiet, .. } = arguments;
    if output.is_file() {
        return Err(Error::Usage {
            message: format!("{} is a file: -o names the folder of the parts", output.display()),
            hint: "each shard leaves part-00000.part there, with its own number".into(),
        });
    }
    let bar = |run: &Run| Bar::new(run, *quiet);
    let made = match &arguments.look {
        None => collect_shard(&plan, *shard, output, *threads, bar)?,
        Some(look) => {
            let look = LookFile::read(look, &plan)?;
            collect_look(&plan, *shard, &look, output, *threads, bar)?
        }
    };
    if !quiet {
        let there = if made.was_there { " (was there)" } else { "" };
        stdout(writeln!(talk, "part: {}{there}", made.path.display()))?;
    }
    Ok(Outcome::Fine)
}

/// Runs `merge`.
pub fn merge(arguments: &MergeArgs, out: &mut dyn Write, talk: &mut dyn Write) -> Result<Outcome> {
    let gates = gates::of_summary(&arguments.fail_on)?;
    // Fails now rather than after the merge.
    let claimed = arguments.shown.report.as_deref().map(OutputFolder::claim).transpose()?;
    let plan = ShardPlan::read(&arguments.plan)?;
    if let Some(path) = &arguments.output {
        refuse_replacing(path, read_by(arguments).iter().map(|path| path.as_path()))?;
    }
    let merged = MergedParts::read(&plan, &arguments.inputs)?;
    if let Some(path) = &arguments.output {
        merged.write(path)?;
        if !arguments.quiet {
            stdout(writeln!(talk, "part: {}", path.display()))?;
        }
        return Ok(Outcome::Fine);
    }
    let (analysis, mut flagged) = crate::analyze::analyze_merged(merged)?;
    let wanted = Presentation {
        report: arguments.shown.report.as_deref(),
        open: arguments.shown.showing.open,
        format: arguments.shown.showing.format,
        verbose: arguments.shown.showing.verbose,
        full: arguments.shown.showing.full,
        quiet: arguments.quiet,
        gates: &gates,
        claimed: claimed.as_ref(),
    };
    wanted.present(&analysis, |folder| write_all(&analysis, &mut flagged, folder), out, talk)
}

/// The files that a merge reads, those of folders one by one.
fn read_by(arguments: &MergeArgs) -> Vec<PathBuf> {
    let inside = |input: &PathBuf| match std::fs::read_dir(input) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => vec![input.clone()],
    };
    let mut all: Vec<PathBuf> = arguments.inputs.iter().flat_map(inside).collect();
    all.push(arguments.plan.clone());
    all
}
