//! Logs written out by a script, for holding the causes against a reference: set `STAPO_DUMPS` to their folder and run
//! `cargo test -p stapo-diagnosis2 --test rewards -- --ignored --nocapture`.

use crate::log::{Log, Row};
use std::fs;

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (head, rest) = self.0.split_at(N);
        self.0 = rest;
        head.try_into().unwrap()
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn i64(&mut self) -> Option<i64> {
        Some(i64::from_le_bytes(self.take())).filter(|value| *value != i64::MIN)
    }

    fn f32(&mut self) -> f32 {
        f32::from_le_bytes(self.take())
    }

    fn text(&mut self) -> String {
        let len = self.u32() as usize;
        let (text, rest) = self.0.split_at(len);
        self.0 = rest;
        String::from_utf8(text.to_vec()).unwrap()
    }

    fn floats(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.f32()).collect()
    }
}

fn read(bytes: &[u8]) -> Log {
    let mut b = Bytes(bytes);
    let (rows, parts) = (b.u32(), b.u32());
    let parts: Vec<String> = (0..parts).map(|_| b.text()).collect();
    let columns = b.u32();
    let mut log = Log { parts, rows: Vec::new() };
    for _ in 0..rows {
        let (step, group, place) = (b.i64().unwrap(), b.u64(), b.u64());
        let slice = b.text();
        let held_out = b.take::<1>()[0] == 1;
        let (update, _version) = (b.i64(), b.i64());
        let reward = b.f32();
        let parts = b.floats(log.parts.len());
        let advantage = Some(b.f32()).filter(|advantage| !advantage.is_nan());
        let prompt = Some(b.u64()).filter(|prompt| *prompt != 0);
        b.i64();
        let finish = Some(b.text()).filter(|finish| !finish.is_empty());
        let truncated = [Some(false), Some(true), None][usize::from(b.take::<1>()[0])];
        let n = b.u32() as usize;
        let has = |column: u32| columns & 1 << column != 0;
        let tokens = has(0).then(|| (0..n).map(|_| i32::from_le_bytes(b.take())).collect());
        let mask = has(1).then(|| (0..n).map(|_| b.take::<1>()[0]).collect());
        let mut lists: Vec<Option<Vec<f32>>> = (2..10).map(|at| has(at).then(|| b.floats(n))).collect();
        let turns = has(10).then(|| (0..n).map(|_| i32::from_le_bytes(b.take())).collect());
        log.rows.push(Row {
            step,
            group,
            place,
            slice,
            held_out,
            update,
            reward,
            parts,
            advantage,
            prompt,
            finish,
            truncated,
            tokens,
            mask,
            logprob: lists[0].take().unwrap(),
            entropy: lists[1].take(),
            rollout: lists[2].take(),
            advantages: lists[5].take(),
            turns,
        });
    }
    log
}

#[test]
#[ignore = "needs logs written out, in STAPO_DUMPS"]
fn causes_of_dumped_logs() {
    let folder = std::env::var("STAPO_DUMPS").unwrap();
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let log = read(&fs::read(&path).unwrap());
        let mut steps: Vec<i64> = log.rows.iter().map(|row| row.step).collect();
        steps.sort_unstable();
        steps.dedup();
        let at = |row: &Row| steps.binary_search(&row.step).unwrap();
        let mut groups: Vec<u64> = log.rows.iter().map(|row| row.group).collect();
        groups.sort_unstable();
        groups.dedup();
        let group = |row: &Row| groups.binary_search(&row.group).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        for (cut, log) in [
            ("", log.clone()),
            ("even steps", log.keep(|row| at(row) % 2 == 0)),
            ("odd steps", log.keep(|row| at(row) % 2 == 1)),
            ("even groups", log.keep(|row| group(row) % 2 == 0)),
            ("odd groups", log.keep(|row| group(row) % 2 == 1)),
            ("first half", log.keep(|row| 2 * at(row) < steps.len())),
        ] {
            for found in log.examine().findings {
                let finding = found.finding;
                println!(
                    "{name}\t{cut}\t{}\t{:?}\t{:?}\t{}",
                    finding.code, finding.confidence, finding.onset, finding.sentence
                );
            }
        }
    }
}
