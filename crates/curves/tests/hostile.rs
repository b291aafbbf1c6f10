//! Whatever a file holds: an error or curves with a verdict, never a panic, and no more memory than is allowed.

#![allow(clippy::unwrap_used)]

#[path = "support/forms.rs"]
#[allow(dead_code)]
mod forms;

use proptest::prelude::*;
use stapo_curves::{Curves, ReadOptions, join_bytes, judge};

const NAMES: [&str; 4] = ["x.csv", "x.json", "x.jsonl", "x.log"];

fn samples() -> Vec<Vec<u8>> {
    let rows = forms::learned(12);
    let metrics = ["train/reward", "train/kl", "eval/accuracy"];
    let texts = [
        forms::csv(&rows),
        forms::trainer_state(&rows),
        forms::json_lines(&rows),
        forms::json_array(&rows),
        forms::json_columns(&rows),
        forms::verl(&rows),
        forms::trl(&rows),
        forms::wandb(&[("a", &rows), ("b", &rows)], &metrics),
    ];
    texts.into_iter().map(String::into_bytes).collect()
}

/// Reads and judges under each name; the curves are well-formed.
fn survives(files: &[&[u8]]) {
    let options = ReadOptions { memory: 1 << 20, ..ReadOptions::default() };
    for name in NAMES {
        let files: Vec<(&str, &[u8])> = files.iter().map(|bytes| (name, *bytes)).collect();
        let curves = join_bytes(&files, &options).unwrap_or_else(|error| {
            assert!(!error.to_string().is_empty() && error.hint().is_some());
            Curves::default()
        });
        for run in &curves.runs {
            let all = run.series.values().chain(&run.parts).chain(&run.held_out);
            for series in all {
                assert_eq!(series.steps.len(), series.values.len());
                assert!(
                    series.steps.is_sorted_by(|a, b| a < b) && series.values.iter().all(|v| v.is_finite())
                );
            }
            assert!(!judge(run).sentence.is_empty());
        }
    }
}

/// Words that readers look for, and numbers at the edges.
const WORDS: [&str; 24] = [
    "step:",
    " - ",
    "{'",
    "'reward': ",
    "'loss': ",
    "\"log_history\": [",
    "[{",
    "}]",
    "{\"reward\": ",
    "NaN",
    "-Infinity",
    "1e308",
    "-1e308",
    "1e-320",
    "\u{1b}[31m",
    "\r",
    "\n",
    "step,reward\n",
    "a - reward__MIN,",
    "\"",
    "np.float64(",
    ")",
    "run,",
    "18446744073709551615",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        survives(&[&bytes]);
    }

    #[test]
    fn any_words(words in proptest::collection::vec(proptest::sample::select(&WORDS[..]), 0..60)) {
        survives(&[words.concat().as_bytes()]);
    }

    #[test]
    fn samples_with_other_bytes(
        sample in 0..8_usize,
        other in 0..8_usize,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let (samples, mut bytes) = (samples(), samples()[sample].clone());
        for (place, byte) in changes {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        survives(&[&bytes]);
        survives(&[&bytes, &samples[other]]);
    }

    #[test]
    fn any_numbers(rows in proptest::collection::vec((any::<f64>(), any::<f64>(), 0..50_u8), 4..80)) {
        let line = |(reward, kl, step): &(f64, f64, u8)| format!("{step},{reward:e},{kl:e},{kl},{reward}\n");
        let text: String = rows.iter().map(line).collect();
        survives(&[format!("step,reward,kl,eval/acc,rewards/correct\n{text}").as_bytes()]);
    }
}

#[test]
fn deep_wide_and_long_files_are_bounded() {
    survives(&["[".repeat(100_000).as_bytes()]);
    survives(&["{\"a\":".repeat(100_000).as_bytes()]);
    let wide: String = (0..30_000).map(|c| format!("rewards/f{c},")).collect();
    survives(&[format!("{wide}\n{}", "1,".repeat(30_000)).as_bytes()]);
    let names: String = (0..30_000).map(|c| format!("{{\"rewards/f{c}\": 1}}\n")).collect();
    survives(&[names.as_bytes()]);
    let runs: String = (0..3_000).map(|r| format!("run{r},1,0.5\n")).collect();
    survives(&[format!("run,step,reward\n{runs}").as_bytes()]);
    let falling: String = (0..20_000).map(|s| format!("{},0.5\n", s % 2)).collect();
    survives(&[format!("step,reward\n{falling}").as_bytes()]);
}
