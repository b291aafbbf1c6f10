//! The same analysis in shards.

use std::path::Path;

use super::arguments::Arguments;
use super::figures::{Figures, table_head, table_row};
use super::logs::Log;
use super::process::{Cost, bytes_in, empty, require_same, run, start, text, wait};

/// What the estimate for larger logs needs.
pub struct Measured {
    /// Processor seconds of an analysis in one process.
    pub processor: f64,
}

/// plan, collect (all shards side by side) and merge: what each took, and the number of shards.
pub fn in_shards(
    program: &Path,
    logs: &Path,
    work: &Path,
    tokens_of_shard: u64,
    more: &[&str],
) -> ([Cost; 3], usize) {
    empty(work);
    let (plan, report) = (work.join("plan.json"), work.join("report"));
    let size = tokens_of_shard.max(1).to_string();
    let mut planning = vec!["plan", text(logs), "-o", text(&plan), "--shard-tokens", &size, "-q"];
    planning.extend(more);
    let planned = run(program, &planning);
    let document: serde_json::Value = serde_json::from_slice(&std::fs::read(&plan).unwrap()).unwrap();
    let count = document["shards"].as_array().unwrap().len();
    let threads = if count > 1 { "1" } else { "0" };
    let collect = |shard: usize| {
        let shard = shard.to_string();
        let plan = ["collect", "--plan", text(&plan), "--shard", &shard];
        start(program, &[&plan[..], &["-o", text(work), "-q", "--threads", threads]].concat())
    };
    let collected = wait((0..count).map(collect).collect());
    let merged = run(program, &["merge", "--plan", text(&plan), text(work), "--report", text(&report), "-q"]);
    ([planned, collected, merged], count)
}

pub fn measure(arguments: &Arguments, log: &Log, folder: &Path, figures: &mut Figures) -> Measured {
    let program = &arguments.program;
    let [work, report] = ["work", "report"].map(|name| folder.join(name));
    let one = |threads: &str| {
        run(program, &[text(&log.folder), "--report", text(&report), "-q", "--threads", threads])
    };
    let many = arguments.processes.max(2);
    let [mut alone, mut shard, mut single, mut two, mut all] = [const { Vec::new() }; 5];
    let mut last = [Cost::default(); 3];
    arguments.rounds(|| {
        let note = |name: &str, costs: &mut Vec<Cost>, cost: Cost| {
            figures.note(name, cost);
            costs.push(cost);
        };
        note("one process", &mut alone, one("0"));
        let (costs, count) = in_shards(program, &log.folder, &work, log.tokens, &[]);
        assert_eq!(count, 1);
        note("one shard", &mut shard, Cost::sum(&costs));
        note("one process, one thread", &mut single, one("1"));
        let (costs, _) = in_shards(program, &log.folder, &work, log.tokens.div_ceil(2), &[]);
        note("two processes, one thread each", &mut two, Cost::sum(&costs));
        last = costs;
        if many > 2 {
            let (costs, count) =
                in_shards(program, &log.folder, &work, log.tokens.div_ceil(many as u64), &[]);
            note(&format!("{count} processes, one thread each"), &mut all, Cost::sum(&costs));
            last = costs;
        }
        require_same(&report, &work.join("report"));
    });
    let parts = bytes_in(&work, "part");
    let [alone, shard, single, two] = [alone, shard, single, two].map(|costs| Cost::median(&costs));
    let mut table = table_head("against one process");
    table += &table_row("one process", alone, Some(alone));
    table += &table_row("plan, collect, merge with one shard", shard, Some(alone));
    table += &table_row("one process with one thread", single, Some(single));
    table += &table_row("two processes with one thread each", two, Some(single));
    if many > 2 {
        let name = format!("{many} processes with one thread each");
        table += &table_row(&name, Cost::median(&all), Some(single));
    }
    let [plan, collect, merge] = last.map(|cost| cost.seconds);
    table += &format!(
        "\nOf the last, `plan` took {plan:.2} s, `collect` {collect:.2} s, `merge` with its report {merge:.2} s; parts of \
         {:.1} MB together. The reports are equal byte for byte.\n",
        parts / 1e6
    );
    figures.part("shards", log, &table);
    Measured { processor: alone.processor }
}
