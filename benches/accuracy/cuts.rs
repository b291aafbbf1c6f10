//! Parts of healthy runs. None of them is sick, whatever else it may not know: a first half may be too short to say
//! that the run learns, a second half cannot know that it has.

use crate::pieces::{Pieces, hash};
use crate::reading::Reading;
use crate::simulated::draws::Stream;
use crate::tables::{Count, head, row};
use crate::verdicts::Labelled;
use rayon::prelude::*;

/// What is cut, the rows of the table.
pub const KINDS: [&str; 6] = [
    "first half of the steps",
    "second half of the steps",
    "every other step",
    "other stretches of steps",
    "half of the groups",
    "tasks in another mix, which moves",
];
/// A log with fewer steps is not cut in time.
const FEWEST: usize = 4;
/// Halves of the groups, and mixes, of each run.
const HALVES: u64 = 3;
const MIXES: u64 = 6;

/// A part of a run, and what was said of it.
pub struct Cut {
    /// The run.
    pub log: &'static str,
    /// Of [`KINDS`].
    pub kind: usize,
    pub what: String,
    pub reading: Reading,
}

/// Every cut of every healthy run, in the order of the labels.
pub fn read(labelled: &[Labelled]) -> Vec<Cut> {
    let folder = tempfile::tempdir().unwrap();
    let healthy: Vec<&Labelled> = labelled.iter().filter(|run| run.label.is_healthy()).collect();
    let of_run = |run: &&Labelled| -> Vec<Cut> {
        let pieces = Pieces::of(&run.path);
        let name = run.label.log.replace('/', "_");
        let read = |(at, (kind, what, chosen)): (usize, Planned)| {
            let path = folder.path().join(format!("{name}_{at}.parquet"));
            pieces.write(&chosen, &path);
            let reading = Reading::of(&path);
            std::fs::remove_file(path).unwrap();
            Cut { log: run.label.log, kind, what, reading }
        };
        plan(&pieces, run.label.log).into_par_iter().enumerate().map(read).collect()
    };
    healthy.par_iter().map(of_run).collect::<Vec<_>>().into_iter().flatten().collect()
}

/// Kind, name and groups of a cut.
type Planned = (usize, String, Vec<usize>);

fn plan(pieces: &Pieces, log: &str) -> Vec<Planned> {
    let steps = pieces.steps.len();
    let rank = |step: i64| pieces.steps.partition_point(|other| *other < step);
    let those = |keep: &dyn Fn(usize) -> bool| -> Vec<usize> {
        (0..pieces.groups.len()).filter(|at| keep(*at)).collect()
    };
    let at_ranks = |keep: &dyn Fn(usize) -> bool| those(&|at| keep(rank(pieces.groups[at].step)));
    let stretch = |from: usize, to: usize| at_ranks(&|rank| (from..to).contains(&rank));
    let mut cuts: Vec<Planned> = Vec::new();
    if steps >= FEWEST {
        let half = steps.div_ceil(2);
        cuts.push((0, "first half".into(), stretch(0, half)));
        cuts.push((1, "second half".into(), stretch(half, steps)));
        cuts.push((2, "even steps".into(), at_ranks(&|rank| rank % 2 == 0)));
        cuts.push((2, "odd steps".into(), at_ranks(&|rank| rank % 2 == 1)));
        for (name, from, to) in [
            ("first quarter", 0, steps.div_ceil(4)),
            ("first third", 0, steps.div_ceil(3)),
            ("first two thirds", 0, 2 * steps / 3),
            ("all but the last", 0, steps - 1),
            ("middle third", steps / 3, 2 * steps / 3),
            ("last third", 2 * steps / 3, steps),
            ("all but the first", 1, steps),
        ] {
            cuts.push((3, name.into(), stretch(from, to)));
        }
    }
    for salt in 0..HALVES {
        for side in 0..2 {
            let half = |at: usize| Stream::new(pieces.groups[at].hash, salt).unit(0) < 0.5;
            cuts.push((
                4,
                format!("half {salt} of the groups, side {side}"),
                those(&|at| half(at) == (side == 0)),
            ));
        }
    }
    for mix in 0..MIXES {
        cuts.push((5, format!("mix {mix}"), mixed(pieces, hash(log), mix)));
    }
    cuts
}

/// Groups drawn with replacement within each task and step. A task's share goes from one of its own to another over the
/// run; half of the mixes draw without replacement, so that no group comes twice.
fn mixed(pieces: &Pieces, seed: u64, mix: u64) -> Vec<usize> {
    let mut slices: Vec<&str> = pieces.groups.iter().map(|group| group.slice.as_str()).collect();
    slices.sort_unstable();
    slices.dedup();
    let (first, last) = (pieces.steps[0], pieces.steps[pieces.steps.len() - 1]);
    let mut chosen = Vec::new();
    for step in &pieces.steps {
        let way = (step - first) as f64 / (last - first).max(1) as f64;
        for slice in &slices {
            let stream = Stream::new(seed ^ hash(slice), mix);
            let (from, to) = (0.25 + 0.75 * stream.unit(0), 0.25 + 0.75 * stream.unit(1));
            let share = from + way * (to - from);
            let groups: Vec<usize> = (0..pieces.groups.len())
                .filter(|at| pieces.groups[*at].step == *step && pieces.groups[*at].slice == *slice)
                .collect();
            let draw = Stream::new(seed ^ hash(slice) ^ step.cast_unsigned(), 100 + mix);
            if mix.is_multiple_of(2) {
                let count = (share * groups.len() as f64).round() as usize;
                chosen.extend((0..count).map(|at| groups[(draw.unit(at) * groups.len() as f64) as usize]));
            } else {
                chosen.extend(
                    groups.into_iter().enumerate().filter(|(at, _)| draw.unit(*at) < share).map(|(_, g)| g),
                );
            }
        }
    }
    chosen
}

/// A row of each kind, and what was wrong.
pub fn table(cuts: &[Cut]) -> String {
    let mut table = head(&["cut", "judged", "undecided", "sick, or a likely cause", "at most (95 %)"]);
    let mut all = Count::default();
    for (kind, what) in KINDS.iter().enumerate() {
        let of_kind = || cuts.iter().filter(|cut| cut.kind == kind);
        let mut alarms = Count::default();
        of_kind().for_each(|cut| alarms.add(cut.reading.told.is_alarm()));
        let undecided = of_kind().filter(|cut| cut.reading.told.state == "undecided").count();
        table += &row(&[
            (*what).into(),
            alarms.of.to_string(),
            undecided.to_string(),
            alarms.found.to_string(),
            alarms.bound(),
        ]);
        all.join(alarms);
    }
    table += &row(&["all".into(), all.of.to_string(), String::new(), all.found.to_string(), all.bound()]);
    table
}

/// Cuts that were called sick or have a likely cause.
pub fn alarms(cuts: &[Cut]) -> Count {
    let mut count = Count::default();
    cuts.iter().for_each(|cut| count.add(cut.reading.told.is_alarm()));
    count
}

/// Runs of which any cut was.
pub fn runs(cuts: &[Cut]) -> Count {
    let mut logs: Vec<&str> = cuts.iter().map(|cut| cut.log).collect();
    logs.sort_unstable();
    logs.dedup();
    let mut count = Count::default();
    logs.iter()
        .for_each(|log| count.add(cuts.iter().any(|cut| cut.log == *log && cut.reading.told.is_alarm())));
    count
}

/// Each of them, in words.
pub fn list(cuts: &[Cut]) -> String {
    let said = |cut: &Cut| {
        let told = &cut.reading.told;
        let causes =
            if told.likely > 0 { format!(", {}", crate::verdicts::causes(told)) } else { String::new() };
        format!("`{}`, {}: {}{causes}", cut.log, cut.what, told.state)
    };
    cuts.iter().filter(|cut| cut.reading.told.is_alarm()).map(said).collect::<Vec<_>>().join("; ")
}
