//! Adapters through the command line.

use std::path::Path;

use serde_json::Value;

use super::support::{sample, small_log};
use super::{command, done, refused, result, with_model};

const OPTIONS: &str = "--objective dapo,stapo --minibatch 8 --lr 1e-3 --tau-p 0.05 --holdout 0.25 -q";

fn config(folder: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("adapter_config.json")).unwrap()).unwrap()
}

#[test]
fn an_adapter_is_trained_saved_and_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let log = small_log(folder.path(), 2, 16, |batch| batch);
    let (out, saved) = (folder.path().join("out"), folder.path().join("saved"));
    let mut first = with_model(&log, &out, &format!("{OPTIONS} --lora 4"));
    first.arg("--save").arg(&saved);
    done(first);
    let found = result(&out);
    let adapter = &found["model"]["adapter"];
    assert_eq!(
        (&adapter["rank"], &adapter["alpha"], &adapter["scale"]),
        (&4.into(), &8.0.into(), &2.0.into())
    );
    assert!(adapter["parameters"].as_u64().unwrap() * 5 < found["model"]["parameters"].as_u64().unwrap());
    let updates = found["arms"][0]["updates"].as_array().unwrap();
    assert!(updates.iter().any(|u| u["grad_norm"].as_f64().unwrap() > 0.0));
    assert!(updates.iter().all(|u| u["lm_head_grad_norm"] == 0.0));
    assert!(updates.last().unwrap()["kl_to_start"].as_f64().unwrap() > 0.0, "the adapter moves the policy");
    assert_eq!(config(&saved.join("dapo"))["r"], 4);
    assert!(!saved.join("dapo/model.safetensors").exists(), "the model is what it was");
    let page = std::fs::read_to_string(out.join("replay.html")).unwrap();
    assert!(page.contains("LoRA adapter"));

    // A stop in between changes nothing.
    let halves = folder.path().join("halves");
    let stopped = format!("{OPTIONS} --lora 4 --checkpoint-seconds 0 --max-minutes 1e-9");
    done(with_model(&log, &halves, &stopped));
    done(with_model(&log, &halves, &format!("{OPTIONS} --lora 4 --checkpoint-seconds 0 --resume")));
    assert_eq!(result(&halves)["arms"], found["arms"]);

    // What was saved is a start as good as a checkpoint.
    let again = folder.path().join("again");
    let mut second = with_model(&log, &again, "--objective dapo --minibatch 8 --lr 0 --holdout 0.25 -q");
    second.arg("--adapter").arg(saved.join("dapo"));
    done(second);
    let second = result(&again);
    let end = found["arms"][0]["holdout"].as_array().unwrap().last().unwrap();
    for key in ["correct_logprob", "wrong_logprob", "entropy"] {
        assert_eq!(second["start"][key], end[key], "{key}: the start is where the saved arm ended");
    }
}

#[test]
fn what_does_not_go_with_an_adapter_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let log = small_log(folder.path(), 1, 16, |batch| batch);
    let out = folder.path().join("out");
    let said = |options: &str| refused(with_model(&log, &out, options));
    assert!(said("--lora 0").contains("--lora"));
    let message = said("--lora 65");
    assert!(message.contains("--lora 65") && message.contains("from 1 to 64"), "{message}");
    assert!(said("--lora 4 --adapter x").contains("--adapter"));
    assert!(said("--lora-alpha 4").contains("--lora"));
    let message = said("--lora 4 --objective dgg");
    assert!(message.contains("dgg") && message.contains("lm_head"), "{message}");
    let message = said(&format!("--adapter {}", sample("model").display()));
    assert!(message.contains("adapter_config.json") && message.contains("hint:"), "{message}");
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/replay/qwen3/adapter");
    let message = said(&format!("--adapter {}", other.display()));
    assert!(message.contains("the model needs") && message.contains("--model"), "{message}");
    let message = refused(command(&log, &out, "--lora 4"));
    assert!(message.contains("--model"), "{message}");
    assert!(!out.join("replay.json").exists());
}
