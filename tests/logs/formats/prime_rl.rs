//! prime-rl: token exports, traces, and its stream of traces with annotations.

use stapo_analyze::analyze::{AnalyzeSettings, Purpose, ShardPlan, analyze};

use super::*;

#[test]
fn prime_rl_token_exports() {
    let logs = Logs::new();
    let row = r#"{"schema_version":1,"step":40,"rank":3,"micro_step":0,"micro_sequence_idx":0,"export_sequence_idx":7,"env_name":"gsm8k","token_ids":[10,11,12,13,14],"position_ids":[0,1,2,3,4],"loss_mask":[false,false,true,false,true],"advantages":[0,0,0.5,0,0.5],"inference_logprobs":[0,0,-0.1,0,-0.3],"trainer_logprobs":[-11.9,-5,-0.2,-0.4,-0.6],"entropy":[11.9,2,0.25,0.5,0.75],"mismatch_kl":[0,0,0.01,null,0.02],"log_importance_ratio":[0,0,0,0,0],"importance_ratio":[1,1,1,1,1],"prob_delta":[0,0,0,0,0],"is_masked":[false,false,true,false,false],"is_masked_high":[null,null,null,null,null],"is_masked_low":[null,null,null,null,null]}"#;
    logs.write("token_exports/step_40/rank_3.jsonl", row);
    logs.write("token_exports/step_40/STABLE", "");
    // Without its marker a step is still being written.
    logs.write("token_exports/step_41/rank_3.jsonl", row.replace("40", "41"));
    let responses = read(&logs.path("token_exports"));
    assert_eq!(responses.len(), 1);
    let r = &responses[0];
    assert_eq!((r.step(), r.id(Column::SampleId).as_str()), (40, "3-7"));
    assert_eq!(r.text(Column::Source).as_deref(), Some("gsm8k"));
    assert_eq!(r.prompt(), [10, 11]);
    assert_eq!(r.tokens(), [12, 13, 14]);
    assert_eq!(r.mask(), [1, 0, 1]);
    assert_eq!(r.values(Column::Logprob), [-0.2, -0.4, -0.6]);
    assert_eq!(r.values(Column::Entropy), [0.25, 0.5, 0.75]);
    assert_eq!(r.values(Column::LogprobRollout)[0], -0.1);
    assert_eq!(r.values(Column::LogprobRollout)[2], -0.3);
    assert_eq!(r.values(Column::Kl), [0.01, NONE, 0.02]);
    assert_eq!(framework(&logs.path("token_exports")), "prime-rl token export");
}

const EPISODE: &str = r#"{"id":"e1","env":{"id":"wiki"},"task":{"type":"T","key":"k","data":{}},"group":{"id":"g9"},"run":{"type":"train","id":"r1","work":{"type":"train","step":4,"policy":{"start":3,"end":4}}},"ok":true,"traces":[{"id":"t1","rewards":{"right":{"score":1.0,"weight":0.5}},"nodes":[{"message":{"role":"user"},"token_ids":[1,2],"mask":[false,false],"logprobs":[]},{"parent":0,"message":{"role":"assistant"},"sampled":true,"token_ids":[3,4,5],"mask":[false,true,true],"logprobs":[-0.1,-0.2],"advantages":[0.5,0.5]MORE},{"parent":1,"message":{"role":"tool"},"token_ids":[6,7,8],"mask":[false,false,false]},{"parent":2,"message":{"role":"assistant"},"sampled":true,"token_ids":[9],"mask":[true],"logprobs":[-0.3],"advantages":[0.5]LAST},{"parent":1,"message":{"role":"assistant"},"sampled":true,"token_ids":[20],"mask":[true],"logprobs":[-0.4],"advantages":[-0.5]LEAF}]}]}"#;

#[test]
fn prime_rl_traces() {
    let logs = Logs::new();
    let first = EPISODE.replace("MORE", "").replace("LAST", "").replace("LEAF", "");
    let path = logs.write("rollouts/step_5/train/all/traces.jsonl", first);
    let responses = read(&path);
    assert_eq!(responses.len(), 2);
    let r = &responses[0];
    assert_eq!(r.step(), 5, "the folder's step, not the one of dispatch");
    assert_eq!((r.id(Column::GroupId), r.id(Column::SampleId)), ("g9".into(), "t1-0".into()));
    assert_eq!((r.number(Column::Reward), r.part("right")), (Some(0.5), Some(1.0)));
    assert_eq!(r.prompt(), [1, 2, 3]);
    assert_eq!(r.tokens(), [4, 5, 6, 7, 8, 9]);
    assert_eq!(r.mask(), [1, 1, 0, 0, 0, 1]);
    assert_eq!(r.ints(Column::Turn), [0, 0, 0, 0, 0, 1]);
    // Without a trainer's log-probability the sampler's is the main one.
    assert_eq!(r.values(Column::Logprob), [-0.1, -0.2, NONE, NONE, NONE, -0.3]);
    assert_eq!(r.values(Column::Advantage), [0.5, 0.5, NONE, NONE, NONE, 0.5]);
    // The second path shares two sampled tokens, which are trained once.
    assert_eq!(responses[1].tokens(), [4, 5, 20]);
    assert_eq!(responses[1].mask(), [0, 0, 1]);
}

#[test]
fn prime_rl_traces_with_trainer_annotations() {
    let logs = Logs::new();
    let second = EPISODE
        .replace(
            "MORE",
            r#","trainer_logprobs":[-0.11,-0.21],"entropies":[0.1,0.2],"reference_logprobs":[-1,-2]"#,
        )
        .replace("LAST", r#","trainer_logprobs":[-0.31],"entropies":[0.3],"reference_logprobs":[-3]"#)
        .replace("LEAF", r#","trainer_logprobs":[-0.41],"entropies":[0.4],"reference_logprobs":[-4]"#);
    let responses = read(&logs.write("step_6/traces.jsonl", second));
    let r = &responses[0];
    assert_eq!(r.values(Column::Logprob), [-0.11, -0.21, NONE, NONE, NONE, -0.31]);
    assert_eq!(r.values(Column::LogprobRollout), [-0.1, -0.2, NONE, NONE, NONE, -0.3]);
    assert_eq!(r.values(Column::Entropy), [0.1, 0.2, NONE, NONE, NONE, 0.3]);
    assert_eq!(r.values(Column::LogprobRef), [-1.0, -2.0, NONE, NONE, NONE, -3.0]);
    assert_eq!(responses[1].values(Column::Entropy), [0.1, 0.2, 0.4]);
}

/// A stream as prime-rl writes it since 0.9.1.dev29: episodes as they arrive, and beside them what
/// orchestrator and trainer noted of each trace. Two episodes are trained on, at steps 5 and 6; one is an
/// evaluation, one was never shipped.
fn stream_of_traces(logs: &Logs, chunked: bool) -> PathBuf {
    let (plain, eval) = (EPISODE.replace("MORE", "").replace("LAST", "").replace("LEAF", ""), "\"eval\"");
    let plain = plain.replace(",\"advantages\":[0.5,0.5]", "").replace(",\"advantages\":[0.5]", "");
    let plain = plain.replace(",\"advantages\":[-0.5]", "");
    let episode = |name: &str| {
        plain.replace("\"t1\"", &format!("\"{name}\"")).replace("\"e1\"", &format!("\"e-{name}\""))
    };
    let tested = episode("x").replace("\"work\":{\"type\":\"train\"", &format!("\"work\":{{\"type\":{eval}"));
    let ship = |name: &str, step: i64| {
        format!(
            r#"{{"version":1,"trace_id":"{name}","info":{{"effective":true,"ship":{{"step":{step}}}}},"branches":[{{"index":0,"advantages":[null,null,null,0.5,0.5,null,null,null,0.5]}},{{"index":1,"advantages":[null,null,null,0.5,0.5,-0.5]}}]}}"#
        )
    };
    let trained = |name: &str| {
        format!(
            r#"{{"version":1,"trace_id":"{name}","info":{{}},"branches":[{{"index":0,"trainer_logprobs":[null,null,null,-0.11,-0.21,null,null,null,-0.31],"entropies":[null,null,null,0.1,0.2,null,null,null,0.3]}},{{"index":1,"trainer_logprobs":[null,null,null,-0.11,-0.21,-0.41],"entropies":[null,null,null,0.1,0.2,0.4]}}]}}"#
        )
    };
    let lines = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let traces = "monitors/file/traces";
    let orchestrated = lines(&[ship("b", 6), ship("a", 5), ship("x", 5)]);
    // The last line of a run that goes on may be torn.
    let noted = lines(&[trained("a"), trained("b")]) + "{\"version\":1,\"trace";
    if chunked {
        let first = lines(&[tested, episode("never"), episode("a")]);
        logs.write(
            &format!("{traces}/stream/00000.jsonl.zst"),
            zstd::encode_all(first.as_bytes(), 1).unwrap(),
        );
        logs.write(&format!("{traces}/stream/00001.jsonl"), lines(&[episode("b")]) + "{\"torn");
        // Not shipped yet.
        logs.write(&format!("{traces}/stream/00002.jsonl"), lines(&[episode("late")]));
        logs.write(&format!("{traces}/stream.index.jsonl"), "{\"id\":\"a\"}\n");
        logs.write(&format!("{traces}/annotations/orch/00000.jsonl"), orchestrated);
        logs.write(&format!("{traces}/annotations/orch.index.jsonl"), "{\"trace_id\":\"a\"}\n");
        logs.write(&format!("{traces}/annotations/trainer/00000.jsonl"), noted);
    } else {
        let all = lines(&[tested, episode("never"), episode("a"), episode("b")]);
        logs.write(&format!("{traces}/stream.jsonl"), all);
        logs.write(&format!("{traces}/annotations/orch.jsonl"), orchestrated);
        logs.write(&format!("{traces}/annotations/trainer.jsonl"), noted);
    }
    // The same with all values in the messages and the step in the folder.
    for (name, step) in [("a", 5), ("b", 6)] {
        let whole = EPISODE
            .replace("MORE", r#","trainer_logprobs":[-0.11,-0.21],"entropies":[0.1,0.2]"#)
            .replace("LAST", r#","trainer_logprobs":[-0.31],"entropies":[0.3]"#)
            .replace("LEAF", r#","trainer_logprobs":[-0.41],"entropies":[0.4]"#);
        let whole = whole.replace("\"t1\"", &format!("\"{name}\""));
        logs.write(
            &format!("folded/step_{step}/traces.jsonl"),
            whole.replace("\"e1\"", &format!("\"e-{name}\"")),
        );
    }
    logs.path(traces)
}

/// Everything that an analysis finds but where it found it.
fn found(path: &Path) -> serde_json::Value {
    let run = Run::open(&[path.to_owned()], &IngestSettings::default()).unwrap();
    let analysis = analyze(&run, &AnalyzeSettings::default(), &Silent).unwrap();
    let mut value = analysis.to_value().unwrap();
    value.as_object_mut().unwrap().remove("provenance");
    value
}

#[test]
fn prime_rl_streams_are_read_with_their_annotations() {
    for chunked in [false, true] {
        let logs = Logs::new();
        let traces = stream_of_traces(&logs, chunked);
        let responses = read(&traces);
        assert_eq!(responses.iter().map(Response::step).collect::<Vec<_>>(), [5, 5, 6, 6]);
        let r = &responses[0];
        assert_eq!(r.tokens(), [4, 5, 6, 7, 8, 9]);
        assert_eq!(r.values(Column::Logprob), [-0.11, -0.21, NONE, NONE, NONE, -0.31]);
        assert_eq!(r.values(Column::Entropy), [0.1, 0.2, NONE, NONE, NONE, 0.3]);
        assert_eq!(responses[1].values(Column::Advantage), [0.5, 0.5, -0.5]);
        let (native, folded) = (found(&traces), found(&logs.path("folded")));
        assert_eq!(native.to_string(), folded.to_string());
        let run = Run::open(&[traces], &IngestSettings::default()).unwrap();
        assert!(run.skipped.iter().any(|s| s.reason.contains("never shipped")), "{:?}", run.skipped);
    }
}

#[test]
fn annotations_that_fit_no_trace_are_refused_with_their_place() {
    let logs = Logs::new();
    let traces = stream_of_traces(&logs, false);
    let notes = traces.join("annotations/trainer.jsonl");
    let line = |branch: &str| format!("{{\"trace_id\":\"a\",\"branches\":[{branch}]}}\n");
    for (branch, words) in [
        ("{\"index\":7}", "no branch 7"),
        ("{\"index\":\"x\"}", "not a whole number"),
        ("3", "not a list of objects"),
        ("{\"entropies\":[\"x\"]}", "not a list of numbers"),
    ] {
        std::fs::write(&notes, line(branch)).unwrap();
        let error =
            read_all(std::slice::from_ref(&traces), &IngestSettings::default()).unwrap_err().to_string();
        assert!(
            error.contains(words) && error.contains("stream.jsonl") && error.contains("line 3"),
            "{error}"
        );
    }
    std::fs::write(&notes, "{\"torn\n{\"trace_id\":\"a\"}\n").unwrap();
    let error = read_all(std::slice::from_ref(&traces), &IngestSettings::default()).unwrap_err().to_string();
    assert!(error.contains("trainer.jsonl") && error.contains("line 1"), "{error}");
    // What reads files one by one would miss what lies beside them.
    std::fs::write(&notes, "").unwrap();
    let run = Run::open(&[traces], &IngestSettings::default()).unwrap();
    let planned = ShardPlan::new(&run, &AnalyzeSettings::default(), Purpose::Report, 1 << 20).unwrap_err();
    assert!(planned.hint().unwrap().contains("stapo-analyze convert"), "{planned}");
}
