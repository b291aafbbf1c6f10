//! What a replay leaves: a result that follows its schema, token logs that the analyzer reads, a
//! report.

use std::collections::BTreeSet;
use std::process::Command;

use parquet::file::reader::FileReader;
use serde_json::{Value, json};
use stapo_analyze::ingest::Column;

use super::schema_support::validate;
use super::support::{read, sample, small_log};
use super::{command, done, refused, result, with_model};

fn rows_of(table: &std::path::Path) -> usize {
    let file = std::fs::File::open(table).unwrap();
    parquet::file::reader::SerializedFileReader::new(file).unwrap().metadata().file_metadata().num_rows()
        as usize
}

#[test]
fn results_token_logs_and_reports() {
    let folder = tempfile::tempdir().unwrap();
    let log = small_log(folder.path(), 2, 40, |batch| batch);
    let out = folder.path().join("out");
    let options = "--objective dapo,stapo,random,lopti --seeds 2 --minibatch 8 --lr 1e-4 --tau-p 0.05 --explain --kl-beta 0.01";
    let output = done(with_model(&log, &out, options));
    let result = result(&out);
    validate(&result, "replay");

    // Lopti has two updates a mini-batch; the masks of stapo and random have the same size.
    let arms = result["arms"].as_array().unwrap();
    assert_eq!(arms.len(), 8);
    let updates = |name: &str, seed: u64| {
        let arm = arms.iter().find(|a| a["objective"] == name && a["seed"] == seed).unwrap();
        arm["updates"].as_array().unwrap().clone()
    };
    assert_eq!(updates("lopti", 1).len(), 2 * updates("dapo", 1).len());
    let first = |name: &str| updates(name, 1)[0]["silenced"].as_u64().unwrap();
    assert!(first("stapo") > 0);
    assert_eq!(first("stapo"), first("random"), "the same start, the same mini-batch");
    assert_ne!(updates("dapo", 1)[0]["minibatch"], Value::Null);
    let order = |seed| updates("dapo", seed).iter().map(|u| u["minibatch"].as_u64()).collect::<Vec<_>>();
    assert!((1..=2).map(order).collect::<BTreeSet<_>>().len() > 1, "seeds order mini-batches");

    // What is held out is in no token log, and everything else is in every one of them.
    let prompts = |path: &std::path::Path| -> Vec<Vec<i32>> {
        let batches = read(path);
        let all = batches.iter().flat_map(|b| b.responses.prompt_ids.clone().unwrap());
        all.map(|p| p.unwrap().to_vec()).collect()
    };
    let logged = prompts(&log);
    let held = result["data"]["holdout_responses"].as_u64().unwrap() as usize;
    let distinct: BTreeSet<_> = logged.iter().cloned().collect();
    assert!(held > 0);
    for file in ["dapo.parquet", "stapo.seed2.parquet", "lopti.seed2.parquet"] {
        let trained = prompts(&out.join(file));
        assert_eq!(trained.len() + held, logged.len(), "{file}");
        let kept: BTreeSet<_> = trained.into_iter().collect();
        assert_eq!(
            kept.len() as u64 + result["data"]["holdout_prompts"].as_u64().unwrap(),
            distinct.len() as u64
        );
    }

    // The analyzer takes a token log as any other.
    let analysed = Command::new(env!("CARGO_BIN_EXE_stapo-analyze"))
        .arg(out.join("stapo.parquet"))
        .args(["--tau-p", "0.05", "--per", "minibatch", "--format", "json", "--full"])
        .output()
        .unwrap();
    assert!(analysed.status.success(), "{}", String::from_utf8_lossy(&analysed.stderr));
    let summary: Value = serde_json::from_slice(&analysed.stdout).unwrap();
    assert_eq!(summary["totals"]["gradient_source"], "measured");
    assert_eq!(summary["totals"]["infeasible"], 0);
    let silenced: u64 = updates("stapo", 1).iter().map(|u| u["silenced"].as_u64().unwrap()).sum();
    assert_eq!(summary["s2t"]["silenced"].as_u64().unwrap(), silenced, "the same mask on the same tokens");
    assert!(!summary["entropy_change"]["measured"].is_null());

    // Tables have what the result has.
    let updates_of_all: usize = arms.iter().map(|arm| arm["updates"].as_array().unwrap().len()).sum();
    let holdout: usize = arms.iter().map(|arm| arm["holdout"].as_array().unwrap().len()).sum();
    let rows = |name: &str| rows_of(&out.join("tables").join(format!("replay_{name}.parquet")));
    assert_eq!((rows("updates"), rows("holdout")), (updates_of_all, holdout));
    assert_eq!(rows("differences"), result["differences"].as_array().unwrap().len());
    let summary = result["summary"].as_array().unwrap();
    let metrics: usize = summary.iter().map(|arm| arm["metrics"].as_array().unwrap().len()).sum();
    assert!(metrics > 0 && rows("summary") == metrics);

    // What an arm says at its end is the mean of what it says of each prompt, and of no response that was trained on.
    let held = result["data"]["holdout_prompts"].as_u64().unwrap() as usize;
    assert_eq!(rows("prompts"), 8 * held);

    // Ten prompts and two shuffles: no interval, no finding, and what would be enough.
    let differences = result["differences"].as_array().unwrap();
    assert!(differences.iter().all(|d| d["interval"].is_null() && d["finding"] == "too_little"));
    assert_eq!(
        (&differences[0]["objective"], &differences[0]["baseline"]),
        (&json!("stapo"), &json!("random"))
    );
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(result["verdict"]["word"], "Too little to tell");
    assert!(said.contains("Too little to tell") && said.contains("--seeds 3"), "{said}");

    // The report says what it is, and shows the alternatives.
    let page = std::fs::read_to_string(out.join("replay.html")).unwrap();
    let text = std::fs::read_to_string(out.join("replay.md")).unwrap();
    for report in [&page, &text] {
        for part in ["Off-policy", "Drift", "What was trained", "Where each objective ended", "rather"] {
            assert!(report.contains(part), "{part}");
        }
    }
    let cases = result["cases"].as_array().unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        let alternatives = case["alternatives"].as_array().unwrap();
        assert_eq!(alternatives.len(), 5);
        let p: Vec<f64> = alternatives.iter().map(|a| a["probability"].as_f64().unwrap()).collect();
        assert!(p.is_sorted_by(|a, b| a >= b) && p[0] >= case["probability"].as_f64().unwrap());
    }
    assert!(!out.join(".replay-state").exists(), "a finished replay needs no checkpoint");
}

/// The token log's collision probabilities and norms are those of double precision.
#[test]
fn token_logs_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    let options = "--objective dapo --responses 32 --minibatch 32 --holdout 0 --lr 0 -q";
    done(with_model(&sample("grpo.parquet"), folder.path(), options));
    let (found, exact) =
        (read(&folder.path().join("dapo.parquet")), read(&sample("reference/exact.parquet")));
    let (found, exact) = (&found[0], &exact[0]);
    let tokens = found.token_count();
    assert_eq!(found.token_ids().unwrap(), &exact.token_ids().unwrap()[..tokens]);
    for t in 0..tokens {
        let (a, b) = (found.doubles(Column::SumPiSq).unwrap()[t], exact.doubles(Column::SumPiSq).unwrap()[t]);
        assert!((a - b).abs() < 1e-5, "Σπ² of token {t}: {a} instead of {b}");
        let (a, b) = (found.floats(Column::GradNorm).unwrap()[t], exact.floats(Column::GradNorm).unwrap()[t]);
        assert!((a - b).abs() < 2e-5 * (1.0 + b.abs()), "norm of token {t}: {a} instead of {b}");
        // A learning rate of zero changes nothing.
        assert_eq!(found.floats(Column::Logprob).unwrap()[t], found.floats(Column::LogprobAfter).unwrap()[t]);
    }
}

#[test]
fn without_a_model_a_surrogate_is_fitted_and_called_one() {
    let folder = tempfile::tempdir().unwrap();
    let log = small_log(folder.path(), 1, 64, |batch| batch);
    let out = folder.path().join("out");
    let options = "--objective dapo,stapo --minibatch 32 --surrogate-updates 60 --tau-p 0.05";
    let output = done(command(&log, &out, options));
    let result = result(&out);
    validate(&result, "replay");
    assert_eq!(result["model"]["surrogate"], true);
    let fit = &result["model"]["fit"];
    let correlation = fit["correlation"].as_f64().unwrap();
    assert!(correlation > 0.3, "{fit}");
    let page = std::fs::read_to_string(out.join("replay.html")).unwrap();
    let text = std::fs::read_to_string(out.join("replay.md")).unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    for report in [&page, &text, &said] {
        assert!(report.contains("surrogate"));
    }
    // Far from the log from the start: old log-probabilities are recomputed, and that is said.
    assert_eq!(result["arms"][0]["steps"][0]["old"], "recompute");
}

/// The folder of an earlier replay: none of its logs that is read goes, and what goes is named before.
#[test]
fn a_replay_never_removes_what_it_reads() {
    let folder = tempfile::tempdir().unwrap();
    let log = small_log(folder.path(), 1, 8, |batch| batch);
    let out = folder.path().join("out");
    done(with_model(&log, &out, "--objective dapo,stapo --minibatch 8 --lr 1e-5 -q"));
    let (dapo, stapo) = (out.join("dapo.parquet"), out.join("stapo.parquet"));
    let before = std::fs::read(&dapo).unwrap();
    let message = refused(with_model(&dapo, &out, "--objective grpo --minibatch 8 --lr 1e-5"));
    assert!(message.contains("dapo.parquet") && message.contains("would remove"), "{message}");
    assert!(message.contains("hint: give another folder"), "{message}");
    assert!(std::fs::read(&dapo).unwrap() == before && stapo.exists());
    let output = done(with_model(&log, &out, "--objective dapo --minibatch 8 --lr 1e-5"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("removed at the end: ") && said.contains("stapo.parquet"), "{said}");
    assert!(dapo.exists() && !stapo.exists());
}
