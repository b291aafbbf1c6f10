//! Prints the causes of dumped logs. `STAPO_DUMPS=DIR cargo test -p stapo-diagnosis --test real_runs -- --ignored --nocapture`.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::expect_used, clippy::panic)]

mod dumps;

use dumps::{Log, Row};
use stapo_diagnosis::{Confidence, Measures, Outcome, examine_all};
use stapo_evidence::Evidence;

fn told(evidence: &Evidence, least: Confidence) -> Vec<String> {
    let outcome = Outcome::default();
    let measures = Measures::new(evidence, &outcome);
    let diagnosis = examine_all(&measures);
    let findings = diagnosis.findings.into_iter().filter(|ranked| ranked.finding.confidence <= least);
    findings
        .map(|ranked| {
            let f = ranked.finding;
            let why: Vec<String> = f.why.iter().map(|p| format!("{} {:.3}", p.name, p.value)).collect();
            let below = ranked.consequence_of.map_or(String::new(), |code| format!(" < {code}"));
            format!("{:?} {}{below} @{:?} [{}]", f.confidence, f.code, f.onset, why.join("; "))
        })
        .collect()
}

type Subset = (&'static str, fn(&Row, i64) -> bool);

#[test]
#[ignore = "needs dumped logs in STAPO_DUMPS"]
fn causes_of_dumped_logs() {
    let dir = std::env::var("STAPO_DUMPS").expect("a folder of dumped logs");
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.to_str().unwrap().contains(&only)) {
        let log = Log::read(file);
        let name = file.file_stem().unwrap().to_str().unwrap();
        let repeat = std::env::var("REPEAT").map_or(1, |times| times.parse().unwrap());
        for _ in 1..repeat {
            std::hint::black_box(log.evidence(|_| true));
        }
        let begun = std::time::Instant::now();
        let evidence = log.evidence(|_| true);
        let tokens: usize = log.rows.iter().map(|row| row.response().len()).sum();
        let ns = begun.elapsed().as_nanos() as f64 / tokens as f64;
        println!("{name} ({ns:.0} ns a token, {} bytes)", postcard::to_allocvec(&evidence).unwrap().len());
        if std::env::var("MEASURES").is_ok() {
            let outcome = Outcome::default();
            let measures = Measures::new(&evidence, &outcome);
            println!("    {:?} {:?} {:?}", measures.agreement(), measures.gap(), measures.push());
        }
        told(&evidence, Confidence::Note).iter().for_each(|line| println!("    {line}"));
        let mut steps: Vec<i64> = log.rows.iter().map(|row| row.step).collect();
        steps.sort_unstable();
        steps.dedup();
        let middle = steps[steps.len() / 2];
        let rank = |row: &Row| steps.binary_search(&row.step).unwrap();
        let even = log.evidence(|row| rank(row) % 2 == 0);
        let odd = log.evidence(|row| rank(row) % 2 == 1);
        let subsets: [Subset; 4] = [
            ("second half", |row, middle| row.step >= middle),
            ("groups a", |row, _| row.half()),
            ("groups b", |row, _| !row.half()),
            ("first half", |row, middle| row.step < middle),
        ];
        let cut = subsets.map(|(name, keep)| (name, log.evidence(|row| keep(row, middle))));
        for (name, evidence) in [("even steps", even), ("odd steps", odd)].into_iter().chain(cut) {
            let likely: Vec<String> = told(&evidence, Confidence::Likely)
                .iter()
                .map(|line| line.split(" [").next().unwrap().to_string())
                .collect();
            if !likely.is_empty() {
                println!("    {name}: {}", likely.join(", "));
            }
        }
    }
}
