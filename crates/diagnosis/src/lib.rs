//! What is wrong with the run or its log: signals over the steps, what was damaged, the causes, and
//! the verdict in plain words; beside them warnings about the log.

mod causes;
mod damage;
mod doubt;
mod evidence;
mod finding;
mod idle;
mod patient;
mod responses;
mod signals;
mod steps;
mod verdict;
mod warnings;
mod words;

use self::damage::came_in::{judge_from_there, parts_that_came_in};
use self::damage::changes::changes;
use self::damage::paid::is_paid;
use self::idle::IdleSteps;
use self::patient::Patient;
use self::responses::copies::Copies;
use self::responses::drawn_gap::DrawnGap;
use self::responses::right::Right;
use self::signals::of_run::signals;
use self::signals::series::Series;
use self::verdict::sentence::BesideResult;
use self::verdict::stood_still::StoodStill;
use self::verdict::{sentence, state};
use self::warnings::{answers, endings, far_rewards, log, losses, mask, several_rows, spikes, untrained};
use stapo_batch::columns::Column;
use stapo_collect::collect::Collected;
use stapo_collect::collect::groups::GroupTable;
use stapo_collect::collect::tally::{BatchKey, BatchTally};
use stapo_collect::plan::Plan;
use stapo_collect::token_text::TokenTexts;
use stapo_ingest::Run;
use stapo_ingest::right::RightRule;
use stapo_result::{Diagnosis, RunCore, RunState, SignalName, Warning};

/// What the rest of the analysis knows of the log.
pub struct Known<'a> {
    /// Texts of tokens.
    pub texts: &'a TokenTexts,
    /// What is right, where anything says it.
    pub rule: Option<&'a RightRule>,
    /// All groups.
    pub groups: &'a GroupTable,
}

/// Fills diagnosis, warnings and verdict of an analysis.
pub fn diagnose(run: &Run, plan: &Plan, collected: &Collected, known: &Known<'_>, analysis: &mut RunCore) {
    let signs = &collected.signs;
    let idle = IdleSteps::of(&analysis.steps, &signs.facts);
    let mut series = signals(collected, (&analysis.steps, &idle), &analysis.answers, plan);
    let came_in = parts_that_came_in(&signs.facts, plan);
    judge_from_there(&mut series, &came_in);
    let told_right = Right::of_run(known.rule, plan, &signs.facts.responses);
    let right = told_right.map(|right| right.signal());
    let is_paid = |signal: &SignalName, from: i64| is_paid(&signs.facts, &plan.reward_parts, signal, from);
    let mut changes = changes(&series, f64::from(plan.vocab_size).ln(), right.as_ref(), &is_paid);
    changes.hold_without(&came_in, &signs.facts);
    changes.hold_trifles(&series, right.as_ref(), &signs.facts, &plan.reward_parts);
    changes.hold_same_prompts(&series, &signs.facts, &plan.reward_parts);
    let patient = Patient {
        run,
        plan,
        rule: known.rule,
        all_groups: known.groups,
        signs,
        analysis,
        series: &series,
        changes: &changes,
    };
    let may_have_epochs = may_have_epochs(run, plan, collected);
    let (examined, (copies, far_rewards, drawn_gap)) = rayon::join(
        || causes::examine_all(&patient),
        || {
            let copies = Copies::of(&signs.facts, may_have_epochs);
            (copies, far_rewards::warning(&patient), DrawnGap::of(&signs.facts))
        },
    );
    let untrained = idle.are_all(&analysis.steps) && !plan.stand_in.advantage;
    let state = state::state(&patient, &examined, untrained, &copies);
    let mut diagnosis = Diagnosis {
        state,
        sentence: String::new(),
        damage: changes.damage.clone(),
        causes: examined.causes,
        onsets: changes.onsets.clone(),
        not_checked: examined.not_checked,
        exploded: state::exploded(&patient),
        statement: state::statement(analysis.steps.len(), signs),
        signals: series.iter().map(Series::shown).collect(),
    };
    let rewarded_to = state::rewarded_to(&series);
    let told = BesideResult {
        plan,
        changes: &changes,
        right: right.as_ref(),
        untrained,
        rewarded_to,
        stood_still: (state == RunState::Healthy).then(|| StoodStill::of(&patient)).flatten(),
        hidden: copies.hiding(),
    };
    diagnosis.sentence = sentence::sentence(analysis, &diagnosis, &told);
    let mut found: Vec<Warning> = losses::warnings(&diagnosis.damage);
    let failed_at: Vec<i64> = doubt::grader_failed(&diagnosis.causes).collect();
    let failed = |step: i64| doubt::is_near(&analysis.steps, &failed_at, step);
    found.extend(answers::warnings(&analysis.answers, (&changes, &series), &diagnosis.causes, &failed));
    found.extend(losses::nothing_trained(analysis));
    found.extend(untrained::responses(&signs.facts));
    found.extend(untrained::ends(collected, &|id| known.texts.shown(id)));
    found.extend(far_rewards);
    if !plan.stand_in.advantage {
        found.extend(losses::dead_batches(collected, &idle, told_right.as_ref()));
    }
    if !plan.stand_in.any() {
        found.extend(spikes::energy(collected, (&analysis.steps, &idle), &|id| known.texts.shown(id)));
        found.extend(mask::concentration(analysis));
        found.extend(mask::width(analysis, &drawn_gap, &diagnosis.causes));
    }
    if !plan.stand_in.entropy {
        found.extend(log::of_entropy(run, analysis));
    }
    found.extend(copies.warnings());
    found.extend(several_rows::warning(&collected.several_rows));
    found.extend(endings::unknown(plan, collected));
    found.extend(log::warnings(run, analysis, &drawn_gap, &diagnosis.causes));
    found.sort_by_key(|warning| warning.code);
    analysis.warnings = found;
    analysis.verdict = sentence::verdict(analysis, &diagnosis);
    analysis.diagnosis = diagnosis;
}

/// Whether responses of a step may be logged once for each of its updates.
fn may_have_epochs(run: &Run, plan: &Plan, collected: &Collected) -> bool {
    let of_one_step = |pair: &[(BatchKey, BatchTally)]| pair[0].0.step == pair[1].0.step;
    run.has(Column::Update) && (!plan.by_update || collected.batches.windows(2).any(of_one_step))
}
