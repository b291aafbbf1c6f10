//! The page: prose, with the numbers and tables of this run of the bench.

use crate::baseline::Baseline;
use crate::cuts::{self, Cut};
use crate::policies::{self, Policies};
use crate::simulated::Truth;
use crate::simulated_runs::{self, Rates, sum};
use crate::tables::{Count, grouped, head, percent, row, upper};
use crate::verdicts::{self, Labelled};
use crate::{ablation, labels::LABELS};

/// All that was measured.
pub struct Measured {
    pub labelled: Vec<Labelled>,
    pub cuts: Vec<Cut>,
    pub simulated: Vec<Rates>,
    pub policies: Vec<Policies>,
    /// Of each simulated family.
    pub runs: u64,
}

/// `docs/accuracy.md`.
pub fn page(measured: &Measured) -> String {
    let Measured { labelled, cuts, simulated, policies, runs } = measured;
    let (healthy, sick) = (verdicts::count(labelled, true), verdicts::count(labelled, false));
    let (alarms, of_runs) = (cuts::alarms(cuts), cuts::runs(cuts));
    let told_apart = || simulated.iter().filter(|rates| rates.is_healthy() && !rates.is_beyond());
    let damaged = sum(told_apart().map(|rates| rates.damaged));
    let found =
        sum(simulated.iter().filter(|rates| rates.family.truth == Truth::Falls).map(|rates| rates.said));
    let (token_alarms, named) = (policies::alarms(policies), policies::named(policies));
    let (ablation, idle) = ablation::table(labelled, cuts, simulated);
    let of = |count: Count| format!("{} of {}", grouped(count.found), grouped(count.of));
    let list = match alarms.found {
        0 => String::new(),
        _ => format!("Called so: {}.\n\n", cuts::list(cuts)),
    };
    let idle = match idle.as_slice() {
        [] => "Every rule is worth a verdict.".to_owned(),
        idle => format!(
            "**Off without a verdict for the worse**: {}.",
            idle.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        ),
    };
    format!(
        "\
# How often the diagnosis is right

Written by `cargo bench --bench accuracy`, numbers and all; {at_hand} of {labels} labelled logs were at hand. Those that are not in
this repository are read from the folder that `STAPO_DATA` names. Seeds are fixed: the same logs give the same page.

* Sick logs with the cause among the first two: **{sick}**. Healthy ones called healthy, without a likely cause: **{healthy}**.
* Parts of healthy runs called sick or given a likely cause: **{alarms}** (at most {alarms_bound} at 95 %), in {of_runs} runs.
* Simulated healthy runs called damaged or collapsed: **{damaged}** (at most {damaged_bound}); damaged ones found: {found}.
* Simulated healthy token logs with a likely cause: **{token_alarms}** (at most {token_bound}); sick ones named: {named}.

## 1. Runs of which it is known what was made wrong

Right: the cause stands among the first two (notes are none); a healthy run is `healthy` without a likely cause. In brackets: causes
that are only `possible`. The rules were mended on most of these logs: this table shows that they fit, not that they hold elsewhere.

{verdicts}
## 2. False alarms: parts of the healthy runs

None of these parts is sick. A first half may be `undecided`; a second half cannot know that the run has learned, and is not asked
to. Mixes draw groups within tasks and steps by shares that move over the run, with and without replacement. Parts of one run are
not independent: by runs, the bound is {by_runs}.

{cuts}
{list}## 3. Simulated runs

{runs} runs of each kind, made up to be unlike any log at hand; \"gain seen\": the learning ones that are called learned or at their best.

{healthy_table}
Beyond any log, called damaged or collapsed: {beyond}. Levels that wander look like damage where nothing tells how far they wander,
as does a mix of tasks that moves where no column tells tasks apart; the sentence says so.

{sick_table}
Token logs of a made-up language: {ids} tokens of which some dozens may come, a sampler in bfloat16 with a cache. The gap is the root
of the mean square of ln π_old − ln μ at the first step (0.05 in real healthy runs).

{policies}
## 4. What each rule is worth

Each switch of `state::Rules` turned off: verdicts that were right and are wrong without it (in brackets: wrong, and right without
it). Logs and cuts: {logs} verdicts, state and causes; simulated: {ablated} runs of each kind, those beyond any log left out.

{ablation}
{idle}

## 5. Beside a trivial rule

\"Damaged if the mean reward of the last fifth of the steps is below that of the best fifth\", and with a margin of a fifth of it.

{baseline}
## 6. What this does not show

* The labelled runs are of two small models, four tasks and three trainers, and the diagnosis was mended on most of them. Of large
  models, long runs, tools and other trainers nothing is known.
* Sick runs have one fault each, as large as whoever made it chose. How small a fault may be is not measured.
* `real/edited` holds faults put into the columns of a healthy log: what training would have made of them is not in it.
* Of the {codes} causes {seen} are named on a labelled log here; the others rest on made-up ones.
* A simulated rate says what follows from the simulation's assumptions: steps that scatter by chance, groups that differ by
  half-normal odds. Sick simulated logs of tokens are made by the mechanism that the cause is looked for by.
* Parts of healthy runs share their runs' luck: {healthy_runs} runs are few, whatever the number of parts.
",
        at_hand = labelled.len(),
        labels = LABELS.len(),
        sick = of(sick),
        healthy = of(healthy),
        alarms_bound = alarms.bound(),
        alarms = of(alarms),
        of_runs = of(of_runs),
        damaged_bound = damaged.bound(),
        damaged = of(damaged),
        found = found.share(),
        token_bound = token_alarms.bound(),
        token_alarms = of(token_alarms),
        named = of(named),
        verdicts = verdicts::table(labelled),
        by_runs = percent(upper(of_runs.found, of_runs.of.max(1))),
        cuts = cuts::table(cuts),
        healthy_table = simulated_runs::healthy_table(simulated),
        beyond = simulated_runs::beyond(simulated),
        sick_table = simulated_runs::sick_table(simulated),
        ids = grouped(crate::made::IDS),
        policies = policies::table(policies),
        logs = labelled.len() + cuts.len(),
        ablated = simulated_runs::ablated(*runs),
        baseline = baseline(measured),
        codes = stapo_diagnosis::Code::ALL.len(),
        seen = named_codes(labelled),
        healthy_runs = of_runs.of,
    )
}

/// Codes that are rightly named on a labelled log.
fn named_codes(labelled: &[Labelled]) -> usize {
    let sick = labelled.iter().filter(|run| !run.label.is_healthy());
    let mut codes: Vec<&str> = sick
        .flat_map(|run| {
            run.reading.told.causes.iter().take(2).filter(|code| run.label.causes.contains(&code.as_str()))
        })
        .map(String::as_str)
        .collect();
    codes.sort_unstable();
    codes.dedup();
    codes.len()
}

/// The state beside the trivial rule: how often each says damage.
fn baseline(measured: &Measured) -> String {
    let mut table =
        head(&["called damaged", "of", "the diagnosis", "last fifth below the best", "by a fifth of it"]);
    let is_loss = |state: &str| matches!(state, "damaged" | "collapsed");
    let mut of_logs = |what: &str, logs: &[(&str, Baseline)]| {
        let count = |is: &dyn Fn(&(&str, Baseline)) -> bool| {
            let mut count = Count::default();
            logs.iter().for_each(|log| count.add(is(log)));
            format!("{} ({})", count.found, count.share())
        };
        table += &row(&[
            what.into(),
            logs.len().to_string(),
            count(&|log| is_loss(log.0)),
            count(&|log| log.1.below),
            count(&|log| log.1.well_below),
        ]);
    };
    let healthy = measured.labelled.iter().filter(|run| run.label.is_healthy());
    let healthy: Vec<_> = healthy.map(|run| (run.reading.told.state, run.reading.baseline)).collect();
    let cuts: Vec<_> =
        measured.cuts.iter().map(|cut| (cut.reading.told.state, cut.reading.baseline)).collect();
    of_logs("healthy labelled runs", &healthy);
    of_logs("parts of them", &cuts);
    let mut of_simulated = |what: &str, keep: &dyn Fn(&Rates) -> bool| {
        let those: Vec<&Rates> = measured.simulated.iter().filter(|rates| keep(rates)).collect();
        let damaged = sum(those.iter().map(|rates| rates.damaged));
        let [below, well_below] = [0, 1].map(|at| sum(those.iter().map(|rates| rates.baseline[at])).share());
        table += &row(&[what.into(), grouped(damaged.of), damaged.share(), below, well_below]);
    };
    of_simulated("simulated healthy runs", &|rates| rates.is_healthy() && !rates.is_beyond());
    of_simulated("simulated runs that fall", &|rates| rates.family.truth == Truth::Falls);
    table
}
