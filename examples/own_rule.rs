//! A rule of one's own over the token stream: how many rewarded tokens were more surprising than
//! their distribution explains, step by step.
//!
//! ```sh
//! cargo run --release --example own_rule -- notebooks-data/grpo.parquet
//! ```

use std::collections::BTreeMap;
use std::io::stdout;
use std::path::PathBuf;

use stapo_analyze::Result;
use stapo_analyze::error::Error;
use stapo_analyze::framework::token::surprisal;
use stapo_analyze::ingest::{Column, IngestSettings, Run, Silent, Sink, TokenBatch, scan};
use stapo_analyze::tables::{Columns, text};

/// The columns that the rule reads: nothing else is decoded.
const COLUMNS: [Column; 6] =
    [Column::Step, Column::Logprob, Column::Entropy, Column::Advantage, Column::AdvantageSeq, Column::Mask];

/// Nats of surprise beyond the entropy that the rule allows.
const ALLOWED: f32 = 4.0;

/// Trained tokens of a step, and those that the rule takes.
type Counts = BTreeMap<i64, [u64; 2]>;

/// What one worker has counted. Counts add up to the same in any order of files and threads.
#[derive(Default)]
struct Rule {
    steps: Counts,
}

impl Sink for Rule {
    fn accept(&mut self, batch: &TokenBatch) -> Result<()> {
        let (Some(logprob), Some(entropy), Some(advantage)) =
            (batch.floats(Column::Logprob), batch.floats(Column::Entropy), batch.advantages())
        else {
            return Ok(());
        };
        for response in 0..batch.len() {
            let [trained, taken] = self.steps.entry(batch.responses.step[response]).or_default();
            for t in batch.range(response) {
                if batch.mask().is_some_and(|mask| mask[t] != 1) {
                    continue;
                }
                *trained += 1;
                // A missing value is NaN, which is greater than nothing.
                let unexplained = surprisal(f64::from(logprob[t])) - f64::from(entropy[t]);
                *taken += u64::from(advantage[t] > 0.0 && unexplained > f64::from(ALLOWED));
            }
        }
        Ok(())
    }
}

fn main() -> Result<()> {
    let logs: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let run = Run::open(&logs, &IngestSettings::default())?;
    let scanned = scan(&run, &COLUMNS, &Silent, Rule::default)?;
    let mut steps = Counts::new();
    for (step, counts) in scanned.sinks.into_iter().flat_map(|rule| rule.steps) {
        let sum = steps.entry(step).or_default();
        *sum = [sum[0] + counts[0], sum[1] + counts[1]];
    }
    let rows: Vec<(i64, [u64; 2])> = steps.into_iter().collect();
    let table = Columns::of(&rows)
        .int("step", |r| r.0)
        .count("tokens", |r| r.1[0])
        .count("taken", |r| r.1[1])
        .frame();
    text::write(&table, &[], &mut stdout().lock()).map_err(|e| Error::write("standard output".as_ref(), e))
}
