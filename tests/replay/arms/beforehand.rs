//! What is decided, refused and said before the first update.

use std::sync::Arc;

use arrow_array::StringArray;

use super::changed_logs::{changed, replaced};
use super::support::small_log;
use super::{done, refused, result, with_model};

#[test]
fn the_learning_rate_is_the_logs_unless_given() {
    let folder = tempfile::tempdir().unwrap();
    let log = small_log(folder.path(), 1, 16, |batch| batch);
    let training = |name: &str, options: &str| {
        let out = folder.path().join(name);
        done(with_model(&log, &out, &format!("--objective dapo --minibatch 8 -q {options}")));
        let result = result(&out);
        (result["training"].clone(), result["warnings"].to_string())
    };
    let (logged, warned) = training("logged", "");
    assert_eq!(logged["learning_rate_source"], "log");
    let rate = logged["learning_rate"].as_f64().unwrap();
    assert!(rate > 1e-6, "the sample run says its own rate");
    assert!(!warned.contains("learning rate"), "{warned}");
    let (given, warned) = training("given", "--lr 1e-9");
    assert_eq!(
        (given["learning_rate"].as_f64(), given["learning_rate_source"].as_str()),
        (Some(1e-9), Some("option"))
    );
    assert!(warned.contains("learning_rate") && warned.contains("leave --lr out"), "{warned}");
    // Far below the log's rate, nothing asks to go lower.
    assert!(!warned.contains("lower --lr"), "{warned}");
}

#[test]
fn seeds_that_would_repeat_each_other_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let log = small_log(folder.path(), 2, 16, |batch| batch);
    let out = folder.path().join("out");
    let message = refused(with_model(&log, &out, "--objective dapo,random --seeds 3 --minibatch 64"));
    assert!(message.contains("one mini-batch") && message.contains("so dapo would"), "{message}");
    assert!(message.contains("smaller --minibatch"), "{message}");
    let message = refused(with_model(&log, &out, "--objective dapo --seeds 2 --minibatch 4 --no-shuffle"));
    assert!(message.contains("--no-shuffle"), "{message}");
    assert!(!out.join("replay.json").exists());
    // A random mask differs from seed to seed all the same.
    done(with_model(&log, &out, "--objective random --seeds 2 --minibatch 64 --lr 1e-5 --tau-p 0.05 -q"));
}

#[test]
fn corrections_need_the_samplers_log_probabilities() {
    let folder = tempfile::tempdir().unwrap();
    let log = small_log(folder.path(), 1, 24, |batch| batch);
    let message = refused(with_model(&log, &folder.path().join("out"), "--objective dapo,tis"));
    assert!(message.contains("tis") && message.contains("`logprob_rollout`"), "{message}");
    let message = refused(with_model(&log, &folder.path().join("out"), "--objective dual_clip --base cispo"));
    assert!(message.contains("--base cispo") && message.contains("stapo"), "{message}");

    // A sampler that is off at some tokens, and silent at one.
    let log = small_log(folder.path(), 1, 16, |batch| {
        let rollout = changed(&batch, "logprob", |r, t, v| match (r, t) {
            (2, 3) => f32::NAN,
            _ if t % 7 == 0 => v - 1.0,
            _ => v,
        });
        replaced(&batch, "logprob_rollout", rollout)
    });
    let out = folder.path().join("corrected");
    let options =
        "--objective dapo,tis,mis_token,mis_geometric,dual_clip --minibatch 8 --lr 1e-4 --holdout 0 -q";
    done(with_model(&log, &out, options));
    let result = result(&out);
    assert_eq!(result["data"]["incomplete_tokens"], 1, "no arm trains on the token without a number");
    let updates = |name: &str, key: &str| -> Vec<f64> {
        let arm = result["arms"].as_array().unwrap().iter().find(|a| a["objective"] == name).unwrap();
        arm["updates"].as_array().unwrap().iter().map(|u| u[key].as_f64().unwrap()).collect()
    };
    let silenced = |name: &str| updates(name, "silenced").iter().sum::<f64>();
    assert!(silenced("mis_token") > 0.0);
    assert!(silenced("mis_geometric") >= silenced("mis_token"), "every response holds such a token");
    // e > 2: the cap binds, and the weighted gradient is another one.
    assert_ne!(updates("tis", "grad_norm"), updates("dapo", "grad_norm"));
    // Near the logged policy no ratio is large enough to be cut.
    assert_eq!(updates("dual_clip", "grad_norm"), updates("dapo", "grad_norm"));
}

/// Responses of evaluation are not trained on: with them the replay is that of the log without.
#[test]
fn evaluation_is_not_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let arms = |name: &str, responses: usize| {
        let own = folder.path().join(name);
        std::fs::create_dir(&own).unwrap();
        let log = small_log(&own, 2, responses, |batch| {
            let split = (0..batch.num_rows()).map(|row| if row < 16 { "train" } else { "eval" });
            replaced(&batch, "split", Arc::new(StringArray::from(split.collect::<Vec<_>>())))
        });
        let out = own.join("out");
        done(with_model(&log, &out, "--objective dapo --minibatch 8 --lr 1e-4 --holdout 0 -q"));
        result(&out)["arms"].clone()
    };
    assert_eq!(arms("with", 32), arms("without", 16));
}

#[test]
fn what_is_ahead_is_said_without_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let log = small_log(folder.path(), 2, 16, |batch| batch);
    let options = "--objective dapo,stapo --minibatch 8 --tau-p 0.05";
    let said = |options: &str| {
        let output = done(with_model(&log, &folder.path().join("out"), options));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let text = said(options);
    let line = text.lines().next().unwrap_or_default();
    for part in ["2 arms", "2 steps", "about", "of memory", "of disk"] {
        assert!(line.contains(part), "{part}: {text}");
    }
    assert!(!line.contains("--max-minutes"), "{line}");
    assert_eq!(said(&format!("{options} -q")), "");
    // Where the time is too short, that is said before the first update, too.
    let text = said(&format!("{options} --max-minutes 0.00001"));
    let line = text.lines().next().unwrap_or_default();
    assert!(line.contains("--max-minutes leaves") && line.contains("--resume goes on"), "{text}");
}

#[test]
fn the_user_says_what_correct_means() {
    let folder = tempfile::tempdir().unwrap();
    let log = small_log(folder.path(), 1, 16, |batch| batch);
    let refusal = |condition: &str| {
        let mut command = with_model(&log, &folder.path().join("out"), "--objective dapo");
        command.arg("--pass").arg(condition);
        refused(command)
    };
    assert!(refusal("reward/answer>0.5").contains("the log has no `reward/answer`"));
    assert!(refusal("reward").contains("no comparison"));
    let out = folder.path().join("out");
    done({
        let mut command = with_model(&log, &out, "--objective dapo --minibatch 8 --holdout 0.5 -q");
        command.args(["--pass", "reward<0.5"]);
        command
    });
    let result = result(&out);
    assert_eq!(result["data"]["correct"], "reward<0.5");
    let report = std::fs::read_to_string(out.join("replay.html")).unwrap();
    assert!(report.contains("reward&lt;0.5"));
}

#[test]
fn files_that_no_replay_wrote_stay() {
    let folder = tempfile::tempdir().unwrap();
    let log = small_log(folder.path(), 1, 16, |batch| batch);
    let own = folder.path().join("own");
    std::fs::create_dir(&own).unwrap();
    std::fs::write(own.join("stapo.parquet"), "a log of mine").unwrap();
    let options = "--objective dapo,stapo --minibatch 8 -q";
    let message = refused(with_model(&log, &own, options));
    assert!(
        message.contains("stapo.parquet: a file of this name is there, and no replay wrote it"),
        "{message}"
    );
    std::fs::rename(own.join("stapo.parquet"), own.join("mine.parquet")).unwrap();
    std::fs::write(own.join("tokenizer.json"), "{}").unwrap();
    let message = refused(with_model(&log, &own, options));
    assert!(message.contains("tokenizer.json: a file of this name is there"), "{message}");
    std::fs::remove_file(own.join("tokenizer.json")).unwrap();
    // What an earlier replay wrote is replaced.
    for _ in 0..2 {
        done(with_model(&log, &own, options));
    }
    assert_eq!(std::fs::read_to_string(own.join("mine.parquet")).unwrap(), "a log of mine");
}
