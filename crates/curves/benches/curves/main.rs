//! `cargo bench -p stapo-curves -- rates [R] | power [R] | full [R] | calibrate [R] | read [MB [FORM]] | judge FILE…`

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

mod simulated;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use simulated::{FALLS, FAULTS, FLAT, HEALTHY, NOISES, Noise, Random, Shape, means, rows, run_of, whole_run};
use stapo_curves::{ReadOptions, RunState, greatest_t, judge, read_bytes, read_files};

const ROWS: [usize; 8] = [10, 20, 32, 50, 100, 200, 500, 2000];
const SDS: [f64; 3] = [0.02, 0.07, 0.2];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let number = |default: usize| arguments.get(1).and_then(|text| text.parse().ok()).unwrap_or(default);
    match arguments.first().map(String::as_str) {
        Some("rates") => rates(number(4)),
        Some("power") => power(number(12)),
        Some("full") => full(number(30)),
        Some("calibrate") => calibrate(number(2000)),
        Some("judge") => judge_files(&arguments[1..]),
        _ => reading(number(64), arguments.get(2).map(String::as_str)),
    }
}

/// States of simulated curves, by cell.
#[derive(Default)]
struct Counts(BTreeMap<(String, String), BTreeMap<&'static str, usize>>);

impl Counts {
    fn add(&mut self, cells: [(String, String); 5], values: Vec<f64>) {
        let verdict = judge(&run_of(values));
        let lost = matches!(verdict.state, RunState::Damaged | RunState::Collapsed);
        for cell in cells {
            let counts = self.0.entry(cell).or_default();
            *counts.entry(verdict.state.words()).or_default() += 1;
            if !verdict.events.is_empty() && !lost {
                *counts.entry("dip told").or_default() += 1;
            }
        }
    }

    fn show(&self) {
        for ((by, value), counts) in &self.0 {
            let all: usize = counts.iter().filter(|(state, _)| **state != "dip told").map(|(_, n)| n).sum();
            let mut line = format!("  {by:8} {value:26} of {all:6}:");
            for (state, count) in counts {
                let _ = write!(line, " {state} {:.4}", *count as f64 / all as f64);
            }
            println!("{line}");
        }
    }
}

fn table(shapes: &[Shape], repetitions: usize, rhos: &[f64], noises: &[Noise], sds: &[f64]) -> Counts {
    let mut counts = Counts::default();
    for (number, (name, shape)) in shapes.iter().enumerate() {
        for n in ROWS {
            let means = means(*shape, n);
            for sd in sds {
                for rho in rhos {
                    for (kind, noise) in noises.iter().enumerate() {
                        let seed =
                            [number as u64, n as u64, (sd * 1e4) as u64, (rho * 10.0) as u64, kind as u64];
                        let mut random = Random::new(&seed);
                        for _ in 0..repetitions {
                            let cells = [
                                ("all".to_owned(), String::new()),
                                ("shape".to_owned(), (*name).to_owned()),
                                ("rows".to_owned(), format!("{n}, rho {rho}")),
                                ("noise".to_owned(), format!("{noise:?}, {sd}")),
                                ("shape, n".to_owned(), format!("{name}, {n}")),
                            ];
                            counts.add(cells, rows(&mut random, &means, *noise, *sd, *rho));
                        }
                    }
                }
            }
        }
    }
    counts
}

/// False alarms on curves that learned, and on flat ones.
fn rates(repetitions: usize) {
    for (name, shapes) in [("healthy", &HEALTHY[..]), ("flat", &FLAT[..])] {
        let clock = Instant::now();
        let counts = table(shapes, repetitions, &[0.0, 0.3, 0.6], &NOISES, &SDS);
        println!("{name}, {:.1} s", clock.elapsed().as_secs_f64());
        counts.show();
    }
}

/// How many falls are found, by depth and rows.
fn power(repetitions: usize) {
    for sd in SDS {
        println!("falls, sd {sd}");
        table(&FALLS, repetitions, &[0.0, 0.3], &[Noise::Normal], &[sd]).show();
        println!("learned, sd {sd}");
        table(&HEALTHY[..4], repetitions, &[0.0, 0.3], &[Noise::Normal], &[sd]).show();
    }
}

/// Whole runs with one fault: states and causes.
fn full(repetitions: usize) {
    for fault in FAULTS {
        for n in [30, 60, 120, 400, 1500] {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            for seed in 0..repetitions {
                let verdict = judge(&whole_run(&mut Random::new(&[seed as u64, n as u64]), n, fault));
                let mut said = vec![verdict.state.words().to_owned()];
                said.extend(verdict.causes.iter().map(|cause| format!("cause {}", cause.code.as_str())));
                said.extend(verdict.events.first().map(|_| "event".to_owned()));
                said.sort();
                said.dedup();
                for word in said {
                    *counts.entry(word).or_default() += 1;
                }
            }
            let shares: Vec<String> = counts
                .iter()
                .map(|(word, count)| format!("{word} {:.2}", *count as f64 / repetitions as f64))
                .collect();
            println!("{fault:?} {n}: {}", shares.join(", "));
        }
    }
}

/// The table of critical values: 99.9 % points over flat series, of autocorrelation 0.1 (gains) and 0.3.
fn calibrate(repetitions: usize) {
    for rho in [0.1, 0.3] {
        for n in [6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 100, 200, 400, 1000] {
            let mut random = Random::new(&[n as u64, (rho * 10.0) as u64]);
            let flat = vec![0.0; n];
            let mut greatest: [Vec<f64>; 4] = Default::default();
            for _ in 0..repetitions {
                let t = greatest_t(&rows(&mut random, &flat, Noise::Normal, 1.0, rho)).unwrap();
                for (all, t) in greatest.iter_mut().zip(t) {
                    all.push(t);
                }
            }
            let at = |all: &mut Vec<f64>, share: f64| {
                all.sort_by(f64::total_cmp);
                all[((all.len() - 1) as f64 * share) as usize]
            };
            let [fall, dip, gain, bound] = &mut greatest;
            let (fall, dip, gain) = (at(fall, 0.999), at(dip, 0.999), at(gain, 0.999));
            println!(
                "rho {rho} n {n:5}: fall {fall:.2} dip {dip:.2} gain {gain:.2} bound {:.2}",
                at(bound, 0.98)
            );
        }
    }
}

/// A verdict a line, as JSON.
fn judge_files(files: &[String]) {
    for file in files {
        match read_files(&[PathBuf::from(file)], &ReadOptions::default()) {
            Ok(curves) => {
                for run in &curves.runs {
                    let verdict = serde_json::json!({"file": file, "run": run.name, "verdict": judge(run)});
                    println!("{verdict}");
                }
            }
            Err(error) => println!("{}", serde_json::json!({"file": file, "error": error.to_string()})),
        }
    }
}

/// Seconds on a processor: other programs do not count.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

/// Megabytes a second of each form, on one core.
fn reading(megabytes: usize, form: Option<&str>) {
    let columns: Vec<String> = (0..20).map(|c| format!("rewards/part_{c}/mean")).collect();
    let row = |step: usize| (0..20).map(move |c| ((step * 31 + c * 17) % 10_007) as f64 / 10_007.0);
    let size = megabytes << 20;
    let mut csv = format!("step,{}\n", columns.join(","));
    let (mut lines, mut verl, mut trl) = (String::new(), String::new(), String::new());
    // What consoles are full of.
    let rollout =
        "<think> Let's break it down, step by step: 12 + 30 = 42, so {x} is 42. </think>\n".repeat(8);
    for step in 0.. {
        let (mut json, mut console, mut dict) =
            (format!("{{\"step\":{step}"), format!("step:{step}"), String::new());
        let _ = write!(csv, "{step}");
        for (name, value) in columns.iter().zip(row(step)) {
            let _ = write!(csv, ",{value}");
            let _ = write!(json, ",\"{name}\":{value}");
            let _ = write!(console, " - {name}:{value:.3}");
            let _ = write!(dict, ", '{name}': {value}");
        }
        csv.push('\n');
        let _ = writeln!(lines, "{json}}}");
        verl += &rollout;
        trl += &rollout;
        let _ = writeln!(verl, "(TaskRunner pid=12) {console}");
        let _ = writeln!(trl, "{{'epoch': {step}{dict}}}");
        if csv.len() > size {
            break;
        }
    }
    let array = format!("[{}]", lines.trim_end().replace('\n', ","));
    let files = [("a.csv", csv), ("a.jsonl", lines), ("a.json", array), ("verl.log", verl), ("trl.log", trl)];
    let options = ReadOptions { memory: 8 << 30, ..ReadOptions::default() };
    for (name, text) in files.iter().filter(|(name, _)| form.is_none_or(|form| form == *name)) {
        let clock = processor_seconds();
        let curves = read_bytes(name, text.as_bytes(), &options).unwrap();
        let seconds = processor_seconds() - clock;
        let rows = curves.runs[0].steps.len();
        println!("{name:8} {:6.0} MB/s, {rows} rows of 20 numbers", text.len() as f64 / 1e6 / seconds);
    }
}
