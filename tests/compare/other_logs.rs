//! Runs of which there are training curves or texts alone.

use std::path::{Path, PathBuf};

use serde_json::{Value, json as object};
use stapo_analyze::stats::random::Random;

use crate::{close, json, program, row, said};

fn write_file(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// Rewards that rise from 0.1 to `end` in 120 steps, with noise.
fn rewards(end: f64, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed, 45);
    let level = |step: u32| 0.1 + (end - 0.1) * (1.0 - (-f64::from(step) / 30.0).exp());
    (0..120).map(|step| level(step) + 0.04 * random.normal()).collect()
}

fn trainer_state(folder: &Path, name: &str, end: f64, seed: u64) -> PathBuf {
    let row = |(step, reward): (usize, f64)| object!({"step": step + 1, "reward": reward, "completion_length": 80.0});
    let rows: Vec<Value> = rewards(end, seed).into_iter().enumerate().map(row).collect();
    let folder = folder.join(name);
    std::fs::create_dir_all(&folder).unwrap();
    write_file(&folder, "trainer_state.json", &object!({"log_history": rows}).to_string())
}

#[test]
fn curves_are_compared_by_the_scatter_between_their_steps() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = [("a", 0.8), ("b", 0.6)]
        .map(|(name, end)| trainer_state(folder.path(), name, end, 1 + u64::from(end > 0.7)));
    let found = json(program().args([&a, &b]));
    let lines = said(&found, "runs");
    assert!(lines[0].starts_with("a and b differ: reward 0.6"), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("scatter between neighbouring steps")), "{lines:?}");
    for (name, truth) in [("reward", -0.2 * 0.75), ("reward_end", -0.2 * 0.97)] {
        let row = row(&found, name);
        assert_eq!((&row["clusters"], &row["differs"]), (&object!("steps"), &object!(true)));
        let [low, high] = ["ci_low", "ci_high"].map(|end| row[end].as_f64().unwrap());
        assert!(low < truth && truth < high && high - low < 0.1, "{name}: {low} to {high}");
    }
    assert_eq!(row(&found, "length")["verdict"], "same");
    let states: Vec<&Value> = found["runs"].as_array().unwrap().iter().map(|run| &run["state"]).collect();
    assert_eq!(states, ["healthy", "healthy"]);
    // The same file twice tells nothing.
    let same = json(program().args([&a, &a]));
    assert!(crate::codes(&same).contains(&"same_log"));
}

/// One export with several runs: side by side, one by its name, or as arms.
#[test]
fn runs_of_one_export_are_held_against_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let runs: Vec<(String, Vec<f64>)> = ["base_1", "base_2", "base_3", "new_1", "new_2", "new_3"]
        .iter()
        .zip(1..)
        .map(|(name, seed)| (name.to_string(), rewards(if seed > 3 { 0.9 } else { 0.5 }, seed)))
        .collect();
    let head: Vec<String> = runs.iter().map(|(name, _)| format!("\"{name} - train/reward\"")).collect();
    let rows = (0..120).map(|step| {
        let values: Vec<String> = runs.iter().map(|(_, rewards)| format!("\"{}\"", rewards[step])).collect();
        format!("\"{step}\",{}", values.join(","))
    });
    let text = format!("\"Step\",{}\n{}\n", head.join(","), rows.collect::<Vec<_>>().join("\n"));
    let path = write_file(folder.path(), "export.csv", &text);
    let found = json(program().arg(&path));
    let names: Vec<&Value> = found["runs"].as_array().unwrap().iter().map(|run| &run["name"]).collect();
    assert_eq!(names, ["base_1", "base_2", "base_3", "new_1", "new_2", "new_3"]);
    assert!(crate::codes(&found).is_empty(), "{:?}", crate::codes(&found));
    let one = |name: &str| format!("{name}={}", path.display());
    let pair = json(program().args([one("new_2"), one("base_1")]));
    assert!(said(&pair, "runs")[0].starts_with("new_2 and base_1 differ"), "{:?}", said(&pair, "runs"));
    let missing = program().args([one("other"), one("base_1")]).output().unwrap();
    assert!(String::from_utf8_lossy(&missing.stderr).contains("no run is called other"));
    // Seeds of a method: three files a side.
    let arm = |name: &str, end: f64, first: u64| {
        let seeds = (first..first + 3).map(|seed| {
            trainer_state(folder.path(), &format!("{name}_{seed}"), end, seed).display().to_string()
        });
        format!("{name}={}", seeds.collect::<Vec<_>>().join(","))
    };
    let methods = json(program().args(["--arm", &arm("base", 0.5, 1), "--arm", &arm("new", 0.9, 11)]));
    assert_eq!(methods["methods_differ"], true);
    assert!(said(&methods, "methods")[0].starts_with("new is above base with three seeds a side"));
}

#[test]
fn columns_and_steps_of_curves_can_be_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, end: f64, seed| {
        let rows = rewards(end, seed).into_iter().enumerate().map(|(step, value)| format!("{step},{value}"));
        let text = format!("step,worth\n{}\n", rows.collect::<Vec<_>>().join("\n"));
        write_file(folder.path(), name, &text)
    };
    let paths = [write("a.csv", 0.8, 1), write("b.csv", 0.6, 2)];
    let found = json(program().args(&paths).args(["--map", "reward=worth", "--steps", "20..99"]));
    assert_eq!(row(&found, "reward")["steps"], 80);
    assert_eq!(row(&found, "reward")["differs"], true);
}

/// The same responses as texts and as tokens: rewards, prompts and verdicts are theirs.
#[test]
fn texts_are_compared_as_their_tokens_are() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random::new(9, 0);
    let mut write = |name: &str, chance: f64| {
        let (mut texts, mut tokens) = (String::new(), String::new());
        for step in 0..10 {
            for prompt in 0..12 {
                let mood = 0.1 * random.normal();
                for _ in 0..4 {
                    let right = f64::from(random.unit() < chance + mood);
                    let words = 3 + random.below(9);
                    let text = ["so", "then", "nine"].repeat(words).join(" ");
                    let row = object!({"input": format!("prompt {prompt}"), "output": text, "score": right, "step": step});
                    texts += &format!("{row}\n");
                    let ids: Vec<usize> = (0..words).collect();
                    let row = object!({
                        "prompt": format!("prompt {prompt}"), "token_ids": ids, "logprob": vec![-0.5; words],
                        "entropy": vec![0.7; words], "advantage": right - 0.5, "reward": right, "step": step,
                        "vocab_size": 64,
                    });
                    tokens += &format!("{row}\n");
                }
            }
        }
        std::fs::create_dir_all(folder.path().join(name)).unwrap();
        write_file(&folder.path().join(name), "texts.jsonl", &texts);
        write_file(&folder.path().join(name), "tokens.jsonl", &tokens);
    };
    write("a", 0.3);
    write("b", 0.6);
    let of = |kind: &str| {
        let path = |name: &str| format!("{name}={}", folder.path().join(name).join(kind).display());
        json(program().args([path("a"), path("b")]))
    };
    let [texts, tokens] = ["texts.jsonl", "tokens.jsonl"].map(of);
    for name in ["reward", "reward_end"] {
        let [found, expected] = [&texts, &tokens].map(|comparison| row(comparison, name));
        for key in ["baseline", "other", "freedom"] {
            close(&found[key], expected[key].as_f64().unwrap(), &format!("{name} {key}"));
        }
        assert_eq!(found["differs"], true, "{name}");
    }
    // Lengths are in characters, and nobody made up an entropy.
    assert_eq!(texts["runs"][0]["in_characters"], true);
    assert!(row(&texts, "length")["baseline"].as_f64().unwrap() > 30.0);
    assert!(texts["metrics"].as_array().unwrap().iter().all(|row| row["metric"] != "entropy"));
    // Texts against tokens: all but the lengths.
    let mixed = |name: &str, kind: &str| format!("{name}={}", folder.path().join(name).join(kind).display());
    let found = json(program().args([mixed("a", "texts.jsonl"), mixed("b", "tokens.jsonl")]));
    assert_eq!(row(&found, "reward")["differs"], true);
    assert!(found["metrics"].as_array().unwrap().iter().all(|row| row["metric"] != "length"));
    assert!(crate::codes(&found).contains(&"not_alike"));
}
