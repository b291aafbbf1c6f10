//! From what the pass collected to the result.

mod claims;
mod classes;
mod drivers;
pub mod flagged;
mod largest;
mod measured_change;
mod provenance;
mod quantiles;
mod questions;
mod ranks;
mod ratios;
mod rules;
pub mod second_look;
mod steps;
mod sweep;
mod taxonomy;
mod thresholds;
mod totals;
mod verdicts;
mod views;
mod vocabulary;

use std::collections::BTreeMap;

use rayon::prelude::*;

use self::claims::{CandidateClaims, ClassNorms, NormRelations};
use self::classes::{ClassTable, rare_negatives};
use self::flagged::FlaggedSource;
use self::measured_change::WeightedTokens;
use self::questions::CandidateFlags;
use self::second_look::LookAgain;
use self::steps::{GroupCounts, StepSources};
use self::sweep::RareTokens;
use self::thresholds::Thresholds;
use self::verdicts::{BatchVerdict, Verdicts};
use super::collect::Collected;
use super::collect::clusters::Clusters;
use super::collect::tally::BatchTally;
use super::plan::Plan;
use super::token_text::TokenTexts;
use crate::collect::signs::rounding::Rounding;
use stapo_base::error::{Error, Result};
use stapo_batch::columns::Column;
use stapo_ingest::{Quality, RowIndex, Run};
use stapo_result::cases::CASE_LIMIT;
use stapo_result::settings::AnalyzeSettings;
use stapo_result::{
    Answers, Candidates, Cases, ClaimRow, EntropyChange, ResponseView, RuleRow, RunAnalysis, RunClusters,
    RunCore, SUMMARY_VERSION, StepChange, Sweep, Totals,
};

/// What a scan leaves.
pub struct Scan<'a> {
    /// The run.
    pub run: &'a Run,
    /// What the user asked for.
    pub settings: &'a AnalyzeSettings,
    /// Missing and bad values.
    pub quality: Quality,
    /// Rows of responses.
    pub rows: RowIndex,
    /// Looks at the log again, where that is needed.
    pub look: &'a dyn LookAgain,
}

/// What was collected, with the thresholds of all batches and the verdict on every candidate: results are told of it.
pub struct Finished<'a> {
    /// The run.
    pub run: &'a Run,
    settings: &'a AnalyzeSettings,
    /// How it was read.
    pub plan: Plan,
    /// What the pass collected.
    pub collected: Collected,
    quality: Quality,
    thresholds: Thresholds,
    tally: BatchTally,
    totals: Totals,
    step_groups: BTreeMap<i64, GroupCounts>,
    /// Candidates, groups and texts.
    pub source: FlaggedSource,
    verdicts: Verdicts,
    /// All batches together.
    verdict: BatchVerdict,
    answers: Answers,
    /// What the paper's claims need of the candidates, and norms by class.
    candidates: CandidateClaims,
    norms: ClassNorms,
    has_ratio: bool,
    knows_clipping: bool,
}

/// Refuses a log without a token: of nothing, nothing can be said.
fn require_tokens(run: &Run, tally: &BatchTally) -> Result<()> {
    let counts = &tally.counts;
    match counts.tokens + counts.masked_out {
        0 => Err(Error::NoTokens { path: run.file_name(0).into(), responses: counts.responses }),
        _ => Ok(()),
    }
}

/// What only a run's own report shows.
pub struct ReportParts {
    rules: Vec<RuleRow>,
    entropy_change: EntropyChange,
    relations: NormRelations,
    sweep: Sweep,
    candidates: Candidates,
    responses: Vec<ResponseView>,
}

impl<'a> Finished<'a> {
    /// Judges every candidate.
    pub fn new(scan: Scan<'a>, mut plan: Plan, mut collected: Collected) -> Result<Self> {
        let Scan { run, settings, quality, rows, look } = scan;
        let thresholds = Thresholds::find(look, &plan, &collected)?;
        let texts = TokenTexts::new(plan.tokenizer.take(), collected.vocabulary.take_texts());
        let tally = totals::run_tally(&collected);
        require_tokens(run, &tally)?;
        let has_ratio = run.has(Column::LogprobNew);
        let knows_clipping = has_ratio || run.has(Column::Clipped);
        let source = FlaggedSource {
            candidates: std::mem::take(&mut collected.candidates),
            keys: collected.batches.iter().map(|(key, _)| *key).collect(),
            tau_h: thresholds.tau_h.clone(),
            rows,
            groups: std::mem::take(&mut collected.groups),
            right: plan.questions.rule(&collected.rewards),
            texts,
        };
        let rounding = Rounding::of(&collected.diagnostics.evidence.rewards);
        // Only one of the two goes over the candidates, which may be in files.
        let (groups, verdicts) = rayon::join(
            || {
                let steps = steps::groups_by_step(&source.groups, rounding);
                (steps, {
                    let signal = match plan.stand_in.advantage {
                        true => questions::groups::Signal::Rewards,
                        false => questions::groups::Signal::Advantages(rounding),
                    };
                    questions::group_outcomes(&collected, &source, signal)
                })
            },
            || Ok((Verdicts::judge(&source)?, CandidateFlags::count(&source, &plan)?)),
        );
        let (step_groups, groups) = groups;
        let (verdicts, flags) = verdicts?;
        let totals = totals::totals(&collected, &tally, &step_groups, knows_clipping);
        let answers = questions::answers(&collected, &plan, &source, groups, &flags, knows_clipping);
        let verdict = verdicts.total();
        let kinds = [flags.claims.spurious.norms, flags.claims.exploratory.norms];
        let norms = ClassNorms::of(&collected.claims, &plan.rule, kinds);
        Ok(Self {
            run,
            settings,
            plan,
            collected,
            quality,
            thresholds,
            tally,
            totals,
            step_groups,
            source,
            verdicts,
            verdict,
            answers,
            candidates: flags.claims,
            norms,
            has_ratio,
            knows_clipping,
        })
    }

    /// What every analysis finds; its diagnosis is still to be made.
    pub fn core(&self) -> RunCore {
        let Self { plan, collected, thresholds, totals, .. } = self;
        let classes = self.classes();
        let mut all_classes = ClassTable::default();
        classes.iter().for_each(|table| all_classes.merge(table));
        let step_sources = StepSources {
            collected,
            plan,
            thresholds,
            verdicts: &self.verdicts.batches,
            classes: &classes,
            groups: &self.step_groups,
            knows_clipping: self.knows_clipping,
            answers: &self.answers,
        };
        let samples = (&collected.rare, &collected.common);
        let statements = provenance::statements(collected, plan, totals, thresholds, &all_classes);
        let token_text = self.source.texts.source();
        let (steps, (drivers, taxonomy)) = rayon::join(
            || steps::step_rows(&step_sources),
            || {
                let drivers = drivers::drivers(&collected.signs, plan, &self.source, &self.verdict);
                (drivers, taxonomy::taxonomy(&all_classes, samples, &thresholds.split, plan, totals))
            },
        );
        RunCore {
            schema_version: SUMMARY_VERSION,
            verdict: Default::default(),
            diagnosis: Default::default(),
            drivers,
            spurious: claims::spurious_tokens(&self.candidates, &self.norms),
            warnings: Vec::new(),
            steps,
            taxonomy,
            vocabulary: vocabulary::vocabulary(&collected.vocabulary, &self.verdicts, &self.source.texts),
            answers: self.answers.clone(),
            quality: provenance::column_reports(&self.quality),
            provenance: provenance::provenance(self.run, plan, totals, token_text, &self.quality, statements),
            plane: collected.plane.clone(),
            s2t: totals::s2t_summary(self.settings, plan, totals, &self.verdict, thresholds),
            totals: totals.clone(),
        }
    }

    fn classes(&self) -> Vec<ClassTable> {
        let Self { collected, thresholds, verdicts, .. } = self;
        let negatives = rare_negatives(&collected.rare, &self.plan.rule, &thresholds.split);
        (0..collected.batches.len())
            .into_par_iter()
            .map(|n| {
                let (tally, verdict) = (&collected.batches[n].1, &verdicts.batches[n]);
                ClassTable::of(tally, thresholds.split[n], verdict, negatives[n])
            })
            .collect()
    }

    /// What only a run's own report shows.
    pub fn report_parts(&self) -> Result<ReportParts> {
        let Self { plan, collected, thresholds, totals, source, .. } = self;
        let relations = || (entropy_change(&self.tally, collected), NormRelations::find(&collected.claims));
        let rules = || rules::rules(collected, thresholds, plan, totals, self.has_ratio);
        let swept = || {
            let silenced = self.verdict.silenced;
            let rare = RareTokens::new(&collected.rare, &thresholds.tau_h, plan, totals, silenced);
            (rare.sweep(), views::response_views(collected, plan, source))
        };
        let points = || views::candidate_points(collected, source, plan);
        let ((rules, (entropy_change, relations)), ((sweep, responses), candidates)) =
            rayon::join(|| rayon::join(rules, relations), || rayon::join(swept, points));
        let candidates = candidates?;
        Ok(ReportParts { rules, entropy_change, relations, sweep, candidates, responses })
    }

    /// The paper's claims, checked on this run.
    fn claims(&self, core: &RunCore, parts: &ReportParts) -> Vec<ClaimRow> {
        claims::rows(&claims::Facts {
            relations: parts.relations,
            classes: self.norms,
            candidates: self.candidates,
            spurious: &core.spurious,
            below_median: claims::below_median(&self.collected, &self.thresholds, &core.steps),
            s2t: &core.s2t,
            totals: &core.totals,
            steps: &core.steps,
            measured: parts.entropy_change.measured.as_ref(),
        })
    }

    /// Totals of groups with their right answers.
    pub fn clusters(&self, groups: Clusters) -> RunClusters {
        groups.finish(self.source.right.as_ref())
    }

    /// The whole result; beside it where its flagged tokens come from, and whether ids of their groups and of their
    /// responses are texts.
    pub fn into_analysis(self, core: RunCore, parts: ReportParts) -> (RunAnalysis, FlaggedSource, [bool; 2]) {
        let claims = self.claims(&core, &parts);
        let ReportParts { rules, entropy_change, sweep, candidates, responses, .. } = parts;
        let Self { source, verdicts, verdict, collected, .. } = self;
        // Giving back what was collected takes its time, and nobody has to wait for it.
        rayon::spawn(|| drop(collected));
        let analysis = RunAnalysis {
            core,
            entropy_change,
            claims,
            sweep,
            rules,
            candidates,
            cases: Cases {
                spurious: verdict.silenced,
                exploratory: verdict.exploratory(),
                complete: verdict.candidates <= CASE_LIMIT as u64,
                top: verdicts.top,
                separator: source.texts.separator(),
            },
            responses,
        };
        (analysis, source, verdicts.text_ids)
    }
}

/// Directions and sizes of the entropy change, predicted and measured.
fn entropy_change(tally: &BatchTally, collected: &Collected) -> EntropyChange {
    let counts = &tally.counts;
    let StepChange { predicted_low, predicted_high, lemma, measured } = steps::change_of(tally);
    let moving = WeightedTokens::moving(&collected.rare, &collected.common);
    EntropyChange {
        certified_up: counts.up,
        certified_down: counts.down,
        certified_as_mode: counts.as_mode,
        ambiguous: counts.ambiguous,
        exact: counts.exact_changes,
        predicted_low,
        predicted_high,
        lemma,
        measured: measured_change::measured_change(&moving, measured),
    }
}
