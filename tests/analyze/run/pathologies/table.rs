//! The table of `docs/diagnosis.md`: how often faults are named, and how often healthy runs are blamed, by
//! number of steps.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use stapo_analyze::analyze::result::CauseCode;
use stapo_analyze::stats::random::Random;

use super::run::{Fault, Kind, Shape};
use super::{alarms, among_first_two, analysis, told};

/// Rows before those of the faults: a likely cause, and damage, in healthy runs.
const HEALTHY: [&str; 2] = ["healthy: a likely cause", "healthy: damage"];

/// A run to be drawn.
#[derive(Clone, Copy)]
struct Draw {
    /// The fault with the cause that is to be named; `None` for a healthy run.
    fault: Option<(Fault, CauseCode)>,
    row: usize,
    column: usize,
    steps: usize,
    seed: u64,
}

impl Draw {
    /// Draws it: the rows it counts for, whether it does, and a line where it should not be so.
    fn examine(&self) -> (Vec<(usize, bool)>, Option<String>) {
        // Of its own stream: the same whatever else is drawn, and in which order.
        let stream = (((self.row * 10_000 + self.steps) as u64) << 32) | self.seed;
        let mut random = Random::new(99, stream);
        let kind = match self.fault {
            None => Kind::ALL[self.seed as usize % Kind::ALL.len()],
            Some(_) => Kind::Plain,
        };
        let shape = Shape::draw(&mut random, self.steps, kind);
        let fault = self.fault.map_or(Fault::Nothing, |(fault, _)| fault);
        let found = analysis(fault, shape, 1_000 * self.row as u64 + self.seed);
        let line = || format!("{fault:?} {shape:?} seed {}: {}", self.seed, told(&found));
        match self.fault {
            Some((_, code)) => {
                let named = among_first_two(&found, code);
                (vec![(self.row, named)], (!named).then(line))
            }
            None => {
                let ill = [!alarms(&found).is_empty(), !found.diagnosis.damage.is_empty()];
                (ill.into_iter().enumerate().collect(), ill.contains(&true).then(line))
            }
        }
    }
}

/// What was drawn so far.
#[derive(Default)]
struct Drawn {
    /// Hits and draws by row and column.
    cells: BTreeMap<(usize, usize), (usize, usize)>,
    wrong: Vec<String>,
}

impl Drawn {
    fn table(&self, steps: &[usize], seconds: f64) -> String {
        let heads: Vec<String> = steps.iter().map(|steps| format!("{steps} steps")).collect();
        let mut text = format!("| run | {} |\n|---|{}\n", heads.join(" | "), "---|".repeat(steps.len()));
        let names = HEALTHY.map(str::to_owned).into_iter();
        let faults = Fault::ALL.iter().map(|(fault, code)| format!("{fault:?} → `{}`", code.name()));
        for (row, name) in names.chain(faults).enumerate() {
            let cell = |column: usize| {
                let (hits, draws) = self.cells.get(&(row, column)).copied().unwrap_or_default();
                format!("{hits} of {draws}")
            };
            let cells: Vec<String> = (0..steps.len()).map(cell).collect();
            writeln!(text, "| {name} | {} |", cells.join(" | ")).unwrap();
        }
        let draws: usize = self.cells.iter().filter(|((row, _), _)| *row != 1).map(|(_, cell)| cell.1).sum();
        let mut wrong = self.wrong.clone();
        wrong.sort();
        format!("{text}\n{draws} runs in {seconds:.0} s\n\n{}\n", wrong.join("\n"))
    }
}

/// A number from the environment.
fn set(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// `TABLE_SHARD=2/16`: of sixteen processes, which share a table, this is the third.
fn shard() -> (usize, usize) {
    let Ok(text) = std::env::var("TABLE_SHARD") else { return (0, 1) };
    let (this, of) = text.split_once('/').unwrap();
    (this.parse().unwrap(), of.parse().unwrap())
}

/// Writes `diagnosis_table.md` to `TABLE_FOLDER` (else the temporary folder), again and again while it grows.
/// `HEALTHY_DRAWS` and `FAULT_DRAWS` are of each cell, `TABLE_STEPS` (`3,10,30`) are its columns, and
/// `TABLE_THREADS` runs are drawn at a time. On many cores processes (`TABLE_SHARD`, `RAYON_NUM_THREADS=1`) are faster
/// than threads: those wait for one pool.
#[test]
#[ignore = "half an hour on sixteen cores"]
fn table() {
    let steps = std::env::var("TABLE_STEPS").unwrap_or_else(|_| "3,10,30,100,1000".into());
    let steps: Vec<usize> = steps.split(',').map(|steps| steps.parse().unwrap()).collect();
    let folder = std::env::var_os("TABLE_FOLDER").map_or_else(std::env::temp_dir, Into::into);
    let (healthy, each) = (set("HEALTHY_DRAWS", 500), set("FAULT_DRAWS", 100));
    let threads = set("TABLE_THREADS", std::thread::available_parallelism().map_or(1, usize::from));
    let mut draws: Vec<Draw> = Vec::new();
    for (column, steps) in steps.iter().copied().enumerate() {
        let of = |fault, row| move |seed| Draw { fault, row, column, steps, seed };
        draws.extend((0..healthy as u64).map(of(None, 0)));
        for (place, fault) in Fault::ALL.into_iter().enumerate() {
            draws.extend((0..each as u64).map(of(Some(fault), HEALTHY.len() + place)));
        }
    }
    // The longest first, so that no thread is left with one at the end.
    draws.sort_by_key(|draw| std::cmp::Reverse(draw.steps));
    let (this, of) = shard();
    let draws: Vec<Draw> = draws.into_iter().skip(this).step_by(of).collect();
    let (next, began) = (AtomicUsize::new(0), Instant::now());
    let drawn = Mutex::new(Drawn::default());
    let write = |drawn: &Drawn| {
        let text = drawn.table(&steps, began.elapsed().as_secs_f64());
        std::fs::write(folder.join("diagnosis_table.md"), text).unwrap();
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                while let Some(draw) = draws.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (rows, line) = draw.examine();
                    let mut drawn = drawn.lock().unwrap();
                    for (row, hit) in rows {
                        let (hits, all) = drawn.cells.entry((row, draw.column)).or_default();
                        (*hits, *all) = (*hits + usize::from(hit), *all + 1);
                    }
                    drawn.wrong.extend(line);
                    if drawn.cells.values().map(|cell| cell.1).sum::<usize>().is_multiple_of(20) {
                        write(&drawn);
                    }
                }
            });
        }
    });
    write(&drawn.into_inner().unwrap());
}
